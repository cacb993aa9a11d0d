# SPDX-License-Identifier: Apache-2.0
"""Turn syntax errors and semantic errors into diagnostics with fixes."""

from __future__ import annotations

import re
from collections.abc import Iterable

from onnxtext.diagnostics import Diagnostic, Edit, Fix, Label
from onnxtext.source import COMMENT, LINE_STRING, Source, Span, line_start
from onnxtext.syntax.actions.semantic_error import SemanticError
from onnxtext.syntax.grammar.lexer import Token, load_lexer
from onnxtext.syntax.heuristics.constructs.metadata_errors import KEY, bare_value
from onnxtext.syntax.heuristics.diagnosis import Diagnosis, incomplete_statement
from onnxtext.syntax.heuristics.error_context import ErrorContext, blank_line_above
from onnxtext.syntax.heuristics.expected import found_words, sentence
from onnxtext.syntax.heuristics.missing_and_extra_tokens import ranked_words

_MAX_PATH_LENGTH = 8000
"""Maximum number of tokens of a path in which to search for a step."""

_STRING_OR_COMMENT = re.compile(r'"""(?s:.*?)"""|"(?:[^"\\\n]|\\.)*"|#[^\n]*')
_MAX_VALUE_LENGTH = 8000
"""Maximum number of characters of a header's value in which to search for an item."""


def diagnosis_report(source: Source, diagnosis: Diagnosis) -> Diagnostic:
    """Return the diagnostic of a syntax error."""
    fix = None
    if diagnosis.title and diagnosis.edits:
        edits = tuple([_tidy(source, edit) for edit in diagnosis.edits])
        fix = Fix(diagnosis.title, edits, "safe" if diagnosis.safe is True else "unsafe")
    return Diagnostic(
        diagnosis.code,
        diagnosis.message,
        source=source,
        labels=(Label(diagnosis.span), *diagnosis.other_labels),
        help=diagnosis.help or diagnosis.title or None,
        fix=fix,
        lists_tokens=diagnosis.lists_tokens,
    )


def unexplained_error(context: ErrorContext, early: int | None) -> Diagnosis:
    """Return the diagnosis of an error that no heuristic explains: it lists the expected tokens.

    `early` is the offset at which parsing continues, if that is before the error (see
    `Resynchronization.early`); otherwise None.
    """
    if early is not None:
        before = context.until(early)
        if before.done and not before.previous_line_complete:
            last = before.done[-1]
            unedited = ErrorContext(before.region, before.token, before.done)
            return incomplete_statement(sentence(ranked_words(unedited)), last, last.span)
    message = f"expected {sentence(ranked_words(context))}, found {found_words(context.token)}"
    span = Span(context.at, context.at + len(context.token or ""))
    return Diagnosis("syntax-error", message, span, lists_tokens=True)


def first_of_lines(
    text: str, syntax_errors: list[Diagnostic], errors: list[Diagnostic]
) -> list[Diagnostic]:
    """Merge syntax errors and semantic `errors` in text order, without those that others cause.

    On each line, keep the kind of the first error: errors of the other kind may follow from it.
    Drop a syntax error for which `_may_follow` holds.
    """
    in_order = sorted([*syntax_errors, *errors], key=lambda item: item.labels[0].span)
    syntactic = {id(item) for item in syntax_errors}
    first: dict[int, bool] = {}
    kept = []
    previous = None
    for item in in_order:
        is_syntactic = id(item) in syntactic
        line = text.rfind("\n", 0, item.labels[0].span.start)
        if first.setdefault(line, is_syntactic) != is_syntactic:
            continue
        if not is_syntactic or previous is None or not _may_follow(text, previous, item):
            kept.append(item)
        previous = item if is_syntactic else None
    return kept


