# SPDX-License-Identifier: Apache-2.0
"""Compare two nodes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import zip_longest

from onnxtext.ast.model import Graph, Node
from onnxtext.ast.tensors_and_attributes import Attribute
from onnxtext.ast.visit import attribute_graphs
from onnxtext.differ.collected_changes import NameMap
from onnxtext.differ.compare_messages import compare_messages
from onnxtext.differ.compare_values import ValueComparer, attribute_path
from onnxtext.differ.graph_lists import replaced_fields
from onnxtext.differ.matching.match_lists import match_keys, moved_pairs, unmatched_indices
from onnxtext.differ.model_side import ModelSide
from onnxtext.differ.result import FieldChange, Positions, Rename
from onnxtext.differ.statement_encoding import StatementEncoder
from onnxtext.differ.statement_text import attribute_statement, node_headline
from onnxtext.printer.quoting import value_name
from onnxtext.proto.decode.nodes import NO_DEFAULTS

CompareGraphs = Callable[[Graph, Graph, str, str, NameMap], object]
"""Compares two graphs in attributes.

The arguments are the old and the new graph, their paths, and the name map of the outer graphs.
"""


class NodeComparer:
    """Compares the nodes of two models."""

    def __init__(self, values: ValueComparer, compare_graphs: CompareGraphs) -> None:
        self._values = values
        self._graphs = compare_graphs
        self._out = values.out

    def compare(
        self, old: Node, new: Node, positions: Positions, names: NameMap, graph_path: str, *,
        moved: bool,
    ) -> None:  # fmt: skip
        """Collect the differences of two matching nodes.

        `names` maps old value names to new ones, and `graph_path` is the path of the new graph or
        function that has the node.
        """
        encoded = _with_encoder(old, self._values.old), _with_encoder(new, self._values.new)
        (old, _), (new, _) = encoded
        nested: list[tuple[Graph, Graph, str, str]] = []
        changes = self._head(*encoded, names, graph_path)
        changes += _values(old.inputs, new.inputs, "input", names)
        changes += _values(old.outputs, new.outputs, "output", names)
        changes += self._attributes(old, new, positions, nested)
        texts = node_headline(old), node_headline(new)
        self._out.record_changed(
            "node", node_title(new), *positions, changes, texts=texts, moved=moved
        )
        for old_item, new_item, old_path, new_path in nested:
            self._graphs(old_item, new_item, old_path, new_path, names)

    def _head(
        self, old: EncodedNode, new: EncodedNode, names: NameMap, graph_path: str
    ) -> list[FieldChange]:
        """Compare two nodes except their inputs, outputs and attributes.

        If the names differ, record a rename; if one node has no name, a change of category `names`.
        """
        if self._same_head(old[0], new[0]):
            return []
        parts = []
        for node, encoder in (old, new):
            head_only = replace(node, inputs=(), outputs=(), attributes=(), output_types=())
            parts.append(encoder.node(head_only))
        has_tensor_names = names.has_renames and any(d.name == "device" for d in old[0].decorators)
        changes = compare_messages(
            "NodeProto", *parts, names=names.get if has_tensor_names else None
        )
        label = next((c for c in changes if c.path == "name" and c.category == "model"), None)
        if label is not None:
            changes.remove(label)
            if old[0].name and new[0].name:
                self._out.renames.append(Rename("node", graph_path, old[0].name, new[0].name))
            else:
                changes.append(replace(label, category="names"))
        return changes

    def _same_head(self, old: Node, new: Node) -> bool:
        """Whether the fields that `_head` compares are certainly equal (fast path)."""
        return (
            old.op_type == new.op_type
            and old.name == new.name
            and old.domain == new.domain
            and old.overload == new.overload
            and not (old.decorators or new.decorators or old.metadata or new.metadata)
            and self._values.old.model.presence == self._values.new.model.presence
        )

    def _attributes(
        self,
        old: Node,
        new: Node,
        positions: Positions,
        nested: list[tuple[Graph, Graph, str, str]],
    ) -> list[FieldChange]:
        if old.attributes is new.attributes:
            return []
        names = [[item.name for item in node.attributes] for node in (old, new)]
        pairs = match_keys(*names)
        removed, added = unmatched_indices(pairs, len(old.attributes), len(new.attributes))
        moved = set(moved_pairs(pairs))
        changes: list[FieldChange] = []
        for item in [old.attributes[index] for index in removed]:
            path, text = attribute_path(item.name), attribute_statement(item)
            changes.append(FieldChange(path, "model", text, None))
        for old_item, new_item in pairs:
            changes += self._attribute(
                old.attributes[old_item], new.attributes[new_item], positions, nested
            )
            if (old_item, new_item) in moved:
                path = attribute_path(new.attributes[new_item].name)
                changes.append(FieldChange.moved(path, old_item, new_item))
        for item in [new.attributes[index] for index in added]:
            path, text = attribute_path(item.name), attribute_statement(item)
            changes.append(FieldChange(path, "model", None, text))
        return changes

    def _attribute(
        self,
        old: Attribute,
        new: Attribute,
        positions: Positions,
        nested: list[tuple[Graph, Graph, str, str]],
    ) -> list[FieldChange]:
        """Compare two attributes, and append their graphs to `nested` for a later comparison."""
        path = attribute_path(new.name)
        old_graphs, new_graphs = list(attribute_graphs((old,))), list(attribute_graphs((new,)))
        if not old_graphs and not new_graphs:
            return self._values.attribute(old, new, path)
        is_list = isinstance(new.value, tuple)
        if len(old_graphs) != len(new_graphs) or isinstance(old.value, tuple) != is_list:
            texts = attribute_statement(old), attribute_statement(new)
            return [FieldChange(path, "model", *texts)]
        for index, (old_graph, new_graph) in enumerate(zip(old_graphs, new_graphs, strict=True)):
            step = f"graphs[{index}]" if is_list else "g"
            paths = [f"{position.path}.{path}.{step}" for position in positions]
            nested.append((old_graph, new_graph, *paths))  # type: ignore[arg-type]
        parts = [
            side.encoder.attribute(replace(item, value=None))
            for side, item in ((self._values.old, old), (self._values.new, new))
        ]
        return compare_messages("AttributeProto", *parts, path=path)


def node_title(node: Node) -> str:
    """Return the display name of a node: its name, its first named output, or its operator."""
    return node.name or next(filter(None, node.outputs), "") or node.op_type


def _values(
    old: tuple[str, ...], new: tuple[str, ...], field: str, names: NameMap
) -> list[FieldChange]:
    """Compare the inputs or outputs of two nodes; `names` maps old names to new ones."""
    if old == new and not names.has_renames:
        return []
    changes = []
    for index, (old_item, new_item) in enumerate(zip_longest(old, new)):
        if old_item is not None and names.get(old_item) == new_item:
            continue
        before, after = (
            None if name is None else value_name(name) for name in (old_item, new_item)
        )
        note = None if old_item is None or old_item != new_item else names.reuse_note(old_item)
        changes.append(FieldChange(f"{field}[{index}]", "model", before, after, note=note))
    return changes


EncodedNode = tuple[Node, StatementEncoder]
"""A node, and the encoder that encodes its statement."""


def _with_encoder(node: Node, side: ModelSide) -> EncodedNode:
    """Return a node and the encoder to use for it.

    If decorators replace the node's inputs, outputs or attributes, these fields are moved from the
    decorators into the node: the node is encoded and decoded.
    """
    if not node.decorators:
        return node, side.encoder
    fields = replaced_fields(node.decorators)
    if fields.isdisjoint(("input", "output", "attribute")):
        return node, side.encoder
    from onnxtext.proto.decode.messages import Lifter
    from onnxtext.wire.reader import WireError

    try:
        lifted = Lifter(compare_items=True).node(side.encoder.node(node))
    except WireError:
        return node, side.encoder
    if "attribute" in replaced_fields(lifted.decorators):
        lifted.attributes = ()
    lifted.at = node.at
    return lifted, StatementEncoder(NO_DEFAULTS)
