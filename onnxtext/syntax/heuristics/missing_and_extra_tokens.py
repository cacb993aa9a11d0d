# SPDX-License-Identifier: Apache-2.0
"""Diagnose errors that a change of one token repairs, such as a missing comma or bracket."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from onnxtext.diagnostics import Edit, Label
from onnxtext.source import Span, line_start
from onnxtext.syntax.grammar.lexer import Token
from onnxtext.syntax.heuristics.certainty import is_certain_comma, is_certain_equals
from onnxtext.syntax.heuristics.constructs.node_errors import NAMES
from onnxtext.syntax.heuristics.diagnosis import Diagnosis, incomplete_statement
from onnxtext.syntax.heuristics.error_context import (
    CLOSER,
    CLOSING,
    OPENING,
    ErrorContext,
    begins_line,
    blank_line_above,
    bracket_on_own_line,
    innermost_bracket,
    insert,
    removal,
    replace,
)
from onnxtext.syntax.heuristics.expected import SAMPLES, describe, found_words, sentence
from onnxtext.syntax.heuristics.speculative_parse import MAX_TOKENS

_CLOSERS = {"RPAR": "LPAR", "RSQB": "LSQB", "RBRACE": "LBRACE", "MORETHAN": "LESSTHAN"}
_OPENERS = {opener: closer for closer, opener in _CLOSERS.items()}
_MISSING = {
    "COMMA": "missing-comma",
    "EQUAL": "missing-equals",
    **dict.fromkeys(_CLOSERS, "unclosed-bracket"),
    **dict.fromkeys(_OPENERS, "missing-bracket"),
}
_MARKS = {*_MISSING, "_ARROW", "COLON", "DOT"}
_PUNCTUATION = frozenset("()[]{}<>,:=.;")
_SEPARATORS = {":", ".", "|", "/", "&", "and", "comma"}
"""Tokens that are sometimes written instead of the comma between list items."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change of one token.

    Attributes:
        cost: the number that is subtracted from the number of parsed tokens when changes are
            compared.
        missing: the terminal of the inserted punctuation; empty if the change inserts none.
        token: the removed or replaced token, or the token after an inserted sample such as `x`;
            None if the change inserts punctuation.
        instead: 1 if the change removes or replaces the unexpected token, else 0. It is added to
            the number of parsed tokens, which does not include this token.
    """

    cost: float
    edit: Edit
    missing: str = ""
    token: Token | None = None
    title: str = ""
    instead: int = 0


def best_change(context: ErrorContext, cut_short: bool) -> Change | None:
    """Return the change of one token with the best score; None if no change helps.

    The score is the number of tokens that parse after the change, minus the cost of the change.
    `cut_short`: whether the statement seems incomplete, because the next statement begins.
    """
    best: tuple[float, Change] | None = None
    for change in _changes(context, cut_short):
        outcome = context.attempt(change.edit)
        if outcome is None:
            continue
        # An added `,` or `=` is also right if three tokens after it parse, not four as for other
        # changes: the same mark may be missing again, as in `a = 1 b = 2 c = 3` and `a 1, b 2`.
        entry = change.missing in {"COMMA", "EQUAL"} and outcome.count == 3
        closed = cut_short and outcome.count and change.missing != "COMMA"
        if not (outcome.promising or entry or closed):
            continue
        score = min(outcome.count + change.instead, MAX_TOKENS) - change.cost
        if best is None or score > best[0]:
            best = score, change
    return None if best is None else best[1]


def _changes(context: ErrorContext, cut_short: bool) -> Iterator[Change]:
    """Yield changes that add, remove or replace one token; for `cut_short`, see `best_change`."""
    names = context.expected()
    among_outputs = "node" in context.rules and "=" not in context.done
    # After a version, as in `[21 x]`, only another import may follow.
    version = "header_item" in context.rules and context.done[-1:] and context.done[-1].isdigit()
    extra = version and context.name(context.token) not in {"INT", "STRING"}
    unlikely = {"EQUAL"} if context.last in {None, *OPENING} else set[str]()  # no outputs
    if context.after_attributes or (cut_short and among_outputs) or extra:
        unlikely |= {"COMMA"}
    # `.` is commoner than `:` in the name of an operator.
    names = sorted((name for name in names if name not in unlikely), key="DOT".__ne__)
    likely = {*_CLOSERS, "COMMA", *(["LBRACE"] if context.last == ")" else [])}
    for name in names:
        closer = CLOSER.get(SAMPLES.get(name, ""))
        if name != "LPAR" and closer is not None and closer == context.token:
            continue  # the brackets would be empty
        if name in _MARKS and (not cut_short or name in likely):
            cost = 0.5 if name in _MISSING else 0.8
            if name in _CLOSERS and context.token in CLOSING and _is_doubled(context):
                cost = 1.5
            edit = _addition(context, name)
            verb = "write" if edit.text == "," and edit.span.start < edit.span.end else "add"
            yield Change(cost, edit, name, None, f"{verb} `{SAMPLES[name]}`")
    if context.token is None or cut_short:
        return
    token = context.token
    # In `(...)`, it stands for what is missing.
    elided = token == "..." and context.text[context.previous_end - 1] in {*OPENING, "="}
    remove = "" if elided else f"remove {found_words(token)}"
    yield Change(1.2, removal(context.text, token.span), "", token, remove, 1)
    if context.ahead[:1] == [CLOSER.get(token)]:  # editors add closing brackets
        both = Span(token.at, context.ahead[0].end)
        title = f"remove `{context.text[slice(*both)]}`"
        yield Change(1.3, removal(context.text, both), "", token, title, 2)
    for name in names:
        if name in _MARKS:
            # A mark or `and` may be a typo. Other replacements only serve to continue parsing.
            edit, pair = replace(token, SAMPLES[name]), {SAMPLES[name], token}
            typo = pair <= OPENING or pair <= CLOSING or (name == "COMMA" and token in _SEPARATORS)
            short = len(token) == 1 or token[0] in _PUNCTUATION
            typo = typo or (short and context.is_certain([edit]))
            title = f"write `{SAMPLES[name]}` instead" if typo else ""
            yield Change(1.6, edit, "", token, title, 1)
        elif name in SAMPLES and name != "DECORATOR":
            sample = f" {SAMPLES[name]} "
            yield Change(1.6, replace(token, sample), "", token, "", 1)
            yield Change(1.4, insert(token.at, sample), "", token)
    if len(context.done) > 1:
        last = context.done[-1]
        removed = removal(context.text, last.span)
        yield Change(1.9, removed, "", last, f"remove {found_words(last)}")


def _is_doubled(context: ErrorContext) -> bool:
    """Whether the unexpected token repeats the token before it, in a list of several lines."""
    opened, token = context.opened, context.token
    return (
        opened is not None
        and context.done[-1:] == [token]
        and context.done[-1].end == context.at
        and context.text.find("\n", opened.start, context.region.start) >= 0
    )


def _addition(context: ErrorContext, name: str) -> Edit:
    """Return the edit that adds the missing terminal `name`; in `2. 3`, `,` replaces `.`."""
    token = SAMPLES[name]
    if context.token is None and name == "RBRACE":
        return insert(context.at, "}\n" if context.text.endswith("\n") else "\n}\n")
    if name == "COMMA" and context.done and context.done[-1].endswith("."):  # as in `2. 3`
        return Edit(Span(context.previous_end - 1, context.previous_end), ",")
    spaced = {"EQUAL", "_ARROW", "LBRACE"}
    after = context.text[context.previous_end : context.previous_end + 1]
    text = f" {token}" if name in spaced else token
    if after and not after.isspace() and name in {*spaced, "COMMA"}:
        text += " "
    if (place := _bracket_on_own_line(context, name)) is not None:
        return place[1]
    same_line = "\n" not in context.text[context.previous_end : context.at]
    if not context.done or (name in _OPENERS and name != "LBRACE" and same_line):
        return insert(context.at, token)
    return insert(context.previous_end, text)


def _bracket_on_own_line(context: ErrorContext, name: str) -> tuple[Span, Edit] | None:
    """Return (place to mark, edit) for the missing terminal `name`, as `bracket_on_own_line` does.

    Return None if the terminal is no bracket, or if it does not belong on its own line.
    """
    opener = _opener(context, name) if name in _CLOSERS else None
    is_bracket = opener is not None or name == "LBRACE"
    if not is_bracket:
        return None
    return bracket_on_own_line(context, opener, context.previous_end, SAMPLES[name])


def diagnose_change(context: ErrorContext, change: Change) -> Diagnosis:
    """Return the diagnosis of an error that a change repairs."""
    found = found_words(context.token)
    words = ranked_words(context)
    end = context.previous_end
    line = context.lexer.tokens(context.text, line_start(context.text, end), end)
    cut_off = line[-1:] in ([":"], ["="]) or (len(line) == 1 and context.name(line[0]) in NAMES)
    cut_off = cut_off and begins_line(context.text, context.at)
    if cut_off and change.token is context.token is not None:
        return incomplete_statement(sentence(words), line[-1], line[-1].span, (change.edit,))
    if change.token is not None:
        span = change.token.span
        message = f"expected {sentence(words)}, found {found}"
        if change.token is not context.token:
            message = f"{found_words(change.token)} does not belong before {found}"
        edits, title = (change.edit,), change.title
        return Diagnosis(
            "syntax-error", message, span, edits, title, min_tokens=4, lists_tokens=True
        )
    name = change.missing
    quoted_token = f"`{SAMPLES[name]}`"
    same_line = context.text.find("\n", context.previous_end, context.at) < 0
    span = Span(context.previous_end, context.previous_end)
    if same_line and context.token is not None:
        span = context.token.span
    elif context.token is None:
        blank = blank_line_above(context.text, context.at)
        span = change.edit.span if blank is None else Span(blank, blank)
    elif (place := _bracket_on_own_line(context, name)) is not None:
        span = place[0]
    others: tuple[Label, ...] = ()
    opener = _opener(context, name) if name in _CLOSERS else None
    if opener is not None:
        others = (Label(opener, "this bracket is never closed"),)
    return Diagnosis(
        _MISSING.get(name, "syntax-error"),
        f"expected {sentence([quoted_token, *(w for w in words if w != quoted_token)])}, "
        f"found {found}",
        span,
        (change.edit,),
        change.title,
        safe=_is_safe(context, name),
        other_labels=others,
        min_tokens=4,
        lists_tokens=True,
    )


def _is_safe(context: ErrorContext, missing: str) -> bool:
    """Whether a fix that adds the terminal `missing` is safe.

    Only `=` and `,` can be safe. They are unsafe if another mark may be missing instead.
    """
    among_outputs = "node" in context.rules and "=" not in context.done
    if missing == "EQUAL":
        named = context.name(context.token) in NAMES
        return is_certain_equals(context) and (not among_outputs or named)
    if missing != "COMMA" or (context.token in OPENING and "COLON" in context.expected()):
        return False
    return not among_outputs and is_certain_comma(context)


def _opener(context: ErrorContext, closer: str) -> Span | None:
    """Return the span of the bracket that a missing `closer` would close; None if unknown."""
    index = innermost_bracket(context.done)
    if index is not None:
        token = context.done[index]
        return token.span if context.name(token) == _CLOSERS[closer] else None
    opened, text, done = context.opened, context.text, context.done
    if opened is not None and sum((t in CLOSING) - (t in OPENING) for t in done) == 1:
        # The statement is the last item of a list, and `done` closes the list.
        start = line_start(text, max(0, opened.start - _BEFORE_LIST))
        tokens = context.lexer.tokens(text, start, opened.start)
        index = innermost_bracket(tokens)
        opened = None if index is None else tokens[index].span
    # Ignore speculatively inserted brackets.
    if opened is not None and text[slice(*opened)] == SAMPLES[_CLOSERS[closer]]:
        return opened
    return None


_BEFORE_LIST = 1_000
"""Number of characters before a list in which to search for the bracket around it."""


def ranked_words(context: ErrorContext) -> list[str]:
    """Describe the valid tokens in words, the likeliest first."""
    names = context.expected()
    scores = {name: _score(context, name) for name in names}
    return describe(names, scores)


def _score(context: ErrorContext, name: str) -> float:
    sample = SAMPLES.get(name)
    if sample is None or context.token is None:
        return 0
    outcomes = (
        context.attempt(insert(context.at, f" {sample} ")),
        context.attempt(Edit(context.token.span, f" {sample} ")),
    )
    return max(outcome.count if outcome is not None else 0 for outcome in outcomes)