def _may_follow(text: str, previous: Diagnostic, item: Diagnostic) -> bool:
    """Whether a syntax error may follow from the syntax error before it on the same line.

    It is a separate error if its fix is safe, or if both errors have the same code other than
    `syntax-error`. It is also separate if both have fixes: then parsing continued in the right
    state.
    """
    is_safe = item.fix is not None and item.fix.applicability == "safe"
    if is_safe or item.code == previous.code != "syntax-error":
        return False
    same_line = "\n" not in text[previous.labels[0].span.start : item.labels[0].span.start]
    return same_line and None in (previous.fix, item.fix)


def semantic_error_report(source: Source, error: SemanticError) -> Diagnostic:
    """Return the diagnostic of a semantic error."""
    offset = error.at if error.at is not None else len(source.text)
    span = Span(offset, min(offset + error.length, len(source.text)))
    before = source.text[:offset].rstrip() if error.missing else ""
    if "\n" in source.text[len(before) : offset] and error.missing:
        last = Span(len(before) - 1, len(before))
        return diagnosis_report(source, incomplete_statement(error.missing, before[-1], last))
    help, fix, instead = error.help, None, error.instead
    if error.step is not None:
        span = step_place(source.text, span, error.step)
    if error.item is not None:
        span = value_place(source.text, span, error.item)
    bare = bare_value(source.text, offset) if error.is_bare else None
    if bare is not None and bare[0] != span:  # the value has several words
        span, instead = bare
    if error.is_entry:
        span = entry_place(source.text, span)
    if error.code == "tensor-shape-unknown":
        span = type_place(source.text, span)
    if instead is not None:
        help = f"write `{instead}`" if instead else f"remove `{source.text[slice(*span)]}`"
        fix = Fix(help, (Edit(span, instead),), "unsafe")
    edits = error.edits
    if edits and "}" in edits[0].text:
        # A metadata block is inside another one if no `}` is missing in the text.
        code = _STRING_OR_COMMENT.sub("", source.text)
        edits = edits if code.count("{") > code.count("}") else ()
    if edits:
        help = _edit_title(source.text, edits)
        fix = Fix(help, tuple([_tidy(source, edit) for edit in edits]), "unsafe")
    return Diagnostic(
        error.code,
        error.message,
        source=source,
        labels=(Label(span),),
        help=help,
        fix=fix,
        subject=error.subject,
    )


def _edit_title(text: str, edits: tuple[Edit, ...]) -> str:
    """Return the title of a fix that changes commas or adds `}`."""
    if len({edit.text for edit in edits}) > 1:
        return "correct the commas"
    first = edits[0]
    verb = "remove" if not first.text else "write" if first.span.start < first.span.end else "add"
    mark = first.text.strip() or ","
    if not first.text and "]" in text[slice(*first.span)]:
        return "remove the repeated row"
    return f"{verb} `{mark}`" if len(edits) == 1 else f"{verb} {len(edits):,} commas"


def step_place(text: str, span: Span, step: int) -> Span:
    """Return the span of a step of a path, such as `b` in `a.b`; `span` if the step is not found.

    `span` is that of the path's first character, or of the keyword before the path. Steps count
    from 0.
    """
    lexer = load_lexer()
    start = span.end if len(text[slice(*span)]) > 1 else span.start
    for _ in range(_MAX_PATH_LENGTH):
        token = lexer.token(text, start)
        if token is None or token == "{":
            break
        if not step and token not in (".", "["):
            return token.span
        step -= token == "."
        start = token.end
    return span


def value_place(text: str, key: Span, item: int) -> Span:
    """Return the span of a header key's value, or of an item in the value; `key` if unknown.

    Items count from 0; -1 is the whole value.
    """
    tokens = load_lexer().tokens(text, key.end, key.end + _MAX_VALUE_LENGTH)[1:]
    depth, start, count = 0, -1, 0
    for before, token in zip(["", *tokens], tokens, strict=False):
        if token in ("]", "}", ")"):
            depth -= 1
        ends = token in (",", ">") if item < 0 else token in (",", "]") and depth <= 1
        if start >= 0 and ends and depth <= (item >= 0):
            return Span(start, before.end) if isinstance(before, Token) else key
        if start < 0 and count == max(item, 0) and depth == (item >= 0):
            start = token.at
        count += token == "," and depth == 1
        depth += token in ("[", "{", "(")
    return key


