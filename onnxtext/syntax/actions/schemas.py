# SPDX-License-Identifier: Apache-2.0
"""Actions for schema files: operator signatures, their formal attributes and values, and types."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from onnxtext.ast.byte_strings import to_text
from onnxtext.ast.model import Node
from onnxtext.ast.qualified_names import plain_domain
from onnxtext.ast.records import Decorator, Number
from onnxtext.ast.schemas import ANY, FormalAttribute, FormalValue, OperatorSchema, SchemaFile
from onnxtext.ast.tensors_and_attributes import Attribute, AttributeType, Reference
from onnxtext.ast.types import MapType, OpaqueType, TensorType, Type
from onnxtext.syntax.actions.headers import Header
from onnxtext.syntax.actions.registry import ACTIONS, LOCATED, action, located
from onnxtext.syntax.actions.semantic_error import SemanticError
from onnxtext.syntax.grammar.lexer import Token

SCHEMA_KEYS = {"onnxtext", "opset_import", "producer_name", "producer_version", "doc_string"}
_LAST = (1 << 31) - 1
"""Maximum version of an operator set: onnx stores versions in 32 bits."""

Decorators = list[Decorator] | None
Option = Literal["single", "optional", "variadic"]


@action
def schema_fragment(head: Header | None, schemas: list[OperatorSchema]) -> SchemaFile:
    """Return the schema file for a header and operator schemas.

    Raises:
        SemanticError: the header has a key that schema files do not have, or two schemas have the
            same domain, name and version.
    """
    head = head or Header()
    head.allow(SCHEMA_KEYS, "a schema file")
    get = head.values.get
    result = SchemaFile(
        schemas, get("onnxtext"), get("opset_import", []), get("producer_name"),
        get("producer_version"), get("doc_string"),
    )  # fmt: skip
    seen: set[tuple[str, str, int]] = set()
    errors = []
    for schema in schemas:
        key = schema.domain, schema.name, schema.since
        if key in seen:
            name = f"{schema.domain}.{schema.name}" if schema.domain else schema.name
            errors.append(
                SemanticError(
                    f"version {schema.since} of `{name}` is given twice",
                    at=schema.at,
                    length=len(schema.name),
                    help="remove one, or write `@since(VERSION)` before the newer one",
                )
            )
        seen.add(key)
    if errors:
        errors[0].others = tuple(errors[1:])
        raise errors[0]
    return result


@located
def signature(
    offset: int,
    decorators: Decorators,
    name: list[str],
    attributes: list[FormalAttribute | None] | None,
    inputs: list[FormalValue],
    outputs: list[FormalValue],
    constraints: dict[str, tuple[Type, ...] | None] | None,
    nodes: list[Node] | None,
) -> OperatorSchema:
    """Return the operator schema for a signature.

    A signature has the form
    `domain.Name <attributes> (inputs) => (outputs) where T: float | double { nodes }`.

    Raises:
        SemanticError: a name occurs twice, a type variable is undeclared or unused, an attribute
            follows `...`, a variadic input or output is not the last, or a decorator is invalid.
    """
    parts = list(name)
    given = attributes or []
    if None in given[:-1]:
        raise SemanticError("`...` must be the last attribute", help="move it to the end")
    result = OperatorSchema(
        str(parts.pop()),
        ".".join(parts),
        attributes=[item for item in given if item is not None],
        others=None in given,
        inputs=inputs,
        outputs=outputs,
        constraints=constraints or {},
        body=nodes,
    )
    result.at = offset
    result.domain = plain_domain(result.domain)
    arguments = _arguments(decorators, {"doc", "since", "deprecated"}, "a signature")
    result.doc = _text(arguments, "doc")
    if "deprecated" in arguments:
        result.deprecated = _text(arguments, "deprecated")
    result.since = _number(arguments, "since")
    _distinct([item.attribute.name for item in result.attributes], "attribute")
    for kind, formals in (("input", inputs), ("output", outputs)):
        _distinct([formal.name for formal in formals], kind)
        for formal in formals[:-1]:
            if formal.option == "variadic":
                raise SemanticError(
                    f"only the last {kind} can be variadic (`...`)",
                    at=formal.at,
                    length=len(formal.name),
                )
    _check_variables(result)
    return result


def _distinct(names: Iterable[str], kind: str) -> None:
    """Raise an error if a name occurs twice; `kind` is the kind of the named items."""
    for name, count in Counter(names).items():
        if count > 1:
            raise SemanticError(f"the {kind} `{name}` is given twice", help="rename or remove one")


def _check_variables(schema: OperatorSchema) -> None:
    """Raise an error if a type variable is undeclared or unused."""
    used: set[str] = set()
    for formal in (*schema.inputs, *schema.outputs):
        if not isinstance(formal.type, str):
            continue
        used.add(formal.type)
        if formal.type not in schema.constraints:
            raise SemanticError(
                f"`{formal.type}` is neither a type nor a type variable",
                at=formal.at,
                length=len(formal.type),
                help=f"declare it after the outputs: `where {formal.type}: float | double`",
            )
    for name in schema.constraints:
        if name not in used:
            raise SemanticError(
                f"no input or output has the type variable `{name}`",
                help=f"remove `{name}` from the `where` clause, or use it as a type",
            )


# ---- Decorators ---------------------------------------------------------------------------------


def _arguments(
    decorators: Decorators, allowed: set[str], construct: str
) -> dict[str, tuple[Any, ...]]:
    """Check the decorators of a construct; return their arguments by the decorator's name."""
    result: dict[str, tuple[Any, ...]] = {}
    for decorator in decorators or ():
        name = decorator.name
        if name not in allowed:
            raise SemanticError(
                f"`@{name}` is not a decorator of {construct}",
                help=f"the decorators are {', '.join(f'@{word}' for word in sorted(allowed))}",
            )
        if name in result:
            raise SemanticError(f"`@{name}` is given twice", help="remove one of them")
        if any(argument.key is not None for argument in decorator.arguments):
            raise SemanticError(
                f"`@{name}` takes positional arguments only",
                help="remove the names of the arguments",
            )
        result[name] = tuple([argument.value for argument in decorator.arguments])
    return result


