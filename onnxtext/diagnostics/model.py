# SPDX-License-Identifier: Apache-2.0
"""The data model of diagnostics: code, message, labels, notes, help and fix."""

from __future__ import annotations

import re
from bisect import bisect, insort
from collections.abc import Iterable
from typing import Literal, NamedTuple

from onnxtext.quick_dataclass import dataclass
from onnxtext.source import Position, Source, Span

Severity = Literal["error", "warning", "note", "info", "hint"]


@dataclass(frozen=True, slots=True)
class Label:
    """A labeled span of a source text.

    Attributes:
        span: character offsets into the diagnostic's source.
        message: short text to show beside the underlined span; may be empty.
    """

    span: Span
    message: str = ""


@dataclass(frozen=True, slots=True)
class Edit:
    """A replacement in a text.

    Attributes:
        span: the replaced span, as character offsets into the diagnostic's source.
        text: the new text.
    """

    span: Span
    text: str


def apply_edits(text: str, edits: Iterable[Edit], start: int = 0, end: int | None = None) -> str:
    """Apply edits to a text; return the new text of the part from `start` to `end`.

    The spans of the edits must be in this part and must not overlap. If `end` is None, the part
    ends with the text.
    """
    parts = []
    offset = start
    for edit in sorted(edits, key=lambda edit: edit.span):
        parts += [text[offset : edit.span.start], edit.text]
        offset = edit.span.end
    return "".join([*parts, text[offset:end]])