_ENTRY = re.compile(
    rf"(?P<key>{KEY})(?=\s*:\s*(?:b?\"|\w+\b(?!\s*[.:{{])))"
    rf"|{LINE_STRING}|{COMMENT}|(?P<mark>[{{}}])",
    re.DOTALL,
)


def entry_place(text: str, span: Span) -> Span:
    """Return the span of the first entry outside of a block in a metadata section.

    `span` is the span of the word `metadata`. Return `span` if there is no such entry.
    """
    depth = 0
    for match in _ENTRY.finditer(text, span.end):
        if match["key"] is not None and depth == 1:
            return Span(*match.span("key"))
        if match["mark"] is not None:
            depth += 1 if match["mark"] == "{" else -1
            if depth <= 0:
                break
    return span


def type_place(text: str, span: Span) -> Span:
    """Return the span of the tensor type after the decorators that begin at `span`.

    If its dimensions have decorators, return the span of the element type. Of the type of a sparse
    tensor, return the part in parentheses, which has the dimensions.
    """
    lexer, depth = load_lexer(), 0
    token = lexer.token(text, span.start)
    while token is not None and (depth or not token[0].isalpha()):
        depth += token.endswith("(") - (token == ")")  # `@doc(` is one token
        token = lexer.token(text, token.end)
    match = None if token is None else _TENSOR_TYPE.match(text, token.at)
    return span if match is None else Span(*match.span(1))


_TENSOR_TYPE = re.compile(r"(?:sparse_tensor\s*\(\s*)?(\w+(?:\s*\[[^][\"#]*\])?)")


def follows_bare_value(text: str, errors: list[SemanticError], start: int) -> bool:
    """Whether the last error is an unquoted metadata value before `start`, on the same line.

    Then the parser reads the second word of the value as the head of a metadata block.
    """
    if not errors or not errors[-1].is_bare or errors[-1].at is None:
        return False
    return start - errors[-1].at >= 0 and text.find("\n", errors[-1].at, start) < 0


def without_closing_braces(
    errors: Iterable[SemanticError], diagnostics: list[Diagnostic]
) -> list[Diagnostic]:
    """Return `diagnostics` without errors about `}` after a stray entry of a section `metadata`.

    A stray entry is outside of a block. Probably the first line of its block is missing. Then the
    `}` of the block ends the section, and the `}` of the section is an error. `errors` are the
    semantic errors; one about a stray entry (`is_entry`) is at the start of its section.
    """
    starts = [error.at for error in errors if error.is_entry and error.at is not None]
    if not starts:
        return diagnostics
    return [
        item for item in diagnostics if not _is_brace(item) or item.labels[0].span < (starts[0],)
    ]


def _is_brace(error: Diagnostic) -> bool:
    source, span = error.source, error.labels[0].span
    return source is not None and source.text[slice(*span)] == "}"


def _tidy(source: Source, edit: Edit) -> Edit:
    """Move an inserted `:` or `,` to its usual place, directly after the token before it.

    A bracket on a new line takes the place of a blank line above it. Give new lines the line
    endings of the source, and indent the text after a new line.
    """
    if not edit.text:
        return edit
    text = source.text
    start, end = edit.span
    before = text[line_start(text, start) : start]
    blank = blank_line_above(text, start) if edit.text in ("}\n", "<\n") else None
    if blank is not None:
        return Edit(Span(blank, blank), edit.text[0])
    if edit.text in (":", ",") and before.endswith(" ") and before.strip():
        return Edit(Span(start - len(before) + len(before.rstrip(" ")), end), edit.text)
    if edit.text.strip() != "," or start != end or before.strip():
        inserted = start == end < len(text) and edit.text.endswith("\n") and not before.strip()
        return Edit(edit.span, source.with_line_ends(edit.text + before * inserted))
    offset = len(text[:start].rstrip())
    if "#" in text[line_start(text, offset) : offset]:  # perhaps a comment
        return edit
    return Edit(Span(offset, offset), ",")
