# SPDX-License-Identifier: Apache-2.0
"""Read the documentation and the defaults of operators from onnx and schema files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from onnxtext.ast.model import Graph
from onnxtext.ast.schemas import FormalAttribute, OperatorSchema
from onnxtext.checker.context.signatures import Signature, schema_of
from onnxtext.printer import print_attribute
from onnxtext.schemas.convert_schemas import convert_attribute


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
            name: AttributeDetails(item.description, _default(convert_attribute(item)))
            for name, item in schema.attributes.items()
        },
    )
