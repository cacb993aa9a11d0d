# SPDX-License-Identifier: Apache-2.0
"""Actions for tensors: convert the literal of a tensor to `TensorData`, based on its type."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from onnxtext import ast
from onnxtext.ast.byte_strings import to_text
from onnxtext.ast.tensors_and_attributes import EXTERNAL_KEYS, SplatData, is_external_number
from onnxtext.syntax.actions.number_list_commas import comma_edits, move_edits
from onnxtext.syntax.actions.registry import ACTIONS
from onnxtext.syntax.actions.semantic_error import SemanticError, from_literal, token_of
from onnxtext.syntax.actions.types import scalar_type
from onnxtext.syntax.actions.unparsed_literals import (
    DataCall,
    JoinedText,
    Pending,
    RawText,
    ScalarText,
    TypedLiterals,
    TypedText,
    nested_items,
)
from onnxtext.tensor.element_count import count_elements
from onnxtext.tensor.element_types import ELEMENTS, ElementType
from onnxtext.tensor.errors import LiteralError
from onnxtext.tensor.format_elements import is_typed_expressible
from onnxtext.tensor.parse_literals import parse_field, parse_scalar, parse_typed, read_raw
from onnxtext.tensor.repeated_bytes import Repetition

NUMERIC_FIELDS = ("float_data", "int32_data", "int64_data", "double_data", "uint64_data")


def tensor(
    type: ast.Type, name: str | None, data: Pending | None = None
) -> ast.Tensor | ast.SparseTensor:
    """Return the tensor for `float[2] t = {1, 2}` in an attribute; `float[2] t` has no data.

    Raises:
        SemanticError: the data is invalid for the type, or a sparse tensor has a name.
    """
    result = resolve(type, data)
    if isinstance(result, ast.SparseTensor):
        if name is not None:
            raise SemanticError(
                "a sparse tensor cannot have a name", help="name its values or its indices instead"
            )
        return result
    assert isinstance(type, ast.TensorType)
    return ast.Tensor(type, result, name)


def scalar_tensor(element: str, value: str | bytes) -> ast.Tensor:
    """Return the tensor of rank 0 for `float(1e-05)`; its element is stored in `raw_data`.

    Raises:
        SemanticError: the element is invalid for the type.
    """
    type, data = ast.TensorType(str(element)), ScalarText(value)
    _reject_strings(type.element, data)
    return ast.Tensor(type, _scalar(ELEMENTS[type.element], data))


def resolve(type: ast.Type, data: Pending | None) -> ast.TensorData | ast.SparseTensor:
    """Convert the parsed data of a tensor to `TensorData` (or `SparseTensor`), based on its type.

    Raises:
        SemanticError: the data is invalid for the type, or the type cannot have data.
    """
    if isinstance(type, ast.SparseTensorType):
        return _sparse(type, data)
    if not isinstance(type, ast.TensorType):
        raise SemanticError(
            "only tensors can have data",
            help="write a tensor type, or remove the data",
            code="tensor-type-expected",
        )
    _reject_strings(type.element, data)
    dims = _dims(type)
    calls = [data] if isinstance(data, DataCall) else data if isinstance(data, list) else []
    if calls:
        if calls[0].name == "external":
            return external_data(calls)
        return ast.FieldData(tuple([(str(call.name), _field(call)) for call in calls]))
    if data is None:
        return ast.NoData()
    if isinstance(data, (ast.ExternalData, ast.Blob, ast.DataFile)):
        return data
    element = ELEMENTS.get(type.element)
    if element is None:
        raise SemanticError(
            "a tensor with data needs an element type",
            help='write the type, or name the field of the data: `raw_data(b"…")`',
        )
    if isinstance(data, ast.TypedBlob):
        return data
    try:
        match data:
            case ScalarText():
                if dims:
                    raise SemanticError(
                        "an element without brackets is only valid in a tensor of rank 0",
                        token=token_of(data.value),
                        help="write `[1, 2, 3]`, or `[0, ...]` for equal elements",
                    )
                return _scalar(element, data)
            case TypedText(text):
                return _typed_data(element, text, dims)
            case TypedLiterals(items):
                return _typed_literals(element, items, dims)
            case RawText(text):
                parsed = read_raw(element, text, dims)
                return SplatData(parsed) if isinstance(parsed, Repetition) else ast.RawData(parsed)
    except LiteralError as error:
        token = token_of(getattr(data, "text", None))
        raise _semantic_error(error, token, lambda text: read_raw(element, text, dims)) from None
    raise AssertionError(data)


def _semantic_error(
    error: LiteralError, token: str | None, parse: Callable[[str], object] | None = None
) -> SemanticError:
    """Call `from_literal`; convert offsets in a `JoinedText` to offsets in the source."""
    result = from_literal(error, token, parse)
    if isinstance(token, JoinedText):
        result.at = token.source(error.offset)
        if parse is not None:
            result.edits = move_edits(comma_edits(token, parse), token.source)
    return result


def _dims(type: ast.TensorType) -> tuple[int, ...]:
    """Return the dimensions of a type; raise an error if its shape is not fully known."""
    dims = type.shape
    if dims is None or not all(isinstance(dim, int) for dim in dims):
        if dims is None:
            help = f"write the sizes in the brackets; `{type.element}` without brackets has rank 0"
        else:
            plain = [dim.value if isinstance(dim, ast.DecoratedDim) else dim for dim in dims]
            names = [f"`{dim or '?'}`" for dim in plain if not isinstance(dim, int)]
            listed = " and ".join(dict.fromkeys(names)) or "the decorators"
            help = f"write numbers in place of {listed}"
        raise SemanticError(
            "a tensor with data needs a size for every dimension",
            help=help,
            code="tensor-shape-unknown",
        )
    return dims  # type: ignore[return-value]


def _reject_strings(element: str, data: Pending | None) -> None:
    """Raise an error if the data of a tensor of numbers has strings."""
    if element == "string" or element not in ELEMENTS:
        return
    match data:
        case ScalarText(bytes()):
            message = f"a string cannot be the value of a tensor of type {element}"
            raise SemanticError(message, help="write the number without quotes")
        case TypedLiterals(items) if any(isinstance(item, bytes) for item in items):
            message = f"a tensor of {element} cannot contain strings"
            raise SemanticError(message, help="write the numbers without quotes")


def _scalar(element: ElementType, data: ScalarText) -> ast.RawData:
    if isinstance(data.value, bytes):
        raise SemanticError(
            "a string in a tensor must be in braces", help='write `string s = {"…"}`'
        )
    try:
        return ast.RawData(parse_scalar(element, data.value))
    except LiteralError as error:
        raise _semantic_error(error, data.value) from None


def _typed_data(element: ElementType, text: str, dims: tuple[int, ...]) -> ast.TensorData:
    if element.kind == "string":
        if text[1:-1].strip():
            raise SemanticError(
                "a string tensor can contain only strings", token=text, help='write `{"a", "b"}`'
            )
        return ast.StringData(())
    try:
        entries = parse_typed(element, text)
    except LiteralError as error:
        parse = partial(parse_typed, element)
        raise _semantic_error(error, text, parse) from None
    count = count_elements(dims) if all(dim >= 0 for dim in dims) else -1
    if not is_typed_expressible(element, entries, count) and entries:
        # Keep the entries: like the official parser, do not compare their number with the shape.
        return ast.FieldData(((element.field, entries),))
    return ast.TypedData(entries)


def _typed_literals(
    element: ElementType, items: list[str | bytes], dims: tuple[int, ...]
) -> ast.TensorData:
    if element.kind == "string":
        strings = tuple([item for item in items if isinstance(item, bytes)])
        if len(strings) != len(items):
            raise SemanticError(
                "a string tensor can contain only strings", help='write `{"a", "b"}`'
            )
        return ast.StringData(strings)
    return _typed_data(element, _braces(items), dims)


def _braces(items: list[str | bytes]) -> str:
    """Return the text of a list of numbers in braces."""
    return nested_items([item for item in items if isinstance(item, str)], "{}")


def _field(call: DataCall) -> bytes | tuple[bytes, ...]:
    match call.name, call.arguments:
        case "raw_data", (bytes() as data,):
            return data
        case "string_data", (TypedLiterals(items),) if all(isinstance(i, bytes) for i in items):
            return tuple([item for item in items if isinstance(item, bytes)])
        case "string_data", (TypedText("{}"),):
            return ()
        case name, (TypedText(text),) if name in NUMERIC_FIELDS:
            return _numeric_field(name, text)
        case name, (TypedLiterals(items),) if name in NUMERIC_FIELDS and not any(
            isinstance(item, bytes) for item in items
        ):
            return _numeric_field(name, _braces(items))
    known = call.name in {"raw_data", "string_data", *NUMERIC_FIELDS}
    error = SemanticError(
        f"the data of `{call.name}` has the wrong form"
        if known
        else f"`{call.name}` is not a field of a tensor",
        token=call.name,
        help='write `raw_data(b"…")`, `string_data{"…"}` or, for example, `float_data{1, 2}`',
    )
    if any(isinstance(argument, bytes) for argument in call.arguments):
        from difflib import get_close_matches  # only for errors, because the import is slow

        similar = get_close_matches(call.name, ("external", "raw_data"), 1)
        if similar and similar[0] != call.name:
            error.instead = similar[0]
    raise error


def _numeric_field(name: str, text: str) -> bytes:
    try:
        return parse_field(name, text)
    except LiteralError as error:
        raise _semantic_error(error, text) from None


def _sparse(type: ast.SparseTensorType, data: Pending | None) -> ast.SparseTensor:
    dims = _dims(ast.TensorType(type.element, type.shape))
    if isinstance(data, list) and len(data) == 1:
        data = data[0]
    match data:
        case DataCall("sparse", (ast.Tensor() as values, ast.Tensor() as indices)):
            if values.type.element != type.element:
                raise SemanticError(
                    f"the values have the type {values.type.element}, but the sparse tensor has "
                    f"the type {type.element}",
                    token=data.name,
                )
            return ast.SparseTensor(dims, values, indices)
    raise SemanticError(
        "a sparse tensor must be written as its values and their indices",
        help="write `sparse(float[2] [1.5, 2.5], int64[2] [0, 3])`",
    )


ACTIONS.update(
    empty_tensor=tensor,
    tensor_assigned=tensor,
    unnamed_tensor=lambda type, data: tensor(type, None, data),
    named_tensor=tensor,
    scalar_tensor=scalar_tensor,
    dataless_tensor=tensor,
    unnamed_dataless_tensor=lambda type: tensor(type, None),
    scalar_dataless_tensor=lambda element: tensor(scalar_type(element), None),
)


def external_data(calls: list[DataCall]) -> ast.ExternalData:
    """Return the external data for `external("w.bin", 0, 16)`.

    More than one item in `calls`, the data of the tensor as `name(…)` items, is an error.

    Raises:
        SemanticError: an argument is invalid, or the tensor also has other data.
    """
    call = calls[0]
    if len(calls) > 1:
        raise SemanticError(
            "a tensor with external data cannot have other data",
            token=calls[1].name,
            help=f"remove {calls[1].name}",
        )
    location, *numbers = call.arguments
    if not isinstance(location, bytes):
        raise SemanticError(
            "the first argument of external data must be the name of its file",
            token=token_of(location) or call.name,
            help='write `external("weights.bin", offset, length)`',
        )
    if len(numbers) >= len(EXTERNAL_KEYS):
        raise SemanticError(
            "external data takes at most a location, an offset and a length",
            token=token_of(numbers[2]) or call.name,
            help=_AS_PAIRS,
        )
    values = [to_text(location)]
    for key, number in zip(EXTERNAL_KEYS[1:], numbers, strict=False):
        if not isinstance(number, str) or not is_external_number(number):
            raise SemanticError(
                f"the {key} of external data must be an integer without sign or leading zeros",
                token=token_of(number) or call.name,
                help=_AS_PAIRS,
            )
        values.append(str(number))
    return ast.ExternalData(tuple(zip(EXTERNAL_KEYS, values, strict=False)))


_AS_PAIRS = 'write other entries as pairs: `["location": "weights.bin", "offset": "0", …]`'
