# SPDX-License-Identifier: Apache-2.0
"""Find the spans of findings in the text.

Findings refer to statements of the syntax tree. The tree stores only where a statement begins, so a
statement with a finding is parsed again to find the spans of its parts (`syntax.span_map`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from itertools import islice, takewhile

from onnxtext.ast.model import (
    Annotation,
    Configuration,
    Function,
    Graph,
    Model,
    Node,
    Training,
    ValueInfo,
)
from onnxtext.checker.context.checked_model import CheckedModel
from onnxtext.checker.context.finding import Place
from onnxtext.checker.engine.metadata_positions import Keys, metadata_key_span, metadata_keys
from onnxtext.checker.engine.model_paths import FIELD_NAMES
from onnxtext.source import Source, Span
from onnxtext.syntax.grammar.lexer import Token, load_lexer
from onnxtext.syntax.section_spans import SectionSpan, section_spans
from onnxtext.syntax.span_map import NODE_PARTS, SpanMap, map_spans

_ELEMENT = re.compile(r"[-+]?\w+")
_OPENING = ("(", "[", "{", "<")
_CLOSING = (")", "]", "}", ">")
_MAX_HEADER_TOKENS = 20_000
"""The maximum number of tokens to read in a header, or in search of a name."""
_MAX_STATEMENT_TOKENS = 40_000
"""The maximum number of tokens to parse again; a longer statement's span is its first token."""


Entries = dict[str, tuple[list[Token], list[list[Token]]]]
"""Maps each key of a header to (tokens of the value, tokens of each item in the value)."""


class _Headers:
    """Finds the tokens of a text, and the names, headers and parameters of graphs and functions."""

    def __init__(self, text: str) -> None:
        self._text = text

    def token_span(self, offset: int) -> Span:
        """Return the span of the next token from an offset on; an empty span if there is none."""
        token = load_lexer().token(self._text, offset)
        return Span(offset, offset) if token is None else token.span

    def tokens(self, offset: int) -> Iterator[Token]:
        """Yield the tokens from an offset on."""
        lexer = load_lexer()
        while (token := lexer.token(self._text, offset)) is not None:
            yield token
            offset = token.end

    def name(self, offset: int) -> Span:
        """Return the span of a graph's or function's name: the token before the first bracket.

        The search starts at `offset`. If there is no name, return the span of the first token.
        """
        before: Token | None = None
        depth = 0
        for token in islice(self.tokens(offset), _MAX_HEADER_TOKENS):
            step = _nesting(token)
            if step > 0 and not depth and before is not None and before not in _CLOSING:
                return before.span
            depth += step
            before = token
        return self.token_span(offset)

    def whole_header(self, end: int) -> Span | None:
        """Return the span of the text's header, which ends before `end`; None if there is none.

        If the header has several lines, return only the span of its opening bracket.
        """
        tokens = self._header_tokens(0, end)
        if tokens[:1] != ["<"]:
            return None
        start, last = tokens[0].at, _closing(tokens)
        stop = start + 1 if last is None else tokens[last].end
        one_line = "\n" not in self._text[start:stop]
        return Span(start, stop if one_line else start + 1)

    def parameters(self, offset: int) -> list[Span]:
        """Return the spans of the attribute parameters in the list after a function's name.

        `offset` is the end of the name.
        """
        tokens = list(islice(self.tokens(offset), _MAX_HEADER_TOKENS))
        end = _closing(tokens) if tokens[:1] == ["<"] else None
        return [Span(found[0].at, found[-1].end) for found in _items(tokens[1 : end or 0])]

    def entries(self, start: int, end: int) -> Entries:
        """Return the entries of the header between two offsets; {} if there is no header."""
        tokens = self._header_tokens(start, end)
        tokens = tokens[tokens.index("<") :] if "<" in tokens else []  # type: ignore[arg-type]
        entries: Entries = {}
        for item in _items(tokens[1 : _closing(tokens)]):
            if item[1:2] == [":"]:
                entries.setdefault(str(item[0]), (item[2:] or item[:1], _items(item[3:-1])))
        return entries

    def _header_tokens(self, start: int, end: int) -> list[Token]:
        tokens = islice(self.tokens(start), _MAX_HEADER_TOKENS)
        return list(takewhile(lambda token: token.at < end, tokens))


