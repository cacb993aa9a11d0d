# SPDX-License-Identifier: Apache-2.0
from typing import Any

from onnxtext.ast.model import Annotation, ValueInfo
from onnxtext.proto.decode.messages import Lifter
from onnxtext.proto.decode.types_and_tensors import Data
from onnxtext.wire.reader import WireField

class Decoder:
    def __init__(self, types: dict[bytes, ValueInfo]) -> None: ...
    def annotation(self, data: Data) -> Annotation | None: ...
    def fields(
        self,
        lifter: Lifter,
        data: Data,
        start: int,
        end: int,
        depth: int,
        lists: dict[int, list[Any]],
        nodes: list[Any],
        initializers: list[Any] | None,
        texts: dict[int, list[str]],
    ) -> list[tuple[int, Data]]: ...

def message_fields(data: Data, start: int, most: int) -> list[WireField]: ...
