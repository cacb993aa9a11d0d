# SPDX-License-Identifier: Apache-2.0
SPECIAL_KINDS: dict[str, int]

class Scanner:
    def __init__(
        self, classes: list[int], moves: bytes, accepts: list[int], nested: int
    ) -> None: ...
    def tokens(self, text: str) -> tuple[list[tuple[int, int, int]], int]: ...
