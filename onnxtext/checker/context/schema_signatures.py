# SPDX-License-Identifier: Apache-2.0
"""Convert schemas of schema files to signatures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from onnxtext.ast.model import Function, OpsetImport, ValueInfo
from onnxtext.ast.tensors_and_attributes import AttributeType
from onnxtext.checker.context.signatures import (
    AttributeParameter,
    OperatorTable,
    Parameter,
    Signature,
    newest_versions,
)
from onnxtext.schemas.type_strings import type_text

if TYPE_CHECKING:
    from onnxtext.ast.schemas import FormalValue, OperatorSchema, SchemaFile

_MANY = (1 << 31) - 1
"""The maximum number of values of a variadic parameter, as in onnx's schemas."""


def imports_of(file: SchemaFile) -> tuple[OpsetImport, ...]:
    """Return the opset imports that apply to the operator bodies in a schema file.

    These are the imports in the header of the file. Domains that it does not import are added: the
    standard domain with the newest version in onnx, and each domain of the file's operators with
    the newest version that an operator has.
    """
    imported = {item.domain or "" for item in file.opset_imports}
    newest: dict[str, int] = {"": newest_versions()[""]}
    for schema in file.schemas:
        newest[schema.domain] = max(schema.since, newest.get(schema.domain, 1))
    implied = [
        OpsetImport(domain or None, n) for domain, n in newest.items() if domain not in imported
    ]
    return (*file.opset_imports, *implied)


def signature_of(schema: OperatorSchema, table: OperatorTable) -> Signature:
    """Convert a schema to a signature; `table` has the operators of the schema file."""
    min_inputs, max_inputs = _counts(schema.inputs)
    min_outputs, max_outputs = _counts(schema.outputs)
    attributes = {
        item.attribute.name: AttributeParameter(
            int(item.attribute.type or AttributeType.INT), item.required
        )
        for item in schema.attributes
    }
    variables = {
        name: frozenset(["any"] if types is None else [type_text(type) or "any" for type in types])
        for name, types in schema.constraints.items()
    }
    return Signature(
        schema.name,
        schema.domain,
        schema.since,
        schema.deprecated is not None,
        _parameters(schema.inputs),
        _parameters(schema.outputs),
        min_inputs,
        max_inputs,
        min_outputs,
        max_outputs,
        attributes,
        variables,
        table.origin,
        table.tentative,
        schema.others,
        schema,
        None if schema.body is None else rule_of(schema, table.imports),
    )


def rule_of(schema: OperatorSchema, imports: tuple[OpsetImport, ...]) -> Function:
    """Return the body of a schema as a function with `imports`, for `Signature.rule`."""
    attributes = [item.attribute for item in schema.attributes]
    result = Function(
        schema.name,
        [ValueInfo(formal.name, at=formal.at) for formal in schema.inputs],
        [ValueInfo(formal.name, at=formal.at) for formal in schema.outputs],
        tuple([a.name if a.value is None else a for a in attributes]),
        nodes=schema.body or [],
        domain=schema.domain,
        opset_imports=list(imports),
    )
    result.at = schema.at
    return result


def _parameters(formals: Sequence[FormalValue]) -> tuple[Parameter, ...]:
    parameters = []
    for formal in formals:
        type = formal.type if isinstance(formal.type, str) else type_text(formal.type) or "any"
        parameters.append(Parameter(formal.name, type, formal.option, formal.homogeneous))
    return tuple(parameters)


def _counts(formals: Sequence[FormalValue]) -> tuple[int, int]:
    """Return the minimum and maximum number of values for a list of formal inputs or outputs."""
    minimum = 0
    for index, formal in enumerate(formals):
        if formal.option == "single":
            minimum = index + 1
        elif formal.option == "variadic" and formal.min_arity:
            minimum = index + formal.min_arity
    variadic = bool(formals) and formals[-1].option == "variadic"
    return minimum, _MANY if variadic else len(formals)
