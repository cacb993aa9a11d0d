# SPDX-License-Identifier: Apache-2.0
"""Recognize repeated lines, and lines in a wrong place, such as a node among inputs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from onnxtext.diagnostics import Edit, Label
from onnxtext.source import Span, line_start
from onnxtext.syntax.actions.headers import FUNCTION_KEYS, MODEL_KEYS
from onnxtext.syntax.grammar.lexer import Token, load_lexer
from onnxtext.syntax.heuristics.constructs.node_errors import unopened_bracket
from onnxtext.syntax.heuristics.diagnosis import Diagnosis
from onnxtext.syntax.heuristics.error_context import (
    CLOSING,
    MAX_LINES,
    OPENING,
    ErrorContext,
    begins_line,
    indentation,
    innermost_bracket,
    insert,
    line_end,
    next_line,
    replace,
)
from onnxtext.syntax.heuristics.speculative_parse import States
from onnxtext.syntax.parser.lalr import load_automaton

_GOES_ON = OPENING | {","}
_MAX_CHARACTERS = 2000
_MAX_STATEMENTS = 5
"""How many misplaced statements in a row one diagnosis covers."""
_HEADER, _NODE, _VALUE, _NUMBERS = range(4)
_CONTEXTS = (
    ("<", ">", _HEADER),
    ("<x: [", "]", None),
    ("g", "{", None),
    ("g (", ")", _VALUE),
    ("g (x", "{", None),
    ("g () => (", ")", None),
    ("g () => (x", "{", None),
    ("g () => () <", ">", _VALUE),
    ("g () => () <x", "{", None),
    ("g () => () <float[1] x = [", "]", _NUMBERS),
    ("g () => () {", "}", _NODE),
    ("g () => () {}", "f", None),
    ("g () => () {}", "{", None),
    ("g () => () {} f <", ">", None),
    ("g () => () {} f (", ")", None),
    ("g () => () {x = X <", ">", None),
    ("g () => () {x = X <a = [", "]", None),
    ("g () => () {x = X <a = g () => () {", "}", None),
    ("g () => () {x = X <a = g (", ")", None),
    ("g () => () {x = X (", ")", None),
    ("g () => () {} metadata {", "}", None),
    ("g () => () {} metadata { x {", "}", None),
    ("g () => () {} quantization {", "}", None),
)
"""Contexts of a line: the text before it, a token after it, and the line's kind or None."""
_ENDS = ("RBRACE", "MORETHAN", "RPAR", "RSQB")
_MOVABLE = re.compile(r"(?![ \t]*[)}\]])[^#\n]*[<({\[][ \t]*(?:#[^\n]*)?$|[ \t]*>[ \t]*$")
_FOREIGN = frozenset(("const", "constexpr", "static"))
_MEANING = {
    _HEADER: (
        "syntax-error",
        "an entry of a header",
        "move it into the `<…>` before the graph or function",
    ),
    _NODE: ("syntax-error", "a node", "move it into the `{…}` of a graph or function"),
    _VALUE: (
        "misplaced-type",
        "the declaration of a value",
        "write the type in the node that computes the value, or move the declaration to the `(…)` "
        "of the graph",
    ),
    _NUMBERS: ("syntax-error", "a row of numbers", "move it into the list of a tensor"),
}
_TENSOR = (
    "misplaced-tensor",
    "an initializer",
    "move it to the `<…>` between the outputs of the graph and its `{`; in a function, write a "
    "node `Constant`",
)
"""The code, subject and help of diagnostics."""


@cache
def _contexts() -> tuple[tuple[tuple[int, ...], str, int | None], ...]:
    """Return (states after the text, terminal of the token, kind) for each of `_CONTEXTS`."""
    lexer, automaton = load_lexer(), load_automaton()
    stacks = []
    for beginning, end, kind in _CONTEXTS:
        states = States(automaton, [automaton.starts["model"]])
        for token in lexer.tokens(beginning, 0, len(beginning)):
            states.feed(lexer.kind(token))
        stacks.append((tuple(states.stack), lexer.kind(end), kind))
    return tuple(stacks)


