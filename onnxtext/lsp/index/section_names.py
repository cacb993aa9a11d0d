# SPDX-License-Identifier: Apache-2.0
"""Find the names of parts of a model in the sections at its end (SPEC 13).

The syntax tree has no positions of these names, so they are found from the tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from onnxtext.ast.qualified_names import plain_domain
from onnxtext.ast.section_paths import PathStep
from onnxtext.checker.context.checked_model import FunctionKey
from onnxtext.source import Span
from onnxtext.syntax.actions.metadata_section import BLOCKS
from onnxtext.syntax.actions.strings import name_of
from onnxtext.syntax.grammar.lexer import Lexer, Token, load_lexer
from onnxtext.syntax.section_spans import SectionSpan

_SECTIONS = ("metadata", "quantization", "training")
_MAX_TOKENS = 200_000
"""Maximum number of tokens to read in a section or in a list of pairs."""


@dataclass(frozen=True, slots=True)
class SectionName:
    """A name in a section that refers to a value, node or function.

    Attributes:
        at: the offset of the section.
        path: the path from the main graph, or from the function `within`, to the nested graph with
            the value or node. It has (step to a node, step to its attribute) for each nested graph
            on the way.
        within: the key of the function whose block contains the name; None for the main graph.
        function: the key of the function that the name refers to; None for a value or node.
        training: (index of the training section, `initialization` or `algorithm`) for an output of
            a training graph; None for other names.
        is_label: whether the name is the label of a node.
        is_parameter: whether the name is the scale or zero point of a quantized value. An outer
            graph may define it.
    """

    at: int
    name: str
    span: Span
    path: tuple[tuple[PathStep, PathStep], ...] = ()
    within: FunctionKey | None = None
    function: FunctionKey | None = None
    training: tuple[int, str] | None = None
    is_label: bool = False
    is_parameter: bool = False


def section_names(text: str, sections: Iterable[SectionSpan]) -> list[SectionName]:
    """Return the names of values, nodes and functions in the `_SECTIONS` of a text."""
    result: list[SectionName] = []
    trainings = 0
    for section in sections:
        if section.keyword not in _SECTIONS:
            continue
        reader = _Reader(text, section.at)
        if section.keyword == "training":
            reader.read_training(trainings)
            trainings += 1
        else:
            reader.read()
        result += reader.found
    return result


class _Reader:
    """Reads one section, and adds its names to `found`."""

    def __init__(self, text: str, offset: int) -> None:
        self.text = text
        self.at = offset
        self.lexer: Lexer = load_lexer()
        self.cursor = offset
        self.found: list[SectionName] = []

    def _add(self, token: Token, **fields: Any) -> None:
        """Add the name in a token; `fields` are the other fields of its `SectionName`."""
        self.found.append(SectionName(self.at, name_of(token), token.span, **fields))

    def next(self) -> Token | None:
        token = self.lexer.token(self.text, self.cursor)
        if token is not None:
            self.cursor = token.end
        return token

    def tokens(self) -> Iterator[Token]:
        """Yield the following tokens, at most `_MAX_TOKENS`."""
        return islice(iter(self.next, None), _MAX_TOKENS)

    def read(self) -> None:
        """Read a section `metadata` or `quantization`."""
        quantization = self.next() == "quantization"
        self.next()
        depth, within = 1, None
        functions: list[tuple[int, FunctionKey]] = []
        waiting: list[Token] = []
        for token in self.tokens():
            if token == "}":
                depth -= 1
                while functions and functions[-1][0] > depth:
                    functions.pop()
                waiting = []
                if depth <= 0:
                    return
            elif token == "{":
                within = functions[-1][1] if functions else None
                depth += 1
                function = self._block(waiting, within)
                if function is not None:
                    functions.append((depth, function))
                waiting = []
            elif token == ":" and quantization and waiting:
                path = self._path(waiting, None)
                waiting = []
                for _, value in self._pairs():
                    self._add(value, path=path, is_parameter=True)
            elif token.startswith('"""') or (waiting and waiting[-1] == ":" and depth > 0):
                entry = not (waiting and waiting[0] in BLOCKS and len(waiting) > 2)
                waiting = [] if entry else [*waiting, token]
            else:
                waiting.append(token)

    def _pairs(self) -> list[tuple[Token, Token]]:
        """Read a list `["a": "b", …]`; return its pairs."""
        depth = 0
        inside: list[Token] = []
        for token in self.tokens():
            if token in ("{", "}"):  # the list has no closing bracket
                self.cursor = token.at
                break
            depth += (token == "[") - (token == "]")
            if depth <= 0:
                break
            if token.startswith(('"', 'b"')):
                inside.append(token)
        return list(zip(inside[::2], inside[1::2], strict=False))

    def read_training(self, number: int) -> None:
        """Read training section `number`: its pairs of an initializer and a graph's output."""
        depth = 0
        for token in self.tokens():
            depth += (token == "{") - (token == "}")
            if token == "}" and depth <= 0:
                return
            if depth == 1 and token in ("initialization_binding", "update_binding"):
                graph = "algorithm" if token == "update_binding" else "initialization"
                self.next()
                for initializer, output in self._pairs():
                    self._add(initializer)
                    self._add(output, training=(number, graph))

    def _block(self, tokens: list[Token], within: FunctionKey | None) -> FunctionKey | None:
        """Add the names in the head of a block; for a `function` block, return the function's key.

        Return None for other blocks, and for a function without a name. `tokens` is the head: the
        kind of the block, then a path or function name. `within` is the key of the function around
        the block.
        """
        if not tokens or tokens[0] not in BLOCKS:
            return None
        if tokens[0] != "function":
            self._path(tokens[1:], within)
            return None
        key = key_of_function(tokens[1:])
        if key is not None:
            self._add(split_overload(tokens[1:])[0][-1], function=key)
        return key

    def _path(
        self, tokens: list[Token], within: FunctionKey | None
    ) -> tuple[tuple[PathStep, PathStep], ...]:
        """Read a path such as `[label].attribute[1].output`, and add its labels and outputs.

        Return the path to the graph of the last name.
        """
        steps = path_steps(tokens)
        path: list[tuple[PathStep, PathStep]] = []
        for index in range(0, len(steps), 2):
            step, token = steps[index]
            self._add(token, path=tuple(path), within=within, is_label=step.is_label)
            if index + 1 < len(steps):
                path.append((step, steps[index + 1][0]))
        return tuple(path)


