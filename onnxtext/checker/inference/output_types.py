# SPDX-License-Identifier: Apache-2.0
"""Infer output types that depend on attributes or on the elements of sequences."""

from __future__ import annotations

from onnxtext.ast.model import Node
from onnxtext.ast.tensors_and_attributes import (
    AttributeType,
    SparseTensor,
    Tensor,
    attribute_value,
)
from onnxtext.schemas.type_strings import element_of, type_text
from onnxtext.tensor.element_types import ELEMENT_NUMBERS

Texts = tuple[str | None, ...]
"""Types as strings of schemas, such as `tensor(float)`; None where unknown."""


def _type_from_number(node: Node, name: str, default: str | None) -> str | None:
    """Return the tensor type whose element type is the number in an attribute, such as `dtype`."""
    code = attribute_value(node.attributes, name)
    if code is None:
        return default
    element = ELEMENT_NUMBERS.get(code) if isinstance(code, int) else None
    return f"tensor({element.name})" if element is not None else None


def _constant(node: Node, inputs: Texts) -> str | None:
    by_type = {
        AttributeType.FLOAT: "tensor(float)", AttributeType.FLOATS: "tensor(float)",
        AttributeType.INT: "tensor(int64)", AttributeType.INTS: "tensor(int64)",
        AttributeType.STRING: "tensor(string)", AttributeType.STRINGS: "tensor(string)",
    }  # fmt: skip
    for item in node.attributes:
        if isinstance(item.value, Tensor):
            return type_text(item.value.type)
        if isinstance(item.value, SparseTensor):
            # Not the sparse type: ONNX infers the dense type, and real models declare it.
            return None
        if item.type in by_type and item.name.startswith("value"):
            return by_type[item.type]
    return None


def _constant_of_shape(node: Node, inputs: Texts) -> str | None:
    value = attribute_value(node.attributes, "value")
    if value is None:
        return "tensor(float)"
    return type_text(value.type) if isinstance(value, Tensor) else None


def _like(node: Node, inputs: Texts) -> str | None:
    return _type_from_number(node, "dtype", inputs[0] if inputs else None)


def _quantized(node: Node, inputs: Texts) -> str | None:
    """Return the output type of `QuantizeLinear`: that of the zero point, by default uint8."""
    if len(inputs) > 2 and node.inputs[2]:
        return inputs[2]
    if not attribute_value(node.attributes, "output_dtype"):
        return "tensor(uint8)"
    return _type_from_number(node, "output_dtype", None)


def _dequantized(node: Node, inputs: Texts) -> str | None:
    """Return the output type of `DequantizeLinear`: by default that of the scale."""
    if not attribute_value(node.attributes, "output_dtype"):
        return inputs[1] if len(inputs) > 1 else None
    return _type_from_number(node, "output_dtype", None)


def _from_data_type(node: Node, inputs: Texts) -> str | None:
    return _type_from_number(node, "output_datatype", "tensor(float)")


def _get_element(node: Node, inputs: Texts) -> str | None:
    return element_of(inputs[0], "optional") or inputs[0] if inputs else None


def _wrap_input_type(kind: str, inputs: Texts) -> str | None:
    return f"{kind}({inputs[0]})" if inputs and inputs[0] is not None else None


def _sequence_empty(node: Node, inputs: Texts) -> str | None:
    text = _type_from_number(node, "dtype", "tensor(float)")
    return f"seq({text})" if text is not None else None


def _element(node: Node, inputs: Texts) -> str | None:
    return element_of(inputs[0], "seq") if inputs else None


def _label(node: Node, inputs: Texts) -> str | None:
    """Return the type of class labels, which are strings or integers."""
    for item in node.attributes:
        if item.name.startswith("classlabels_") and item.value:
            return "tensor(string)" if item.name == "classlabels_strings" else "tensor(int64)"
    return None


def _label_encoder(node: Node, inputs: Texts) -> str | None:
    kinds = {"values_strings": "string", "values_int64s": "int64", "values_floats": "float"}
    for item in node.attributes:
        if item.name in kinds:
            return f"tensor({kinds[item.name]})"
        if item.name == "values_tensor" and isinstance(item.value, Tensor):
            return type_text(item.value.type)
    return None


OUTPUT_TYPES = {
    "BitCast": lambda node, inputs: _type_from_number(node, "to", None),
    "BlackmanWindow": _from_data_type,
    "Cast": lambda node, inputs: _type_from_number(node, "to", None),
    "Constant": _constant,
    "ConstantOfShape": _constant_of_shape,
    "DequantizeLinear": _dequantized,
    "HammingWindow": _from_data_type,
    "HannWindow": _from_data_type,
    "MelWeightMatrix": _from_data_type,
    "Multinomial": lambda node, inputs: _type_from_number(node, "dtype", "tensor(int32)"),
    "QuantizeLinear": _quantized,
    "RandomNormal": lambda node, inputs: _type_from_number(node, "dtype", "tensor(float)"),
    "RandomUniform": lambda node, inputs: _type_from_number(node, "dtype", "tensor(float)"),
    "RandomNormalLike": _like,
    "RandomUniformLike": _like,
    "EyeLike": _like,
    "LabelEncoder": _label_encoder,
    "LinearClassifier": _label,
    "SVMClassifier": _label,
    "TreeEnsembleClassifier": _label,
    "Bernoulli": _like,
    "Optional": lambda node, inputs: _wrap_input_type("optional", inputs),
    "OptionalGetElement": _get_element,
    "SequenceConstruct": lambda node, inputs: _wrap_input_type("seq", inputs),
    "SequenceEmpty": _sequence_empty,
    "SplitToSequence": lambda node, inputs: _wrap_input_type("seq", inputs),
    "SequenceAt": _element,
    "ConcatFromSequence": _element,
}
"""Maps operators to functions that return the type of the first output, or None if unknown.

The schemas of these operators do not determine this type. The operators are in the standard domain
or in `ai.onnx.ml`.
"""
