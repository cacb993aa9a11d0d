# SPDX-License-Identifier: Apache-2.0
"""Parse the text of dimensions into symbolic sizes.

A text is an expression only if it is spelled as `polynomials.text` spells it: `2*seq`, `N + 1`. All
other texts, such as `a.b` or `N+1`, are symbols.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from functools import lru_cache, reduce

from onnxtext.checker.inference.symbolic.sizes.polynomials import (
    Extent,
    SymbolicSize,
    minus,
    plus,
    symbol_plus,
    text,
    times,
)
from onnxtext.checker.inference.symbolic.sizes.quotients import (
    maximum_of,
    minimum_of,
    quotient,
    substitute,
)

_NAME = re.compile(r"[^\W\d]\w*")
_CHARACTERS = re.compile(r"[\w\s()+*/,-]*")
_DEEPEST = 100
"""Maximum nesting depth of an expression; `a + b + c` has the depth 2."""
_MAX_CHARACTERS = 400


@lru_cache(1024)
def parse_size(dim: str) -> Extent:
    """Parse the text of a dimension into a size; return None for an empty text."""
    if dim.isidentifier() or len(dim) > _MAX_CHARACTERS:
        return symbol_plus(dim)
    if not dim:
        return None
    try:
        extent = _parse_expression(dim)
    except _NoExpression:
        return symbol_plus(dim)
    return extent if isinstance(extent, SymbolicSize) and text(extent) == dim else symbol_plus(dim)


def read_dim(dim: str, instance: str) -> Extent:
    """Parse the text of a dimension as `parse_size` does, and append a suffix to each symbol.

    In a loop body or function, the suffix `instance` separates the symbols from symbols of the same
    name elsewhere. The text and the suffix may be empty.
    """
    extent = parse_size(dim)
    return substitute(extent, lambda name: symbol_plus(name + instance)) if instance else extent


class _NoExpression(Exception):
    """Raised if the text of a dimension is not a size expression such as `2*seq`."""


_OPERATIONS: Mapping[type, Callable[[Extent, Extent], Extent]] = {
    ast.Add: plus,
    ast.Sub: minus,
    ast.Mult: times,
    ast.FloorDiv: quotient,
}
_FUNCTIONS = {"min": minimum_of, "max": maximum_of}


def _parse_expression(dim: str) -> Extent:
    """Parse a size expression, which is also an expression of Python.

    Raises:
        _NoExpression: the text is not a size expression.
    """
    names: list[str] = []

    def number(match: re.Match[str]) -> str:
        names.append(match[0])
        return f"_{len(names) - 1}"

    def value(node: ast.expr, depth: int) -> Extent:
        if depth > _DEEPEST:
            raise _NoExpression
        match node:
            case ast.BinOp(left, operator, right) if type(operator) in _OPERATIONS:
                operation = _OPERATIONS[type(operator)]
                return operation(value(left, depth + 1), value(right, depth + 1))
            case ast.UnaryOp(ast.USub(), operand):
                return times(value(operand, depth + 1), -1)
            case ast.Constant(int(constant)):
                return constant
            case ast.Name(name):
                return symbol_plus(names[int(name[1:])])
            case ast.Call(ast.Name(name), [*operands], []):
                function = _FUNCTIONS.get(names[int(name[1:])])
                if function is not None and operands:
                    return reduce(function, [value(operand, depth + 1) for operand in operands])
        raise _NoExpression

    if _CHARACTERS.fullmatch(dim) is None:
        raise _NoExpression
    try:
        # Numbers stand for the symbols, which may be keywords of Python.
        parsed = ast.parse(_NAME.sub(number, dim), mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise _NoExpression from None
    return value(parsed.body, 0)
