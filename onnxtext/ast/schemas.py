# SPDX-License-Identifier: Apache-2.0
"""Data classes of schema files: the signatures of operators (SPEC 19)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from onnxtext.ast.model import Node, OpsetImport
from onnxtext.ast.tensors_and_attributes import Attribute
from onnxtext.ast.types import Type

ANY = "any"
"""The constraint of a type variable that stands for every type."""


@dataclass(slots=True)
class FormalValue:
    """A formal input or output: `T x`, `T bias?`, `T inputs...`.

    Attributes:
        name: its name.
        type: a type without dimensions, or the name of a type variable.
        option: how many values may be passed.
        least: the minimum number of values of a variadic one.
        homogeneous: whether all values of a variadic one have the same type.
        doc: its documentation.
        at: offset in the text.
    """

    name: str
    type: Type | str
    option: Literal["single", "optional", "variadic"] = "single"
    least: int = 1
    homogeneous: bool = True
    doc: str = ""
    at: int = field(default=-1, compare=False, repr=False)


@dataclass(slots=True)
class FormalAttribute:
    """A formal attribute: `axis: int` is required, `axis: int = 0` and `axis?: int` are not.

    Attributes:
        attribute: its name, type and default.
        required: whether a node must have it.
        values: the valid strings; empty if every string is valid.
        doc: its documentation.
    """

    attribute: Attribute
    required: bool
    values: tuple[str, ...] = ()
    doc: str = ""


@dataclass(slots=True)
class OperatorSchema:
    """One version of an operator.

    Attributes:
        name: the operator.
        domain: `""` for the standard one.
        since: the version of its operator set that introduced this schema.
        deprecated: the reason, maybe empty, if `since` removed the operator; else None.
        doc: its documentation.
        attributes: in order.
        others: whether nodes may have attributes that the schema does not list.
        inputs: in order.
        outputs: in order.
        constraints: the types that each type variable allows; None if it allows every type.
        body: the nodes whose output shapes are the operator's; None if the schema has no body.
        at: offset in the text.
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
        schemas: in order.
        version: the version of the language; None if not stored.
        opset_imports: the operator sets that it describes, and those that its bodies use.
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