Applicability = Literal["safe", "unsafe"]
"""`safe`: the fix certainly keeps the intended meaning; `unsafe`: the fix is a guess."""


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits that resolve one diagnostic, and change nothing else in the text.

    Attributes:
        title: the effect of the fix, as an imperative: "sort the nodes".
        edits: the edits; they must not overlap.
        applicability: `safe` if the fix may be applied without review.
    """

    title: str
    edits: tuple[Edit, ...]
    applicability: Applicability = "safe"

    def apply(self, text: str) -> str:
        """Apply the edits to `text`, the source text of the diagnostic; return the new text."""
        return apply_edits(text, self.edits)


def safe_fixes(diagnostics: Iterable[Diagnostic]) -> list[Fix]:
    """Return the safe fixes of diagnostics; of overlapping fixes, only the first."""
    chosen: list[Fix] = []
    taken: list[Span] = []  # sorted
    for item in diagnostics:
        if item.fix is None or item.fix.applicability != "safe":
            continue
        spans = [edit.span for edit in item.fix.edits]
        if not any(overlaps(taken, span) for span in spans):
            chosen.append(item.fix)
            for span in spans:
                insort(taken, span)
    return chosen


def overlaps(taken: list[Span], new: Span) -> bool:
    """Whether a span overlaps or equals one of `taken`, which are sorted and do not overlap."""
    index = bisect(taken, new)
    return any(
        new == old or (new.start < old.end and old.start < new.end)
        for old in taken[max(index - 1, 0) : index + 1]
    )


class Subject(NamedTuple):
    """The item of a model, or the word of a text, that a diagnostic is about.

    Attributes:
        kind: `value`, `attribute`, `operator` (also for functions), `dimension` or `decorator`. For
            a section entry that refers to no item, the kind of the missing item, such as `node`;
            `label` for a node named by its label; `graph` for an attribute that contains a graph.
        name: the name; the name of an operator includes its domain.
        suggestion: the name that may be meant instead; None if unknown.
    """

    kind: str
    name: str
    suggestion: str | None = None


_LONGEST_NAME = 160
_NAME = re.compile(r"(?<![\w`])`.*?(`(?![\w`])|\Z)", re.DOTALL)
"""Matches a name in backticks. The name may contain backticks, such as the one in `` a`b ``.

A name without an end matches up to the end of the text, with an empty group. Otherwise `sub` would
search the rest of the text again after each backtick.
"""


def _without_middle(match: re.Match[str]) -> str:
    """Replace the middle of a long name by `…`: names often differ only at their ends."""
    name = match[0]
    is_short = len(name) - 2 <= _LONGEST_NAME
    return name if is_short or not match[1] else f"{name[:81]}…{name[-41:]}"


def _shorten(message: str) -> str:
    return _NAME.sub(_without_middle, message)


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A finding about a text or a binary, such as an error.

    Attributes:
        code: stable code, such as `syntax-error`.
        message: the problem; must be clear without context, begin in lower case, and have no final
            period. Long names in backticks are shortened, here and in `labels` and `help`.
        severity: `error`, `warning`, `info`, `hint` or `note`.
        source: the text that the labels refer to; None for a diagnostic about a binary.
        labels: spans in the text; the first is the primary one.
        path: for a diagnostic about a binary, the path in the model, such as `graph.node[12]`; None
            if unknown.
        offset: 0-based byte offset in a binary; None if unknown.
        notes: further facts; a note about the broken rule begins with `rule: `.
        help: what the user should change; None if unknown.
        file: name of the file if there is no `source`; None if unknown.
        fix: edits of the text that resolve the problem; None if unknown.
        subject: what the diagnostic is about, for code that compares diagnostics; None if unknown.
        lists_tokens: whether it is a syntax error that no heuristic explains. Most messages of
            such errors list the expected tokens.
    """

    code: str
    message: str
    severity: Severity = "error"
    source: Source | None = None
    labels: tuple[Label, ...] = ()
    path: str | None = None
    offset: int | None = None
    notes: tuple[str, ...] = ()
    help: str | None = None
    file: str | None = None
    fix: Fix | None = None
    subject: Subject | None = None
    lists_tokens: bool = False

    def __post_init__(self) -> None:
        """Shorten long names in backticks in the message, the labels and the help."""
        if len(self.message) > _LONGEST_NAME:
            object.__setattr__(self, "message", _shorten(self.message))
        if self.help is not None and len(self.help) > _LONGEST_NAME:
            object.__setattr__(self, "help", _shorten(self.help))
        if any(len(label.message) > _LONGEST_NAME for label in self.labels):
            labels = tuple([Label(label.span, _shorten(label.message)) for label in self.labels])
            object.__setattr__(self, "labels", labels)

    @property
    def file_name(self) -> str | None:
        """The name of the source, else of the file; None if unknown."""
        return self.file if self.source is None else self.source.name

    @property
    def span(self) -> Span | None:
        """The span of the first label; None if there are no labels."""
        return self.labels[0].span if self.labels else None

    @property
    def position(self) -> Position | None:
        """The line and column of the first label; None if there are no labels or no text."""
        if self.source is None or not self.labels:
            return None
        return self.source.position(self.labels[0].span.start)

    def where(self) -> str:
        """Return the position: `file:line:column`, or `file: path at byte 0x1f` for a binary.

        Unknown parts are left out; the result may be "".
        """
        parts = []
        if self.source is not None:
            position = self.position
            place = "" if position is None else f":{position.line}:{position.column}"
            parts.append(f"{self.source.name}{place}")
        if self.path:
            parts.append(self.path)
        if self.offset is not None:
            parts.append(f"byte {self.offset:#x}")
        location = " at ".join(parts)
        if self.source is not None or self.file is None:
            return location
        return f"{self.file}: {location}" if location else self.file

    def remarks(self) -> list[tuple[str, str]]:
        """Return (label, text) pairs: notes with the label "rule" or "note", then the "help"."""
        remarks = []
        for note in self.notes:
            is_rule = note.startswith("rule: ")
            remarks.append(("rule", note[6:]) if is_rule else ("note", note))
        return [*remarks, ("help", self.help)] if self.help else remarks

    def __str__(self) -> str:
        """Return the diagnostic in one line, and its help in a second line."""
        location = self.where()
        text = f"{location}: " if location else ""
        text += f"{self.severity}: {self.message} [{self.code}]"
        return text + (f"\n  help: {self.help}" if self.help else "")


class OnnxTextError(ValueError):
    """A text or a binary cannot be used; `diagnostics` has the reasons and positions.

    Attributes:
        diagnostics: at least one diagnostic of severity `error`.
    """

    def __init__(self, *diagnostics: Diagnostic) -> None:
        super().__init__("\n".join(map(str, diagnostics)))
        self.diagnostics: tuple[Diagnostic, ...] = diagnostics


class OnnxTextWarning(UserWarning):
    """A problem that did not stop the operation, such as a suspicious model."""
