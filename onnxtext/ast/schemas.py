# SPDX-License-Identifier: Apache-2.0
"""Data classes of schema files: the signatures of operators (SPEC 19)."""

from __future__ import annotations

from dataclasses import field
from typing import Literal

from onnxtext.ast.model import Node, OpsetImport
from onnxtext.ast.tensors_and_attributes import Attribute
from onnxtext.ast.types import Type
from onnxtext.quick_dataclass import dataclass

ANY = "any"
"""The constraint of a type variable that can be any type."""


@dataclass(slots=True)
class FormalValue:
    """A formal input or output: `T x`, `T bias?`, `T inputs...`.

    Attributes:
        name: the name of the formal value.
        type: a type without dimensions, or the name of a type variable.
        option: `single` if a node must pass one value, `optional` if it may omit the value,
            `variadic` if it may pass several values.
        min_arity: the minimum number of values of a variadic formal value.
        homogeneous: whether all values of a variadic formal value must have the same type.
        doc: the documentation.
        at: the character offset in the text; -1 if the value was not parsed.
    """

    name: str
    type: Type | str
    option: Literal["single", "optional", "variadic"] = "single"
    min_arity: int = 1
    homogeneous: bool = True
    doc: str = ""
    at: int = field(default=-1, compare=False, repr=False)


@dataclass(slots=True)
class FormalAttribute:
    """A formal attribute: `axis: int` is required; `axis: int = 0` and `axis?: int` are optional.

    Attributes:
        attribute: the name, type and default of the attribute.
        required: whether a node must have the attribute.
        values: the valid strings; empty if every string is valid.
        doc: the documentation.
    """

    attribute: Attribute
    required: bool
    values: tuple[str, ...] = ()
    doc: str = ""


@dataclass(slots=True)
class OperatorSchema:
    """One version of an operator.

    Attributes:
        name: the name of the operator.
        domain: the domain of the operator; "" for the standard domain.
        since: the version of the operator set that introduced this schema.
        deprecated: why this version removed the operator; "" if no reason is given. None if the
            version did not remove it.
        doc: the documentation.
        attributes: the formal attributes, in order.
        others: whether nodes may have attributes that the schema does not list.
        inputs: the formal inputs, in order.
        outputs: the formal outputs, in order.
        constraints: maps each type variable to the types that it allows, or to None if it allows
            every type.
        body: nodes that compute outputs of the same shapes as the operator's outputs; None if the
            schema has no body.
        at: the character offset in the text; -1 if the schema was not parsed.
    """

    name: str
    domain: str
    since: int = 1
    deprecated: str | None = None
    doc: str = ""
    attributes: list[FormalAttribute] = field(default_factory=list)
    others: bool = False
    inputs: list[FormalValue] = field(default_factory=list)
    outputs: list[FormalValue] = field(default_factory=list)
    constraints: dict[str, tuple[Type, ...] | None] = field(default_factory=dict)
    body: list[Node] | None = None
    at: int = field(default=-1, compare=False, repr=False)


@dataclass(slots=True)
class SchemaFile:
    """A schema file.

    Attributes:
        schemas: the operator schemas, in order.
        version: the version of the language; None if the file does not give it.
        opset_imports: the operator sets of the schemas and of the nodes in their bodies.
        producer_name: the package that has the operators.
        producer_version: the version of the package.
        doc_string: documentation.
    """

    schemas: list[OperatorSchema] = field(default_factory=list)
    version: int | None = None
    opset_imports: list[OpsetImport] = field(default_factory=list)
    producer_name: str | None = None
    producer_version: str | None = None
    doc_string: str | None = None
