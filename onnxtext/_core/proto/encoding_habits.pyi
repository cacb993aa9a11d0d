# SPDX-License-Identifier: Apache-2.0
from onnxtext.proto.decode.types_and_tensors import Data

class Schema:
    def __init__(self) -> None: ...
    def observe(
        self, data: Data
    ) -> dict[str, tuple[set[int], set[int], dict[int, set[int]], bool]] | None: ...
    def encode(
        self,
        message: str,
        data: bytes,
        packed: dict[tuple[str, int], bool],
        orders: dict[str, dict[int, int]],
    ) -> bytes | None: ...