class TextPlaces:
    """Finds the spans of places (`finding.Place`) in a text.

    Attributes:
        budget: how often `span` may still parse a statement again, or search a header or a section.
            At 0, `span` returns the span of the statement's first token or of a name instead.
    """

    def __init__(self, source: Source, subject: CheckedModel, budget: int = 500) -> None:
        self.budget = budget
        self._source = source
        self._subject = subject
        self._located: dict[tuple[int, str], SpanMap | None] = {}
        # The cached methods belong to another object: if a cache held a method of `self`, there
        # would be a reference cycle.
        headers = _Headers(source.text)
        self._token_span = headers.token_span
        self._tokens = headers.tokens
        self._name_span = cache(headers.name)
        self._whole_header = cache(headers.whole_header)
        self._parameters = cache(headers.parameters)
        self._header_entries = cache(headers.entries)

    def span(self, place: Place) -> Span:
        """Return the span of a place in the text.

        If the part of the statement cannot be found, return the span of a larger part. If the
        statement cannot be parsed, return the span of its first token.
        """
        item = self._subject.resolved.original(place.item)
        if place.part[:1] == ("metadata",) and not isinstance(item, Model):
            text, index = self._source.text, int(place.part[1])
            key = metadata_key_span(text, self._metadata_keys, item, index)
            if key is not None:
                return key
        match item:
            case Node():
                return self._node(item, place.part)
            case ValueInfo():
                return self._value(item, place.part)
            case Graph() | Function():
                if item.at < 0:
                    return self._token_span(0)
                name = self._name_span(item.at)
                if not isinstance(item, Function):
                    return name
                match place.part:
                    case ("opset_imports" | "domain", *_):
                        return self._key(item.at, name.start, place.part) or name
                    case ("attributes", int() as index):
                        spans = self._parameters(name.end)
                        return spans[index] if index < len(spans) else name
                return name
            case Model():
                return self._header(item, place.part)
        return self._section(item, place.part)

    def start(self, place: Place) -> int:
        """Return the offset of the start of a place's statement."""
        item = self._subject.resolved.original(place.item)
        offset = getattr(item, "at", -1)
        return offset if offset >= 0 else self.span(place).start

    def statement(self, place: Place) -> Span | None:
        """Return the span of the node at a place; None if there is none or it does not parse."""
        item = self._subject.resolved.original(place.item)
        span_map = self._locate(item.at, "node") if isinstance(item, Node) else None
        return None if span_map is None else span_map.span

    def _locate(self, offset: int, kind: str) -> SpanMap | None:
        key = offset, kind
        if key not in self._located:
            if self.budget <= 0 or offset < 0:
                return None
            self.budget -= 1
            try:
                self._located[key] = map_spans(self._source, offset, kind, _MAX_STATEMENT_TOKENS)
            except ValueError:
                self._located[key] = None
        return self._located[key]

    def _node(self, node: Node, part: tuple[str | int, ...]) -> Span:
        span_map = self._locate(node.at, "node")
        if span_map is None:
            return self._token_span(max(node.at, 0))
        steps: list[str | int] = ["operator"]
        match part:
            case ("attributes", int() as index, "element", int() as number):
                attribute = self._node(node, ("attributes", index, "value"))
                return self._element(attribute, number)
            case ("outputs" | "inputs" | "attributes" as name, int() as index, *rest):
                steps = [NODE_PARTS[name], index]
                if name != "inputs":
                    steps += rest or ["name"]
            case ("output_types", int() as index):
                steps = ["outputs", index, "type"]
            case ("name" | "inputs" | "outputs" as name,):
                steps = [NODE_PARTS[name]]
        return _first_part(span_map, steps, steps[:2], ["operator"])

    def _value(self, value: ValueInfo, part: tuple[str | int, ...]) -> Span:
        span_map = self._locate(value.at, "value_info")
        if span_map is None:
            return self._token_span(max(value.at, 0))
        if part[:1] == ("element",):
            return self._element(span_map.span, int(part[1]))
        return _first_part(span_map, part[:1], ("name",))

    def _element(self, statement: Span, number: int) -> Span:
        """Return the span of element `number` (0-based) of the list at the end of a statement.

        Return the span of the statement if the element is not found.
        """
        text, end = self._source.text, statement.end
        start = max(text.rfind(bracket, statement.start, end) for bracket in "[{")
        elements = _ELEMENT.finditer(text, max(start, statement.start) + 1, end)
        element = next(islice(elements, number, None), None)
        return statement if element is None else Span(element.start(), element.end())

    def _header(self, model: Model, part: tuple[str | int, ...]) -> Span:
        end = model.graph.at if model.graph.at >= 0 else len(self._source.text)
        span = self._key(0, end, part)
        if span is None and part:  # the header lacks the key
            span = self._whole_header(end)
        return span or self._name_span(max(model.graph.at, 0))

    def _key(self, start: int, end: int, part: tuple[str | int, ...]) -> Span | None:
        """Return the span of a key's value in the header, or of an item of the value.

        The header is between the offsets `start` and `end`. `part` has the name of the attribute in
        the syntax tree, and the index of the item if there is one, as in `("metadata", 1)`.

        Return None if the header lacks the key, if `part` is empty, or if the `budget` is used up.
        """
        self.budget -= 1
        if not part or self.budget < 0:
            return None
        key = FIELD_NAMES.get(str(part[0]), str(part[0]))
        entries = self._header_entries(start, end)
        if key not in entries:
            return None
        value, items = entries[key]
        if len(part) > 1 and isinstance(part[1], int) and part[1] < len(items):
            value = items[part[1]]
        return Span(value[0].at, value[-1].end)

    @cached_property
    def _sections(self) -> dict[str, list[SectionSpan]]:
        """The sections of the text, by their keywords."""
        sections: dict[str, list[SectionSpan]] = {}
        for span in section_spans(self._source.text):
            sections.setdefault(span.keyword, []).append(span)
        return sections

    @cached_property
    def _numbers(self) -> dict[int, int]:
        """The index of each item of `Model.training` and `Model.configurations`, by its `id()`."""
        model = self._subject.model
        kinds = () if model is None else (model.training, model.configurations)
        return {id(item): number for kind in kinds for number, item in enumerate(kind)}

    @cached_property
    def _metadata_keys(self) -> Keys:
        return metadata_keys(self._source.text, self._sections.get("metadata", ()))

    def _section(self, item: object, part: tuple[str | int, ...]) -> Span:
        """Return the span of a part of a quantization annotation, configuration or `Training`.

        The syntax tree has no offsets of sections, so the method searches the text for keywords.
        """
        keyword, name, text = "training", "", self._source.text
        match item:
            case Annotation():
                keyword, name = "quantization", item.tensor_name
            case Configuration():
                keyword, name = "configuration", item.name
        sections = self._sections.get(keyword)
        if not sections:
            main = self._subject.main
            return self._token_span(max(main.owner.at, 0) if main is not None else 0)
        number = -1 if isinstance(item, Annotation) else self._numbers.get(id(item), 0)
        section = sections[min(number, len(sections) - 1)]
        if isinstance(item, Training):
            offset = section.at
            for step in part:
                if isinstance(step, str):
                    offset = max(text.find(step, offset), offset)
            return self._token_span(offset)
        start = section.at if keyword == "configuration" else section.inside
        self.budget -= 1
        if self.budget > 0 and name:
            for spelled in (json.dumps(name, ensure_ascii=False), name):
                pattern = re.compile(rf"(?<![\w\"]){re.escape(spelled)}(?![\w\"])")
                match = pattern.search(text, start, section.end)
                if match is not None:
                    return self._entry(match.end(), part) or Span(match.start(), match.end())
        return self._token_span(section.at)

    def _entry(self, offset: int, part: tuple[str | int, ...]) -> Span | None:
        """Return the span of a key or value in a quantization annotation.

        Return None for other parts, or if the key or value is not found.

        `part` is the path of the key or value, such as `("entries", 0, "value")`. `offset` is the
        offset after the name of the annotated tensor.
        """
        match part:
            case ("entries", int() as index, side):
                tokens = islice(self._tokens(offset), 4 * index + 5)
                entry = list(takewhile(lambda token: token != "]", tokens))[4 * index + 2 :]
                chosen = entry[2 * (side == "value") :][:1]
                return chosen[0].span if chosen else None
        return None


def _first_part(statement: SpanMap, *paths: Sequence[str | int]) -> Span:
    """Return the span of the first part that exists; the whole statement if there is none.

    `paths` are the paths of parts, as for `SpanMap.find`.
    """
    for path in paths:
        try:
            return statement.find(*path).span
        except LookupError:
            continue
    return statement.span


def _nesting(token: str) -> int:
    """Return 1 for an opening bracket (also of a decorator), -1 for a closing one, otherwise 0."""
    return (token in _OPENING or token.endswith("(")) - (token in _CLOSING)


def _closing(tokens: list[Token]) -> int | None:
    """Return the index of the token that closes the bracket at index 0; None if there is none."""
    depth = 0
    for index, token in enumerate(tokens):
        depth += _nesting(token)
        if not depth:
            return index
    return None


def _items(tokens: list[Token]) -> list[list[Token]]:
    """Split the tokens between the brackets of a list into items."""
    items: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        depth += _nesting(token)
        if token == "," and not depth:
            items.append([])
        else:
            items[-1].append(token)
    return [item for item in items if item]
