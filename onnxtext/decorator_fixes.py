# SPDX-License-Identifier: Apache-2.0
"""Suggest how to correct decorators that cannot be encoded: misspelled names, wrong arguments."""

from __future__ import annotations

import re
from collections.abc import Sequence

from onnxtext.ast.compact_form.list_order import PARTS
from onnxtext.diagnostics import Edit, Fix
from onnxtext.proto.encode.lower_error import LowerError
from onnxtext.source import STRING, Span
from onnxtext.suggestions import nearest_name

_OTHER_NAMES = {
    "docstring": "doc", "doc_string": "doc", "description": "doc", "comment": "doc",
    "metadata": "meta", "metadata_props": "meta", "meta_data": "meta",
}  # fmt: skip
_WORD = re.compile(rf"{STRING}|(?<![\w.])([A-Za-z_]\w*)(?!\w|[ \t]*:)", re.DOTALL)
_PAIRS = re.compile(rf"\(\s*(?:{STRING})\s*(?:,\s*(?:{STRING})\s*)+\)", re.DOTALL)
_RECORD = re.compile(rf"\(\s*(\{{)(?:{STRING}|[^{{}}\"])*(\}})\s*\)", re.DOTALL)
_SEPARATOR = re.compile(rf"{STRING}|(\s*,)", re.DOTALL)
_MAX_LENGTH = 4000
"""Maximum number of characters to search for errors in a decorator."""


def fix_decorator(text: str, error: LowerError, spans: Sequence[Span]) -> Fix | None:
    """Return a fix for a record or decorator that cannot be encoded; None if no fix is known.

    Args:
        text: the text.
        error: the error.
        spans: the spans that the diagnostic marks, one for each statement with this error.
    """
    wrong = error.mark.rpartition(" ")[2]
    name = wrong.removeprefix("@")
    edits: list[Edit] = []
    if error.expected and "(" in error.expected[0]:
        edits = _entry_marks(text, spans[0]) if len(spans) == 1 else []
    elif error.expected == PARTS.get(name):
        edits = _correct_keywords(text, spans[0], error.expected)
    elif error.expected:
        meant = _OTHER_NAMES.get(name)
        if meant not in error.expected:
            meant = nearest_name(name, error.expected)
        right = None if meant is None else wrong.replace(name, meant)
        return None if right is None else _respell(text, spans, wrong, right)
    if not edits:
        return None
    title = f"write `{edits[0].text}`" if edits[0].text.strip(": ") else "correct the decorator"
    return Fix(title, tuple(edits), "unsafe")


def _respell(text: str, spans: Sequence[Span], wrong: str, right: str) -> Fix | None:
    """Return the fix that replaces `wrong` by `right` at the start of all spans.

    Return None if there are no spans, or if a span starts with another word.
    """
    edits = []
    for span in spans:
        if not text.startswith(wrong, span.start):
            return None
        edits.append(Edit(Span(span.start, span.start + len(wrong)), right))
    return Fix(f"write `{right}`", tuple(edits), "unsafe") if edits else None


def _correct_keywords(text: str, span: Span, parts: Sequence[str]) -> list[Edit]:
    """Return edits that correct the wrong keywords of a decorator; [] if one cannot be corrected.

    `parts` has the valid keywords, and `span` is the span of the decorator's name.
    """
    end = text.find(")", span.end, span.end + _MAX_LENGTH)
    edits = []
    for match in _WORD.finditer(text, span.end, max(end, span.end)):
        if match[1] is not None and match[1] not in parts:
            meant = nearest_name(match[1], parts)
            if meant is None:
                return []
            edits.append(Edit(Span(*match.span(1)), meant))
    return edits


def _entry_marks(text: str, span: Span) -> list[Edit]:
    """Return edits that turn `@meta("k", "v")` or `@meta({"k": "v"})` into `@meta("k": "v")`.

    Return [] for other decorators.
    """
    start = text.find("(", span.start, span.end + 1)
    if start < 0 or text[span.start : start].strip() != "@meta":
        return []
    if match := _RECORD.match(text, start, start + _MAX_LENGTH):
        return [Edit(Span(*match.span(1)), ""), Edit(Span(*match.span(2)), "")]
    if match := _PAIRS.match(text, start, start + _MAX_LENGTH):
        commas = [
            Span(*found.span(1))
            for found in _SEPARATOR.finditer(text, start, match.end())
            if found[1] is not None
        ]
        if len(commas) % 2:
            return [Edit(comma, ":") for comma in commas[::2]]
    return []
