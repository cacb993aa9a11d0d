# SPDX-License-Identifier: Apache-2.0
"""Look up operators in the installed onnx and in schema files, and cache their signatures."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from onnxtext.ast.qualified_names import plain_domain, qualified_name
from onnxtext.checker.isolation.onnx_module import onnx_native_module
from onnxtext.quick_dataclass import dataclass

if TYPE_CHECKING:
    from onnxtext.ast.model import Function, OpsetImport
    from onnxtext.ast.schemas import OperatorSchema


class Parameter(NamedTuple):
    """A formal input or output of an operator.

    Attributes:
        type: a type variable such as `T`, or a type such as `tensor(int64)`.
        option: the number of values that a node may have for the parameter: `single` for exactly
            one, `optional` for at most one, `variadic` for any number.
        homogeneous: whether all values of a variadic parameter must have the same type.
    """

    name: str
    type: str
    option: Literal["single", "optional", "variadic"]
    homogeneous: bool


class AttributeParameter(NamedTuple):
    """A formal attribute of an operator.

    Attributes:
        type: the type of the attribute, as a number of the enum `AttributeProto.AttributeType`.
        required: whether a node must have the attribute.
    """

    type: int
    required: bool


@dataclass(frozen=True, slots=True, eq=False)
class Signature:
    """The schema of one version of an operator.

    Attributes:
        domain: the domain of the operator; `""` for the standard domain.
        since: the operator set version that introduced this schema.
        deprecated: whether this schema marks the operator as deprecated.
        variables: maps each type variable, such as `T`, to the types that it may stand for.
        origin: the file or package that contains this schema; `""` for the installed onnx.
        tentative: whether another version of the origin may define the operator differently.
        is_open: whether a node may have attributes that the schema does not list.
        source: the schema in a schema file; None for a schema of onnx.
        rule: the shape rule: the body of the schema as a function, whose outputs have the same
            shapes as the operator's outputs. None if the schema has no body.
    """

    name: str
    domain: str
    since: int
    deprecated: bool
    inputs: tuple[Parameter, ...]
    outputs: tuple[Parameter, ...]
    min_inputs: int
    max_inputs: int
    min_outputs: int
    max_outputs: int
    attributes: dict[str, AttributeParameter]
    variables: dict[str, frozenset[str]]
    origin: str = ""
    tentative: bool = False
    is_open: bool = False
    source: OperatorSchema | None = None
    rule: Function | None = None

    @property
    def is_standard(self) -> bool:
        """Whether this is onnx's schema of an operator of the standard domain."""
        return not self.domain and not self.origin

    @property
    def full_name(self) -> str:
        """The name with its domain, such as `com.microsoft.Gelu`."""
        return qualified_name(self.domain, self.name)

    def input(self, index: int) -> Parameter | None:
        """Return the formal input for a node's input `index` (0-based); None if there is none."""
        return _parameter(self.inputs, index)

    def output(self, index: int) -> Parameter | None:
        """Return the formal output for a node's output `index` (0-based); None if there is none."""
        return _parameter(self.outputs, index)

    def allowed(self, type: str) -> frozenset[str]:
        """Return the types that a type variable allows; for a concrete type, only that type."""
        return self.variables.get(type) or frozenset((normal_type(type),))


def allows_any(types: frozenset[str]) -> bool:
    """Whether a constraint allows every type: it contains `any` or an opaque type."""
    return any(text == "any" or text.startswith("opaque") for text in types)


def _parameter(parameters: tuple[Parameter, ...], index: int) -> Parameter | None:
    if index < len(parameters):
        return parameters[index]
    if parameters and parameters[-1].option == "variadic":
        return parameters[-1]
    return None


_BARE_VALUE = re.compile(r"map\((\w+),(\w+)\)")


@cache
def normal_type(text: str) -> str:
    """Normalize a type in a schema: `map(int64, float)` → `map(int64,tensor(float))`."""
    return _BARE_VALUE.sub(r"map(\1,tensor(\2))", text.replace(" ", ""))


_LAST = (1 << 31) - 1
"""The greatest version of an operator set: onnx stores versions in 32 bits."""


Operators = dict[tuple[str, str], list[int]]
"""Maps (domain, name) of each operator to the sorted versions that added or changed it."""


def _histories(schemas: Iterable[tuple[str, str, int]]) -> Operators:
    """Return the `Operators` with these (domain, name, version)."""
    result: Operators = {}
    for domain, name, since in schemas:
        result.setdefault((domain, name), []).append(since)
    return {key: sorted(versions) for key, versions in result.items()}


