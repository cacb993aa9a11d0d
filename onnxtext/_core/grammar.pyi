# SPDX-License-Identifier: Apache-2.0
from typing import Any

from onnxtext._core.scanner import Scanner

OPS: dict[str, int]

class Grammar:
    def __init__(
        self,
        scanner: Scanner,
        actions: list[dict[int, int]],
        gotos: list[dict[int, int]],
        jumps: list[dict[int, int]],
        rules: list[tuple[Any, ...]],
        kinds: int,
        origins: int,
        types: dict[str, Any],
    ) -> None: ...
