# SPDX-License-Identifier: Apache-2.0
"""Parse the text of dimensions into symbolic sizes.

A text is an expression only if it has the format of `polynomials.text`: `2*seq`, `N + 1`. All other
texts, such as `a.b` or `N+1`, are symbols.
"""

from __future__ import annotations

import re
from functools import lru_cache

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

_TOKEN = re.compile(r"\s*(?:(\d+)|([^\W\d]\w*)|(//|[-+*(),]))")
_MAX_CHARACTERS = 400


@lru_cache(1024)
def parse_size(dim: str) -> Extent:
    """Parse a dimension into a size: an expression, or else a symbol; None for an empty text."""
    if dim.isidentifier() or len(dim) > _MAX_CHARACTERS:
        return symbol_plus(dim)
    if not dim:
        return None
    try:
        extent = _Reader(dim).whole()
    except _NoExpression:
        return symbol_plus(dim)
    return extent if isinstance(extent, SymbolicSize) and text(extent) == dim else symbol_plus(dim)


def read_dim(dim: str, instance: str) -> Extent:
    """Parse the text of a dimension as `parse_size` does, and append a suffix to each symbol.

    In a loop body or function, symbols get the suffix `instance`, because symbols of the same name
    elsewhere may have other sizes. The text and the suffix may be empty.
    """
    extent = parse_size(dim)
    return substitute(extent, lambda name: symbol_plus(name + instance)) if instance else extent


class _NoExpression(Exception):
    """Raised if the text of a dimension is not a size expression such as `2*seq`."""


class _Reader:
    """Parser of one size expression, such as `2*seq`.

    Parsing with `ast.parse` and a walk over its tree would take about 1.7 times as long.
    """

    def __init__(self, source: str) -> None:
        self._tokens: list[tuple[str, str, str]] = []
        offset = 0
        while offset < len(source):
            match = _TOKEN.match(source, offset)
            if match is None:
                raise _NoExpression
            self._tokens.append((match[1] or "", match[2] or "", match[3] or ""))
            offset = match.end()
        self._at = 0
        self._depth = 0

    def whole(self) -> Extent:
        """Parse the whole text and return its size.

        Raises:
            _NoExpression: the text is not a size expression.
        """
        result = self._sum()
        if self._at != len(self._tokens):
            raise _NoExpression
        return result

    def _accept(self, *signs: str) -> str:
        """Skip the next token if it is one of `signs`; return it, or "" if it is not."""
        sign = self._tokens[self._at][2] if self._at < len(self._tokens) else ""
        if sign not in signs:
            return ""
        self._at += 1
        return sign

    def _close(self) -> None:
        if not self._accept(")"):
            raise _NoExpression

    def _sum(self) -> Extent:
        self._depth += 1
        if self._depth > 20:
            raise _NoExpression
        result = times(self._product(), -1) if self._accept("-") else self._product()
        while sign := self._accept("+", "-"):
            result = (plus if sign == "+" else minus)(result, self._product())
        self._depth -= 1
        return result

    def _product(self) -> Extent:
        result = self._factor()
        while sign := self._accept("*", "//"):
            result = (times if sign == "*" else quotient)(result, self._factor())
        return result

    def _factor(self) -> Extent:
        if self._accept("("):
            result = self._sum()
            self._close()
            return result
        if self._at == len(self._tokens):
            raise _NoExpression
        digits, name, sign = self._tokens[self._at]
        self._at += 1
        if sign:
            raise _NoExpression
        if digits:
            return int(digits)
        if name in ("min", "max") and self._accept("("):
            result = self._sum()
            while self._accept(","):
                result = (minimum_of if name == "min" else maximum_of)(result, self._sum())
            self._close()
            return result
        return symbol_plus(name)
