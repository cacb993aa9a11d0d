# SPDX-License-Identifier: Apache-2.0
from onnxtext.ast.model import Graph, ValueInfo
from onnxtext.proto.decode.messages import Lifter
from onnxtext.proto.decode.types_and_tensors import Data
from onnxtext.wire.reader import WireField

class Decoder:
    def __init__(self, types: dict[bytes, ValueInfo], most_ints: int = ...) -> None: ...
    def graph(self, lifter: Lifter, data: Data, start: int, end: int, depth: int) -> Graph: ...

def message_fields(data: Data, start: int, most: int) -> list[WireField]: ...
