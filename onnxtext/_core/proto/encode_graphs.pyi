# SPDX-License-Identifier: Apache-2.0
from collections.abc import Iterable
from typing import Any

from onnxtext.ast.model import Function, Graph, Model
from onnxtext.wire.writer import Piece

class Encoder:
    deepest: int
    deepest_type: int
    omitted: int
    many_repetitions: str
    def __init__(self, *options: Any, lowering: Any = None) -> None: ...
    def model(self, model: Model) -> list[Piece]: ...
    def graph(self, graph: Graph) -> list[Piece]: ...
    def function(self, function: Function) -> bytes: ...
    def functions(self, functions: Iterable[Function]) -> bytes: ...
