# SPDX-License-Identifier: Apache-2.0
"""Context for the error heuristics: the unexpected token and the tokens before it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from onnxtext.diagnostics import Edit
from onnxtext.source import Span, line_start
from onnxtext.syntax.grammar.lexer import Lexer, Token, load_lexer
from onnxtext.syntax.grammar.tables import END_KIND
from onnxtext.syntax.heuristics.speculative_parse import (
    CERTAIN_TOKENS,
    MAX_TOKENS,
    Outcome,
    Region,
    States,
    parse_with_edits,
)
from onnxtext.syntax.parser.lalr import ITEMS, Automaton, load_automaton

CLOSER = {"(": ")", "[": "]", "{": "}", "<": ">"}
OPENING = frozenset(CLOSER)
CLOSING = frozenset(CLOSER.values())
_BLOCKS = frozenset(">}")
"""The last tokens of headers, of lists of initializers, and of the nodes of a graph."""
_INNER = frozenset(("{", "(", "=>", "="))
"""Tokens that cannot begin a statement."""
_AFTER_CLOSER = ("=>", "{", "<")  # marks that may follow a closing bracket on its line
_MAX_LINE_LENGTH = 2000
_INSPECTED = 1000
"""Maximum number of characters of a line that a heuristic inspects."""
_MAX_REPETITION_DISTANCE = 200
"""A fix also corrects repetitions of its error up to this number of characters later."""
MAX_LINES = 20
"""Maximum number of lines to inspect before an error."""


@dataclass
class ErrorContext:
    """An unexpected token and the tokens before it.

    Attributes:
        region: the statement up to the token, and the parser states at its start.
        token: the unexpected token; None at the end of the text.
        done: the tokens of the statement before `token`.
        earlier_edits: the edits that recovery applied for earlier errors in the statement.
        opened: the span of the innermost bracket that is open at the start of the statement; None
            if no bracket is open.
    """

    region: Region
    token: Token | None
    done: list[Token]
    earlier_edits: tuple[Edit, ...] = ()
    opened: Span | None = None
    lexer: Lexer = field(default_factory=load_lexer)
    automaton: Automaton = field(default_factory=load_automaton)

    @property
    def text(self) -> str:
        """The whole text."""
        return self.region.text

    @property
    def at(self) -> int:
        """The offset of the token, or of the end of the text."""
        return self.region.error

    @property
    def first(self) -> Token | None:
        """The first token of the statement, which may be the unexpected token."""
        return self.done[0] if self.done else self.token

    @property
    def last(self) -> Token | None:
        """The token of the statement before the unexpected token; None if there is none."""
        return self.done[-1] if self.done else None

    @property
    def bracket(self) -> str:
        """The innermost bracket that is open at the start of the statement; "" if none is."""
        return "" if self.opened is None else self.text[slice(*self.opened)]

    @property
    def innermost(self) -> Token | None:
        """The innermost bracket of the statement that is not closed; None if all are."""
        index = innermost_bracket(self.done)
        return None if index is None else self.done[index]

    @cached_property
    def before(self) -> States:
        """The parser states after the tokens in `done`, before any reduction due to `token`."""
        states = States(self.automaton, self.region.states)
        for token in self.done:
            states.feed(self.lexer.kind(token))
        return states

    @cached_property
    def previous_end(self) -> int:
        """The end offset of the last token before the unexpected token; `at` if none is found."""
        if self.done:
            return self.done[-1].end
        end = self.at
        for _ in range(MAX_LINES):
            start = line_start(self.text, end)
            if self.text.find("#", start, end) < 0:
                stripped = self.text[start:end].rstrip()
                if stripped:
                    return start + len(stripped)
            elif tokens := self.lexer.tokens(self.text, start, end):
                return tokens[-1].end
            if not start:
                break
            end = start - 1
        return self.at

    @cached_property
    def line_start(self) -> int:
        """The offset of the start of the line that contains the unexpected token."""
        return line_start(self.text, self.at)

    @cached_property
    def line_end(self) -> int:
        """The offset of the end of the line that contains the unexpected token."""
        return line_end(self.text, self.at)

    @property
    def line_limit(self) -> int:
        """The end of the line; in a long line, the offset up to which the line is inspected."""
        return min(self.line_end, self.line_start + _INSPECTED)

    @property
    def ahead_limit(self) -> int:
        """The offset up to which a fix also corrects repetitions of the error."""
        return min(self.line_end, self.at + _MAX_REPETITION_DISTANCE)

    @cached_property
    def next_statement(self) -> int | None:
        """The offset of the next statement if the current one seems incomplete; otherwise None.

        It begins on the first later line that is not part of the current statement: the line is
        not indented deeper, does not continue the statement and closes none of its brackets.
        """
        if not self.done:
            return None
        limit = indentation(self.text, self.region.start)
        tokens = self.done[1:] if self.token is None else [*self.done[1:], self.token]
        for last, token in zip(self.done, tokens, strict=False):
            between = self.text.rfind("\n", last.end, token.at)
            begins = between >= 0 and token.at - between - 1 <= limit
            outer = token == "}" and begins and token.at - between <= limit
            if token in CLOSING and token is not self.token and not outer:
                continue  # closes a bracket of this statement
            if begins and not self._goes_on(last, token):
                return token.at
        return None

    def _goes_on(self, last: Token, token: Token) -> bool:
        """Whether a token that begins a line probably continues the statement of `last`."""
        if token in _INNER or token == ("<" if last == ")" else ","):
            return True
        if last not in {")", ">"} or self.name(self.done[0]) not in {"DECORATOR", "LESSTHAN"}:
            return False
        # Decorators and headers are usually on a line of their own.
        before = self.until(token.at).before
        return before.takes("DECORATOR") or before.takes("WORD")

    @property
    def after_attributes(self) -> bool:
        """Whether the unexpected token begins a line that is probably not among the attributes.

        After the line `y = Op <a = 1`, the parser could read the line `z = Op (y)` as an attribute
        `z` with the graph `Op (y)`. The indentation shows that the line is a node.
        """
        if (
            self.opened is None
            or self.token == ">"
            or "attribute" not in self.rules
            or not begins_line(self.text, self.at)
        ):
            return False
        opener, start = self.opened.start, self.region.start
        indent = indentation(self.text, self.at)
        beside = self.text.find("\n", opener, start) < 0
        return indent <= indentation(self.text, opener) and (
            beside or indent < indentation(self.text, start)
        )

    def until(self, offset: int) -> ErrorContext:
        """Return the context in which the earlier token at `offset` is the unexpected token."""
        region = Region(self.text, self.region.start, self.region.states, offset)
        done = [token for token in self.done if token.at < offset]
        token = self.lexer.token(self.text, offset)
        return ErrorContext(region, token, done, self.earlier_edits, self.opened)

    @cached_property
    def previous_line_complete(self) -> bool:
        """Whether the unexpected token begins a line, and the line before it is complete.

        Then the error is in the line of the token, or a line is missing before that line.
        """
        line = line_start(self.text, self.previous_end)
        if (
            self.token is None
            or self.previous_end > self.line_start
            or self.previous_end - line > _MAX_LINE_LENGTH
        ):
            return False
        tokens = self.lexer.tokens(self.text, line, self.previous_end)
        last = tokens[-1] if tokens else ""
        open_at = innermost_bracket(tokens[:-1])
        opener = None if open_at is None else tokens[open_at].at
        outer = indentation(self.text, self.previous_end)
        level = indentation(self.text, self.at) - outer
        if last in OPENING:
            closes = level >= 0 and self.token == CLOSER[last]
            return closes or (last == "{" and not outer) or (level > 0 and last != "[")
        if last == ",":  # ends an item of a list with one item per line
            return opener is None and (self.done[-1:] != [","] or "node" not in self.rules)
        if not self.done and not ITEMS.isdisjoint(self.rules):
            return True
        if opener is None and self.done:
            opener = self.opened.start if self.opened is not None else self.at
        return last in _BLOCKS and (opener is None or begins_line(self.text, opener))

    @property
    def rules(self) -> frozenset[str]:
        """The names of the grammar rules that may begin at the start of the statement."""
        return frozenset(self.automaton.gotos[self.region.states[-1]])

    @cached_property
    def ahead(self) -> list[Token]:
        """The tokens after the unexpected token on the same line, at most 30."""
        result: list[Token] = []
        offset = self.at + len(self.token or "")
        while self.token is not None and len(result) < 30:
            token = self.lexer.token(self.text, offset)
            if token is None or token.at > self.line_end:
                break
            result.append(token)
            offset = token.end
        return result

    @property
    def rest(self) -> list[Token]:
        """The unexpected token and the tokens in `ahead`; [] at the end of the text."""
        return [] if self.token is None else [self.token, *self.ahead]

    def nearby(self, count: int) -> Iterator[Token]:
        """Yield the unexpected token, if there is one, and up to `count` tokens before it."""
        if self.token is not None:
            yield self.token
        yield from reversed(self.done[-count:] if count else [])

    def name(self, token: str | None) -> str:
        """Return the terminal of a token: `$END` for None, `BAD` if no terminal matches."""
        return END_KIND if token is None else self.lexer.kind(token)

    def attempt(self, *edits: Edit, max_tokens: int = MAX_TOKENS) -> Outcome | None:
        """Parse the statement and up to `max_tokens` tokens after the error, with some edits.

        Returns:
            The outcome. None if the edits overlap or begin before the statement, or if an error
            remains before the unexpected token.
        """
        together = sorted((*self.earlier_edits, *edits), key=lambda edit: edit.span)
        ends = [self.region.start, *(edit.span.end for edit in together)]
        if any(edit.span.start < end for edit, end in zip(together, ends, strict=False)):
            return None
        return parse_with_edits(self.lexer, self.automaton, self.region, together, max_tokens)

    def accepts(self, edits: Sequence[Edit], min_tokens: int = 4) -> bool:
        """Whether enough text after the error parses with these edits.

        It is enough if `min_tokens` tokens parse, or if the outcome is `promising` (see `Outcome`).
        """
        outcome = self.attempt(*edits)
        return outcome is not None and (outcome.promising or outcome.count >= min_tokens)

    def is_certain(self, edits: Sequence[Edit], far: int = CERTAIN_TOKENS) -> bool:
        """Whether `far` tokens after the error parse with these edits.

        Fewer tokens are enough if the text ends or a separate error follows (`Outcome.complete`).
        """
        outcome = self.attempt(*edits, max_tokens=far)
        return outcome is not None and outcome.complete

    def expected(self) -> list[str]:
        """Return the names of the terminals that are valid in place of the unexpected token."""
        rows = self.automaton.rows
        kinds = rows[self.before.stack[-1]]
        result = sorted(kind for kind in kinds if self.before.takes(kind))
        if END_KIND not in kinds and self.before.takes(END_KIND):
            result.append(END_KIND)
        return result


def innermost_bracket(tokens: Sequence[Token]) -> int | None:
    """Return the index of the innermost bracket that is never closed; None if all are closed."""
    depth = 0
    for index in range(len(tokens) - 1, -1, -1):
        depth += (tokens[index] in CLOSING) - (tokens[index] in OPENING)
        if depth < 0:
            return index
    return None


def line_end(text: str, offset: int) -> int:
    """Return the offset of the end of the line that contains an offset."""
    end = text.find("\n", offset) % (len(text) + 1)  # -1: the end of the text
    return end - text.endswith("\r", offset, end)


def next_line(text: str, offset: int) -> int:
    """Return the offset of the start of the next line; the end of the text if there is none."""
    return text.find("\n", offset) + 1 or len(text)


def line_of(text: str, offset: int) -> str:
    """Return the line that contains an offset, cut to `_INSPECTED` characters."""
    start = line_start(text, offset)
    return text[start : min(line_end(text, offset), start + _INSPECTED)]


def begins_line(text: str, offset: int) -> bool:
    """Whether only blanks precede an offset on its line."""
    return not text[line_start(text, offset) : offset].strip()


def indentation(text: str, offset: int) -> int:
    """Return the length of the `margin` of the line of an offset."""
    return len(margin(text, offset))


def margin(text: str, offset: int) -> str:
    """Return the spaces and tabs with which the line of an offset begins, up to the offset."""
    line = text[line_start(text, offset) : offset]
    return line[: len(line) - len(line.lstrip(" \t"))]


def bracket_on_own_line(
    context: ErrorContext, opener: Span | None, end: int, mark: str
) -> tuple[Span, Edit] | None:
    """Return (place to mark, edit) for a missing bracket that belongs on its own line; or None.

    A closing bracket belongs there if its list or block has several lines, and either nothing
    follows the opening bracket on its line, or a blank line follows the list or block. A missing
    `{` belongs there if it replaces a blank line.

    `opener` is the opening bracket of the list or block; None for a missing `{`.
    """
    text, start = context.text, context.text.find("\n", end) + 1
    stop = line_end(text, start)
    first = start + indentation(text, stop)
    several = opener is None or text.find("\n", opener.end, end) >= 0
    if first < stop:  # the next line is not blank
        beside = "x" if opener is None else text[opener.end : line_end(text, opener.end)]
        several = several and not beside.split("#")[0].strip()
    if not several or not 0 < start <= context.at or context.token is None:
        return None
    offset = max(first, context.region.start)
    inner, outer = margin(text, offset), margin(text, end if opener is None else opener.start)
    after = "" if offset == stop else f"\n{inner}"
    after = " " if text.startswith(_AFTER_CLOSER, offset) else after
    return Span(first, first), insert(offset, outer[len(inner) :] + mark + after)


def blank_line_above(text: str, offset: int) -> int | None:
    """Return the end of the first of the blank lines directly above an offset; None if none."""
    end = len(text[:offset].rstrip())
    first = text.find("\n", end, offset) + 1 if end else 0
    found = (first or not end) and text.find("\n", first, offset) >= 0
    return line_end(text, first) if found else None


def replace(token: Token, text: str) -> Edit:
    """Return the edit that replaces a token."""
    return Edit(token.span, text)


def insert(offset: int, text: str) -> Edit:
    """Return the edit that inserts a text."""
    return Edit(Span(offset, offset), text)


def removal(text: str, span: Span) -> Edit:
    """Return the edit that removes a range; it leaves one blank between blanks or words.

    At the start of a line, it also removes a blank after the range.
    """
    before, after = text[max(span.start - 1, 0) : span.start], text[span.end : span.end + 1]
    if before in {"", "\n", "\t", " "} and after == " ":
        return Edit(Span(span.start, span.end + 1), "")
    joins = (before.isalnum() or before == "_") and (after.isalnum() or after == "_")
    return Edit(span, " " if joins else "")