def parses_elsewhere(context: ErrorContext) -> bool:
    """Whether the lines from the statement to the error parse in one of `_CONTEXTS`."""
    start = line_start(context.text, context.region.start)
    if context.line_end - start > _MAX_CHARACTERS:
        return False
    tokens = context.lexer.tokens(context.text, start, context.line_end)
    kinds = [context.lexer.kind(token) for token in tokens]
    for stack, end, _ in _contexts():
        states = States(context.automaton, stack)
        fits = all(states.feed(kind) for kind in kinds)
        if fits and tokens and (tokens[-1] in _GOES_ON or states.takes(end)):
            return True
    return False


def misplaced_line(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose lines of another context: `z = Relu (x)` among inputs, `ir_version: 8,` in a graph.

    The text must parse without them, unless they are declarations or initializers among nodes.
    """
    if context.opened is None:
        return
    if context.token == ";" and context.accepts([replace(context.token, "")]):
        return  # only the `;` is extra, as in `float[2] y; = Relu (x)`
    for offset in (context.at, context.previous_end):
        start = max(line_start(context.text, offset), context.region.start)
        before = [token for token in context.done if token.end <= start]
        if unopened_bracket(before) is not None:
            continue
        index, kinds, first = innermost_bracket(before), set[int](), None
        for span, line in _statements(context, start):
            kind = _kind(context, line)
            # The line `float[2] y,` before a node with a label is a declaration, not its outputs.
            outputs = kind == _VALUE and line[-1] == "," and context.token == "["
            if kind is None or (
                not kinds and not outputs and _belongs(context, line, before, index)
            ):
                break
            inputs = index is not None and before[index] == "(" and "node" in context.rules
            if kind == _VALUE and inputs and context.is_certain([replace(line[0], "")]):
                break  # only the type is extra, as in `Relu (float[2] x)`
            kinds.add(kind)
            first = first or span
            if len(kinds) > 1:
                break
            if span.end < context.previous_end:
                continue
            edits = (Edit(Span(first.start, span.end), ""),)
            certain = context.is_certain(edits)
            if certain or (kind == _VALUE and index is None and "node" in context.rules):
                meaning = _TENSOR if kind == _VALUE and "=" in line else _MEANING[kind]
                code, name, help = meaning
                opener = context.opened if index is None else before[index].span
                others = (Label(opener, "in this bracket"),)
                message = f"{name} does not belong here"
                yield Diagnosis(code, message, first, edits, help=help, other_labels=others)
            if certain:
                return


def line_moved_down(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a line such as `g (`, `<` or `>` that is two or more lines below its place.

    The text must parse with this line before the statement, or before the line of the error.
    """
    text, statement = context.text, context.region.start
    line = max(context.line_start + indentation(text, line_end(text, context.at)), statement)
    for start in (statement, line) if line > statement else (statement,):
        end = line_end(text, start)
        span, following = Span(start, end), next_line(text, next_line(text, end))
        for _ in range(_MAX_STATEMENTS if begins_line(text, start) else 0):
            below, end = following, line_end(text, following)
            following = next_line(text, end)
            edits = (
                insert(start, f"{text[below:end].strip()}\n"),
                Edit(Span(below, following), ""),
            )
            if _MOVABLE.match(text, below, end) and context.is_certain(edits):
                message = "the line that belongs before this line is further down"
                others = (Label(Span(below + indentation(text, end), end), "this line"),)
                yield Diagnosis(
                    "syntax-error", message, span, edits, "move it", other_labels=others
                )
                return


def _statements(context: ErrorContext, start: int) -> Iterator[tuple[Span, list[Token]]]:
    """Yield the range and the tokens of each statement from `start` on.

    A statement ends at a `;` or at the end of a line, outside of brackets. Its tokens lack a first
    word such as `const`, and the `;`. Stop at a statement that parses in no
    context with a kind (see `_CONTEXTS`): a long line with many errors would be read again for each
    of them.
    """
    token = context.lexer.token(context.text, start)
    for _ in range(_MAX_STATEMENTS):
        tokens: list[Token] = []
        fitting = [
            States(context.automaton, stack) for stack, _, kind in _contexts() if kind is not None
        ]
        depth = 0
        while token is not None and token.at - start < _MAX_CHARACTERS:
            if tokens and not depth and "\n" in context.text[tokens[-1].end : token.at]:
                break
            tokens.append(token)
            depth = max(0, depth + (token in OPENING) - (token in CLOSING))
            token = context.lexer.token(context.text, token.end)
            last = tokens[-1]
            if last == ";" and not depth:
                break
            if len(tokens) > 1 or last not in _FOREIGN:
                fitting = [states for states in fitting if states.feed(context.lexer.kind(last))]
                if not fitting:
                    return
        if not tokens:
            return
        span = Span(tokens[0].at, tokens[-1].end)
        yield span, tokens[tokens[0] in _FOREIGN : len(tokens) - (tokens[-1] == ";")]


def _kind(context: ErrorContext, line: Sequence[Token]) -> int | None:
    """Return the kind of a line (see `_CONTEXTS`); None if unknown."""
    names = [context.lexer.kind(token) for token in line]
    if not line or line[0] in CLOSING:
        return None
    first = line[0]
    digits = first[0] in "[-0123456789" and begins_line(context.text, first.at)
    needed = {
        _HEADER: first in MODEL_KEYS or first in FUNCTION_KEYS,
        _NODE: "=" in line,
        _NUMBERS: digits and "node" in context.rules,
        _VALUE: names[0] in {"TYPE", "PRIM", "CONTAINER"},
    }
    for stack, end, kind in _contexts():
        states = States(context.automaton, stack)
        fits = kind is not None and needed[kind] and all(states.feed(name) for name in names)
        if fits and (line[-1] == "," or states.takes(end)):
            return kind
    return None


def _belongs(
    context: ErrorContext, line: Sequence[Token], before: Sequence[Token], index: int | None
) -> bool:
    """Whether a line parses where it is, or at the start of the list that contains it.

    `index` is the index in `before` of the bracket that begins the list; None if unknown.
    """
    for tokens in (before, before[: 0 if index is None else index + 1]):
        states = States(context.automaton, context.region.states)
        if all(states.feed(context.lexer.kind(token)) for token in (*tokens, *line)) and (
            line[-1] == "," or any(states.takes(kind) for kind in _ENDS)
        ):
            return True
    return False


_HEAD_OR_ENTRY = re.compile(
    r"^(?:[ \t]*[<>({\[][ \t\r]*$|(?![ \t]*<).*?[\w\")>\]][ \t]*(?:[({<\[][ \t\r]*$|[=:])"
    r"|[ \t]*\w+(?:\[[^\]\n]*\])?[ \t]+\w)",
    re.MULTILINE,
)


def repeated_line(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose repeated lines: the first line of a construct, an entry, or several lines."""
    text = context.text
    for offset in (context.at, context.previous_end):
        start, end = line_start(text, offset), line_end(text, offset)
        count = _lines_above(text, start) if start < end else 0
        last = end
        for _ in range(count - 1):
            last = line_end(text, next_line(text, last))
        if not count or not _HEAD_OR_ENTRY.search(text, start, last):
            continue  # the items of a list may be equal
        margin = indentation(text, end)
        span = Span(start + margin, end)
        message, title = "this line is written twice", "remove it"
        if count > 1:
            others = "the next" if count == 2 else f"the next {count - 1}"
            message = f"this line and {others} repeat the {count} lines above"
            title = "remove the repetition"
        following = next_line(text, last) + margin
        indented = following <= len(text) and text[last:following].isspace()
        # If the statement begins on this line, an edit must not begin before it.
        above = line_end(text, line_start(text, start - 1))
        for place in (Span(above, last), Span(span.start, following if indented else last)):
            edits = (Edit(place, ""),)
            yield Diagnosis("syntax-error", message, span, edits, title, min_tokens=2)


def _lines_above(text: str, start: int) -> int:
    """Return how many lines directly before `start` are repeated after it, at most `MAX_LINES`."""
    above = start
    for count in range(1, MAX_LINES + 1):
        if not above:
            break
        above = line_start(text, above - 1)
        end = 2 * start - 1 - above
        if text.startswith(text[above : start - 1], start) and text[end : end + 1] in {"", "\n"}:
            return count
    return 0
