# SPDX-License-Identifier: Apache-2.0
"""Find values in an edited syntax tree that the classes of the tree do not allow."""

from __future__ import annotations

import dataclasses
import re
import types
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, ForwardRef, Literal, Union, get_args, get_origin, get_type_hints

from onnxtext import ast
from onnxtext.diagnostics import Diagnostic, OnnxTextError
from onnxtext.plurals import count_noun
from onnxtext.tensor.element_types import ELEMENTS


@contextmanager
def explain_wrong_values(model: object) -> Iterator[None]:
    """If the `with` block fails, raise an error that names a wrong value in `model`, if it has one.

    A value is wrong if the annotation of its field does not allow it, or if a type has an unknown
    element type. An `OnnxTextError` of the block is raised unchanged.

    Raises:
        OnnxTextError: the block has raised another exception, and the tree has a wrong value. If it
            has none, the exception of the block is raised.
    """
    try:
        yield
    except OnnxTextError:
        raise
    except Exception as error:
        wrong = _find_wrong(model, ast.Model, "model")
        if wrong is None:
            raise
        message = f"the syntax tree is not valid: {' '.join(wrong)}"
        raise OnnxTextError(Diagnostic("edit-refused", message)) from error


_Wrong = tuple[str, str]
"""The path of a value, and what is wrong with it."""


def _find_wrong(value: Any, expected: Any, path: str) -> _Wrong | None:
    """Return the first wrong value in `value` or inside it; None if there is none.

    `expected` is the annotation of the field that has the value; `path` is the path of `value`.
    """
    origin, arguments = get_origin(expected), get_args(expected)
    if origin in (Union, types.UnionType):
        found = [_find_wrong(value, argument, path) for argument in arguments]
        if None in found:
            return None
        # The longest path belongs to the alternative that the value is most similar to.
        best = max((wrong for wrong in found if wrong is not None), key=lambda one: len(one[0]))
        return best if best[0] != path else _wrong(path, value, expected)
    if isinstance(expected, ForwardRef):
        return None  # the inner part of a recursive annotation
    if value not in arguments if origin is Literal else not isinstance(value, origin or expected):
        return _wrong(path, value, expected)
    if origin is tuple and arguments[-1] is not Ellipsis and len(value) != len(arguments):
        return path, f"has {count_noun(len(value), 'item')}, not {len(arguments)}"
    for item, kind, name in _parts(value, origin, arguments):
        wrong = _find_wrong(item, kind, path + name)
        if wrong is not None:
            return wrong
    if isinstance(value, (ast.TensorType, ast.SparseTensorType)) and not _has_element_type(value):
        return f"{path}.element", f"is {value.element!r}, which is not an element type"
    return None


def _parts(value: Any, origin: Any, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, Any, str]]:
    """Yield the items or fields of a value: for each the value, the annotation and the path."""
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
    return path, f"is a {type(value).__name__}, not a {without_modules}"


def _has_element_type(value: ast.TensorType | ast.SparseTensorType) -> bool:
    return value.element == "undefined" or value.element in ELEMENTS
