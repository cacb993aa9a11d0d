# SPDX-License-Identifier: Apache-2.0
from onnxtext._core.proto.decode_graphs import Decoder
from onnxtext.ast.model import Function, Model, Node
from onnxtext.ast.tensors_and_attributes import Tensor
from onnxtext.proto.decode.messages import Lifter
from onnxtext.proto.decode.types_and_tensors import Data

class ModelDecoder(Decoder):
    def model(self, data: Data) -> Model | None: ...
    def function(self, lifter: Lifter, data: Data, depth: int) -> Function: ...
    def facts(self) -> tuple[int, bool, list[list[Node]], list[Tensor] | None]: ...