def _text(arguments: dict[str, tuple[Any, ...]], name: str) -> str:
    """Return the string argument of the decorator `@name`.

    The result is "" if the decorator is absent. `@deprecated()` may omit the string.
    """
    values = arguments.get(name, (b"",))
    if not values and name == "deprecated":
        return ""
    if len(values) != 1 or not isinstance(values[0], bytes):
        raise SemanticError(f"`@{name}` takes one string", help=f'write `@{name}("text")`')
    return to_text(values[0])


def _number(arguments: dict[str, tuple[Any, ...]], name: str) -> int:
    """Return the number argument of the decorator `@name`; 1 if the decorator is absent.

    Raises:
        SemanticError: the decorator does not have exactly one argument, an integer from 1 to
            `_LAST`.
    """
    values = arguments.get(name)
    if values is None:
        return 1
    text = values[0].text if len(values) == 1 and isinstance(values[0], Number) else ""
    if not (text.isascii() and text.isdigit() and len(text) < 11 and 1 <= int(text) <= _LAST):
        raise SemanticError(
            f"`@{name}` takes one argument, an integer from 1 to {_LAST}",
            help=f"write `@{name}(1)`",
        )
    return int(text)


# ---- Attributes ---------------------------------------------------------------------------------


@action
def given_attribute(attribute: Attribute) -> FormalAttribute:
    """Return the formal attribute for `axis: int`, `axis: int = 0` or `axis = 0`.

    Raises:
        SemanticError: the attribute has no type, its default is a reference such as `@alpha`, or a
            decorator is invalid.
    """
    if isinstance(attribute.value, Reference):
        raise SemanticError(
            "a default cannot refer to an attribute parameter", help="write a value"
        )
    if attribute.type is None:
        raise SemanticError(
            f"the attribute `{attribute.name}` has no type",
            help=f"give it a type, as in `{attribute.name}: int`, or a default value",
        )
    return _formal_attribute(attribute, required=attribute.value is None)


@action
def optional_attribute(decorators: Decorators, name: str, type: AttributeType) -> FormalAttribute:
    """Return the formal attribute for `axes?: ints`, which is optional and has no default.

    Raises:
        SemanticError: a decorator is invalid.
    """
    return _formal_attribute(Attribute(name, type, None, tuple(decorators or ())), required=False)


