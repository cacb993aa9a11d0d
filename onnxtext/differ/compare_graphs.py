# SPDX-License-Identifier: Apache-2.0
"""Compare two graphs: inputs, outputs, initializers, `value_info` and nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from onnxtext.ast.compact_form.list_order import ORDERS
from onnxtext.ast.model import Graph, Node, ValueInfo
from onnxtext.ast.tensors_and_attributes import SparseTensor
from onnxtext.ast.visit import attribute_graphs
from onnxtext.differ.collected_changes import Collector, NameMap
from onnxtext.differ.compare_messages import compare_messages
from onnxtext.differ.compare_nodes import NodeComparer, node_title
from onnxtext.differ.compare_values import ValueComparer
from onnxtext.differ.graph_lists import GraphLists
from onnxtext.differ.matching.match_graphs import GraphMatch, match_graphs
from onnxtext.differ.matching.match_lists import Pairs, match_keys
from onnxtext.differ.model_side import ModelSide
from onnxtext.differ.result import FieldChange, ItemPosition, Positions, Rename
from onnxtext.differ.statement_text import node_statement, value_headline, value_statement
from onnxtext.printer.quoting import quote_string


class GraphComparer:
    """Compares the graphs of two models."""

    def __init__(self, old: ModelSide, new: ModelSide, out: Collector) -> None:
        self.out = out
        self._old = old
        self._new = new
        self._sides = old, new
        self.values = ValueComparer(old, new, out)
        self._nodes = NodeComparer(self.values, partial(self.graphs, nested=True))

    def graphs(
        self, old: Graph, new: Graph, old_path: str, new_path: str, outer: NameMap | None, *,
        nested: bool = False,
    ) -> NameMap:  # fmt: skip
        """Collect the differences of two graphs, which may be values of attributes (`nested`).

        `old_path` and `new_path` are the paths of the graphs in their models. `outer` maps the
        value names of the enclosing graphs; None for a graph that is not in an attribute.

        Returns:
            The map from old to new value names.

        Raises:
            LowerError: a statement cannot be encoded.
        """
        bodies = GraphLists.of(old, old_path), GraphLists.of(new, new_path)
        match = match_graphs(*bodies, outer, self._sides, nested=nested)
        parts = []
        for side, graph, get in ((self._old, old, match.names.get), (self._new, new, str)):
            head_only = Graph(
                graph.name,
                decorators=tuple([d for d in graph.decorators if d.name not in ORDERS]),
                metadata=graph.metadata,
                quantization=[item.renamed(get) for item in graph.quantization],
                at=graph.at,
            )
            parts.append(b"".join(side.encoder.graph(head_only)))
        changes = [
            replace(change, category="names") if change.path == "name" else change
            for change in compare_messages("GraphProto", *parts)
        ]
        positions = self._old.position(old_path, old.at), self._new.position(new_path, new.at)
        self.out.record_changed("graph", new.name, *positions, changes)
        self.bodies(match)
        return match.names

    def bodies(self, match: GraphMatch) -> None:
        """Compare the inputs, outputs, initializers, `value_info` and nodes of a matching pair.

        The pair consists of two graphs or two functions.
        """
        self.out.matches.append(match)
        old, new, names = match.old, match.new, match.names
        self._declarations(match, "input", old.inputs, new.inputs, match.inputs)
        self._declarations(match, "output", old.outputs, new.outputs, match.outputs)
        self._initializers(match)
        self._sparse(match)
        pairs = match_keys([names.get(v.name) for v in old.infos], [v.name for v in new.infos])
        self._declarations(match, "value_info", old.infos, new.infos, pairs)
        self._rename_values(match)
        self._node_list(match)

    def _declarations(
        self, match: GraphMatch, kind: str, old: Sequence[ValueInfo], new: Sequence[ValueInfo],
        pairs: Pairs,
    ) -> None:  # fmt: skip
        """Compare inputs, outputs or `value_info` entries; `kind` is the name of the field.

        `pairs` has (old, new) indices of matching entries, in the order of the new list.
        """
        values = self.values
        changed = [
            (left, right) for left, right in pairs
            if not values.same_declaration(old[left], new[right])
            or (kind != "value_info"
                and not old[left].name == new[right].name == match.names.get(old[left].name))
        ]  # fmt: skip
        for left, right, was_moved in self._matched_pairs(match, kind, old, new, pairs, changed):
            before, after = old[left], new[right]
            self._record_rename(match, kind, before, after)
            positions = self._positions(match, kind, before, after)
            self.out.record_changed(
                kind, after.name, *positions, values.declaration(before, after),
                texts=(value_headline(before), value_headline(after)), moved=was_moved,
            )  # fmt: skip

    def _record_rename(self, match: GraphMatch, kind: str, old: ValueInfo, new: ValueInfo) -> None:
        """Record that an input or output was renamed, or that an output has another value."""
        if kind == "value_info":
            return
        new_name = match.names.get(old.name)
        if kind == "output" and new_name != new.name:
            # The new output is a different value, not the old value renamed.
            positions = self._positions(match, kind, old, new)
            note = match.names.reuse_note(old.name) if old.name == new.name else None
            change = FieldChange(
                "name", "model", quote_string(old.name), quote_string(new.name), note=note
            )
            texts = value_headline(old), value_headline(new)
            self.out.record_changed(kind, new.name, *positions, [change], texts=texts)
        elif old.name == new.name:
            return
        elif match.new.path == "graph":  # the names belong to the interface of the model
            self.out.renames.append(Rename(kind, match.new.path, old.name, new.name, "model"))
        elif kind == "input":
            self.out.renames.append(Rename("value", match.new.path, old.name, new.name))

    def _matched_pairs(
        self, match: GraphMatch, kind: str, old: Sequence[ValueInfo], new: Sequence[ValueInfo],
        pairs: Pairs, changed: Pairs,
    ) -> Iterator[tuple[int, int, bool]]:  # fmt: skip
        """Yield the changed and moved values; record the others, as `matched_pairs` does."""

        def describe(side: int, index: int) -> tuple[str, ItemPosition, str]:
            value = (old, new)[side][index]
            return value.name, self._position(match, side, kind, value), value_statement(value)

        return self.out.matched_pairs(kind, (len(old), len(new)), pairs, changed, describe)

    def _position(self, match: GraphMatch, side: int, kind: str, value: ValueInfo) -> ItemPosition:
        path = f"{(match.old, match.new)[side].path}.{kind}[{quote_string(value.name)}]"
        return self._sides[side].position(path, value.at)

    def _positions(self, match: GraphMatch, kind: str, old: ValueInfo, new: ValueInfo) -> Positions:
        return self._position(match, 0, kind, old), self._position(match, 1, kind, new)

    def _initializers(self, match: GraphMatch) -> None:
        old, new = match.old, match.new

        def differences(old_index: int, new_index: int) -> list[FieldChange]:
            before, after = old.initializers[old_index], new.initializers[new_index]
            defaults = id(before) in old.defaults, id(after) in new.defaults
            return self.values.initializer(before, after, defaults)

        self._tensors(
            match, "initializer", (old.initializers, new.initializers), match.initializers,
            differences,
        )  # fmt: skip

    def _sparse(self, match: GraphMatch) -> None:
        old, new = match.old.sparse, match.new.sparse
        if not old and not new:
            return
        get = match.names.get
        pairs = match_keys([get(value.name) for value in old], [value.name for value in new])

        def differences(old_index: int, new_index: int) -> list[FieldChange]:
            before, after = old[old_index].data, new[new_index].data
            assert isinstance(before, SparseTensor)
            assert isinstance(after, SparseTensor)
            changes = self.values.sparse(before, after)
            parts = [
                b"".join(side.encoder.initializer(value))
                for side, value in ((self._old, old[old_index]), (self._new, new[new_index]))
            ]
            rest = [
                item
                for item in compare_messages("SparseTensorProto", *parts)
                if not item.path.startswith(("values", "indices", "dims"))
            ]
            return changes + rest

        self._tensors(match, "sparse_initializer", (old, new), pairs, differences)

    def _tensors(
        self,
        match: GraphMatch,
        kind: str,
        lists: tuple[Sequence[ValueInfo], Sequence[ValueInfo]],
        pairs: Pairs,
        differences: Callable[[int, int], list[FieldChange]],
    ) -> None:
        """Compare two lists of initializers; `lists` is (old, new).

        `pairs` has the indices of matching initializers; `differences` compares one pair.
        """
        old, new = lists
        for left, right, was_moved in self._matched_pairs(match, kind, *lists, pairs, pairs):
            before, after = old[left], new[right]
            if before.name != after.name:
                rename = Rename("initializer", match.new.path, before.name, after.name)
                self.out.renames.append(rename)
            changes = differences(left, right)
            if was_moved:
                changes.append(FieldChange.moved("", left, right))
            if changes:
                headlines = value_headline(before), value_headline(after)
                positions = self._positions(match, kind, before, after)
                self.out.record_changed(kind, after.name, *positions, changes, texts=headlines)

    def _rename_values(self, match: GraphMatch) -> None:
        """Collect the renamed outputs of nodes."""
        if not match.names.has_renames:
            return
        reported = set()  # (old, new) names of graph outputs, which `_record_rename` records
        if match.new.path == "graph":
            old_outputs, new_outputs = match.old.outputs, match.new.outputs
            reported = {
                (old_outputs[old_index].name, new_outputs[new_index].name)
                for old_index, new_index in match.outputs
            }
        for old_index, new_index in match.nodes:
            before, after = match.old.nodes[old_index].outputs, match.new.nodes[new_index].outputs
            for name, named in zip(before, after, strict=False):
                if name != named and name and named and (name, named) not in reported:
                    self.out.renames.append(Rename("value", match.new.path, name, named))

    def _node_list(self, match: GraphMatch) -> None:
        old, new, names = match.old, match.new, match.names
        old_statements, new_statements = match.statements

        def position(side: int, index: int) -> ItemPosition:
            body = (old, new)[side]
            return self._sides[side].position(f"{body.path}.node[{index}]", body.nodes[index].at)

        def describe(side: int, index: int) -> tuple[str, ItemPosition, str]:
            node = (old, new)[side].nodes[index]
            return node_title(node), position(side, index), node_statement(node)

        counts = len(old.nodes), len(new.nodes)
        changed = [
            (old_index, new_index)
            for old_index, new_index in match.nodes
            if old_statements[old_index] != new_statements[new_index]
            or (names.has_renames and not _keeps_names(new.nodes[new_index], names))
        ]
        for old_index, new_index, was_moved in self.out.matched_pairs(
            "node", counts, match.nodes, changed, describe
        ):
            nodes = old.nodes[old_index], new.nodes[new_index]
            positions = position(0, old_index), position(1, new_index)
            self._nodes.compare(*nodes, positions, names, new.path, moved=was_moved)


def _keeps_names(node: Node, names: NameMap) -> bool:
    """Whether a node has no nested graphs and its inputs and outputs keep their names."""
    return all(names.get(name) == name for name in (*node.inputs, *node.outputs)) and not any(
        attribute_graphs(node.attributes)
    )
