# SPDX-License-Identifier: Apache-2.0
"""The abstract syntax tree of a model: the result of parsing a text or decoding a binary.

Statements (models, graphs, functions, nodes, value infos) are mutable dataclasses; their parts
(types, attributes, tensors, decorators) are immutable and may be shared. You can build all of them
by hand, compare them with `==`, print them (`onnxtext.printer`) and encode them as protobuf bytes
(`onnxtext.proto`).
"""

from onnxtext.ast.model import (
    Annotation,
    Configuration,
    EncodingHabit,
    EncodingPatch,
    Fragment,
    Function,
    Graph,
    Model,
    Node,
    OpsetImport,
    Presence,
    Training,
    ValueInfo,
    WeightPlace,
)
from onnxtext.ast.records import Decorator, Field, Fixed, Number, Record, Word
from onnxtext.ast.tensors_and_attributes import (
    Attribute,
    AttributeType,
    AttributeValue,
    Blob,
    DataFile,
    ExternalData,
    FieldData,
    Float32,
    Floats,
    NoData,
    RawData,
    Reference,
    RepeatedList,
    SparseTensor,
    StringData,
    Tensor,
    TensorData,
    TypedBlob,
    TypedData,
)
from onnxtext.ast.types import (
    DecoratedDim,
    Dim,
    MapType,
    OpaqueType,
    OptionalType,
    SequenceType,
    SparseTensorType,
    TensorType,
    Type,
)
from onnxtext.ast.visit import walk_graphs, walk_nodes

__all__ = [
    "Annotation", "Attribute", "AttributeType", "AttributeValue", "Blob", "Configuration",
    "DataFile", "DecoratedDim", "Decorator", "Dim", "EncodingHabit", "EncodingPatch",
    "ExternalData", "Field", "FieldData", "Fixed", "Float32", "Floats", "Fragment", "Function",
    "Graph", "MapType", "Model", "NoData", "Node", "Number", "OpaqueType", "OpsetImport",
    "OptionalType", "Presence", "RawData", "Record", "Reference", "RepeatedList", "SequenceType",
    "SparseTensor", "SparseTensorType", "StringData", "Tensor", "TensorData", "TensorType",
    "Training", "Type", "TypedBlob", "TypedData", "ValueInfo", "WeightPlace", "Word", "walk_graphs",
    "walk_nodes",
]  # fmt: skip
