# SPDX-License-Identifier: Apache-2.0
"""The diagnosis of a syntax error, and functions that return the commonest kinds of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from onnxtext.diagnostics import Edit, Label
from onnxtext.source import Span
from onnxtext.syntax.heuristics.expected import found_words

_MAX_SHOWN = 51
"""Maximum number of characters of a new text that the title of a fix shows."""

Safe = bool | Literal["evident"]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The probable cause of a syntax error.

    Attributes:
        edits: changes after which the text parses, none of them before `region.start` of the
            context; empty if none are known.
        title: the title of the fix; empty if the edits only serve to continue parsing.
        help: advice on the change to make; None if `title` is the advice.
        safe: True if the fix may be applied without review; "evident" if the error is certain, but
            not its fix; False if neither is certain: then the fix of the error just before it is
            doubtful, too.
        skip_to: start of the line at which parsing continues if there are no edits.
        min_tokens: minimum number of tokens after the error that must parse with the edits.
        replaces_errors: whether the diagnosis replaces semantic errors in its range.
        edit_cost: the higher it is, the less likely the edits are right; 0 if they are certain.
        lists_tokens: whether no heuristic explains the error. Then the message lists the expected
            tokens, or says which token does not belong there.
    """

    code: str
    message: str
    span: Span
    edits: tuple[Edit, ...] = ()
    title: str = ""
    help: str | None = None
    safe: Safe = False
    other_labels: tuple[Label, ...] = ()
    skip_to: int | None = None
    min_tokens: int = 1
    replaces_errors: bool = False
    edit_cost: float = 0
    lists_tokens: bool = False


def rewritten(
    code: str, message: str, span: Span, text: str, *, safe: Safe = False, min_tokens: int = 1
) -> Diagnosis:
    """Return the diagnosis that a span must be replaced by `text`."""
    edits, title = (Edit(span, text),), written_title(text)
    return Diagnosis(code, message, span, edits, title, safe=safe, min_tokens=min_tokens)


def written_title(text: str, length: int = _MAX_SHOWN) -> str:
    """Return the title of a fix that writes `text`, of which it shows at most `length` characters.

    The shown text ends with `…` if it is cut.
    """
    return f"write `{text if len(text) <= length else f'{text[:length]}…'}`"


def removed(
    code: str, message: str, span: Span, title: str, *, safe: Safe = False, min_tokens: int = 1
) -> Diagnosis:
    """Return the diagnosis that a span must be removed."""
    edits = (Edit(span, ""),)
    return Diagnosis(code, message, span, edits, title, safe=safe, min_tokens=min_tokens)


def advice(
    code: str, message: str, span: Span, help: str, *edits: Edit, min_tokens: int = 1
) -> Diagnosis:
    """Return a diagnosis with advice but no fix: the edits only serve to continue parsing."""
    return Diagnosis(code, message, span, edits, help=help, min_tokens=min_tokens)


def incomplete_statement(
    expected: str, last: str, span: Span, edits: tuple[Edit, ...] = (), edit_cost: float = 0
) -> Diagnosis:
    """Return the diagnosis of an incomplete statement.

    `expected` describes the tokens that may follow `last`, the last token of the statement, which
    has the given span. The edits complete the statement; the higher their cost is, the less likely
    they are right.
    """
    message = f"incomplete statement: expected {expected} after {found_words(last)}"
    help = "complete or remove it"
    return Diagnosis(
        "incomplete-statement", message, span, edits, help=help, min_tokens=4, edit_cost=edit_cost
    )


def unclosed(
    message: str, span: Span, edit: Edit, title: str, opened: Span, min_tokens: int = 4
) -> Diagnosis:
    """Return the diagnosis that the bracket at `opened` is not closed at or before `span`."""
    code, labels = "unclosed-bracket", (Label(opened, "this bracket is never closed"),)
    return Diagnosis(
        code, message, span, (edit,), title, other_labels=labels, min_tokens=min_tokens
    )
