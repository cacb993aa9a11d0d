# SPDX-License-Identifier: Apache-2.0
"""Write edited nodes and values into a text, statement by statement.

Statements are matched by their offset in the tree before the edit, so statements may be renamed and
new ones inserted between them. Other edits are left to a merge (`rewriting`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from onnxtext.ast.model import Function, Graph, Model, Node
from onnxtext.ast.visit import attribute_graphs
from onnxtext.printer.graphs_and_nodes import GraphPrinter
from onnxtext.printer.layout import STEP
from onnxtext.printer.models import graph_printer, print_type
from onnxtext.rewriter.token_edits import edit_tokens, has_comments
from onnxtext.source import Source
from onnxtext.syntax.span_map import SpanMap, map_spans

_REST_OF_LINE = re.compile(r"[ \t]*(?:#[^\r\n]*)?(?=\r?\n|\Z)")
_COMMENT_LINE = re.compile(r"[ \t]*(?:#[^\n]*)?\n")


def splice(source: Source, old: Model, new: Model, *, in_tokens: bool) -> str:
    """Return a text in which edited nodes and values are replaced, inserted or removed.

    Other edits have no effect.

    Args:
        source: the text before the edit.
        old: its syntax tree.
        new: the edited tree.
        in_tokens: whether statements with comments between their tokens are edited token by token.
            If so, the result may not parse, and the caller must check it.
    """
    splicing = _Splice(source, in_tokens)
    befores: list[Graph | Function] = [old.graph, *old.functions]
    owners: list[Graph | Function] = [*new.functions, new.graph]
    afters = {owner.at: owner for owner in owners}
    for before in befores:
        after = afters.get(before.at)
        if after is not None:
            splicing.graph(before, after, STEP)
    return splicing.text()


@dataclass
class _Splice:
    """Collects replacements in a text.

    Attributes:
        source: the text.
        in_tokens: whether statements with comments inside are edited token by token.
    """

    source: Source
    in_tokens: bool
    _printer: GraphPrinter = field(default_factory=graph_printer)
    _edits: list[tuple[int, int, str]] = field(default_factory=list)
    _has_carriage_returns: bool = False

    def __post_init__(self) -> None:
        self._has_carriage_returns = "\r\n" in self.source.text

    def text(self) -> str:
        """Return the text with the replacements."""
        text, parts, offset = self.source.text, [], 0
        for start, end, replacement in sorted(self._edits, key=lambda edit: edit[:2]):
            parts += [text[offset:start], replacement]
            offset = end
        return "".join([*parts, text[offset:]])

    def graph(self, before: Graph | Function, after: Graph | Function, indent: str) -> None:
        """Replace the changed items in the lists of a graph or function."""
        for name in ("inputs", "outputs", "values"):
            by_position = {value.at: value for value in getattr(before, name)}
            for value in getattr(after, name):
                if value.at in by_position and by_position[value.at] != value:
                    start, end = self._span(value.at, "value_info")
                    old = partial(self._printer.value_text, by_position[value.at], indent)
                    self._restate(start, end, old, self._printer.value_text(value, indent))
        self._nodes(before.nodes, after.nodes)

    def _nodes(self, before: Sequence[Node], after: Sequence[Node]) -> None:
        by_offset = {node.at: node for node in before}
        kept = [node.at for node in after if node.at in by_offset]
        if kept != sorted(set(kept)) or -1 in by_offset or not kept:
            return  # the nodes were reordered, or all are new
        for gone in by_offset.keys() - set(kept):
            self._remove(gone)
        last = -1
        added: list[Node] = []
        for node in after:
            if node.at not in by_offset:
                added.append(node)
                continue
            self._insert(added, last, node.at)
            added, last = [], node.at
            self._change(by_offset[node.at], node)
        self._insert(added, last, -1)

    def _change(self, before: Node, after: Node) -> None:
        """Replace a node, or only the changed statements of its nested graphs."""
        if before == after:
            return
        graphs = list(attribute_graphs(before.attributes))
        edited = list(attribute_graphs(after.attributes))
        spans = map_spans(self.source, before.at, "node")
        indent = self._indent(spans.span.start)
        same = [graph.at for graph in graphs] == [graph.at for graph in edited]
        typed = replace(before, output_types=after.output_types)
        if same and _without_lists(typed) == _without_lists(after):
            types = self._types(spans, before, after)
            if types is not None:
                for start, end, text in types:
                    self._replace(start, end, text)
                for old_graph, new_graph in zip(graphs, edited, strict=True):
                    self.graph(old_graph, new_graph, indent + STEP * 2)
                return
        start, end = spans.span.start, spans.span.end
        printed = partial(self._printer.node_text, before, indent)
        self._restate(start, end, printed, self._printer.node_text(after, indent))

    def _types(
        self, spans: SpanMap, before: Node, after: Node
    ) -> list[tuple[int, int, str]] | None:
        """Return the edits (start, end, text) that set output types; None if a type is removed."""
        edits = []
        none = (None,) * len(after.outputs)
        types = zip(before.output_types or none, after.output_types or none, strict=True)
        for index, (old, new) in enumerate(types):
            if old == new:
                continue
            if new is None:
                return None
            try:
                output = spans.find("outputs", index)
                span_map = output if old is None else output.find("type")
            except LookupError:
                return None
            start, end = span_map.span.start, span_map.span.end
            if old is None:
                edits.append((start, start, f"{print_type(new)} "))
            else:
                edits.append((start, end, print_type(new)))
        return edits

    def _restate(self, start: int, end: int, old: Callable[[], str], new: str) -> None:
        """Replace a statement; if it has comments inside, replace only its changed tokens."""
        text = self.source.text[start:end]
        edit = None
        if self.in_tokens and has_comments(text):
            edit = edit_tokens(text, old(), new)
        if edit is None:
            self._replace(start, end, new)
        else:
            self._edits.append((start, end, edit))

    def _remove(self, offset: int) -> None:
        """Remove a node with the comment after it."""
        text = self.source.text
        start, end = self._span(offset, "node")
        line = text.rfind("\n", 0, start) + 1
        rest = _REST_OF_LINE.match(text, end)
        if rest is not None and not text[line:start].strip():
            trailing = text.find("\n", rest.end())
            self._replace(line, trailing + 1 if trailing >= 0 else len(text), "")
        else:
            self._replace(start, end, "")

    def _insert(self, nodes: Sequence[Node], last: int, following: int) -> None:
        """Insert new nodes after the node at offset `last`; if `last` is -1, before `following`."""
        if not nodes:
            return
        text = self.source.text
        if last >= 0:
            start, end = self._span(last, "node")
            rest = _REST_OF_LINE.match(text, end)
            offset = end if rest is None else rest.end()
            indent = self._indent(start)
            self._replace(
                offset, offset, "".join([f"\n{line}" for line in self._lines(nodes, indent)])
            )
            return
        indent = self._indent(following)
        lines = self._lines(nodes, indent)
        start = text.rfind("\n", 0, following) + 1
        if text[start:following].strip():
            joined = "".join([f"{line.strip()}\n{indent}" for line in lines])
            self._replace(following, following, joined)
            return
        while (
            line_above := text.rfind("\n", 0, start - 1) + 1
        ) < start and _COMMENT_LINE.fullmatch(text, line_above, start):
            start = line_above
        self._replace(start, start, "".join([f"{line}\n" for line in lines]))

    def _lines(self, nodes: Sequence[Node], indent: str) -> list[str]:
        return [indent + self._printer.node_text(node, indent) for node in nodes]

    def _indent(self, offset: int) -> str:
        """Return the indentation of the line that contains an offset."""
        text = self.source.text
        line = text.rfind("\n", 0, offset) + 1
        return text[line : line + len(text[line:offset]) - len(text[line:offset].lstrip(" "))]

    def _span(self, offset: int, kind: str) -> tuple[int, int]:
        span = map_spans(self.source, offset, kind).span
        return span.start, span.end

    def _replace(self, start: int, end: int, text: str) -> None:
        if self._has_carriage_returns:
            text = text.replace("\n", "\r\n")
        self._edits.append((start, end, text))


def _without_lists(node: Node) -> object:
    """Return a node in a form for comparisons that ignore the lists of its nested graphs."""

    def plain(value: object) -> object:
        if isinstance(value, Graph):
            return value.name, value.decorators, value.metadata, value.quantization
        return tuple(map(plain, value)) if isinstance(value, tuple) else value

    attributes = [
        (attribute.name, attribute.type, attribute.decorators, plain(attribute.value))
        for attribute in node.attributes
    ]
    return replace(node, attributes=()), attributes
