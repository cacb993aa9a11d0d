# SPDX-License-Identifier: Apache-2.0
"""Describe operators and functions for the editor: signatures, documentation, placeholders."""

from __future__ import annotations

import contextlib
import inspect
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from onnxtext.ast.byte_strings import to_text
from onnxtext.ast.model import Function, Graph
from onnxtext.ast.schemas import FormalAttribute, OperatorSchema
from onnxtext.ast.tensors_and_attributes import Attribute, AttributeType, Float32, Floats
from onnxtext.checker.context.operator_tables import bundled_table
from onnxtext.checker.context.scopes import Scope
from onnxtext.checker.context.signatures import (
    OperatorTable,
    Parameter,
    Schemas,
    Signature,
    schema_of,
)
from onnxtext.checker.engine.project_schemas import tables_of
from onnxtext.checker.engine.project_settings import SettingsError, find_settings
from onnxtext.checker.inference.explain_shape_errors import spell_type
from onnxtext.diagnostics import OnnxTextError
from onnxtext.printer import print_attribute
from onnxtext.printer.quoting import quote_string, quote_word
from onnxtext.schemas.convert_schemas import convert_attribute
from onnxtext.schemas.type_strings import text_spelling
from onnxtext.tensor.float_literals import float32_text

_QUOTED = re.compile(r"(?<![\w'])'([A-Za-z0-9_]+)[,.]?'(?!\w)|\"([A-Za-z0-9_]+)[,.]?\"")
_LISTED = re.compile(r"(?:one of|either|modes?|loss|apply):? ((?:[^.;]|\(.*?\))+)")
_TICKED = re.compile(r"`([A-Za-z0-9_]+)`")
_UPPER = re.compile(r"\b[A-Z]{3,}\b")
_MAX_DOC_LENGTH = 6000
_PLACEHOLDERS = {
    "INT": "0", "FLOAT": "0.0", "STRING": '""', "INTS": "[]", "FLOATS": "[]", "STRINGS": "[]",
    "GRAPH": "body () => () {}", "TENSOR": "float[1] {0}",
}  # fmt: skip
"""The text of a minimal value, by attribute type."""


# ---- Documentation and defaults -------------------------------------------------------------


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


# ---- Operators ------------------------------------------------------------------------------


def parameter_text(parameter: Parameter) -> str:
    """Format a formal input or output: `X: T`, `B?: T`, `inputs...: T`."""
    option_sign = {"single": "", "optional": "?", "variadic": "..."}[parameter.option]
    return f"{parameter.name}{option_sign}: {parameter.type}"


def signature_text(signature: Signature) -> str:
    """Format a signature on one line, in the syntax of a node with its required attributes."""
    outputs = ", ".join(map(parameter_text, signature.outputs))
    inputs = ", ".join(map(parameter_text, signature.inputs))
    name = signature.full_name
    required = [n for n, formal in signature.attributes.items() if formal.required]
    attributes = f" <{', '.join(f'{name} = …' for name in required)}>" if required else ""
    return f"{outputs} = {name}{attributes} ({inputs})"


def documentation(signature: Signature, *, full: bool = True) -> str:
    """Return an operator's documentation in Markdown; only its first paragraph if not `full`."""
    found = details(signature)
    doc = dedent_documentation(found.doc)
    if not full:
        return doc.split("\n\n")[0]
    parts = [doc[:_MAX_DOC_LENGTH]]
    for title, formals, docs in (
        ("Inputs", signature.inputs, found.inputs),
        ("Outputs", signature.outputs, found.outputs),
    ):
        if formals:
            rows = [
                f"- `{formal.name}` (`{formal.type}`): {one_line(text)}"
                for formal, text in zip(formals, docs, strict=True)
            ]
            parts.append(f"**{title}**\n\n" + "\n".join(rows))
    if found.attributes:
        rows = [f"- {attribute_line(signature, name)}" for name in found.attributes]
        parts.append("**Attributes**\n\n" + "\n".join(rows))
    variables = constraints_text(signature) if signature.origin else ""
    if variables:
        parts.append(f"where {variables}")
    return "\n\n".join(part for part in parts if part)


def constraints_text(signature: Signature) -> str:
    """List the types that each type variable allows, in Markdown: `T`: `float`, `double`."""
    return "; ".join(
        f"`{name}`: {', '.join(f'`{text_spelling(text)}`' for text in sorted(types))}"
        for name, types in signature.variables.items()
    )


def origin_text(signature: Signature) -> str:
    """Describe where an operator is defined: operator set, version, schema file if any."""
    state = ", **deprecated**" if signature.deprecated else ""
    origin = f", as in {signature.origin}" if signature.origin else ""
    return f"`{signature.domain or 'ai.onnx'}` {signature.since}{state}{origin}"


def dedent_documentation(doc: str) -> str:
    """Return documentation without its common indentation."""
    return inspect.cleandoc(doc).strip()


def one_line(doc: str) -> str:
    """Return documentation as one line."""
    return " ".join(doc.split())


def attribute_line(signature: Signature, name: str) -> str:
    """Describe an attribute on one line: type, default and meaning."""
    formal, found = signature.attributes[name], details(signature).attributes[name]
    kind = AttributeType(formal.type).name.lower()
    default = found.default
    note = "required" if formal.required else f"default `{default}`" if default else "optional"
    return f"`{name}`: {kind}, {note}. {one_line(found.doc)}".rstrip()


