# SPDX-License-Identifier: Apache-2.0
"""Write edited nodes and values into a text, statement by statement.

A statement in the edited tree is matched by `at`, its offset in the text before the edit. So
names may change, and new nodes may stand between statements. Other edits are left to `item_edits`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from onnxtext.ast.model import Function, Graph, Model, Node
from onnxtext.ast.visit import attribute_graphs
from onnxtext.printer.graphs_and_nodes import GraphPrinter
from onnxtext.printer.layout import STEP
from onnxtext.printer.models import graph_printer, print_type
from onnxtext.rewriter.item_edits import ItemEdits
from onnxtext.rewriter.text_edits import REST_OF_LINE, TextEdits
from onnxtext.source import Source, line_start
from onnxtext.syntax.span_map import map_spans

_COMMENT_LINE = re.compile(r"[ \t]*(?:#[^\n]*)?\n")


@dataclass
class Splicing:
    """Adds the edits of nodes and values to `edits`.

    Other edits, such as new values or another order of nodes, have no effect. If `in_parts` is
    True, only the changed parts of long statements (those on several lines or with a nested graph)
    are replaced. Then the result may not parse, and the caller must check it.

    Attributes:
        renamed: the result of `renamed_names`.
        in_parts: whether only the changed parts of long statements are replaced.
    """

    source: Source
    edits: TextEdits
    renamed: Mapping[str, str | None]
    in_parts: bool
    _printer: GraphPrinter = field(default_factory=graph_printer)

    def model(self, before: Model, after: Model) -> None:
        """Write the changes of the main graph and of the functions."""
        old_owners: list[Graph | Function] = [before.graph, *before.functions]
        new_owners: list[Graph | Function] = [*after.functions, after.graph]
        by_position = {owner.at: owner for owner in new_owners}
        for old in old_owners:
            if (new := by_position.get(old.at)) is not None:
                self.graph(old, new, STEP)

    def graph(self, before: Graph | Function, after: Graph | Function, indent: str) -> None:
        """Write the changes of a graph or function; `indent` is its statements' indentation."""
        for name in ("inputs", "outputs", "values"):
            by_position = {value.at: value for value in getattr(before, name)}
            for value in getattr(after, name):
                if value.at in by_position and (old := by_position[value.at]) != value:
                    texts = [self._printer.value_text(one, indent) for one in (old, value)]
                    self._restate(value.at, "value_info", *texts)
        self._nodes(before.nodes, after.nodes)

    def _nodes(self, before: Sequence[Node], after: Sequence[Node]) -> None:
        by_offset = {node.at: node for node in before}
        kept = [node.at for node in after if node.at in by_offset]
        if kept != sorted(set(kept)) or -1 in by_offset or not kept:
            return  # the nodes were reordered, or all are new
        for gone in by_offset.keys() - set(kept):
            self.edits.remove(*self._span(gone, "node"), is_statement=True)
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
        """Replace a node, or if possible only its output types and statements in its graphs."""
        if before == after:
            return
        graphs = list(attribute_graphs(before.attributes))
        edited = list(attribute_graphs(after.attributes))
        indent = self.edits.indent(before.at)
        same = [graph.at for graph in graphs] == [graph.at for graph in edited]
        typed = replace(before, output_types=after.output_types)
        if same and _without_lists(typed) == _without_lists(after):
            types = self._types(before, after)
            if types is not None:
                for start, end, text in types:
                    self.edits.replace(start, end, text)
                for old_graph, new_graph in zip(graphs, edited, strict=True):
                    self.graph(old_graph, new_graph, indent + STEP * 2)
                return
        texts = [self._printer.node_text(node, indent) for node in (before, after)]
        self._restate(before.at, "node", *texts)

    def _types(self, before: Node, after: Node) -> list[tuple[int, int, str]] | None:
        """Return the edits (start, end, text) that set output types; None if this is impossible.

        It is impossible if a type is removed, or an output is not found in the text.
        """
        edits: list[tuple[int, int, str]] = []
        if before.output_types == after.output_types:
            return edits
        spans = map_spans(self.source, before.at, "node")
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

    def _restate(self, at: int, origin: str, before: str, after: str) -> None:
        """Replace a statement by `after`, its printed form; it was printed as `before`.

        With `in_parts`, replace only the changed parts of a long statement if possible.
        """
        if before == after:
            return  # only metadata has changed, which is in a section
        start, end = self._span(at, origin)
        text, count = self.source.text[start:end], len(self.edits.edits)
        if self.in_parts and ("\n" in text or "=>" in text):
            items = ItemEdits(self.edits, self.renamed)
            if items.statement((start, end), origin, (before, after)):
                return
        self.edits.replace(start, end, after)
        self.edits.keep_comments(start, count)

    def _insert(self, nodes: Sequence[Node], last: int, following: int) -> None:
        """Insert new nodes after the node at offset `last`; if `last` is -1, before `following`."""
        if not nodes:
            return
        text = self.source.text
        if last >= 0:
            start, end = self._span(last, "node")
            rest = REST_OF_LINE.match(text, end)
            offset = end if rest is None else rest.end()
            lines = self._lines(nodes, self.edits.indent(start))
            self.edits.replace(offset, offset, "".join([f"\n{line}" for line in lines]))
            return
        indent = self.edits.indent(following)
        lines = self._lines(nodes, indent)
        start = line_start(text, following)
        if text[start:following].strip():
            joined = "".join([f"{line.strip()}\n{indent}" for line in lines])
            self.edits.replace(following, following, joined)
            return
        while (above := line_start(text, start - 1)) < start:
            if not _COMMENT_LINE.fullmatch(text, above, start):
                break
            start = above
        self.edits.replace(start, start, "".join([f"{line}\n" for line in lines]))

    def _lines(self, nodes: Sequence[Node], indent: str) -> list[str]:
        return [indent + self._printer.node_text(node, indent) for node in nodes]

    def _span(self, offset: int, kind: str) -> tuple[int, int]:
        span = map_spans(self.source, offset, kind).span
        return span.start, span.end


def _without_lists(node: Node) -> object:
    """Return a key to compare nodes; it leaves out metadata and the content of nested graphs."""

    def plain(value: object) -> object:
        if isinstance(value, Graph):
            return value.name, value.decorators
        return tuple(map(plain, value)) if isinstance(value, tuple) else value

    attributes = [
        (attribute.name, attribute.type, attribute.decorators, plain(attribute.value))
        for attribute in node.attributes
    ]
    return replace(node, attributes=(), metadata=()), attributes
