# SPDX-License-Identifier: Apache-2.0
"""Diagnose a syntax error: find a common error, or a change of one or several tokens.

A speculative parse tests each edit before it is reported: tokens after the error must parse.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace as replace_fields
from math import inf

from onnxtext.diagnostics import Edit
from onnxtext.source import Span, line_start
from onnxtext.syntax.grammar.lexer import Token
from onnxtext.syntax.heuristics.common_errors import COMMON_ERRORS, INCOMPLETE_STATEMENTS
from onnxtext.syntax.heuristics.constructs import (
    attribute_list_errors,
    attribute_value_errors,
    graph_errors,
    header_errors,
    list_errors,
    misplaced_constructs,
    misplaced_lines,
    section_errors,
    token_errors,
)
from onnxtext.syntax.heuristics.constructs.node_errors import unopened_bracket
from onnxtext.syntax.heuristics.corrections import Budget, Correction, find_correction
from onnxtext.syntax.heuristics.diagnosis import Diagnosis, incomplete_statement
from onnxtext.syntax.heuristics.error_context import ErrorContext, begins_line
from onnxtext.syntax.heuristics.expected import found_words, sentence
from onnxtext.syntax.heuristics.foreign_syntax import (
    markdown_and_comments,
    other_languages,
    python_syntax,
)
from onnxtext.syntax.heuristics.missing_and_extra_tokens import (
    best_change,
    diagnose_change,
    ranked_words,
)
from onnxtext.syntax.heuristics.speculative_parse import CERTAIN_TOKENS, MAX_TOKENS, Region, States
from onnxtext.syntax.parser.lalr import ITEMS

_COMMON = 0.5
"""The cost of the edits that a heuristic in `COMMON_ERRORS` proposes."""
_ANOTHER = 2.5
"""The cost to add if another error follows soon after the edits."""
_DOUBTFUL = 2.5
"""If a correction costs more than this, look for a cheaper one in the enclosing constructs."""
_SEPARATE_TOKENS = 24
"""If an edit lets at least this number of tokens parse, the next error has another cause."""
_PLAUSIBLE_TOKENS = 3
"""Number of tokens that must parse after a change to make it plausible."""
_MAX_COST_TO_DESCRIBE = 1.9
"""If a correction costs more than this, the message describes the common error."""

_MAX_OTHERS = 2
"""An edit may be right even if up to this number of other mistakes remain in the statement."""
_MARKS = re.compile(r"[^\w\s\"]{1,3}|\d+[.:]")
"""Matches up to three marks, or the number of a line, such as `12:`."""
_SEPARATORS = frozenset(("COMMA", "EQUAL", "COLON"))
_NUMBERS = frozenset(("INT", "FLOAT", "HEX", "HEX_FLOAT"))


def diagnose(context: ErrorContext, budget: Budget) -> Diagnosis | None:
    """Return the probable cause of an unexpected token; None if unknown."""
    common = _common_error(context)
    if common is not None and (
        not common.edits or _is_right(context, common.edits, marks=bool(common.title))
    ):
        return common
    cut_short = context.next_statement is not None
    context_there = (
        context if context.next_statement is None else context.until(context.next_statement)
    )
    best = None if common is not None else best_change(context_there, cut_short)
    separator = best is not None and best.missing in _SEPARATORS
    others = _MAX_OTHERS if separator else 0
    if best is not None and _is_right(context_there, [best.edit], others, marks=separator):
        change = diagnose_change(context_there, best)
        # `2` in `axes = 1, 2>` may also belong to a list without brackets.
        listed = context.name(context.token) in _NUMBERS and "attribute" in context.rules
        return replace_fields(change, edit_cost=_COMMON) if listed else change
    limit = inf
    if common is not None and is_plausible(context, common.edits):
        limit = _COMMON + _ANOTHER
    elif best is not None and (cut_short or is_plausible(context_there, [best.edit])):
        limit = best.cost + _ANOTHER
    elif is_incomplete(context):
        return None
    result = correct(context, budget, common, limit)
    if result is not None:
        return result
    if best is not None:
        common = diagnose_change(context_there, best)
    elif common is None and (result := correct(context, budget, far=MAX_TOKENS)) is not None:
        return replace_fields(result, edit_cost=inf)
    return None if common is None else replace_fields(common, edit_cost=limit)


def may_be_wider(context: ErrorContext, edit_cost: float) -> bool:
    """Whether the cause of an error may be in an enclosing construct.

    `edit_cost` is the cost of the edits for the innermost construct; infinite without a diagnosis.
    """
    inside_item = not context.rules or unopened_bracket(context.rest) is not None
    return edit_cost > _DOUBTFUL or (edit_cost > 0 and inside_item)


_WIDER = (
    misplaced_lines.misplaced_line, markdown_and_comments.trailing_comment,
    markdown_and_comments.code_as_comment,
    header_errors.text_before_header, misplaced_lines.repeated_line,
    attribute_list_errors.node_among_attributes,
    misplaced_constructs.graph_among_nodes, section_errors.unclosed_before_header,
    attribute_list_errors.unclosed_attributes, other_languages.tensor_types,
    attribute_value_errors.called_number, python_syntax.called_elements,
    python_syntax.called_values, token_errors.misspelled, list_errors.thousands_separators,
    list_errors.list_without_brackets, list_errors.early_end,
    graph_errors.headless_outputs, graph_errors.wrong_brackets, graph_errors.wrong_bracket,
)  # fmt: skip


def diagnose_wider(context: ErrorContext, budget: Budget, limit: float) -> Diagnosis | None:
    """Return the probable cause of an error, given the context of an enclosing construct.

    Return None if the cause is unknown. A change that `correct` finds must cost less than `limit`.
    """
    for diagnosis in graph_errors.missing_opener(context):
        if context.accepts(diagnosis.edits, diagnosis.min_tokens):
            return diagnosis
    for recognizer in _WIDER:
        for diagnosis in recognizer(context):
            marks = bool(diagnosis.title)
            if diagnosis.edits and _is_right(context, diagnosis.edits, marks=marks):
                return diagnosis
    return correct(context, budget, limit=limit) if limit > _DOUBTFUL else None


def is_plausible(context: ErrorContext, edits: Sequence[Edit]) -> bool:
    """Whether the text after the error parses for a few tokens if these edits are applied.

    Fewer tokens are enough if the outcome is `complete` or reaches the `next_line` (see `Outcome`).
    """
    outcome = context.attempt(*edits)
    return outcome is not None and (
        outcome.complete or outcome.next_line or outcome.count >= _PLAUSIBLE_TOKENS
    )


def _is_right(
    context: ErrorContext, edits: Sequence[Edit], others: int = _MAX_OTHERS, marks: bool = False
) -> bool:
    """Whether edits are right: the text after them parses, or its next error is another mistake.

    The next error is another mistake in these cases:
    - it is far: at least `_SEPARATE_TOKENS` tokens parse before it (if `marks`);
    - a few tokens parse before it, and its token and the unexpected token of this error have the
      same kind, or both are numbers: the writer probably made the same mistake again;
    - it is near, and its fix is safe or evident, or (if `marks`) adds a `,`, `=` or `:`.

    Args:
        context: the context of the error.
        edits: the edits that mend the error.
        others: the maximum number of other mistakes, each with edits that mend it.
        marks: whether a missing `,`, `=` or `:` counts as another mistake.
    """
    if context.is_certain(edits):
        return True
    outcome = context.attempt(*edits, max_tokens=CERTAIN_TOKENS)
    if outcome is None or not outcome.count or context.token is None:
        return False
    if marks and outcome.count >= _SEPARATE_TOKENS:
        return True
    offset = outcome.resume
    for _ in range(outcome.count):
        token = context.lexer.token(context.text, offset)
        offset = len(context.text) if token is None else token.end
    token = context.lexer.token(context.text, offset)
    if token is None:
        return False
    kinds = {context.name(token), context.name(context.token)}
    if outcome.count >= _PLAUSIBLE_TOKENS and (len(kinds) == 1 or kinds <= _NUMBERS):
        return True
    near = others and outcome.count < MAX_TOKENS
    other = _innermost_item(context, edits, token) if near else None
    if other is None or other.next_statement is not None:
        return False
    common = _common_error(other)
    if common is not None:
        end = max([edit.span.end for edit in edits], default=0)
        certain = bool(common.title and common.safe)
        certain = certain and all(edit.span.start >= end for edit in common.edits)
        return certain and _is_right(other, common.edits, others - 1, marks)
    best = best_change(other, cut_short=False) if marks else None
    missing = best is not None and best.missing in _SEPARATORS
    return best is not None and missing and _is_right(other, [best.edit], others - 1, marks)


def _innermost_item(
    context: ErrorContext, edits: Sequence[Edit], token: Token
) -> ErrorContext | None:
    """Return the context of the unexpected `token`, limited to the innermost item around it.

    Return None if the text before the token does not parse with the edits.
    """
    region = replace_fields(context.region, error=token.at)
    together = tuple(sorted((*context.earlier_edits, *edits), key=lambda edit: edit.span))
    before = ErrorContext(region, token, [], together, context.opened).attempt()
    if before is None:
        return None
    states, first, start = States(context.automaton, region.states), 0, region.states
    for index, done in enumerate(before.tokens):
        if not states.feed(context.name(done)):
            return None
        if not ITEMS.isdisjoint(context.automaton.gotos[states.stack[-2]]):
            first, start = index, tuple(states.stack[:-1])
    offset = before.tokens[first].at if before.tokens else token.at
    # Text inserted at the start of the item belongs to the previous item, unless the first token of
    # the item is edited.
    offset_of_edits = offset if first in before.edited else offset + 1
    later = tuple([edit for edit in together if edit.span.start >= offset_of_edits])
    inner = Region(context.text, offset, start, token.at)
    return ErrorContext(inner, token, before.tokens[first:], later, context.opened)


def is_incomplete(context: ErrorContext) -> bool:
    """Whether the statement of an error probably lacks its end.

    The result is True if the next statement parses once this statement is removed. It is also True
    if the next statement parses as an attribute, but is indented like a node (`after_attributes`).
    """
    if context.next_statement is None:
        return False
    if context.until(context.next_statement).after_attributes:
        return True
    removal = Edit(Span(context.region.start, context.next_statement), "")
    return context.accepts([removal], _PLAUSIBLE_TOKENS)


def _common_error(context: ErrorContext) -> Diagnosis | None:
    """Return the first matching common error whose edits, if any, parse; None if there is none.

    In a statement that seems incomplete, try only `INCOMPLETE_STATEMENTS`.
    """
    for recognizer in COMMON_ERRORS if context.next_statement is None else INCOMPLETE_STATEMENTS:
        for diagnosis in recognizer(context):
            if not diagnosis.edits or context.accepts(diagnosis.edits, diagnosis.min_tokens):
                return diagnosis
    return None


def correct(
    context: ErrorContext,
    budget: Budget,
    common: Diagnosis | None = None,
    limit: float = inf,
    far: int = CERTAIN_TOKENS,
) -> Diagnosis | None:
    """Return a diagnosis with the cheapest correction; None if no correction is found.

    Args:
        context: the context of the error.
        budget: the attempts left for the text.
        common: a common error that may be the cause. If the correction costs more than
            `_MAX_COST_TO_DESCRIBE`, the message describes this error.
        limit: the correction must cost less than this.
        far: the number of tokens after the error that must parse.
    """
    correction = find_correction(context, budget, limit, far)
    if correction is None:
        return None
    if common is not None and correction.cost > _MAX_COST_TO_DESCRIBE:
        return replace_fields(common, edits=(correction.edit,), title="", edit_cost=correction.cost)
    offset = correction.edit.span.start
    new_context = context
    begins = not correction.removed and context.text[context.line_start : offset].isspace()
    above = context.text.find("\n", offset, context.at) >= 0
    if begins or above or offset == context.next_statement:
        new_context = context.until(offset)
    words = ranked_words(new_context)
    if "a word" in words and new_context.name(new_context.token) == "WORD":
        new_context, words = context, ranked_words(context)  # the text after the word is wrong
        cut = context.last
        if cut is not None and begins_line(context.text, context.at):
            edits, cost = (correction.edit,), correction.cost
            return incomplete_statement(sentence(words), cut, cut.span, edits, cost)
    before = context.text.find("\n", new_context.previous_end, offset) >= 0
    if not correction.removed and before and not new_context.previous_line_complete:
        end = new_context.previous_end
        tokens = context.lexer.tokens(context.text, line_start(context.text, end), end)
        span = tokens[-1].span if tokens else Span(end, end)
        last = context.text[slice(*span)]
        return incomplete_statement(
            sentence(words), last, span, (correction.edit,), correction.cost
        )
    token = new_context.token
    span = token.span if token is not None else Span(new_context.at, new_context.at)
    message = f"expected {sentence(words)}, found {found_words(token)}"
    if found_words(token) in words:  # the token is valid, but not the text after it
        message = f"{found_words(token)} does not belong here"
    edits = (correction.edit,)
    return Diagnosis(
        "syntax-error",
        message,
        span,
        edits,
        _title(correction),
        min_tokens=4,
        edit_cost=correction.cost,
        lists_tokens=True,
    )


def _title(correction: Correction) -> str:
    """Return the title of a correction's fix; "" if it only lets the parser continue.

    Only swaps and corrections of marks are fixes: a wrong mark is probably a typo, whereas the
    intended word is unknown.
    """
    removed, written = correction.removed, correction.edit.text.strip()
    if correction.swapped:
        return f"swap {' and '.join(map(found_words, removed))}"
    if written:
        typo = len(removed) == len("".join(removed)) == 1 and _MARKS.fullmatch(written)
        return f"write `{written}` instead" if typo else ""
    marks = "".join(removed)
    return f"remove {found_words(marks)}" if _MARKS.fullmatch(marks) else ""
