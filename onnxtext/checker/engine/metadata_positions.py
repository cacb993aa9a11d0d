# SPDX-License-Identifier: Apache-2.0
"""Find metadata entries in the text: the syntax tree has no offsets of decorators and sections."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from onnxtext.ast.model import Node
from onnxtext.source import Span
from onnxtext.syntax.actions.strings import name_of
from onnxtext.syntax.grammar.lexer import Token, load_lexer
from onnxtext.syntax.section_spans import SectionSpan

_MAX_DECORATOR_TOKENS = 20_000
"""The maximum number of tokens to read of a statement's decorators."""


Keys = dict[tuple[str, int, str], Span]
"""Maps (key, number, name) to the span of this key in a block of a `metadata` section.

`number` is the number of earlier entries with the same key in the block. Each entry occurs once for
each `name` before the `{` of its block, and once with the `name` "".
"""


def metadata_keys(text: str, sections: Iterable[SectionSpan]) -> Keys:
    """Return the spans of the keys in `metadata` sections.

    If several entries have the same (key, number, name), the first one counts.
    """
    result: Keys = {}
    for section in sections:
        for head, entries in _blocks(load_lexer().tokens(text, section.inside, section.end)):
            names = ["", *map(name_of, head[1:])]
            numbers: Counter[str] = Counter()
            for entry in entries:
                key = name_of(entry)
                for name in names:
                    result.setdefault((key, numbers[key], name), entry.span)
                numbers[key] += 1
    return result


def metadata_key_span(text: str, keys: Keys, item: Any, index: int) -> Span | None:
    """Return the span of the key of entry `index` of an item's metadata; None if it is not found.

    `keys` is the result of `metadata_keys`. Entries of decorators precede entries of sections.
    """
    given = sum(len(one.arguments) for one in item.decorators if one.name == "meta")
    if index < given:
        return next(islice(_decorator_keys(text, item.at), index, None), None)
    if index - given >= len(item.metadata):
        return None
    earlier = [key for key, _ in item.metadata[: index - given]]
    key = item.metadata[index - given][0]
    outputs = item.outputs if isinstance(item, Node) else ()
    names = (item.name, *outputs, "")
    spans = (keys.get((key, earlier.count(key), name)) for name in names if name is not None)
    return next((span for span in spans if span is not None), None)


def _decorator_keys(text: str, offset: int) -> Iterator[Span]:
    """Yield the spans of the keys in each `@meta(…)` among the decorators at an offset."""
    lexer = load_lexer()
    depth, is_meta, before = 0, False, None
    for _ in range(_MAX_DECORATOR_TOKENS):
        token = lexer.token(text, offset)
        if token is None or (not depth and token[0] != "@"):
            return
        depth += token.endswith("(") - (token == ")")
        if token[0] == "@":
            is_meta = token == "@meta("
        elif token == ":" and is_meta and before is not None:
            yield before.span
        before, offset = token, token.end


def _blocks(tokens: Sequence[Token]) -> Iterator[tuple[list[Token], list[Token]]]:
    """Yield each block of a `metadata` section: the tokens before its `{`, and its keys."""
    opened: list[tuple[list[Token], list[Token]]] = []
    head: list[Token] = []
    skipped = 0
    for index, token in enumerate(tokens):
        if skipped:
            skipped -= 1
        elif token == "{":
            opened.append((head, []))
            head = []
        elif token == "}" and opened:
            yield opened.pop()
            head = []
        elif tokens[index + 1 : index + 2] == [":"] and tokens[index + 3 : index + 4] != ["{"]:
            if opened:
                opened[-1][1].append(token)
            skipped, head = 2, []
        else:
            head.append(token)
