# SPDX-License-Identifier: Apache-2.0
"""Parse as much as possible of a text with syntax errors, for editors."""

from __future__ import annotations

from onnxtext.ast.model import Fragment, Model
from onnxtext.checker.engine.check_source import looks_like_function
from onnxtext.diagnostics import Diagnostic
from onnxtext.source import Source, line_start
from onnxtext.syntax.parse import parse_partial

_MAX_SALVAGES = 4


def read_partial(source: Source) -> tuple[Model | Fragment | None, tuple[Diagnostic, ...]]:
    """Parse a model or a function with error recovery; return the syntax tree and the errors.

    If the text is not a model, or looks like a function, parse it as a function, too. If it is
    neither, blank the lines with errors and parse it again as a model. The tree is None if this
    fails, too.
    """
    root, diagnostics = parse_partial(source, "model")
    if root is None or looks_like_function(root):
        function, wrong = parse_partial(source, "function_fragment")
        if function is not None and (
            not wrong or (root is not None and diagnostics) or _first(wrong) > _first(diagnostics)
        ):
            return function, wrong
        if root is None:
            root = _salvage(source, diagnostics)
    return root, diagnostics


def _first(diagnostics: tuple[Diagnostic, ...]) -> int:
    """Return the smallest offset of an error; 0 if no error has a span."""
    return min((item.span.start for item in diagnostics if item.span is not None), default=0)


def _salvage(source: Source, diagnostics: tuple[Diagnostic, ...]) -> Model | None:
    """Replace the line of the first error by spaces, and parse the text again as a model.

    Make up to `_MAX_SALVAGES` attempts. Return None if no attempt succeeds, or if the first
    error is an invalid character. The offsets of the rest of the text do not change. `diagnostics`
    are the errors in `source`.
    """
    text = source.text
    if diagnostics and diagnostics[0].code == "invalid-character":
        return None
    for _ in range(_MAX_SALVAGES):
        span = next((item.span for item in diagnostics if item.span is not None), None)
        if span is None:
            return None
        # Keep further lines of the span: most spans of several lines are strings that begin with a
        # stray quote, so their further lines are meant as statements.
        start, end = line_start(text, span.start), text.find("\n", span.start)
        end = len(text) if end < 0 else end
        if not text[start:end].strip(" "):
            return None
        text = text[:start] + " " * (end - start) + text[end:]
        root, diagnostics = parse_partial(Source(text, source.name), "model")
        if root is not None:
            return root  # type: ignore[no-any-return]
    return None
