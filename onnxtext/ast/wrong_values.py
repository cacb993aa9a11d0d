# SPDX-License-Identifier: Apache-2.0
"""Find values in an edited syntax tree that the classes of the tree do not allow."""

from __future__ import annotations

import dataclasses
import re
import types
from collections.abc import Iterator
from functools import cache
from typing import Any, ForwardRef, Literal, Union, get_args, get_origin, get_type_hints

from onnxtext import ast
from onnxtext.diagnostics import Diagnostic, OnnxTextError
from onnxtext.plurals import count_noun, with_article
from onnxtext.tensor.element_count import count_elements
from onnxtext.tensor.element_types import ELEMENTS
from onnxtext.tensor.format_elements import format_field, format_typed, is_expressible


def raise_for_wrong_value(model: object, error: Exception) -> None:
    """Raise an error that names a wrong value in a model, if it has one; `error` is the cause.

    A value is wrong if its class does not fit the annotation of its field, or if its content is
    invalid, such as the integer 2^63.

    Raises:
        OnnxTextError: the model has a wrong value, and `error` is not an `OnnxTextError`.
    """
    if isinstance(error, OnnxTextError):
        return
    wrong = _find_wrong(model, ast.Model, "model")
    if wrong is not None:
        message = f"the syntax tree is not valid: {' '.join(wrong)}"
        raise OnnxTextError(Diagnostic("edit-refused", message)) from error


_Wrong = tuple[str, str]
"""The path of a value, and the reason why the value is invalid."""


def _find_wrong(value: Any, expected: Any, path: str) -> _Wrong | None:
    """Return the first wrong value, `value` itself or a part of it; None if there is none.

    `expected` is the annotation of the field that has the value; `path` is the path of `value`.
    """
    origin, arguments = get_origin(expected), get_args(expected)
    if origin in (Union, types.UnionType):
        found = [_find_wrong(value, argument, path) for argument in arguments]
        if None in found:
            return None
        # The longest path belongs to the alternative that the value is most similar to.
        best = max((wrong for wrong in found if wrong is not None), key=lambda one: len(one[0]))
        if best[0] != path:
            return best
        return _wrong_content(value, path) or _wrong(path, value, expected)
    if isinstance(expected, ForwardRef):
        return None  # the inner part of a recursive annotation
    if value not in arguments if origin is Literal else not isinstance(value, origin or expected):
        return _wrong(path, value, expected)
    if isinstance(value, bool) and expected is int:
        return _wrong(path, value, expected)
    if origin is tuple and arguments[-1] is not Ellipsis and len(value) != len(arguments):
        return path, f"has {count_noun(len(value), 'item')}, not {len(arguments)}"
    if isinstance(value, ast.Attribute) and (wrong := _wrong_class(value, path)) is not None:
        return wrong
    for item, kind, name in _parts(value, origin, arguments):
        wrong = _find_wrong(item, kind, path + name)
        if wrong is not None:
            return wrong
    return _wrong_content(value, path)


def _parts(value: Any, origin: Any, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, Any, str]]:
    """Yield (value, annotation, relative path) of each key, item or field of a value."""
    if origin is dict:
        for key, item in value.items():
            yield key, arguments[0], f"[{key!r}]"
            yield item, arguments[1], f"[{key!r}]"
    elif origin in (list, tuple):
        fixed = origin is tuple and arguments[-1] is not Ellipsis
        for index, item in enumerate(value):
            yield item, arguments[index if fixed else 0], f"[{index}]"
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for name, annotation in _annotations(type(value)).items():
            yield getattr(value, name), annotation, f".{name}"


@cache
def _annotations(kind: type) -> dict[str, Any]:
    hints = get_type_hints(kind, localns=vars(ast))
    return {item.name: hints[item.name] for item in dataclasses.fields(kind)}


