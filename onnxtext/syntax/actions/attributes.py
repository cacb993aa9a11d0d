# SPDX-License-Identifier: Apache-2.0
"""Actions for attributes, and for the attribute parameters of functions and their defaults.

The actions infer the type of an attribute from its value, or convert the value to the declared
type. They behave like the official parser: the first item of a list determines the list's type,
`xs: int = [1, 2]` means `xs: ints`, and `x: float = 1` converts the integer to a float.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any, NoReturn

from onnxtext import ast
from onnxtext.suggestions import nearest_name
from onnxtext.syntax.actions import integers
from onnxtext.syntax.actions.registry import ACTIONS, action
from onnxtext.syntax.actions.semantic_error import SemanticError, from_literal
from onnxtext.tensor.errors import LiteralError
from onnxtext.tensor.float_literals import FLOAT_PATTERN, float32_bits
from onnxtext.tensor.number_spellings import not_an_int, other_spelling, whole_number
from onnxtext.tensor.parse_literals import parse_floats, parse_ints

_TYPES = {kind.name.lower(): kind for kind in ast.AttributeType}
_OTHER_TYPES = {
    **dict.fromkeys(("int8", "int16", "int32", "int64", "i64", "i32", "long", "bool"), "int"),
    **dict.fromkeys(("double", "float16", "float32", "f32", "float64"), "float"),
    "str": "string",
    "Tensor": "tensor",
}
"""Maps words that are not attribute types to the attribute type that is probably meant."""
_A = ast.AttributeType
_INT, _FLOAT = _A.INT, _A.FLOAT  # Python 3.11 takes 0.1 µs to look up a member
LIST_OF = {
    _A.FLOAT: _A.FLOATS, _A.INT: _A.INTS, _A.STRING: _A.STRINGS, _A.TENSOR: _A.TENSORS,
    _A.GRAPH: _A.GRAPHS, _A.SPARSE_TENSOR: _A.SPARSE_TENSORS, _A.TYPE_PROTO: _A.TYPE_PROTOS,
}  # fmt: skip
ITEM_OF = {many: one for one, many in LIST_OF.items()}
CLASSES: dict[type, ast.AttributeType] = {
    bytes: _A.STRING, ast.Blob: _A.STRING, ast.Tensor: _A.TENSOR,
    ast.SparseTensor: _A.SPARSE_TENSOR, ast.Graph: _A.GRAPH, ast.TensorType: _A.TYPE_PROTO,
    ast.SparseTensorType: _A.TYPE_PROTO, ast.SequenceType: _A.TYPE_PROTO,
    ast.OptionalType: _A.TYPE_PROTO, ast.MapType: _A.TYPE_PROTO, ast.OpaqueType: _A.TYPE_PROTO,
}  # fmt: skip
"""Maps the classes of attribute values other than numbers to their attribute types."""
_NO_REFERENCES = "a list cannot hold references to attribute parameters"
_ANY_FLOAT = re.compile(f"-?{FLOAT_PATTERN}")
_FLOAT_LIKE_GRAPH = re.compile(r"(?:inf|infinity|nan)_", re.IGNORECASE)


class NumberList(str):
    """The text of a number list that the lexer reads as one token, such as `[1, 2, 3]`.

    Attributes:
        token: the text as a `Token`, which has the offset for error messages.
    """

    __slots__ = ("token",)
    token: str

    def __new__(cls, token: str) -> NumberList:
        """Create the list from its token."""
        result = str.__new__(cls, token)
        result.token = token
        return result


def attribute_type(token: str) -> ast.AttributeType:
    """Return the attribute type that a name such as `ints` denotes.

    Raises:
        SemanticError: the name is not an attribute type.
    """
    kind = _TYPES.get(token)
    if kind is None:
        error = SemanticError(
            f"`{token}` is not an attribute type",
            token=token,
            help=f"write one of {', '.join(_TYPES)}",
        )
        error.missing = "an attribute type such as `int`"
        error.instead = _OTHER_TYPES.get(token) or nearest_name(token, _TYPES)
        raise error
    return kind


def list_type_of(word: str) -> str | None:
    """Return the name of the list type for an item type: `ints` for `int`; None if unknown."""
    kind = _TYPES.get(_OTHER_TYPES.get(word, word))
    many = LIST_OF.get(kind) if kind is not None else None
    return None if many is None else many.name.lower()


@action
def bare_graph_name(name: str) -> str:
    """Check and return the unquoted name of a graph in an attribute.

    Raises:
        SemanticError: the official lexer would read the name as a float, as in `nan_`.
    """
    if _FLOAT_LIKE_GRAPH.match(name):
        raise SemanticError(
            f"`{name}` needs quotes to be a name: it begins like a number",
            token=name,
            help=f'write `"{name}"`',
        )
    return str(name)


def attribute_type_only(
    decorators: list[ast.Decorator] | None, name: str, kind: ast.AttributeType
) -> ast.Attribute:
    """Return the attribute for `alpha: float`, which has a type and no value."""
    return ast.Attribute(name, kind, None, tuple(decorators or ()))


def attribute(
    decorators: list[ast.Decorator] | None,
    name: str,
    declared: ast.AttributeType | None,
    value: Any,
) -> ast.Attribute:
    """Return the attribute for `name: declared = value`, or for `name = value` without a type.

    Raises:
        SemanticError: the value is invalid, or does not have the declared type.
    """
    kind: ast.AttributeType | None
    result: Any
    if type(value) is ast.Number:
        kind, result = _number(declared, value.text)
    elif type(value) is ast.Blob:
        kind, result = _blob(declared), value
    elif type(value) is ast.TypedBlob:
        kind, result = _typed_blob(declared), value
    elif type(value) is list or type(value) is NumberList:
        kind, result = _list(declared, value)
    elif type(value) is ast.Reference:
        kind, result = declared, value
    elif type(value) is ast.Record:
        if declared is not None:
            raise SemanticError(
                "an attribute with a record cannot have a type after its name",
                help="write the type in the record: `{type: …}`",
            )
        kind, result = None, value
    else:
        kind, result = _single(declared, value)
    return ast.Attribute(name, kind, result, tuple(decorators or ()))


def repeated_attribute(
    decorators: list[ast.Decorator] | None,
    name: str,
    declared: ast.AttributeType,
    count: str,
    items: list[Any],
) -> ast.Attribute:
    """Return the attribute for `name: ints[64] = [0, ...]`, a list whose last item is repeated.

    Raises:
        SemanticError: the type, the length or an item is invalid.
    """
    one = ITEM_OF.get(declared)
    if one not in (_A.FLOAT, _A.INT, _A.STRING):
        raise SemanticError(
            "only a list of floats, ints or strings can repeat its last item",
            help="declare one of these types, as in `xs: ints[64] = [0, ...]`, or write all items",
            code="attribute-type-mismatch",
        )
    length = count[1:-1].strip(" \t\n\v\f\r")
    if not length.isdigit() or len(length) > 20 or not len(items) <= int(length) < 1 << 31:
        raise SemanticError(
            "the length must be at least the number of written items, and at most 2147483647",
            token=count,
            help="write the length of the whole list, as in `xs: ints[64] = [0, ...]`",
        )
    if any(type(item) is ast.Reference for item in items):
        raise SemanticError(_NO_REFERENCES)
    for item in items:
        number = item.text if type(item) is ast.Number else None
        kind = CLASSES[type(item)] if number is None else _number_type(number)
        if kind is not one and (kind, one) != (_A.INT, _A.FLOAT):
            _mismatch(declared, kind, number, part="an item of its value")
    values = tuple(
        [_number(one, item.text)[1] if type(item) is ast.Number else item for item in items]
    )
    repeated = ast.RepeatedList(values, int(length))  # type: ignore[arg-type]
    return ast.Attribute(name, declared, repeated, tuple(decorators or ()))


def _blob(declared: ast.AttributeType | None) -> ast.AttributeType:
    if declared is None:
        return _A.STRING
    if declared not in (_A.STRING, _A.FLOATS, _A.INTS):
        _mismatch(declared, _A.STRING)
    return declared


def _typed_blob(declared: ast.AttributeType | None) -> ast.AttributeType:
    if declared not in (_A.FLOATS, _A.INTS, _A.STRINGS):
        raise SemanticError(
            "an attribute whose value is a blob in braces must be declared as a list",
            help='write ints, floats or strings, as in `xs: ints = {blob"9f2c…"}`',
            code="attribute-type-unknown" if declared is None else "attribute-type-mismatch",
        )
    return declared


def _single(
    declared: ast.AttributeType | None, value: Any
) -> tuple[ast.AttributeType, ast.AttributeValue]:
    kind = CLASSES[type(value)]
    if declared is not None and declared is not kind:
        help = None
        text = value.decode(errors="replace") if isinstance(value, bytes) else ""
        if text.startswith("@"):
            help = f"write a reference without quotes: `{text}`"
        elif declared in (_A.INT, _A.FLOAT) and _ANY_FLOAT.fullmatch(text):
            help = f"write the number without quotes: `{text}`"
        _mismatch(declared, kind, help=help)
    return kind, value


def _mismatch(
    declared: ast.AttributeType,
    kind: ast.AttributeType,
    token: str | None = None,
    help: str | None = None,
    part: str = "its value",
) -> NoReturn:
    error = SemanticError(
        f"the attribute is declared as {declared.name.lower()}, but {part} has the type "
        f"{kind.name.lower()}",
        token=token,
        help=help,
        code="attribute-type-mismatch",
    )
    if token is not None and declared in (_A.INT, _A.INTS):
        error.instead = whole_number(token)
    raise error


def _number(
    declared: ast.AttributeType | None, text: str
) -> tuple[ast.AttributeType, int | ast.Float32]:
    kind = _number_type(text)
    if kind is _INT and declared in (None, kind):
        return kind, integers.int64(text)
    if declared not in (None, _FLOAT):
        if declared is _INT and other_spelling(text) is not None:
            raise from_literal(not_an_int(text), text)
        _mismatch(declared, kind, text)
    try:
        return _FLOAT, ast.Float32(float32_bits(text))
    except LiteralError as error:
        is_foreign = declared is None and other_spelling(text) is not None
        raise from_literal(not_an_int(text) if is_foreign else error, text) from None


def _number_type(text: str) -> ast.AttributeType:
    return _INT if text.lstrip("-").isdigit() else _FLOAT


def _list(
    declared: ast.AttributeType | None, items: list[Any] | NumberList
) -> tuple[ast.AttributeType | None, ast.AttributeValue | None]:
    many, one = declared, None
    if declared is not None:
        many, one = LIST_OF.get(declared, declared), ITEM_OF.get(declared, declared)
    if declared not in ITEM_OF and not items:
        raise SemanticError(
            "the type of an empty list is unknown",
            help="declare it, as in `xs: ints = []`",
            code="attribute-type-unknown",
        )
    if isinstance(items, NumberList):
        return _number_list(declared, one, items)
    if not items:
        return many, ast.Floats(b"") if many is _A.FLOATS else ()
    if type(items[0]) is ast.Reference:
        if declared is not None or any(type(item) is not ast.Reference for item in items):
            raise SemanticError(_NO_REFERENCES)
        return None, ast.Record()  # as the official parser does
    if type(items[0]) is ast.Number:
        return _number_list_from_tokens(one, items)
    kind = CLASSES[type(items[0])]
    if one is not None and one is not kind:
        _mismatch(many or LIST_OF[kind], LIST_OF[kind])
    for item in items:
        if CLASSES.get(type(item)) is not kind:
            _raise_mixed_types(kind)
    return LIST_OF[kind], tuple(items)


def _raise_mixed_types(kind: ast.AttributeType, token: str | None = None) -> NoReturn:
    raise SemanticError(
        f"the items of a list must have the type of its first item, {kind.name.lower()}",
        token=token,
        code="attribute-type-mismatch",
    )


def _number_list_from_tokens(
    declared: ast.AttributeType | None, items: list[Any]
) -> tuple[ast.AttributeType, ast.AttributeValue]:
    """Return the type and the value of a number list whose items are separate tokens.

    `declared` is the item type; None to infer it. The lexer splits a list into
    tokens if it contains a comment or a rare spelling of a number.
    """
    first = items[0].text
    for item in items:
        if type(item) is not ast.Number:
            _raise_mixed_types(_number_type(first))
        elif (
            declared is None
            and _number_type(first) is _A.INT
            and _number_type(item.text) is _A.FLOAT
        ):
            _raise_mixed_types(_A.INT, item.text)
    declared = declared or _number_type(first)
    if declared is _A.INT:
        for item in items:
            if _number_type(item.text) is not _A.INT:
                _mismatch(_A.INTS, _A.FLOAT, item.text, part="an item of its value")
        return _A.INTS, tuple([integers.int64(item.text) for item in items])
    if declared is not _A.FLOAT:
        _mismatch(LIST_OF[declared], _number_type(first), first)
    bits = [_number(_A.FLOAT, item.text)[1] for item in items]
    return _A.FLOATS, ast.Floats(b"".join(item.bits.to_bytes(4, "little") for item in bits))  # type: ignore[union-attr]


def _number_list(
    declared: ast.AttributeType | None, one: ast.AttributeType | None, items: NumberList
) -> tuple[ast.AttributeType, ast.AttributeValue]:
    """Return the type and the value of the list; `one` is the item type, None to infer it."""
    first = None
    if declared is None or one is None:
        first = items[1:].partition(",")[0].strip(" \t\n\v\f\r]")
        declared = one = _number_type(first)
    try:
        if one is _A.INT:
            return _A.INTS, parse_ints(items)
        if one is _A.FLOAT:
            return _A.FLOATS, ast.Floats(parse_floats(items))
    except LiteralError as error:
        parse = parse_ints if one is _A.INT else parse_floats
        if first is not None and error.message.startswith("expected an integer"):
            with suppress(LiteralError):
                parse_floats(items)
                error.instead = None
                error.help = "add `.0` to the first number, which makes it a float list"
        raise from_literal(error, items.token, parse) from None
    raise SemanticError(
        f"the attribute is declared as {declared.name.lower()}, but its value is a list of numbers",
        token=items.token,
        code="attribute-type-mismatch",
    )


ACTIONS.update(
    attribute=attribute,
    attribute_type_only=attribute_type_only,
    repeated_attribute=repeated_attribute,
    repeated_items=lambda items, _: items,
    dataless_attribute=attribute,
    attribute_type=attribute_type,
    number_list=NumberList,
)
