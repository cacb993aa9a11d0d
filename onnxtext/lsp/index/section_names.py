# SPDX-License-Identifier: Apache-2.0
"""Find the names of parts of a model in the sections at its end (SPEC 13).

The syntax tree has no positions of these names, so they are found from the tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from onnxtext.ast.qualified_names import plain_domain
from onnxtext.ast.section_paths import PathStep
from onnxtext.checker.context.checked_model import FunctionKey
from onnxtext.source import Span
from onnxtext.syntax.actions.metadata_section import BLOCKS
from onnxtext.syntax.actions.strings import name_of
from onnxtext.syntax.grammar.lexer import Token, load_lexer
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


@dataclass(slots=True)
class SectionBlock:
    """A block of the metadata section, or a section.

    Attributes:
        kind: the kind of the block, such as `node`, or the name of the section.
        path: the tokens between the kind and the opening brace.
        entries: the value of each entry that was read, by key.
        last: the last inner block that was read; None if an entry follows this inner block.
        above: the block directly above in the same outer block; None if there is none. The keyword
            `above` repeats the values of that block.
    """

    kind: str
    path: list[Token] = field(default_factory=list)
    entries: dict[str, str] = field(default_factory=dict)
    last: SectionBlock | None = None
    above: SectionBlock | None = None


class SectionReader:
    """Reads the tokens after the opening brace of a section.

    Attributes:
        blocks: the section and the open blocks in it, outermost first; empty after the section.
        waiting: the tokens of the last, incomplete item.
    """

    def __init__(self, section: str) -> None:
        self.blocks = [SectionBlock(section)]
        self.waiting: list[Token] = []
        self._brackets = 0
        self._has_colon = False  # whether `waiting` has a colon; searching it takes too long

    def read(self, token: Token) -> list[Token]:
        """Read the next token; return the tokens of the item that it ends, [] if it ends none.

        An item is an entry, a list with its key, or the head of a block; a `{` ends a head, and a
        `}` an incomplete item.
        """
        block, waiting = self.blocks[-1], self.waiting
        kind = self.blocks[0].kind
        if token in ("{", "}") and kind in ("metadata", "quantization"):
            self._brackets = 0  # no list of these sections has braces: a bracket is missing
        other = token == "{" and kind != "metadata"
        if self._brackets or other or token in ("[", "<") or token.endswith("("):
            return self._in_brackets(token)
        if token == "{":
            head = str(waiting[0]) if waiting else ""
            self.blocks.append(SectionBlock(head, waiting[1:], above=block.last))
            return self._end_item()
        if token == "}":
            self.blocks.pop()
            if self.blocks:
                self.blocks[-1].last = block
            return self._end_item()
        waiting.append(token)
        self._has_colon |= token == ":"
        if len(waiting) == 3 and waiting[1] == ":" and self._is_value(token):
            block.entries[name_of(waiting[0])] = str(token)
            block.last = None
            return self._end_item()
        return []

    def _end_item(self) -> list[Token]:
        item, self.waiting, self._has_colon = self.waiting, [], False
        return item

    def _is_value(self, token: Token) -> bool:
        """Whether a token after a colon is a complete value."""
        if self.blocks[0].kind in ("training", "quantization"):
            return False
        return self.blocks[0].kind == "metadata" or token.startswith('"')

    def _in_brackets(self, token: Token) -> list[Token]:
        """Read a token of a list, node label, decorator or graph, including its brackets."""
        self._brackets += token in ("[", "<", "{") or token.endswith("(")
        self._brackets -= token in ("]", ">", ")", "}")
        self.waiting.append(token)
        self._has_colon |= token == ":"
        decorator = self.waiting[0].startswith("@")
        ends_value = self._has_colon and token in ("]", "}")
        return self._end_item() if not self._brackets and (decorator or ends_value) else []


def section_names(text: str, sections: Iterable[SectionSpan]) -> list[SectionName]:
    """Return the names of values, nodes and functions in the `_SECTIONS` of a text."""
    result: list[SectionName] = []
    trainings = 0
    for section in sections:
        if section.keyword not in _SECTIONS:
            continue
        reader = SectionReader(section.keyword)
        tokens = load_lexer().read(text, section.inside)
        for kind, spelled, offset in islice(tokens, _MAX_TOKENS):
            token = Token(spelled, offset, kind)
            item = reader.read(token)
            if section.keyword != "metadata":
                result += _names_in_pairs(section, trainings, item)
            elif item and token == "{":
                result += _names_in_head(section, reader.blocks)
            if not reader.blocks:
                break
        trainings += section.keyword == "training"
    return result


def _names_in_head(section: SectionSpan, blocks: list[SectionBlock]) -> Iterator[SectionName]:
    """Yield the names in the head of a metadata block, the last of `blocks`."""
    block = blocks[-1]
    if block.kind != "function":
        if block.kind in BLOCKS:
            yield from _names_in_path(section, path_steps(block.path), function_of(blocks[:-1]))
        return
    key = key_of_function(block.path)
    if key is not None:
        token = split_overload(block.path)[0][-1]
        yield SectionName(section.at, name_of(token), token.span, function=key)


def _names_in_pairs(section: SectionSpan, number: int, item: list[Token]) -> Iterator[SectionName]:
    """Yield the names in an item `key: ["a": "b", …]` of a section `quantization` or `training`.

    `number` is the index of the training section. There are no names in other items.
    """
    colon = next((index for index, token in enumerate(item) if token == ":"), 0)
    strings = [token for token in item[colon + 1 :] if token.startswith(('"', 'b"'))]
    if section.keyword == "quantization" and colon:
        steps = path_steps(item[:colon])
        yield from _names_in_path(section, steps, None)
        for token in strings[1::2]:
            name, path = name_of(token), graph_path(steps)
            yield SectionName(section.at, name, token.span, path, is_parameter=True)
    elif colon and item[colon - 1] in ("initialization_binding", "update_binding"):
        graph = "algorithm" if item[colon - 1] == "update_binding" else "initialization"
        for index, token in enumerate(strings[: len(strings) // 2 * 2]):
            training = (number, graph) if index % 2 else None
            yield SectionName(section.at, name_of(token), token.span, training=training)


def _names_in_path(
    section: SectionSpan, steps: Sequence[tuple[PathStep, Token]], within: FunctionKey | None
) -> Iterator[SectionName]:
    """Yield the node labels and output names in a path such as `[label].attribute[1].output`.

    `steps` is the result of `path_steps`; `within` is the key of the function around the path.
    """
    path = graph_path(steps)
    for index, (step, token) in enumerate(steps[::2]):
        label = step.is_label
        yield SectionName(section.at, step.name, token.span, path[:index], within, is_label=label)


def graph_path(steps: Sequence[tuple[PathStep, Token]]) -> tuple[tuple[PathStep, PathStep], ...]:
    """Return the path to the graph of the last name in a path, as in `SectionName.path`."""
    plain = [step for step, _ in steps]
    return tuple(zip(plain[::2], plain[1::2], strict=False))


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


def function_of(blocks: Sequence[SectionBlock]) -> FunctionKey | None:
    """Return the key of the outermost function in nested blocks; None if there is none."""
    paths = (block.path for block in blocks if block.kind == "function")
    return key_of_function(next(paths, ()))