def _wrong(path: str, value: Any, expected: Any) -> _Wrong:
    name = expected.__name__ if isinstance(expected, type) else str(expected)
    without_modules = re.sub(r"\w+[.]", "", name)
    if value is None:
        return path, f"is None, not {with_article(without_modules)}"
    found = type(value).__name__
    return path, f"is {with_article(found)}, not {with_article(without_modules)}"


def _wrong_content(value: Any, path: str) -> _Wrong | None:
    """Return the error in a value whose class and parts are right; None if there is none."""
    match value:
        case str() if _LONE_SURROGATE.search(value):
            return path, f"is {value!r}, which has a lone surrogate"
        case int() if not -(1 << 63) <= value < 1 << 63:
            return path, "does not fit in a signed 64-bit integer"
        case ast.Float32(bits) if not 0 <= bits < 1 << 32:
            return f"{path}.bits", f"is {bits}, not a pattern of 32 bits"
        case ast.TensorType(element) | ast.SparseTensorType(element):
            if element != "undefined" and element not in ELEMENTS:
                return f"{path}.element", f"is {element!r}, which is not an element type"
        case ast.ValueInfo(_, type, data) if data is not None and not isinstance(
            type, expected := _type_of_data(data)
        ):
            return _wrong(f"{path}.type", type, expected)
        case ast.Tensor(type, data) | ast.ValueInfo(_, ast.TensorType() as type, data):
            if not _fits(type, data):
                dims = ", ".join(map(str, type.integer_dims))
                return f"{path}.data", f"is not the data of {type.element}[{dims}]"
    return None


def _type_of_data(data: object) -> type:
    """Return the class that the type of an initializer with this data has."""
    return ast.SparseTensorType if isinstance(data, ast.SparseTensor) else ast.TensorType


def _fits(type: ast.TensorType, data: object) -> bool:
    """Whether a literal of `type` can express `data`; True for data that has no elements."""
    count = count_elements(type.integer_dims)
    try:
        match data:
            case ast.RawData(content):
                return is_expressible(ELEMENTS[type.element], content, count)
            case ast.TypedData(entries):
                text = format_typed(ELEMENTS[type.element], entries, count)
                return text is not None or not entries
            case ast.FieldData(fields):
                for name, value in fields:
                    if name != "raw_data" and isinstance(value, bytes):
                        format_field(name, value)
    except (LookupError, ValueError):  # no such element type or field, or a wrong size
        return False
    return True


def _wrong_class(attribute: ast.Attribute, path: str) -> _Wrong | None:
    """Return the error if an attribute's type does not allow its value's class; else None."""
    kind, value = attribute.type, attribute.value
    if not isinstance(kind, ast.AttributeType):
        return None
    allowed = (*_VALUES.get(kind, _LISTS), *_ANY_TYPE)
    if isinstance(value, allowed) and not isinstance(value, bool):
        return None
    found = with_article(type(value).__name__)
    return f"{path}.value", f"is {found}, but the type is {kind.name}"


_LONE_SURROGATE = re.compile("[\ud800-\udc7f\udd00-\udfff]")
"""Matches a surrogate that stands for no byte; U+DC80 to U+DCFF stand for invalid UTF-8 bytes."""
_ANY_TYPE = (type(None), ast.Reference, ast.Record)
"""The classes of values that attributes of all types can have."""
_LISTS = (tuple, ast.Floats, ast.RepeatedList, ast.Blob, ast.TypedBlob)
"""The classes of lists in attributes, besides `_ANY_TYPE`."""
_VALUES: dict[ast.AttributeType, tuple[type, ...]] = {
    ast.AttributeType.FLOAT: (ast.Float32,),
    ast.AttributeType.INT: (int,),
    ast.AttributeType.STRING: (bytes, ast.Blob),
    ast.AttributeType.TENSOR: (ast.Tensor,),
    ast.AttributeType.GRAPH: (ast.Graph,),
    ast.AttributeType.SPARSE_TENSOR: (ast.SparseTensor,),
    ast.AttributeType.TYPE_PROTO: get_args(ast.Type),
}
"""For each attribute type that is not a list, the classes of its values, besides `_ANY_TYPE`."""
