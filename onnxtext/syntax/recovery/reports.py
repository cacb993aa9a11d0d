# SPDX-License-Identifier: Apache-2.0
"""What is said of a mistake that was found: diagnostics, with their fixes."""

from __future__ import annotations

from onnxtext.diagnostics import Diagnostic, Edit, Fix, Label
from onnxtext.source import Source, Span
from onnxtext.syntax.actions.semantic_error import SemanticError
from onnxtext.syntax.grammar.lexer import load_lexer
from onnxtext.syntax.heuristics.error_context import Diagnosis
from onnxtext.syntax.heuristics.suggestions import nearest

_LONGEST_PATH = 8000
"""The most tokens of a path among which a step is looked for."""


def diagnosis_report(source: Source, diagnosis: Diagnosis) -> Diagnostic:
    """The diagnostic of what the parser found wrong."""
    fix = None
    if diagnosis.title and diagnosis.edits:
        edits = tuple([_tidy(source.text, edit) for edit in diagnosis.edits])
        fix = Fix(diagnosis.title, edits, diagnosis.applicability)
    return Diagnostic(
        diagnosis.code,
        diagnosis.message,
        source=source,
        labels=(Label(diagnosis.span, diagnosis.label), *diagnosis.others),
        help=diagnosis.help or (diagnosis.title or None),
        fix=fix,
    )


def first_of_lines(
    text: str, mistakes: list[Diagnostic], errors: list[Diagnostic]
) -> list[Diagnostic]:
    """All diagnostics in order; where a line has both kinds, only those of the first kind in it.

    What an action finds wrong may follow from a token that fits nowhere, and the other way round.
    """
    found = sorted([*mistakes, *errors], key=lambda item: item.labels[0].span)
    kinds = {id(item): number for number, items in enumerate((mistakes, errors)) for item in items}
    first: dict[int, int] = {}
    kept = []
    for item in found:
        line = text.rfind("\n", 0, item.labels[0].span.start)
        if first.setdefault(line, kinds[id(item)]) == kinds[id(item)]:
            kept.append(item)
    return kept


def semantic_error_report(source: Source, error: SemanticError) -> Diagnostic:
    """The diagnostic of what an action found wrong."""
    at = error.at if error.at is not None else len(source.text)
    span = Span(at, min(at + error.length, len(source.text)))
    help, fix = error.help, None
    if error.step is not None:
        span = step_place(source.text, span, error.step)
    if error.instead is not None:
        help = f"write `{error.instead}`"
        fix = Fix(help, (Edit(span, error.instead),), "unsafe")
    if help is not None and help.startswith("one of "):
        meant = nearest(source.text[slice(*span)], help.removeprefix("one of ").split(", "))
        if meant is not None:
            help = f"write `{meant}`"
            fix = Fix(help, (Edit(span, meant),), "unsafe")
    return Diagnostic(
        error.code, error.message, source=source, labels=(Label(span),), help=help, fix=fix
    )


def step_place(text: str, span: Span, step: int) -> Span:
    """Where a step of a path stands, behind the keyword at a place or, if that is empty, there."""
    lexer = load_lexer()
    start = span.end if len(text[slice(*span)]) > 1 else span.start
    for _ in range(_LONGEST_PATH):
        token = lexer.token(text, start)
        if token is None or token == "{":
            break
        if not step and token != ".":
            return token.span
        step -= token == "."
        start = token.end
    return span


def _tidy(text: str, edit: Edit) -> Edit:
    """An equivalent edit that inserts punctuation where people write it."""
    start, end = edit.span
    before = text[text.rfind("\n", 0, start) + 1 : start]
    if edit.text == ":" and before.endswith(" "):
        return Edit(Span(start - len(before) + len(before.rstrip(" ")), end), ":")
    if edit.text.strip() != "," or start != end or before.strip():
        return edit
    place = len(text[:start].rstrip())
    if "#" in text[text.rfind("\n", 0, place) + 1 : place]:  # perhaps in a comment
        return edit
    return Edit(Span(place, place), ",")