class OperatorTable:
    """The operators of a schema file.

    Attributes:
        origin: the name of the schema file, or of the package that it describes, for messages.
        tentative: whether another version of the origin may define an operator differently.
            Findings that follow from the schemas of a tentative table become warnings.
        imports: the opset imports that apply to the bodies of the schemas.
    """

    origin: str
    tentative = False
    imports: tuple[OpsetImport, ...]
    _schemas: Mapping[tuple[str, str, int], Any]
    """Maps (domain, name, version) to the schema, or to its place in a schema file."""

    def find(self, domain: str, name: str, version: int) -> Signature | None:
        """Return the `Signature` of an operator in an operator set version; None if unknown."""
        versions = [v for v in self.operators.get((domain, name), ()) if v <= version]
        return self._signature(domain, name, versions[-1]) if versions else None

    @cached_property
    def operators(self) -> Operators:
        """Maps (domain, name) of each operator to the sorted versions that added or changed it."""
        return _histories(self._schemas)

    def _signature(self, domain: str, name: str, since: int) -> Signature:
        """Return the `Signature` of an operator in a version that added or changed it."""
        raise NotImplementedError


class Schemas:
    """The operators of the installed onnx and of schema files.

    `tables` has the operators of the schema files. They are searched for operators that onnx lacks.
    If several tables have an operator, the first one counts.
    """

    def __init__(self, tables: Sequence[OperatorTable] = ()) -> None:
        self._defs = onnx_native_module().defs
        self._tables = tuple(tables)
        self._found: dict[tuple[str, str, int], Signature | None] = {}

    def find(self, domain: str, name: str, version: int) -> Signature | None:
        """Return the `Signature` of an operator in an operator set version; None if unknown.

        The standard domain is `""`.
        """
        key = domain, name, version
        try:
            return self._found[key]
        except KeyError:
            signature = self._found[key] = self._find(*key)
            return signature

    def _find(self, domain: str, name: str, version: int) -> Signature | None:
        if version < 1:
            return None
        # Convert schemas on demand: a model uses few of them, and converting all takes 15 ms.
        if name.isascii() and domain.isascii():
            try:
                schema = self._defs.get_schema(name, min(version, _LAST), domain)
            except self._defs.SchemaError:
                pass
            else:
                # A schema that Python code registered has no line; another one may replace it.
                find = _signature if schema.line else _signature.__wrapped__
                return find(schema.name, schema.since_version, domain)
        signatures = (table.find(domain, name, version) for table in self._tables)
        return next((signature for signature in signatures if signature is not None), None)

    def knows(self, domain: str) -> bool:
        """Whether the installed onnx has operators of a domain."""
        return domain in newest_versions()

    def tables(self, domain: str) -> Iterator[OperatorTable]:
        """Yield the tables that have operators of a domain."""
        for table in self._tables:
            if any(other == domain for other, _ in table.operators):
                yield table

    def newest(self, domain: str) -> int | None:
        """Return the newest known version of an operator set; None for an unknown domain."""
        version = newest_versions().get(domain)
        if version is not None:
            return version
        histories = [item for table in self._tables for item in table.operators.items()]
        newest = [max(history) for (other, _), history in histories if other == domain]
        return max(newest, default=None)

    def domains(self) -> list[str]:
        """Return the domains of all operators of the installed onnx and of the schema files."""
        others = [domain for table in self._tables for domain, _ in table.operators]
        return list(dict.fromkeys([*newest_versions(), *others]))

    def _operators(self) -> Iterator[Operators]:
        """Yield the operators of onnx, and then those of each table."""
        yield _operators()
        for table in self._tables:
            yield table.operators

    def history(self, domain: str, name: str) -> list[int]:
        """Return the versions that added or changed an operator, ascending; [] if it is unknown."""
        key = domain, name
        return next((known[key] for known in self._operators() if key in known), [])

    def names(self, domain: str) -> list[str]:
        """Return the names of all operators of a domain."""
        keys = chain.from_iterable(self._operators())
        return list(dict.fromkeys([name for other, name in keys if other == domain]))


@cache
def newest_versions() -> dict[str, int]:
    """Return the newest version of each operator set that the installed onnx has."""
    version_map = onnx_native_module().defs.schema_version_map()
    return {plain_domain(domain): pair[1] for domain, pair in version_map.items()}


@cache
def _operators() -> Operators:
    """Return the operators of the installed onnx."""
    schemas = onnx_native_module().defs.get_all_schemas_with_history()
    return _histories(
        [(plain_domain(item.domain), item.name, item.since_version) for item in schemas]
    )


@cache
def _signature(name: str, since: int, domain: str) -> Signature:
    schema = onnx_native_module().defs.get_schema(name, since, domain)
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
    parameters = []
    for formal in formals:
        option = formal.option.name.lower()
        parameters.append(Parameter(formal.name, formal.type_str, option, formal.is_homogeneous))
    return tuple(parameters)


def schema_of(signature: Signature) -> Any:
    """Return onnx's `OpSchema` for a signature; the signature must come from onnx."""
    return onnx_native_module().defs.get_schema(signature.name, signature.since, signature.domain)
