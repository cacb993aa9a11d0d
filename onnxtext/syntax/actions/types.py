# SPDX-License-Identifier: Apache-2.0
"""Actions for types, such as `float[N, 3]` and `seq(float)`."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from typing import Any

from onnxtext import ast
from onnxtext.ast.types import MAX_TYPE_DEPTH, type_depth
from onnxtext.diagnostics import Edit
from onnxtext.source import Span
from onnxtext.syntax.actions import integers
from onnxtext.syntax.actions.registry import ACTIONS
from onnxtext.syntax.actions.semantic_error import SemanticError, from_literal
from onnxtext.syntax.grammar.lexer import Token
from onnxtext.tensor.number_spellings import not_an_int

_SIZE = re.compile(r"-?[0-9]+", re.ASCII)
_OTHER_SEPARATOR = re.compile(r"\s*(?:[;:×]|\.(?!\.))\s*|\s+|(?<=\d)x(?=\d)")
_PLAIN_DIM = re.compile(r"[A-Za-z_]\w*|\d+|\?")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


class OpaqueName(str):
    """A dotted name inside `opaque(…)`.

    Attributes:
        parts: the number of names that the dots separate: 2 for `a.b`.
    """

    __slots__ = ("parts",)
    parts: int

    def __new__(cls, parts: list[str]) -> OpaqueName:
        """Join the parts with dots."""
        result = str.__new__(cls, ".".join(parts))
        result.parts = len(parts)
        return result


def coarse_type(token: str) -> ast.TensorType:
    """Return the tensor type for the token `float[N, 3]`.

    Raises:
        SemanticError: a dimension is invalid.
    """
    try:
        return _coarse_type(str(token))
    except SemanticError:
        _dims(token, token.index("["))  # raises the same error, but with an offset
        raise


@lru_cache(maxsize=4096)
def _coarse_type(text: str) -> ast.TensorType:
    start = text.index("[")
    return ast.TensorType(text[:start], _dims(text, start))


def dim_numbers(token: str) -> tuple[ast.Dim, ...] | None:
    """Return the dimensions in the token `[3, N, ?]`; None for `[]`, a type without a shape.

    Raises:
        SemanticError: a dimension is invalid.
    """
    return _dims(token, 0)


def _dims(token: str, start: int) -> tuple[ast.Dim, ...] | None:
    """Return the dimensions in a token, whose `[` is at the index `start`; None for `[]`."""
    inside = token[start + 1 : -1]
    if not inside.strip():
        return None
    offset = token.at + start + 1 if isinstance(token, Token) else None
    dims: list[ast.Dim] = []
    for part in inside.split(","):
        text = part.strip()
        if not text and isinstance(token, Token):
            raise _missing_dim(inside, token.at + start + 1)
        dims.append(_dim(text if offset is None else Token(text, offset + part.index(text))))
        offset = None if offset is None else offset + len(part) + 1
    return tuple(dims)


def _missing_dim(inside: str, offset: int) -> SemanticError:
    """Return the error for missing dimensions; `inside` is the list without its brackets.

    Its edits remove each missing dimension with the comma before it, or with the comma after it at
    the beginning of the list. `offset` is the offset of `inside` in the source.
    """
    places, edits = list[Span](), list[Edit]()
    parts = inside.split(",")
    first = True
    for part in parts:
        end = offset + len(part)
        if part.strip():
            first = False
        else:
            places.append(Span(offset, end))
            edits.append(Edit(Span(offset, end + 1) if first else Span(offset - 1, end), ""))
        offset = end + 1
    start, end = places[0]
    error = SemanticError("a dimension is missing", at=start, length=end - start)
    error.edits = tuple(edits[: len(parts) - 1])  # if all are missing, there are fewer commas
    return error


def _dim(text: str) -> ast.Dim:
    if _WORD.fullmatch(text):
        return str(text)
    if _SIZE.fullmatch(text):
        return integers.int64(text)
    if text == "?":
        return None
    literal = not_an_int(text)
    if literal.code != "syntax-error":
        raise from_literal(literal, text)
    problem = f"`{text}` is not a dimension" if text else "a dimension is missing"
    error = SemanticError(
        problem, token=text, help='write a size, a name, `"an expression"` or `?`'
    )
    error.instead = literal.instead
    parts = _OTHER_SEPARATOR.split(text)
    if len(parts) > 2 and all(part in "xX" for part in parts[1::2]):
        parts = parts[::2]  # `N x 3`
    is_plain = not any(not_an_int(part).instead for part in text.split() if not part.isdigit())
    if is_plain and len(parts) > 1 and all(_PLAIN_DIM.fullmatch(part) for part in parts):
        # `2 3`, `2x3` and `N M` are two dimensions; `batch size` is one name of two words.
        is_name = not any(part in "?" or part[0].isdigit() or len(part) == 1 for part in parts)
        error.instead = f'"{text}"' if is_name else ", ".join(parts)
    raise error


def scalar_type(element: str) -> ast.TensorType:
    """Return the tensor type for `float`, which has rank 0."""
    return ast.TensorType(str(element))


def fine_type(element: str, shape: tuple[ast.Dim, ...] | None) -> ast.TensorType:
    """Return the tensor type for an element type and dimensions that are separate tokens."""
    return ast.TensorType(str(element), shape)


def container_type(name: str, arguments: list[Any]) -> ast.Type:
    """Return the type for `seq(…)`, `optional(…)`, `map(…, …)`, `sparse_tensor(…)` or `opaque(…)`.

    Raises:
        SemanticError: the arguments are invalid for the type.
    """
    if name == "opaque":
        return _opaque(name, arguments)
    inner = arguments[-1] if arguments else None
    if isinstance(inner, ast.Type) and type_depth(inner) >= MAX_TYPE_DEPTH:
        raise SemanticError(
            f"the type is nested more than {MAX_TYPE_DEPTH} levels deep",
            token=name,
            code="too-deep",
        )
    if not any(type(argument) is OpaqueName for argument in arguments):
        match name, arguments:
            case "seq", [element]:
                return ast.SequenceType(element)
            case "optional", [element]:
                return ast.OptionalType(element)
            case "map", [ast.TensorType(element=key, shape=(), decorators=()), value]:
                return ast.MapType(key, value)
            case "sparse_tensor", [ast.TensorType() as dense]:
                return ast.SparseTensorType(dense.element, dense.shape, dense.decorators)
    forms = {
        "seq": "`seq(type)`",
        "optional": "`optional(type)`",
        "map": "`map(key element type, type)`, such as `map(int64, float)`",
        "sparse_tensor": "`sparse_tensor(tensor type)`, such as `sparse_tensor(float[3, 4])`",
    }
    raise SemanticError(f"wrong arguments of `{name}`", token=name, help=f"write {forms[name]}")


def _opaque(name: str, arguments: list[Any]) -> ast.OpaqueType:
    names = [
        argument.element if isinstance(argument, ast.TensorType) else argument
        for argument in arguments
    ]
    match names:
        case []:
            return ast.OpaqueType()
        case [str() as only]:
            return ast.OpaqueType(None, str(only))
        case [str() as domain, str() as last] if getattr(last, "parts", 1) == 1:
            return ast.OpaqueType(str(domain), str(last))
    raise SemanticError(
        "wrong arguments of `opaque`", token=name, help="write `opaque(domain, name)`"
    )


Decorators = list[ast.Decorator] | None


def decorated(decorators: Decorators, value: Any) -> Any:
    """Return a type, tensor or graph with its decorators."""
    return replace(value, decorators=tuple(decorators)) if decorators else value


def decorated_dim(decorators: Decorators, value: int | str | None) -> ast.Dim:
    """Return a dimension with its decorators: a size, a name, or None for `?`."""
    return ast.DecoratedDim(value, tuple(decorators)) if decorators else value


ACTIONS.update(
    coarse_type=coarse_type,
    scalar_type=scalar_type,
    fine_type=fine_type,
    empty_container=lambda name: container_type(name, []),
    container_type=container_type,
    inner_type=decorated,
    opaque_argument=OpaqueName,
    opaque_pair=lambda first, second: [str(first), second],
    no_shape=lambda: None,
    dim_list=tuple,
    dim_numbers=dim_numbers,
    any_dim=lambda decorators: decorated_dim(decorators, None),
    sized_dim=lambda decorators, text: decorated_dim(decorators, integers.int64(text)),
    named_dim=decorated_dim,
)
