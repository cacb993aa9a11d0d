# SPDX-License-Identifier: Apache-2.0
"""Error recovery: continue parsing after an error, without cascading errors.

If an action raises a semantic error, the value of its rule becomes an error node
(`lalr.ERROR_NODE`). At an unexpected token, the edits of `heuristics` correct the text, or the
statement is dropped.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import inf

from onnxtext.diagnostics import Diagnostic, Edit
from onnxtext.source import Source, line_start
from onnxtext.syntax.actions.semantic_error import SemanticError
from onnxtext.syntax.actions.strings import CONFLICT_MARKER
from onnxtext.syntax.grammar.lexer import Token
from onnxtext.syntax.grammar.tables import END_KIND
from onnxtext.syntax.heuristics.constructs.node_errors import unopened_bracket
from onnxtext.syntax.heuristics.corrections import Budget
from onnxtext.syntax.heuristics.diagnose import (
    diagnose,
    diagnose_wider,
    is_incomplete,
    may_be_wider,
)
from onnxtext.syntax.heuristics.diagnosis import Diagnosis
from onnxtext.syntax.heuristics.error_context import (
    CLOSER,
    CLOSING,
    OPENING,
    ErrorContext,
    begins_line,
    indentation,
)
from onnxtext.syntax.heuristics.speculative_parse import Outcome, Region, States
from onnxtext.syntax.parser.lalr import ERROR_NODE, Unexpected
from onnxtext.syntax.parser.parser import Parser
from onnxtext.syntax.recovery.cascades import CascadeFilter
from onnxtext.syntax.recovery.error_diagnostics import (
    diagnosis_report,
    first_of_lines,
    follows_bare_value,
    semantic_error_report,
    unexplained_error,
    without_closing_braces,
)
from onnxtext.syntax.recovery.lost_items import without_errors_of_lost_items
from onnxtext.syntax.recovery.pasted_text import replace_errors_of_marks
from onnxtext.syntax.recovery.resynchronization import (
    Resynchronization,
    drop_item,
    is_synchronous,
    open_bracket,
    rewind,
    sync_positions,
)
from onnxtext.syntax.recovery.triple_quotes import without_cascade

BRACKETS = OPENING | CLOSING
_MAX_WIDER = 3  # the maximum number of enclosing constructs to inspect for an error
_MAX_WIDER_LENGTH = 80  # the maximum number of tokens in an enclosing construct before the error
MAX_STATEMENT_LENGTH = 4000
"""Maximum number of characters of a statement to parse again to diagnose an error in it."""

MAX_TRIES = 20
"""Maximum number of errors at one offset; then the statement is dropped."""

_MAX_CASCADES = 100
"""Maximum number of errors that are not reported; then parsing stops."""


class Recovery:
    """Repairs the stack of a parser after each error, and collects the diagnostics.

    Attributes:
        recoveries: the number of calls of `recover`.
        replaced: the number of errors that the last diagnostic replaces; 0 if it replaces none.
    """

    def __init__(
        self, parser: Parser, source: Source, semantic_errors: list[SemanticError]
    ) -> None:
        """Create the recovery for a parser, whose actions append to `semantic_errors`."""
        self.parser = parser
        self.source = source
        self.text, self.max_errors = parser.text, parser.machine.max_errors
        self.diagnostics: list[Diagnostic] = []
        self.replaced = 0
        self._errors = semantic_errors
        # These are offsets. Errors up to `_reported` are not reported again. After an error,
        # parsing last resumed at `_resumed`; a diagnosis that begins before `_resumed` follows from
        # the error. `_skipped` is the end of the text that a diagnosis has skipped.
        self._reported = self._skipped = self._resumed = -1
        self._edits: list[Edit] = []
        # For each guess: start and end offset, and the number of semantic errors before it.
        self._guesses: list[tuple[int, int, int]] = []
        self._stopped = False
        self._at = -1
        self._tries = self.recoveries = 0
        self._cascades, self._budget = CascadeFilter(), Budget()

    def stop(self, error: SemanticError) -> None:
        """Record the error at which the parser stopped."""
        if not any(error is other for other in self._errors):
            self._errors.append(error)
        self._stopped = len(self._errors) >= self.max_errors

    def finish(self) -> list[Diagnostic]:
        """Return the diagnostics of all errors to report, in text order; set `replaced`."""
        kept = [e for index, e in enumerate(self._errors) if not self._follows_from_guess(index, e)]
        kept = without_errors_of_lost_items(self.source, kept, self.diagnostics)
        distinct = {(error.code, error.at): error for error in reversed(kept)}
        semantic = [semantic_error_report(self.source, error) for error in distinct.values()]
        syntactic = without_closing_braces(kept, self.diagnostics)
        result = first_of_lines(self.text, syntactic, semantic)
        if self._stopped:
            result = result[: self.max_errors]
            notes = (*result[-1].notes, "too many errors: parsing stopped here")
            result[-1] = replace(result[-1], notes=notes)
        replaced = replace_errors_of_marks(self.source, without_cascade(self.source, result))
        if replaced is not result and not self._stopped:
            self.replaced = len(result) - len(replaced) + 1
        return replaced

    def _follows_from_guess(self, number: int, error: SemanticError) -> bool:
        """Whether the semantic error with the index `number` may follow from a recovery guess."""
        at = -1 if error.at is None else error.at
        return any(start <= at <= end and number >= count for start, end, count in self._guesses)

    def recover(self, unexpected: Unexpected) -> int | None:
        """Repair the parser's stack after an unexpected token; report the error unless it cascades.

        The stack consists of `states`, `values` and `where` of `parser.machine`.

        Returns:
            The offset at which parsing continues; None to give up.
        """
        offset = unexpected.at
        token = self.parser.lexer.token(self.text, offset)
        self.recoveries += 1
        count = len(self.diagnostics) + len(self._errors)
        if count >= self.max_errors or (count and self.recoveries - count > _MAX_CASCADES):
            self._stopped = True
            return None
        context, position = self._error_context(token, offset)
        self._tries = self._tries + 1 if offset == self._at else 0
        self._at = offset
        if self._tries > MAX_TRIES:  # no edit helped: drop the statement
            self._reported = max(self._reported, offset)
        diagnosis = diagnose(context, self._budget) if offset > self._reported else None
        if diagnosis is not None and diagnosis.replaces_errors:
            self._drop_errors(*diagnosis.span)
        cost = inf if diagnosis is None else diagnosis.edit_cost
        certain = diagnosis is not None and diagnosis.code == "wrong-mark" and not cost
        certain = certain and not follows_bare_value(self.text, self._errors, context.region.start)
        cascade = not certain and self._closes_wrong_list(context)
        cascade = cascade or self._cascades.is_cascade(context)
        cascade |= diagnosis is not None and diagnosis.span.start < self._resumed  # in skipped text
        if offset > self._reported and may_be_wider(context, cost) and not is_incomplete(context):
            for wider, outer in self._wider_contexts(context, position):
                before = line_start(self.text, context.previous_end)
                other = diagnose_wider(wider, self._budget, cost)
                if other is not None and other.replaces_errors:
                    self._drop_errors(wider.region.start, offset)
                elif self._has_semantic_error(max(wider.region.start, before), offset):
                    cascade = True  # the semantic error may be the cause
                    break
                if other is not None:
                    context, position, diagnosis, cost = wider, outer, other, other.edit_cost
        if diagnosis is not None and diagnosis.edits:
            resume = self._apply(diagnosis, context, position, cascade)
            if resume is not None:
                return resume
            diagnosis = None
        return self._skip(diagnosis, context, position, cascade)

    def _apply(
        self, diagnosis: Diagnosis, context: ErrorContext, position: int, cascade: bool
    ) -> int | None:
        """Parse the statement of an error again, with the edits; report the error if not `cascade`.

        `position` is the stack index at which the statement begins.

        Returns:
            The offset at which parsing continues; None if the parser rejects the edited statement.
        """
        offset = context.at
        if not cascade:
            self._report(diagnosis)
        outcome = context.attempt(*diagnosis.edits)
        count = len(self._errors)
        if outcome is None and context.next_statement is not None:
            outcome = context.until(context.next_statement).attempt(*diagnosis.edits)
        assert outcome is not None
        # After an incomplete statement, an error at the next statement is a separate error.
        self._reported = offset if context.next_statement is None else context.next_statement - 1
        if context.region.start < offset or context.done:
            rewind(self.parser.machine, position)
        if not self._feed(outcome, guessed=not diagnosis.title):
            return None
        self._edits = [*context.earlier_edits, *diagnosis.edits]
        self._guesses.append((context.region.start, outcome.resume, count))
        if not diagnosis.title:
            inserted = "".join([edit.text for edit in diagnosis.edits])
            self._cascades.note_guess(offset, outcome.resume, inserted=inserted)
        elif not cascade:
            self._cascades.note_certain()
        return outcome.resume

    def _skip(
        self, diagnosis: Diagnosis | None, context: ErrorContext, position: int, cascade: bool
    ) -> int | None:
        """Report an error as in `_apply`; drop its statement; return where to continue, or None."""
        at = context.at
        skip_to = diagnosis.skip_to if diagnosis else None
        if skip_to is not None and skip_to <= self._resumed:  # parsing continued there before
            skip_to = None
        resync = Resynchronization(context, self.parser.machine, position, skip_to, self._budget)
        resume = resync.find(at if at > self._reported else at + 1)
        if at > self._reported and not cascade:
            self._report(diagnosis or unexplained_error(context, resync.early))
        # If parsing continues before this error, at `resync.early`, report errors from there on.
        self._reported = at if resync.early is None else resync.early - 1
        if diagnosis is not None and self._skipped < (skip_to or 0) <= at:
            self._reported = self._skipped = (skip_to or 0) - 1
        if resume is None:
            return self._close()
        if diagnosis is not None and skip_to is not None:
            self._resumed = resume
            self._cascades.note_certain()
            skipped = self.parser.lexer.tokens(
                self.text, at, min(skip_to, at + MAX_STATEMENT_LENGTH)
            )
            if context.opened is None or self.text[context.opened.start] != "<":
                skipped = [token for token in skipped if token not in "<>"]  # as in `x > 0`
            unbalanced = unopened_bracket(skipped) is not None
            if diagnosis.code == "unclosed-string":  # perhaps the string contains brackets
                line = self.text[context.line_start : skip_to].replace("=>", "")
                unbalanced |= any(line.count(a) != line.count(b) for a, b in CLOSER.items())
            self._cascades.unbalanced |= unbalanced
        else:
            start = context.region.start
            is_short = resume - start < MAX_STATEMENT_LENGTH
            removed = self.parser.lexer.tokens(self.text, start, resume) if is_short else []
            self._cascades.note_guess(at, resume, removed)
        return resume

    def _report(self, diagnosis: Diagnosis) -> None:
        found = diagnosis_report(self.source, diagnosis)
        if found not in self.diagnostics[-1:]:
            self.diagnostics.append(found)

    def _error_context(self, token: Token | None, at: int) -> tuple[ErrorContext, int]:
        """Return the context of an error, and the stack position at which its statement begins."""
        machine = self.parser.machine
        if token not in BRACKETS or begins_line(self.text, at):
            self._complete(at)
        line = line_start(self.text, at)
        begins = begins_line(self.text, at)
        marked = CONFLICT_MARKER.match(self.text, line) is not None
        position, start = 0, at
        for position in sync_positions(machine):
            start = machine.where[position] if position < len(machine.where) else at
            # A line that follows `Conv <` and is indented no deeper is not part of the list; a
            # conflict marker is not part of any list.
            if start < line:
                break
            if not marked and (start < at or not self._is_outside_list(position, at, begins)):
                break
        else:
            if position == 0 or marked:  # no enclosing list: begin at the line
                after = (index for index, where in enumerate(machine.where) if where >= line)
                position = next(after, len(machine.where))
                # The line ends the string of a decorator, or of a Python-like docstring.
                while position and self.text.startswith(('"""', "@"), machine.where[position - 1]):
                    position -= 1
                start = machine.where[position] if position < len(machine.where) else at
        opened = open_bracket(machine, position)
        edits = tuple(edit for edit in self._edits if edit.span.start >= start)
        if at - start <= MAX_STATEMENT_LENGTH and len(edits) <= MAX_TRIES:
            region = Region(self.text, start, tuple(machine.states[: position + 1]), at)
            if not edits:
                tokens = self.parser.lexer.tokens(self.text, start, at)
                return ErrorContext(region, token, tokens, (), opened), position
            outcome = ErrorContext(region, token, [], edits).attempt()
            if outcome is not None:
                return ErrorContext(region, token, outcome.tokens, edits, opened), position
        region = Region(self.text, at, tuple(machine.states), at)
        return ErrorContext(region, token, [], (), opened), position

    def _wider_contexts(
        self, context: ErrorContext, position: int
    ) -> Iterator[tuple[ErrorContext, int]]:
        """Yield (error context, stack position) for enclosing constructs, innermost first."""
        machine = self.parser.machine
        outer = [index for index in sync_positions(machine) if index < position]
        for index in [*outer, 0][:_MAX_WIDER]:
            start = machine.where[index] if index < len(machine.where) else context.at
            if context.at - start > MAX_STATEMENT_LENGTH:
                return
            region = Region(self.text, start, tuple(machine.states[: index + 1]), context.at)
            tokens = self.parser.lexer.tokens(self.text, start, context.at)
            states = States(machine.automaton, region.states)
            if len(tokens) > _MAX_WIDER_LENGTH:
                return
            if index < position and all(states.feed(self.parser.lexer.kind(t)) for t in tokens):
                opened = open_bracket(machine, index)
                yield ErrorContext(region, context.token, tokens, (), opened), index

    def _closes_wrong_list(self, context: ErrorContext) -> bool:
        """Whether a syntax error at the end of a list may follow from a semantic error in the list.

        At the end of the text, and at the `{` of a section, only `unclosed-bracket` errors count.
        """
        if context.opened is None:
            return False
        if context.token is None or (context.token == "{" and "metadata_item" in context.rules):
            start = context.opened.start
            return any(e.code == "unclosed-bracket" and (e.at or 0) > start for e in self._errors)
        return context.token in CLOSING and self._has_semantic_error(
            context.opened.start, context.at
        )

    def _drop_errors(self, start: int, end: int) -> None:
        """Drop the semantic errors in the range [start, end)."""
        self._errors[:] = [e for e in self._errors if not start <= (e.at or 0) < end]

    def _has_semantic_error(self, start: int, end: int) -> bool:
        """Whether an action found an error in a range of the text."""
        return any(start <= (error.at or 0) < end for error in self._errors)

    def _is_outside_list(self, position: int, offset: int, begins: bool) -> bool:
        """Whether a token after an opening `<` or `(` is probably outside of the list.

        It is outside if it begins a line that is indented no deeper than the line of the bracket.
        """
        machine = self.parser.machine
        opened = machine.where[position - 1] if position else offset
        return (
            begins
            and 0 < position == len(machine.where)
            and machine.values[position - 1] in ("<", "(")
            and indentation(self.text, offset) <= indentation(self.text, opened)
        )

    def _complete(self, at: int) -> None:
        """If the statement before an error is complete, let the parser reduce it.

        To do this, feed a word to the parser, and then remove the word.
        """
        machine = self.parser.machine
        states = States(machine.automaton, machine.states)
        if states.feed("WORD") and is_synchronous(states.stack[-2]):
            machine.feed("WORD", "", at)
            rewind(machine, len(machine.values) - 1)

    def _feed(self, outcome: Outcome, *, guessed: bool) -> bool:
        """Feed the edited tokens of a speculative parse; return False if one is unexpected.

        Args:
            outcome: the result of the speculative parse.
            guessed: whether tokens that the edits made or changed become error nodes.
        """
        machine = self.parser.machine
        kind_of = self.parser.lexer.kind
        machine.has_error_nodes = machine.has_error_nodes or guessed
        try:
            for index, token in enumerate(outcome.tokens):
                value = ERROR_NODE if guessed and index in outcome.edited else token
                machine.feed(kind_of(token), value, token.at)
        except Unexpected:
            return False
        return True

    def _close(self) -> int | None:
        """Close all open constructs; return the end of the text. None if one cannot be closed."""
        self.parser.machine.has_error_nodes = True
        error_count = len(self._errors)
        try:
            return self._close_all(len(self.text))
        finally:
            del self._errors[error_count:]  # errors due to the early closing

    def _close_all(self, end: int) -> int | None:
        machine = self.parser.machine
        for _ in range(3 * len(machine.states)):
            if States(machine.automaton, machine.states).feed(END_KIND):
                return end
            for name in ("RBRACE", "MORETHAN", "RPAR", "RSQB"):
                if States(machine.automaton, machine.states).feed(name):
                    machine.feed(name, Token("", end), end)
                    break
            else:
                if not drop_item(machine):
                    return None
        return None
