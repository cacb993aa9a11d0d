# SPDX-License-Identifier: Apache-2.0
"""Read the documentation and the defaults of operators from onnx and schema files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from onnxtext.ast.byte_strings import to_text
from onnxtext.ast.model import Graph
from onnxtext.ast.schemas import FormalAttribute, OperatorSchema
from onnxtext.ast.tensors_and_attributes import Float32
from onnxtext.checker.context.signatures import Signature, schema_of
from onnxtext.printer import print_attribute
from onnxtext.printer.quoting import quote_string
from onnxtext.tensor.float_literals import float32_text


@dataclass(frozen=True, slots=True)
class AttributeDetails:
    """The documentation, default and valid values of an attribute.

    `default` is in onnxtext syntax, or "" if there is none. `values` are the valid values of a
    string attribute; empty if the schema does not list them.
    """

    doc: str
    default: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Details:
    """The documentation of an operator, of its formal inputs and outputs, and of its attributes."""

    doc: str
    inputs: Sequence[str]
    outputs: Sequence[str]
    attributes: dict[str, AttributeDetails]


@cache
def details(signature: Signature) -> Details:
    """Return the documentation of an operator, from onnx or from its schema file."""
    if signature.source is not None:
        return _of_file(signature.source)
    return _of_onnx(schema_of(signature))


def _of_file(schema: OperatorSchema) -> Details:
    return Details(
        schema.doc,
        [formal.doc for formal in schema.inputs],
        [formal.doc for formal in schema.outputs],
        {
            item.attribute.name: AttributeDetails(item.doc, _default(item), item.values)
            for item in schema.attributes
        },
    )


def _default(formal: FormalAttribute) -> str:
    value = formal.attribute.value
    if value is None or isinstance(value, Graph):
        return ""
    text = print_attribute(replace(formal.attribute, name="a"))
    return text.partition(" = ")[2]


def _of_onnx(schema: Any) -> Details:
    return Details(
        schema.doc or "",
        [formal.description for formal in schema.inputs],
        [formal.description for formal in schema.outputs],
        {
            name: AttributeDetails(item.description, _onnx_default(item))
            for name, item in schema.attributes.items()
        },
    )


def _onnx_default(formal: Any) -> str:
    import onnx

    proto = formal.default_value
    if not proto.name and proto.type == onnx.AttributeProto.UNDEFINED:
        return ""
    return literal(onnx.helper.get_attribute_value(proto))


def literal(value: object) -> str:
    """Format a number, string or list in onnxtext syntax; return `…` for other values."""
    match value:
        case bytes():
            return quote_string(to_text(value))
        case float():
            return float32_text(Float32.of(value).bits, point=True)
        case int():
            return str(value)
        case list() | tuple():
            return f"[{', '.join(map(literal, value))}]"
    return "…"