def _formal_attribute(attribute: Attribute, *, required: bool) -> FormalAttribute:
    arguments = _arguments(list(attribute.decorators), {"doc", "values"}, "an attribute")
    values = arguments.get("values", ())
    if not all(isinstance(value, bytes) for value in values):
        raise SemanticError(
            "the arguments of `@values` must be strings", help='write `@values("one", "other")`'
        )
    if values and attribute.type not in (AttributeType.STRING, AttributeType.STRINGS):
        raise SemanticError(
            "only an attribute of type string or strings can have `@values`",
            help="remove the decorator",
        )
    bare = replace(attribute, decorators=())
    return FormalAttribute(bare, required, tuple(map(to_text, values)), _text(arguments, "doc"))


@action
def other_attributes(_: str) -> None:
    """Return None, the placeholder for `...`: nodes may have attributes that are not listed."""


# ---- Values and types ---------------------------------------------------------------------------


@located
def empty_variadic_formal(
    offset: int, decorators: Decorators, type: Type | str, name: str, _: str
) -> FormalValue:
    """Return the formal value for `T inputs...?`, which takes zero or more values.

    Raises:
        SemanticError: a decorator is invalid.
    """
    result = _formal("variadic", offset, decorators, type, name)
    if any(decorator.name == "least" for decorator in decorators or ()):
        raise SemanticError("`@least` cannot be combined with `...?`", at=offset, length=len(name))
    result.min_arity = 0
    return result


def _formal(
    option: Option, offset: int, decorators: Decorators, type: Type | str, name: str, *_: str
) -> FormalValue:
    """Return a formal value: `T x` (single), `T bias?` (optional) or `T inputs...` (variadic)."""
    allowed = {"doc", "least", "heterogeneous"} if option == "variadic" else {"doc"}
    article = "an" if option == "optional" else "a"
    arguments = _arguments(decorators, allowed, f"{article} {option} value")
    if arguments.get("heterogeneous"):
        raise SemanticError("`@heterogeneous` takes no arguments", help="write `@heterogeneous()`")
    if isinstance(type, Token):
        offset, type = type.at, str(type)  # the type variable, after the decorators
    result = FormalValue(name, type, option, doc=_text(arguments, "doc"))
    result.min_arity = _number(arguments, "least")
    result.homogeneous = "heterogeneous" not in arguments
    result.at = offset
    return result


@action
def fixed_type(type: Type) -> Type:
    """Check and return a type in a signature; type variables have another action.

    Raises:
        SemanticError: the type has dimensions or decorators, or its element type is `undefined`.
    """
    inner: Any = type
    while not inner.decorators and not isinstance(inner, (TensorType, OpaqueType)):
        if isinstance(inner, MapType):
            inner = inner.value
        elif hasattr(inner, "shape"):
            break
        else:
            inner = inner.element
    if inner.decorators:
        raise SemanticError(
            "a type in a signature cannot have decorators", help="remove the decorator"
        )
    if getattr(inner, "shape", ()) != ():
        raise SemanticError(
            "a type in a signature cannot have dimensions",
            help="write the element type alone; a body in braces gives a rule for shapes",
        )
    if getattr(inner, "element", "") == "undefined":
        raise SemanticError(
            "a value cannot have the type `undefined`",
            help="write an element type, such as `float`",
        )
    return type


@action
def where_clause(_: str, constraints: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a dict from type variables to types for `where T: float | double, M: any`.

    The value for a variable is a tuple of types, or None for `any`.

    Raises:
        SemanticError: a type variable is declared twice.
    """
    _distinct([name for name, _ in constraints], "type variable")
    return dict(constraints)


@action
def constraint(name: str, choices: list[Type | str]) -> tuple[str, tuple[Type, ...] | None]:
    """Return `T` and a tuple of its types for `T: float | double`; `T` and None for `T: any`.

    Raises:
        SemanticError: an alternative is not a type.
    """
    if choices == [ANY]:
        return str(name), None
    for choice in choices:
        if isinstance(choice, str):
            raise SemanticError(
                f"`{choice}` is not a type",
                token=choice,
                help="write types such as `float`, or `any` alone",
            )
    return str(name), tuple(dict.fromkeys(choices))  # type: ignore[arg-type]


ACTIONS.update(
    single_formal=partial(_formal, "single"),
    optional_formal=partial(_formal, "optional"),
    variadic_formal=partial(_formal, "variadic"),  # takes one or more values
    type_variable=lambda name: name,  # a token with its offset, which errors need
)
LOCATED |= {"single_formal", "optional_formal", "variadic_formal"}
