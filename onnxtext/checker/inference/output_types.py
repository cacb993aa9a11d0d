# SPDX-License-Identifier: Apache-2.0
"""Infer output types that schemas do not determine, such as types that depend on attributes."""

from __future__ import annotations

from collections.abc import Callable

from onnxtext.ast.model import Node
from onnxtext.ast.tensors_and_attributes import AttributeType, SparseTensor, Tensor, attribute_value
from onnxtext.schemas.type_strings import element_of, type_text
from onnxtext.tensor.element_types import ELEMENT_NUMBERS

Texts = tuple[str | None, ...]
"""Types in the spelling of schemas, such as `tensor(float)`; None where unknown."""
OutputType = Callable[[Node, Texts], str | None]


def _type_from_number(node: Node, name: str, default: str | None) -> str | None:
    """Return the tensor type whose element type number is the value of the attribute `name`.

    Return `default` if the attribute is missing, and None if the number is invalid.
    """
    code = attribute_value(node.attributes, name)
    if code is None:
        return default
    element = ELEMENT_NUMBERS.get(code) if isinstance(code, int) else None
    return f"tensor({element.name})" if element is not None else None


def _constant(node: Node, inputs: Texts) -> str | None:
    by_name = {
        "value_float": (AttributeType.FLOAT, "tensor(float)"),
        "value_floats": (AttributeType.FLOATS, "tensor(float)"),
        "value_int": (AttributeType.INT, "tensor(int64)"),
        "value_ints": (AttributeType.INTS, "tensor(int64)"),
        "value_string": (AttributeType.STRING, "tensor(string)"),
        "value_strings": (AttributeType.STRINGS, "tensor(string)"),
    }
    for item in node.attributes:
        if isinstance(item.value, Tensor):
            return type_text(item.value.type)
        if isinstance(item.value, SparseTensor):
            # ONNX infers a dense type for a sparse constant, and real models declare a dense type.
            return None
        needed, result = by_name.get(item.name, (None, None))
        if item.type == needed:  # `attribute-type` reports another type
            return result
    return None


def _constant_of_shape(node: Node, inputs: Texts) -> str | None:
    value = attribute_value(node.attributes, "value")
    if value is None:
        return "tensor(float)"
    return type_text(value.type) if isinstance(value, Tensor) else None


def _like(node: Node, inputs: Texts) -> str | None:
    return _type_from_number(node, "dtype", inputs[0] if inputs else None)


def _quantized(node: Node, inputs: Texts) -> str | None:
    """Return the output type of `QuantizeLinear`; None if unknown.

    This is the type of the zero point, else the type in `output_dtype`, else uint8.
    """
    if len(inputs) > 2 and node.inputs[2]:
        return inputs[2]
    if not attribute_value(node.attributes, "output_dtype"):
        return "tensor(uint8)"
    return _type_from_number(node, "output_dtype", None)


def _dequantized(node: Node, inputs: Texts) -> str | None:
    """Return the output type of `DequantizeLinear`; None if unknown.

    This is the type in `output_dtype`, else the type of the scale.
    """
    if not attribute_value(node.attributes, "output_dtype"):
        return inputs[1] if len(inputs) > 1 else None
    return _type_from_number(node, "output_dtype", None)


def _get_element(node: Node, inputs: Texts) -> str | None:
    return element_of(inputs[0], "optional") or inputs[0] if inputs else None


def _sequence_empty(node: Node, inputs: Texts) -> str | None:
    text = _type_from_number(node, "dtype", "tensor(float)")
    return f"seq({text})" if text is not None else None


def _element(node: Node, inputs: Texts) -> str | None:
    return element_of(inputs[0], "seq") if inputs else None


def _label(node: Node, inputs: Texts) -> str | None:
    """Return the type of the class labels, strings or integers; None if the node has no labels."""
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


def _numbered(name: str, default: str | None) -> OutputType:
    """Return a function that reads the output type of a node from the attribute `name`.

    The attribute is the number of an element type. If it is missing, the output type is `default`.
    """
    return lambda node, inputs: _type_from_number(node, name, default)


def _wrapped(kind: str) -> OutputType:
    """Return a function that gives `kind(T)` for the type `T` of input 0; None if unknown."""
    return lambda node, inputs: f"{kind}({inputs[0]})" if inputs and inputs[0] is not None else None


def stash_type(node: Node) -> str | None:
    """Return the type of the statistics that a layer normalization outputs after its result."""
    return _type_from_number(node, "stash_type", "tensor(float)")


OUTPUT_TYPES: dict[str, OutputType] = {
    **dict.fromkeys(("BitCast", "Cast"), _numbered("to", None)),
    **dict.fromkeys(
        ("BlackmanWindow", "HammingWindow", "HannWindow", "MelWeightMatrix"),
        _numbered("output_datatype", "tensor(float)"),
    ),
    **dict.fromkeys(("RandomNormal", "RandomUniform"), _numbered("dtype", "tensor(float)")),
    **dict.fromkeys(("Bernoulli", "EyeLike", "RandomNormalLike", "RandomUniformLike"), _like),
    **dict.fromkeys(("LinearClassifier", "SVMClassifier", "TreeEnsembleClassifier"), _label),
    **dict.fromkeys(("SequenceConstruct", "SplitToSequence"), _wrapped("seq")),
    **dict.fromkeys(("ConcatFromSequence", "SequenceAt"), _element),
    "Constant": _constant,
    "ConstantOfShape": _constant_of_shape,
    "DequantizeLinear": _dequantized,
    "LabelEncoder": _label_encoder,
    "Multinomial": _numbered("dtype", "tensor(int32)"),
    "Optional": _wrapped("optional"),
    "OptionalGetElement": _get_element,
    "QuantizeLinear": _quantized,
    "SequenceEmpty": _sequence_empty,
}
"""Maps operators to functions that return the type of the first output, or None if unknown.

The schemas of these operators do not determine this type. The operators are in the standard domain
or in `ai.onnx.ml`.
"""
