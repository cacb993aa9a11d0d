# SPDX-License-Identifier: Apache-2.0
"""Define the keys of protobuf fields, and the key of an attribute's value by its type."""
from onnxtext.ast.tensors_and_attributes import ITEM_TYPES, AttributeType

VALUE_KEYS[:] = [
    0, ATTRIBUTE_F, ATTRIBUTE_I, ATTRIBUTE_S, ATTRIBUTE_T, ATTRIBUTE_G, ATTRIBUTE_FLOATS,
    ATTRIBUTE_INTS, ATTRIBUTE_STRINGS, ATTRIBUTE_TENSORS, ATTRIBUTE_GRAPHS,
    ATTRIBUTE_SPARSE_TENSOR, ATTRIBUTE_SPARSE_TENSORS, ATTRIBUTE_TP, ATTRIBUTE_TYPE_PROTOS,
]
ITEM_KINDS[:] = [ITEM_TYPES.get(kind, 0) for kind in range(15)]
KINDS = (None, *AttributeType)
