# SPDX-License-Identifier: Apache-2.0
"""Parse the text of dimensions into symbolic sizes.

A text is an expression only if it has the format of `polynomials.text`: `2*seq`, `N + 1`. All other
texts, such as `a.b` or `N+1`, are symbols.
"""

from __future__ import annotations

import ast
import re
from functools import lru_cache, reduce

from onnxtext.checker.symbolic.sizes.polynomials import (
    Extent,
    SymbolicSize,
    minus,
    plus,
    symbol_plus,
    text,
    times,
)
from onnxtext.checker.symbolic.sizes.quotients import maximum_of, minimum_of, quotient, substitute

_NAME = re.compile(r"[^\W\d]\w*")
_CHARACTERS = re.compile(r"[\w +*/(),-]+")
_FUNCTIONS = {"min": minimum_of, "max": maximum_of}
_OPERATIONS = {ast.Add: plus, ast.Sub: minus, ast.Mult: times, ast.FloorDiv: quotient}
_MAX_CHARACTERS = 400


@lru_cache(1024)
def parse_size(dim: str) -> Extent:
    """Parse a dimension into a size: an expression, or else a symbol; None for an empty text."""
    if not dim:
        return None
    if dim.isidentifier() or len(dim) > _MAX_CHARACTERS or not _CHARACTERS.fullmatch(dim):
        return symbol_plus(dim)
    # Python normalizes some names, and rejects keywords: let it parse `_0`, `_1` and so on instead.
    names: dict[str, str] = {}
    source = _NAME.sub(lambda match: names.setdefault(match[0], f"_{len(names)}"), dim)
    try:
        expression = ast.parse(source, mode="eval").body
        extent = _size(expression, {short: name for name, short in names.items()})
    except (SyntaxError, ValueError):
        return symbol_plus(dim)
    return extent if isinstance(extent, SymbolicSize) and text(extent) == dim else symbol_plus(dim)


def _size(node: ast.expr, names: dict[str, str]) -> Extent:
    """Return the size of a parsed expression; `names` has the symbols. May raise ValueError."""
    match node:
        case ast.Constant(int() as number):
            return number
        case ast.Name(short):
            return symbol_plus(names[short])
        case ast.UnaryOp(ast.USub(), operand):
            return times(_size(operand, names), -1)
        case ast.BinOp(left, operator, right) if type(operator) in _OPERATIONS:
            return _OPERATIONS[type(operator)](_size(left, names), _size(right, names))
        case ast.Call(ast.Name(short), arguments, []) if names[short] in _FUNCTIONS and arguments:
            sizes = [_size(argument, names) for argument in arguments]
            return reduce(_FUNCTIONS[names[short]], sizes)
    raise ValueError


def read_dim(dim: str, instance: str) -> Extent:
    """Parse the text of a dimension as `parse_size` does, and append a suffix to each symbol.

    In a loop body or function, symbols get the suffix `instance`, because symbols of the same name
    elsewhere may have other sizes. The text and the suffix may be empty.
    """
    extent = parse_size(dim)
    return substitute(extent, lambda name: symbol_plus(name + instance)) if instance else extent
