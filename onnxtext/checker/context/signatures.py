# SPDX-License-Identifier: Apache-2.0
"""Operator signatures: the schemas of the installed onnx, read once and kept small."""

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
        name: as in the documentation of the operator.
        type: a type variable, or a type such as `tensor(int64)`.
        option: how many values may be given.
        homogeneous: for a variadic one, whether all values have the same type.
    """

    name: str
    type: str
    option: Literal["single", "optional", "variadic"]
    homogeneous: bool


@dataclass(frozen=True, slots=True)
class AttributeParameter:
    """A formal attribute.

    Attributes:
        type: the number of its `AttributeProto.AttributeType`.
        required: whether it has to be given.
    """

    type: int
    required: bool


@dataclass(frozen=True, slots=True, eq=False)
class Signature:
    """An operator at one version (schema).

    Attributes:
        name: the operator.
        domain: `""` for the standard one.
        since: the operator set it came with in this form.
        deprecated: whether that operator set took it away.
        inputs: its formal inputs.
        outputs: its formal outputs.
        least_inputs: and the most; likewise of outputs.
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
        """The formal input of an actual one; the last one if that is variadic."""
        return _parameter(self.inputs, index)

    def output(self, index: int) -> Parameter | None:
        """The formal output of an actual one."""
        return _parameter(self.outputs, index)

    def allowed(self, type: str) -> frozenset[str]:
        """The types that a type variable, or a type, stands for."""
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
    """A type of a schema in one spelling: no blanks, `map(int64,tensor(float))`."""
    return _BARE_VALUE.sub(r"map(\1,tensor(\2))", text.replace(" ", ""))


_LAST = (1 << 31) - 1
"""Versions are of 32 bits in C++."""


class Schemas:
    """All operators that the installed onnx knows."""

    def __init__(self) -> None:
        self._defs = native().defs
        self._found: dict[tuple[str, str, int], Signature | None] = {}

    def find(self, domain: str, name: str, version: int) -> Signature | None:
        """The signature of an operator at a version of its operator set; None if it has none.

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
        # One at a time: most models use few of the hundreds, all of which take 15 ms.
        try:
            schema = self._defs.get_schema(name, min(version, _LAST), domain)
        except self._defs.SchemaError:
            return None
        return _signature(schema, domain)

    def knows(self, domain: str) -> bool:
        """Whether there are schemas of a domain."""
        return domain in newest_versions()

    def history(self, domain: str, name: str) -> list[int]:
        """The versions at which an operator came or changed."""
        return _operators().get((domain, name), [])

    def names(self, domain: str) -> list[str]:
        """All operators of a domain."""
        return [name for place, name in _operators() if place == domain]


@cache
def newest_versions() -> dict[str, int]:
    """The newest version of each operator set that the installed onnx knows."""
    found = native().defs.schema_version_map()
    return {"" if domain == "ai.onnx" else domain: pair[1] for domain, pair in found.items()}


@cache
def _operators() -> dict[tuple[str, str], list[int]]:
    """All operators, by domain and name, with the versions at which each came or changed."""
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
    """The schema itself, for what only it can do: inference of one node's outputs."""
    return native().defs.get_schema(signature.name, signature.since, signature.domain)
