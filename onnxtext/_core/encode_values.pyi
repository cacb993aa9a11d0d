# SPDX-License-Identifier: Apache-2.0

class TensorForm:
    def __init__(self, head: bytes, key: int, width: int) -> None: ...
