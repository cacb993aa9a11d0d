# SPDX-License-Identifier: Apache-2.0
"""Convert `OpSchema` objects of onnx and onnxruntime to the schemas of schema files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from onnxtext.ast.model import OpsetImport
from onnxtext.ast.qualified_names import plain_domain
from onnxtext.ast.schemas import FormalAttribute, FormalValue, OperatorSchema, SchemaFile
from onnxtext.ast.tensors_and_attributes import Attribute, AttributeType
from onnxtext.ast.types import Type
from onnxtext.proto.decode.lift import LiftError, lift_fragment
from onnxtext.schemas.type_strings import type_of

MAX_DOC_LENGTH = 160
"""Maximum number of characters of a summary, the first sentence of the documentation."""
_OPSET = 21
"""The version of the standard operator set that function bodies in schema files import."""
_SENTENCE = re.compile(r"(.+?[.!?])(?=\s+[A-Z(`]|\s*$)")


def schema_file(schemas: Iterable[Any], package: str, version: str) -> SchemaFile:
    """Return the schema file of a version of a package.

    `schemas` are the schemas of its operators: `onnx.defs.OpSchema`, or onnxruntime's own class.
    """
    converted = [convert_schema(schema) for schema in schemas]
    converted.sort(key=lambda item: (item.domain, item.name, item.since))
    newest = {"": _OPSET}
    for item in converted:
        if item.domain:
            newest[item.domain] = max(item.since, newest.get(item.domain, 1))
    imports = [OpsetImport(domain or None, number) for domain, number in newest.items()]
    return SchemaFile(converted, 1, imports, package, version)


def convert_schema(schema: Any) -> OperatorSchema:
    """Convert a schema object of onnx or onnxruntime to an `OperatorSchema`."""
    result = OperatorSchema(
        schema.name,
        plain_domain(schema.domain),
        max(schema.since_version, 1),
        "" if schema.deprecated else None,
        summary(schema.doc),
    )
    for constraint in schema.type_constraints:
        types = [type_of(text, ()) for text in constraint.allowed_type_strs]
        allowed = tuple(dict.fromkeys([type for type in types if type is not None]))
        # If onnxtext has no syntax for one of the types, the constraint allows every type.
        known = None if None in types else allowed
        result.constraints[constraint.type_param_str] = known
    result.inputs = _values(schema.inputs, schema.min_input, result)
    result.outputs = _values(schema.outputs, schema.min_output, result)
    used = {formal.type for formal in (*result.inputs, *result.outputs)}
    result.constraints = {name: types for name, types in result.constraints.items() if name in used}
    result.attributes = [
        convert_attribute(item) for _, item in sorted(schema.attributes.items()) if item.name
    ]
    result.others = "" in schema.attributes
    return result


def _values(formals: Sequence[Any], min_count: int, schema: OperatorSchema) -> list[FormalValue]:
    """Convert the formal inputs or outputs of a schema.

    Args:
        formals: the formal inputs or outputs.
        min_count: the minimum number of inputs or outputs of a node.
        schema: the converted schema; type variables may be added to it (see `_formal_type`).
    """
    result: list[FormalValue] = []
    names: set[str] = set()
    for index, formal in enumerate(formals):
        name = formal.name or f"value_{index}"
        while name in names:
            name += "_"
        names.add(name)
        option: Any = str(formal.option).rpartition(".")[2].lower()
        type = _formal_type(formal, schema)
        value = FormalValue(name, type, option, doc=summary(formal.description))
        if option == "variadic":
            value.min_arity = max(min_count - index, 0)
            value.homogeneous = bool(_field(formal, "is_homogeneous", "isHomogeneous"))
        result.append(value)
    return result


def _formal_type(formal: Any, schema: OperatorSchema) -> Type | str:
    """Return the type of a formal value, or the name of its type variable.

    If onnxtext has no syntax for the type, add a type variable without constraints to `schema`, and
    return its name.
    """
    text: str = _field(formal, "type_str", "typeStr")
    if text in schema.constraints:
        return text
    type = type_of(text, ())
    if type is not None:
        return type
    name = re.sub(r"\W", "_", text) or "Any"
    schema.constraints.setdefault(name, None)
    return name


def _field(item: Any, name: str, other: str) -> Any:
    """Return a Python attribute of a schema; onnx calls it `name`, onnxruntime `other`."""
    return getattr(item, name) if hasattr(item, name) else getattr(item, other)


def convert_attribute(formal: Any) -> FormalAttribute:
    """Convert a formal attribute with its default; a default that cannot be read is left out."""
    kind = AttributeType[str(formal.type).rpartition(".")[2].upper()]
    default = _field(formal, "default_value", "_default_value")
    data = default if isinstance(default, bytes) else default.SerializeToString()
    value = None
    if data:
        try:
            item = lift_fragment(data, "AttributeProto").item
        except LiftError:
            item = None
        if isinstance(item, Attribute) and item.type == kind:
            value = item.value
    bare = Attribute(formal.name, kind, value)
    return FormalAttribute(bare, bool(formal.required), (), summary(formal.description))


def summary(doc: str | None) -> str:
    """Return the first sentence of documentation on one line, at most `MAX_DOC_LENGTH` long."""
    paragraph = (doc or "").strip().split("\n\n")[0]
    line = " ".join(paragraph.split())
    match = _SENTENCE.match(line)
    line = match[1] if match is not None else line
    if len(line) > MAX_DOC_LENGTH:
        line = line[: MAX_DOC_LENGTH - 1].rsplit(" ", 1)[0] + "…"
    return "".join([character if character.isprintable() else " " for character in line])