def path_steps(tokens: Sequence[Token]) -> list[tuple[PathStep, Token]]:
    """Return (step, token of its name) of each step of a path such as `[label].body[1].output`."""
    steps: list[tuple[PathStep, Token]] = []
    is_label = False
    for token in tokens:
        if token in (".", "]"):
            continue
        if token == "[":
            is_label = True
        elif token.startswith("[") and steps and not is_label:
            digits = token.strip("[] \t")
            step, name = steps[-1]
            steps[-1] = (
                step._replace(
                    number=int(digits) if digits.isdigit() and len(digits) < 10 else None
                ),
                name,
            )
        else:
            steps.append((PathStep(name_of(token), None, is_label), token))
            is_label = False
    return steps


def split_overload(tokens: Sequence[Token]) -> tuple[list[Token], str]:
    """Return the names in a path of a function, and the overload: `d.F:one` → ([d, F], "one")."""
    colon = next((index for index, token in enumerate(tokens) if token == ":"), len(tokens))
    names = [token for token in tokens[:colon] if token != "."]
    return names, name_of("".join(tokens[colon + 1 :]))


def key_of_function(tokens: Sequence[Token]) -> FunctionKey | None:
    """Return the key of the function with a path such as `d.F:one`; None if it has no name."""
    names, overload = split_overload(tokens)
    if not names:
        return None
    *domain, name = map(name_of, names)
    return plain_domain(".".join(domain)), name, overload
