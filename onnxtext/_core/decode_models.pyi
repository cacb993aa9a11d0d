# SPDX-License-Identifier: Apache-2.0
from onnxtext._core.decode import Decoder
from onnxtext.ast.model import Model
from onnxtext.proto.decode.messages import Lifter
from onnxtext.proto.decode.types_and_tensors import Data

class ModelDecoder(Decoder):
    def model(self, lifter: Lifter, data: Data) -> Model | None: ...
    def largest(self) -> int: ...

def is_plain(data: Data) -> bool: ...
