# SPDX-License-Identifier: Apache-2.0
"""Cache the operator schemas of the installed onnx as small signatures."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from onnxtext.checker.isolation.onnx_module import native


@dataclass(frozen=True, slots=True)
class Parameter:
    """A formal input or output.

    Attributes:
        name: the name in the operator's documentation.
        type: a type variable, or a type such as `tensor(int64)`.
        option: how many values may be passed.
        homogeneous: whether all values of a variadic parameter have the same type.
    """

    name: str
    type: str
    option: Literal["single", "optional", "variadic"]
    homogeneous: bool


@dataclass(frozen=True, slots=True)
class AttributeParameter:
    """A formal attribute.

    Attributes:
        type: its `AttributeProto.AttributeType`.
        required: whether a node must have it.
    """

    type: int
    required: bool


@dataclass(frozen=True, slots=True, eq=False)
class Signature:
    """The schema of one version of an operator.

    Attributes:
        name: the operator.
        domain: `""` for the standard one.
        since: the operator set version that introduced this schema.
        deprecated: whether that version removed the operator.
        inputs: its formal inputs.
        outputs: its formal outputs.
        least_inputs: the minimum number; likewise the maximum, and those of outputs.
        attributes: by name.
        variables: the types that each type variable may stand for.
    """

    name: str
    domain: str
    since: int
    deprecated: bool
    inputs: tuple[Parameter, ...]
    outputs: tuple[Parameter, ...]
    least_inputs: int
    most_inputs: int
    least_outputs: int
    most_outputs: int
    attributes: dict[str, AttributeParameter]
    variables: dict[str, frozenset[str]]

    def input(self, index: int) -> Parameter | None:
        """Return the formal input at an index, taking a variadic one into account."""
        return _parameter(self.inputs, index)

    def output(self, index: int) -> Parameter | None:
        """Return the formal output at an index."""
        return _parameter(self.outputs, index)

    def allowed(self, type: str) -> frozenset[str]:
        """Return the types that a type variable, or a type, allows."""
        return self.variables.get(type) or frozenset((normal_type(type),))


def _parameter(parameters: tuple[Parameter, ...], index: int) -> Parameter | None:
    if index < len(parameters):
        return parameters[index]
    if parameters and parameters[-1].option == "variadic":
        return parameters[-1]
    return None


_BARE_VALUE = re.compile(r"map\((\w+),(\w+)\)")


@cache
def normal_type(text: str) -> str:
    """Normalize a schema's spelling of a type: no blanks, `map(int64,tensor(float))`."""
    return _BARE_VALUE.sub(r"map(\1,tensor(\2))", text.replace(" ", ""))


_LAST = (1 << 31) - 1
"""The greatest version: onnx stores them in 32 bits."""


class Schemas:
    """The operators that the installed onnx has."""

    def __init__(self) -> None:
        self._defs = native().defs
        self._found: dict[tuple[str, str, int], Signature | None] = {}

    def find(self, domain: str, name: str, version: int) -> Signature | None:
        """Return the signature of an operator at a version of its operator set; None if unknown.

        Args:
            domain: `""` for the standard one.
            name: the operator.
            version: the imported version.
        """
        key = domain, name, version
        try:
            return self._found[key]
        except KeyError:
            signature = self._found[key] = self._find(*key)
            return signature

    def _find(self, domain: str, name: str, version: int) -> Signature | None:
        if version < 1 or not (name.isascii() and domain.isascii()):
            return None
        # Convert single schemas: most models use few of the hundreds, and all take 15 ms.
        try:
            schema = self._defs.get_schema(name, min(version, _LAST), domain)
        except self._defs.SchemaError:
            return None
        return _signature(schema, domain)

    def knows(self, domain: str) -> bool:
        """Whether there are schemas of a domain."""
        return domain in newest_versions()

    def history(self, domain: str, name: str) -> list[int]:
        """Return the versions that added or changed an operator."""
        return _operators().get((domain, name), [])

    def names(self, domain: str) -> list[str]:
        """Return the names of all operators of a domain."""
        return [name for place, name in _operators() if place == domain]


@cache
def newest_versions() -> dict[str, int]:
    """Return the newest version of each operator set that the installed onnx has."""
    found = native().defs.schema_version_map()
    return {"" if domain == "ai.onnx" else domain: pair[1] for domain, pair in found.items()}


@cache
def _operators() -> dict[tuple[str, str], list[int]]:
    """Return the versions that added or changed each operator, by domain and name."""
    found: dict[tuple[str, str], list[int]] = {}
    for schema in native().defs.get_all_schemas_with_history():
        domain = "" if schema.domain == "ai.onnx" else schema.domain
        found.setdefault((domain, schema.name), []).append(schema.since_version)
    for versions in found.values():
        versions.sort()
    return found


def _signature(schema: Any, domain: str) -> Signature:
    variables = {
        constraint.type_param_str: frozenset(map(normal_type, constraint.allowed_type_strs))
        for constraint in schema.type_constraints
    }
    return Signature(
        schema.name,
        domain,
        schema.since_version,
        schema.deprecated,
        _parameters(schema.inputs),
        _parameters(schema.outputs),
        schema.min_input,
        schema.max_input,
        schema.min_output,
        schema.max_output,
        {
            name: AttributeParameter(int(attribute.type.value), attribute.required)
            for name, attribute in schema.attributes.items()
        },
        variables,
    )


def _parameters(formals: Any) -> tuple[Parameter, ...]:
    made = []
    for formal in formals:
        option = formal.option.name.lower()
        made.append(Parameter(formal.name, formal.type_str, option, formal.is_homogeneous))
    return tuple(made)


def schema_of(signature: Signature) -> Any:
    """Return the schema of onnx, which can infer the outputs of one node."""
    return native().defs.get_schema(signature.name, signature.since, signature.domain)
