# SPDX-License-Identifier: Apache-2.0
"""Actions for types: parse types from their text."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from typing import Any

from onnxtext.ast.records import Decorator
from onnxtext.ast.types import (
    DecoratedDim,
    Dim,
    MapType,
    OpaqueType,
    OptionalType,
    SequenceType,
    SparseTensorType,
    TensorType,
    Type,
)
from onnxtext.syntax.actions import integers
from onnxtext.syntax.actions.registry import ACTIONS, action
from onnxtext.syntax.actions.semantic_error import SemanticError

_SIZE = re.compile(r"-?[0-9]+", re.ASCII)
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


MAX_TYPE_DEPTH = 49
"""The deepest nesting of types that protobuf, with its limit of 100 messages, can read."""


class OpaqueName(str):
    """A dotted name inside `opaque(…)`.

    Attributes:
        parts: how many names the dots join.
    """

    __slots__ = ("parts",)
    parts: int

    def __new__(cls, parts: list[str]) -> OpaqueName:
        """Join the parts with dots."""
        made = str.__new__(cls, ".".join(parts))
        made.parts = len(parts)
        return made


def coarse_type(token: str) -> TensorType:
    """`float[N, 3]` as one token.

    Raises:
        SemanticError: a dimension is invalid.
    """
    try:
        return _coarse_type(str(token))
    except SemanticError as error:
        raise SemanticError(error.message, token=token, help=error.help) from None


@lru_cache(maxsize=4096)
def _coarse_type(text: str) -> TensorType:
    element, _, dims = text.partition("[")
    return TensorType(element, dim_numbers("[" + dims))


def dim_numbers(token: str) -> tuple[Dim, ...] | None:
    """Return the dimensions in a bracket: sizes, words and `?`.

    Raises:
        SemanticError: a dimension is invalid.
    """
    inside = token[1:-1].strip()
    if not inside:
        return None
    return tuple([_dim(part.strip(), token) for part in inside.split(",")])


def _dim(text: str, token: str) -> Dim:
    if _WORD.fullmatch(text):
        return text
    if _SIZE.fullmatch(text):
        return integers.int64(text)
    if text == "?":
        return None
    what = f"`{text}` is not a dimension" if text else "a dimension is missing"
    raise SemanticError(
        what, token=token, help='a dimension is a size, a name, "an expression" or ?'
    )


def scalar_type(element: str) -> TensorType:
    """`float`: rank 0."""
    return TensorType(str(element))


def fine_type(element: str, shape: tuple[Dim, ...] | None) -> TensorType:
    """An element type and its dimensions."""
    return TensorType(str(element), shape)


def container_type(name: str, arguments: list[Any]) -> Type:
    """`seq(…)`, `optional(…)`, `map(…, …)`, `sparse_tensor(…)`, `opaque(…)`.

    Raises:
        SemanticError: the arguments are invalid for the type.
    """
    if name == "opaque":
        return _opaque(name, arguments)
    if arguments and _depth(arguments[-1]) >= MAX_TYPE_DEPTH:
        raise SemanticError(
            f"the type is nested more than {MAX_TYPE_DEPTH} levels deep",
            token=name,
            code="too-deep",
        )
    if not any(type(argument) is OpaqueName for argument in arguments):
        match name, arguments:
            case "seq", [element]:
                return SequenceType(element)
            case "optional", [element]:
                return OptionalType(element)
            case "map", [TensorType(element=key, shape=(), decorators=()), value]:
                return MapType(key, value)
            case "sparse_tensor", [TensorType() as dense]:
                return SparseTensorType(dense.element, dense.shape, dense.decorators)
    forms = {
        "seq": "seq(type)",
        "optional": "optional(type)",
        "map": "map(key element type, type), such as map(int64, float)",
        "sparse_tensor": "sparse_tensor(tensor type), such as sparse_tensor(float[3, 4])",
    }
    raise SemanticError(f"wrong arguments of {name}", token=name, help=f"write {forms[name]}")


def _opaque(name: str, arguments: list[Any]) -> OpaqueType:
    names = [
        argument.element if isinstance(argument, TensorType) else argument for argument in arguments
    ]
    match names:
        case []:
            return OpaqueType()
        case [str() as only]:
            return OpaqueType(None, str(only))
        case [str() as domain, str() as last] if getattr(last, "parts", 1) == 1:
            return OpaqueType(str(domain), str(last))
    raise SemanticError("wrong arguments of opaque", token=name, help="write opaque(domain, name)")


def _depth(type: Any) -> int:
    depth = 0
    while True:
        match type:
            case SequenceType(element=inner) | OptionalType(element=inner) | MapType(value=inner):
                type = inner
                depth += 1
            case _:
                return depth


Decorators = list[Decorator] | None


@action
def inner_type(decorators: Decorators, type: Type) -> Type:
    """A type inside another."""
    return replace(type, decorators=tuple(decorators)) if decorators else type


@action
def any_dim(decorators: Decorators) -> Any:
    """`?`."""
    return DecoratedDim(None, tuple(decorators)) if decorators else None


@action
def sized_dim(decorators: Decorators, text: str) -> Any:
    """A size."""
    size = integers.int64(text)
    return DecoratedDim(size, tuple(decorators)) if decorators else size


@action
def named_dim(decorators: Decorators, name: str) -> Any:
    """A symbolic size."""
    return DecoratedDim(name, tuple(decorators)) if decorators else name


ACTIONS.update(
    coarse_type=coarse_type,
    scalar_type=scalar_type,
    fine_type=fine_type,
    empty_container=lambda name: container_type(name, []),
    container_type=container_type,
    opaque_argument=OpaqueName,
    opaque_pair=lambda first, second: [str(first), second],
    no_shape=lambda: None,
    dim_list=tuple,
    dim_numbers=dim_numbers,
)
