# SPDX-License-Identifier: Apache-2.0
"""Parsing a text: statements of a known shape by jumps, all else token by token.

The text is cut into chunks, each of which may be a statement. In a list state, a chunk of a known
shape adds its items at once; any other is fed to the automaton. A wrong guess costs time, never
meaning (FAST-ROAD section 1).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from onnxtext.syntax.builders import compile_strings
from onnxtext.syntax.chunks import Chunks
from onnxtext.syntax.faults import Fault
from onnxtext.syntax.known import Shape, Shapes, known_shapes, make_shape
from onnxtext.syntax.lexer import END_KIND, Token, load_lexer
from onnxtext.syntax.machine import HOLE, ListState, Machine, Unexpected, load_automaton
from onnxtext.syntax.series import SeriesReader
from onnxtext.syntax.shapes import record
from onnxtext.tensor.errors import LiteralError

LONGEST_KEY = 2000
"""Statements with more text than this outside their strings are not remembered by it."""

MOST_TOKENS = 4000
"""Nor are those with more tokens than this, for which it takes long to make a builder."""

MOST_RECORDED = 50_000
"""Statements of new shapes that have more tokens than this together are too many to record."""

_OPENING = {"(": ")", "<": ">", "[": "]"}
_MOST_JOINED = 200
_SHORT_LIST = 24
_MOST_KEYS = 1024
_MOST_MADE = 256
"""How many texts of one shape are remembered, and how many get a builder of their own."""


class Parse(ABC):
    """One text being parsed.

    Attributes:
        token: the token being fed; None at the end of the text.
        recover: mends the machine where a token fits nowhere, and says where to go on.
    """

    def __init__(self, text: str, start: str) -> None:
        if text.startswith("\ufeff"):  # a byte order mark, as some editors write it
            text = " " + text[1:]
        self.text = text
        self.start = start
        self.automaton = load_automaton()
        self.machine = Machine(self.automaton, [self.automaton.starts[start]])
        self.lexer = load_lexer()
        self.token: Token | None = None
        self.recover: Callable[[Unexpected], int | None] | None = None

    def parse(self) -> Any:
        """The value of the start rule; `HOLE` if too little of it could be made.

        Raises:
            Unexpected: a token fits nowhere, and nobody mends that.
            Fault: an action found a mistake, and the machine does not keep it.
        """
        resume: int | None = None
        while True:
            try:
                if resume is not None:
                    self._resume(resume)
                return self._parse()
            except Unexpected as unexpected:
                if self.recover is None:
                    raise
                resume = self.recover(unexpected)
                if resume is None:
                    return HOLE

    @abstractmethod
    def _parse(self) -> Any:
        """Go on to the end of the text."""

    @abstractmethod
    def _resume(self, offset: int) -> None:
        """Go on at an offset, which lies between two tokens, wherever it is."""


class Run(Parse):
    """One text being parsed in Python.

    Attributes:
        jumps: how many chunks were jumped.
    """

    def __init__(self, text: str, start: str, *, fast: bool) -> None:
        super().__init__(text, start)
        self.fast = fast
        self.jumps = 0
        self._chunks = Chunks(self.text)
        self._series = SeriesReader(self.text, self.machine, self.lexer)
        self._last: tuple[list[Any], int, int] | None = None
        self._recorded = 0  # tokens
        self._seen: dict[int, set[str] | None] = {}  # keys of shapes that were met once

    def _parse(self) -> Any:
        chunks = self._chunks
        machine = self.machine
        lists = self.automaton.list_states
        while chunks.more():
            state = lists.get(machine.states[-1]) if self.fast else None
            if state is not None and not chunks.is_opaque:
                self._jump(state)
                if chunks.line == len(chunks.here):
                    continue
                self._undo()
            self._feed()
        self.token = None
        return machine.finish(self.automaton.ends[self.start], len(self.text))

    # ---- Token by token ---------------------------------------------------------------------

    def _resume(self, offset: int) -> None:
        self._last = None
        chunks = self._chunks
        chunks.find(min(offset, len(self.text)))
        if offset >= len(self.text):
            chunks.pass_one()
        elif offset > chunks.at:
            self._feed(offset)

    def _feed(self, at: int | None = None) -> None:
        """Feed the tokens that begin in the next chunk, or in it behind `at`, and settle."""
        machine = self.machine
        chunks = self._chunks
        text = self.text
        next_token = self.lexer.token
        kind_of = self.lexer.kind
        fast, series = self.fast, self._series
        at = chunks.at if at is None else at
        chunks.pass_one()
        while True:
            token = next_token(text, at)
            if token is None:
                chunks.skip_to(len(text))
                return
            if token.at > chunks.end:
                machine.settle(kind_of(token), token.at)
                chunks.skip_to(token.at)
                return
            self.token = token
            kind = kind_of(token)
            machine.feed(kind, token, token.at)
            at = token.at + len(token)
            if fast and at >= series.tried and series.follows(kind):
                at = series.read(kind, at)
            if at > chunks.end + 1:
                chunks.pass_over(at - 1)

    # ---- Jumps ------------------------------------------------------------------------------

    def _jump(self, state: ListState) -> None:
        """Read chunks of known shapes as long as there are any."""
        chunks = self._chunks
        machine = self.machine
        items = machine.values[-state.depth]
        shapes = known_shapes(machine.states[-1])
        by_text = shapes.by_text
        add = items.append
        here, line, at = chunks.here, chunks.line, chunks.at
        while line < len(here):
            chunk = here[line]
            if '"' in chunk:
                parts = chunk.split('"')
                key = '"'.join(parts[::2])
            else:
                parts = [chunk]
                key = chunk
            builder = by_text.get(key)
            if builder is not None and "\\" not in chunk:
                count = len(items)
                try:
                    builder(parts, at, add)
                except (Fault, LiteralError, ValueError):
                    del items[count:]
                    break
                self._last = (items, count, at)
                self.jumps += 1
                at += len(chunk) + 1
                line += 1
                continue
            chunks.line, chunks.at = line, at
            if not self._jump_by_kinds(shapes, key, items):
                return
            here, line, at = chunks.here, chunks.line, chunks.at
        chunks.line, chunks.at = line, at

    def _jump_by_kinds(self, shapes: Shapes, key: str, items: list[Any]) -> bool:
        """Read the next chunk by the kinds of its tokens; False if its shape is not known."""
        chunks = self._chunks
        chunk, lines = chunks.here[chunks.line], 1
        if chunk[-1:] in _OPENING:
            chunk, lines = self._whole_chunk()
        lexer = self.lexer
        if "#" in chunk or "[[" in chunk:
            tokens = lexer.texts(chunk)
        else:
            tokens = lexer.token_pattern.findall(chunk)
        if not tokens:
            chunks.at += len(chunk) + 1
            chunks.line += lines
            return True
        kind_of = lexer.short_kinds
        kinds = "".join([kind_of[token] for token in tokens])
        if kinds not in shapes.by_kinds:
            if len(kinds) > MOST_TOKENS or self._recorded > MOST_RECORDED:
                return False
            if kinds not in shapes.seen:
                shapes.seen.add(kinds)
                return False
            shapes.bound()
            self._recorded += len(kinds)
            shapes.by_kinds[kinds] = self._record(kinds)
        shape = shapes.by_kinds[kinds]
        if shape is None:
            return False
        if shape.needs_offsets:
            offsets: list[int] | tuple[int] = self._offsets(chunks.at, len(chunk))
        else:
            first = _first(chunk, tokens[0]) if "#" in chunk else chunk.index(tokens[0])
            offsets = (chunks.at + first,)
        count = len(items)
        try:
            shape.builder(tokens, offsets, items.append)
        except (Fault, LiteralError):
            del items[count:]
            return False
        if lines == 1 and not shape.needs_offsets and self._seen.get(id(shape), ()) is not None:
            self._remember(shapes, shape, key, chunk, tokens)
        self._last = (items, count, chunks.at)
        self.jumps += 1
        chunks.at += len(chunk) + 1
        chunks.line += lines
        return True

    def _whole_chunk(self) -> tuple[str, int]:
        """The next chunk, joined with those behind it if it leaves a bracket open at its end."""
        self._chunks.ahead(_MOST_JOINED)
        here, first = self._chunks.here, self._chunks.line
        chunk = here[first]
        closing = _OPENING.get(chunk[-1:])
        if closing is None:
            return chunk, 1
        body = chunk.lstrip(" ")
        end = " " * (len(chunk) - len(body)) + closing
        last = min(len(here), first + _MOST_JOINED)
        for number in range(first + 1, last):
            line = here[number]
            if line.startswith(end):
                joined = here[first : number + 1]
                return "\n".join(joined), len(joined)
            if line.endswith("{"):
                break
        return chunk, 1

    def _record(self, kinds: str) -> Shape | None:
        """Find out what a statement of these kinds does."""
        if kinds[0] == self.lexer.kinds["COMMA"]:  # what it means depends on its place
            return None
        machine = self.machine
        state = self.automaton.list_states[machine.states[-1]]
        return make_shape(record(machine, kinds, state.depth), len(kinds))

    def _offsets(self, at: int, size: int) -> list[int]:
        return [token.at for token in self.lexer.tokens(self.text, at, at + size)]

    def _remember(
        self, shapes: Shapes, shape: Shape, key: str, chunk: str, tokens: list[str]
    ) -> None:
        """Know the statement by its text outside the strings from now on, if that is enough.

        It is if its strings are plain and just what splitting at the quotes gives. A key that was
        not met before in this text only waits for its second time. Where nearly every statement
        has a text of its own, because its names have no quotes, that is given up.
        """
        if key in shapes.by_text or len(key) > LONGEST_KEY or any(map(_is_payload, tokens)):
            return
        seen = self._seen.setdefault(id(shape), set())
        assert seen is not None
        if key not in seen:
            seen.add(key)
            if len(seen) > _MOST_KEYS:
                self._seen[id(shape)] = None
            return
        if shape.made == _MOST_MADE:
            return
        shape.made += 1
        shapes.by_text[key] = None
        if "#" in key or '""' in key or "\\" in chunk:
            return
        contents = chunk.split('"')[1::2]
        if [token[1:-1] for token in tokens if token[0] == '"'] == contents:
            offset = _first(chunk, tokens[0])
            shapes.by_text[key] = compile_strings(shape.recorded, tokens, offset)

    def _undo(self) -> None:
        """Take the last jump back if what follows goes on with its last statement.

        `q = Softmax (x)` is a statement; if the next line is `<axis = 1>`, it was not all of it.
        """
        if self._last is None:
            return
        token = self.lexer.token(self.text, self._chunks.at)
        kind = END_KIND if token is None else self.lexer.kind(token)
        row = self.automaton.rows[self.machine.states[-1]]
        items, count, at = self._last
        self._last = None
        if kind not in row:
            del items[count:]
            self._chunks.back_to(at)
            self.jumps -= 1


def _is_payload(token: str) -> bool:
    """Whether a token is a list of numbers that will hardly be met again."""
    return len(token) > _SHORT_LIST and token[0] in "[{"


def _first(chunk: str, token: str) -> int:
    """Where the first token of a chunk begins; a comment before it may hold the same text."""
    if "#" not in chunk:
        return chunk.index(token)
    found = load_lexer().token(chunk, 0)
    return 0 if found is None else found.at
