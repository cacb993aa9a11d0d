# SPDX-License-Identifier: Apache-2.0
"""Diagnostics: what is wrong, where, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from onnxtext.source import Source, Span

Severity = Literal["error", "warning", "note", "info", "hint"]


@dataclass(frozen=True, slots=True)
class Label:
    """A place in a source text and what is to be said about it.

    Attributes:
        span: the place, as character offsets into the diagnostic's source.
        message: short text to stand beside the underlined place; may be empty.
    """

    span: Span
    message: str = ""


@dataclass(frozen=True, slots=True)
class Edit:
    """One change of a text.

    Attributes:
        span: what is replaced, as character offsets into the diagnostic's source.
        text: what stands there afterwards.
    """

    span: Span
    text: str


Applicability = Literal["safe", "unsafe"]
"""Whether a fix keeps what was meant for certain, or may have guessed wrong."""


@dataclass(frozen=True, slots=True)
class Fix:
    """A change that mends what a diagnostic is about, and changes nothing else.

    Attributes:
        title: what it does, as an order: "sort the nodes".
        edits: the changes, in order; they do not overlap.
        applicability: whether it may be applied without a look at it.
    """

    title: str
    edits: tuple[Edit, ...]
    applicability: Applicability = "safe"

    def apply(self, text: str) -> str:
        """The text with the changes."""
        for edit in sorted(self.edits, key=lambda edit: edit.span, reverse=True):
            text = text[: edit.span.start] + edit.text + text[edit.span.end :]
        return text


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding.

    Attributes:
        code: stable slug, such as `syntax-error`.
        message: stands alone; lower case, without a final period.
        severity: `error`, `warning`, `info`, `hint` or `note`.
        source: the text the labels point into; None for findings about a binary.
        labels: the first is the primary place.
        path: the place in a model for which there is no text, such as `graph.node[12]`.
        offset: byte offset in a binary, where known.
        notes: further facts.
        help: what to change.
        file: name of the file, for findings that have no `source`.
        fix: a change of the text that mends it, where one is known.
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

    @property
    def span(self) -> Span | None:
        """The primary place in the text; None if there is no text."""
        return self.labels[0].span if self.labels else None

    def where(self) -> str:
        """The place in one word: `file:line:column`, or the model path and the byte offset."""
        parts = []
        if self.source is not None and self.labels:
            at = self.source.position(self.labels[0].span.start)
            parts.append(f"{self.source.name}:{at.line}:{at.column}")
        elif self.source is not None:
            parts.append(self.source.name)
        if self.path:
            parts.append(self.path)
        if self.offset is not None:
            parts.append(f"byte {self.offset:#x}")
        place = " at ".join(parts)
        if self.source is not None or self.file is None:
            return place
        return f"{self.file}: {place}" if place else self.file

    def __str__(self) -> str:
        """The finding in one line, and its help in another."""
        where = self.where()
        text = f"{where}: " if where else ""
        text += f"{self.severity}: {self.message} [{self.code}]"
        return text + (f"\n  help: {self.help}" if self.help else "")


class OnnxTextError(ValueError):
    """A text or a binary could not be used; `diagnostics` says why and where.

    Attributes:
        diagnostics: at least one finding of severity `error`.
    """

    def __init__(self, *diagnostics: Diagnostic) -> None:
        super().__init__("\n".join(map(str, diagnostics)))
        self.diagnostics: tuple[Diagnostic, ...] = diagnostics


class OnnxTextWarning(UserWarning):
    """Something in a text was passed over, and the result is right without it."""