def attribute_documentation(signature: Signature, name: str) -> str:
    """Return the documentation of an attribute in Markdown."""
    formal, found = signature.attributes[name], details(signature).attributes[name]
    kind = AttributeType(formal.type).name.lower()
    default = found.default
    head = f"{name}: {kind}" + (f" = {default}" if default else "")
    note = "required attribute" if formal.required else "attribute"
    text = dedent_documentation(found.doc)
    return f"```onnxtxt\n{head}\n```\n\n{note} of `{signature.name}`-{signature.since}\n\n{text}"


def valid_strings(signature: Signature, name: str) -> list[str]:
    """Return the valid values of a string attribute; [] if unknown.

    Schemas of onnx list these values only in prose, in several forms: "Must be one of forward
    (default), reverse, or bidirectional", "'none': no reduction", "`zeros`(default), `border`".
    """
    if signature.attributes[name].type != AttributeType.STRING:
        return []
    attribute = details(signature).attributes[name]
    if attribute.values:
        return list(attribute.values)
    description = one_line(attribute.doc)
    default = attribute.default.strip('"')
    for find in (_quoted_words, _listed_words, _TICKED.findall, _UPPER.findall):
        words = [word for word in find(description) if word not in signature.attributes]
        values = list(dict.fromkeys([*([default] if default else []), *words]))
        if len(values) > 1:
            return values
    return []


def _quoted_words(text: str) -> list[str]:
    return [next(filter(None, groups)) for groups in _QUOTED.findall(text)]


def _listed_words(text: str) -> list[str]:
    match = _LISTED.search(text)
    if match is None:
        return []
    stripped = re.sub(r"\([^)]*\)", "", match.group(1))
    parts = re.split(r",|\bor\b|\band\b", stripped)
    return [part.strip() for part in parts if re.fullmatch(r"\w+", part.strip())]


def value_placeholder(signature: Signature, name: str) -> str:
    """Return the text of the value to insert for a new attribute.

    It is the default value if that has one line; else a minimal value of the attribute's type, such
    as `0`; "" for a type without a minimal value.
    """
    default = details(signature).attributes[name].default
    if default and "\n" not in default:
        return default
    return _PLACEHOLDERS.get(AttributeType(signature.attributes[name].type).name, "")


# ---- Functions ----------------------------------------------------------------------------------


def function_text(scope: Scope) -> str:
    """Format the head of a function on one line, in the syntax of a node."""
    function = scope.owner
    assert isinstance(function, Function)
    outputs = ", ".join(_formal(value.name, value.type) for value in scope.outputs)
    inputs = ", ".join(_formal(value.name, value.type) for value in scope.inputs)
    name = f"{function.domain}.{function.name}" if function.domain else function.name
    overload = f":{function.overload}" if function.overload else ""
    attributes = ", ".join(map(parameter_of, function.attributes))
    shown = f" <{attributes}>" if attributes else ""
    return f"{outputs} = {name}{overload}{shown} ({inputs})"


def _formal(name: str, type: Any) -> str:
    return quote_word(name) if type is None else f"{spell_type(type)} {quote_word(name)}"


def parameter_of(item: str | Attribute) -> str:
    """Format an attribute parameter of a function: `alpha`, or `alpha: float = 1.0`."""
    if isinstance(item, str):
        return item
    kind = f": {item.type.name.lower()}" if item.type is not None else ""
    return f"{item.name}{kind}" + (f" = {value_text(item.value)}" if item.value is not None else "")


def value_text(value: object) -> str:
    """Return an attribute's value as a short text.

    A long string is cut. `[…]` stands for all lists but short ones of integers and strings, `…` for
    tensors, graphs and other values.
    """
    match value:
        case Float32():
            return float32_text(value.bits, point=True)
        case int():
            return str(value)
        case bytes():
            return quote_string(to_text(value))[:80]
        case tuple() if len(value) <= 8 and all(isinstance(item, (int, bytes)) for item in value):
            return f"[{', '.join(map(value_text, value))}]"
        case tuple() | Floats():
            return "[…]"
    return "…"


def function_documentation(scope: Scope) -> str:
    """Return the doc string of a function; "" if it has none."""
    function = scope.owner
    assert isinstance(function, Function)
    return dedent_documentation(function.doc_string or "")


def schemas_of(directory: Path | None) -> Schemas:
    """Return the operators that documents in a directory may use.

    These are the operators of onnx, of the project's schema files, and of the bundled table. If the
    settings or a schema file have errors or cannot be read, the project's operators are left out.
    The checker reports these errors.
    """
    return _schemas(tables_for(directory))


def tables_for(directory: Path | None) -> tuple[OperatorTable, ...]:
    """Return the operator tables of the project around a directory, and the bundled table.

    If the settings or a schema file have errors or cannot be read, return only the bundled table.
    """
    if directory is not None:
        with contextlib.suppress(SettingsError, OSError, OnnxTextError):
            return tables_of(find_settings(directory))
    return (bundled_table(),)


@lru_cache(maxsize=8)
def _schemas(tables: tuple[OperatorTable, ...]) -> Schemas:
    """Return the operators in tables; equal tables get the same object, with cached signatures."""
    return Schemas(tables)
