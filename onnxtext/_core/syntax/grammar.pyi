# SPDX-License-Identifier: Apache-2.0
from typing import Any

from onnxtext._core.syntax.scanner import Scanner

OPS: dict[str, int]

class Grammar:
    def __init__(
        self,
        scanner: Scanner,
        actions: bytes,
        gotos: bytes,
        rules: list[tuple[Any, ...]],
        terminals: dict[str, int],
        end: str,
        origins: dict[str, int],
        types: dict[str, Any],
    ) -> None: ...
