# SPDX-License-Identifier: Apache-2.0
"""The differences of two graphs, list by list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from onnxtext.ast.model import Annotation, Graph, Node, ValueInfo
from onnxtext.ast.values import SparseTensor
from onnxtext.diff.body import Body
from onnxtext.diff.collector import Collector, Names, field_changes
from onnxtext.diff.lists import Pairs, match_keys, merged, moved, unmatched
from onnxtext.diff.model import FieldChange, Place, Rename
from onnxtext.diff.nodes import NodeComparer, title
from onnxtext.diff.records import compared
from onnxtext.diff.scope import Scope, match_scopes
from onnxtext.diff.side import Side
from onnxtext.diff.spell import node_statement, value_headline, value_statement
from onnxtext.diff.values import ValueComparer, graphs_of
from onnxtext.printer.strings import quoted


class GraphComparer:
    """Compares the graphs of two models.

    Attributes:
        out: takes the differences.
    """

    def __init__(self, old: Side, new: Side, out: Collector) -> None:
        self.out = out
        self._old = old
        self._new = new
        self._sides = old, new
        self._values = ValueComparer(old, new, out)
        self._nodes = NodeComparer(self._values, self._nested)

    def _nested(self, old: Graph, new: Graph, old_path: str, new_path: str, names: Names) -> None:
        self.graphs(old, new, old_path, new_path, names, nested=True)

    def graphs(
        self, old: Graph, new: Graph, old_path: str, new_path: str, outer: Names | None, *,
        nested: bool = False,
    ) -> Names:  # fmt: skip
        """Compare two graphs; gives what their values are called."""
        bodies = Body.of(old, old_path), Body.of(new, new_path)
        scope = match_scopes(*bodies, outer, self._sides, nested=nested)
        parts = []
        for side, graph, get in (
            (self._old, old, scope.names.get),
            (self._new, new, str),
        ):
            hollow = Graph(
                graph.name,
                decorators=graph.decorators,
                metadata=graph.metadata,
                quantization=[
                    Annotation(
                        get(item.tensor_name),
                        tuple([(key, get(value)) for key, value in item.entries]),
                    )
                    for item in graph.quantization
                ],
                at=graph.at,
            )
            parts.append(b"".join(side.facts.graph(hollow)))
        changes = []
        for change in field_changes(compared("GraphProto", *parts)):
            about = "names" if change.path == "name" else change.category
            changes.append(replace(change, category=about))
        places = self._old.place(old_path, old.at), self._new.place(new_path, new.at)
        self.out.changed("graph", new.name, *places, changes)
        self.bodies(scope)
        return scope.names

    def bodies(self, scope: Scope) -> None:
        """Compare the lists of two graphs or functions."""
        old, new, names = scope.old, scope.new, scope.names
        main = new.path == "graph"
        for kind, pairs, one, other in (
            ("input", scope.inputs, old.inputs, new.inputs),
            ("output", scope.outputs, old.outputs, new.outputs),
        ):
            self._declarations(scope, kind, one, other, pairs, main)
        self._initializers(scope)
        self._sparse(scope)
        pairs = match_keys([names.get(v.name) for v in old.infos], [v.name for v in new.infos])
        self._declarations(scope, "value_info", old.infos, new.infos, pairs, False)
        self._rename_values(scope)
        self._node_list(scope)

    def _declarations(
        self, scope: Scope, kind: str, old: Sequence[ValueInfo], new: Sequence[ValueInfo],
        pairs: Pairs, main: bool,
    ) -> None:  # fmt: skip
        """Compare inputs, outputs or `value_info` entries.

        Args:
            scope: the graph.
            kind: the field.
            old: the old list.
            new: the new one.
            pairs: what belongs together, in the order of the new list.
            main: whether their names are the model's interface.
        """
        values = self._values
        if len(old) == len(new) == len(pairs) and all(
            one == other and values.same_declaration(old[one], new[other])
            and (kind == "value_info"
                 or old[one].name == new[other].name == scope.names.get(old[one].name))
            for one, other in pairs
        ):  # fmt: skip
            return
        left = unmatched(len(old), [one for one, _ in pairs])
        out_of_order = {pairs[at][1] for at in moved([one for one, _ in pairs])}
        for one, other in merged(len(new), pairs, left):
            if other is None:
                assert one is not None
                self._lost(scope, kind, old[one])
            elif one is None:
                self._found(scope, kind, new[other])
            else:
                self._pair(scope, kind, old[one], new[other], main)
                changes = values.declaration(old[one], new[other])
                places = self._places(scope, kind, old[one], new[other])
                self.out.changed(
                    kind, new[other].name, *places, changes,
                    texts=(value_headline(old[one]), value_headline(new[other])),
                    moved=other in out_of_order,
                )  # fmt: skip

    def _pair(self, scope: Scope, kind: str, old: ValueInfo, new: ValueInfo, main: bool) -> None:
        """Collect what became of the name of an input or output."""
        if kind == "value_info":
            return
        held = scope.names.get(old.name)
        if kind == "output" and held != new.name:
            # Another value is given back: that is no renaming.
            places = self._places(scope, kind, old, new)
            change = FieldChange("name", "model", quoted(held), quoted(new.name))
            texts = value_headline(old), value_headline(new)
            self.out.changed(kind, new.name, *places, [change], texts=texts)
        elif old.name == new.name:
            return
        elif main:
            self.out.renamed(Rename(kind, scope.new.path, old.name, new.name, "model"))
        elif kind == "input":
            self.out.renamed(Rename("value", scope.new.path, old.name, new.name))

    def _lost(self, scope: Scope, kind: str, value: ValueInfo) -> None:
        place = self._old.place(_path(scope.old, kind, value.name), value.at)
        self.out.removed(kind, value.name, place, value_statement(value))

    def _found(self, scope: Scope, kind: str, value: ValueInfo) -> None:
        place = self._new.place(_path(scope.new, kind, value.name), value.at)
        self.out.added(kind, value.name, place, value_statement(value))

    def _places(
        self, scope: Scope, kind: str, old: ValueInfo, new: ValueInfo
    ) -> tuple[Place, Place]:
        return (
            self._old.place(_path(scope.old, kind, old.name), old.at),
            self._new.place(_path(scope.new, kind, new.name), new.at),
        )

    def _initializers(self, scope: Scope) -> None:
        old, new = scope.old, scope.new

        def differences(one: int, other: int) -> list[FieldChange]:
            defaults = one < old.defaults, other < new.defaults
            return self._values.initializer(
                old.initializers[one], new.initializers[other], defaults
            )

        self._tensors(
            scope, "initializer", (old.initializers, new.initializers), scope.initializers,
            differences,
        )  # fmt: skip

    def _sparse(self, scope: Scope) -> None:
        old, new = scope.old.sparse, scope.new.sparse
        if not old and not new:
            return
        get = scope.names.get
        pairs = match_keys([get(value.name) for value in old], [value.name for value in new])

        def differences(one: int, other: int) -> list[FieldChange]:
            before, after = old[one].data, new[other].data
            assert isinstance(before, SparseTensor)
            assert isinstance(after, SparseTensor)
            changes = self._values.sparse(before, after)
            parts = [
                b"".join(side.facts.initializer(value))
                for side, value in ((self._old, old[one]), (self._new, new[other]))
            ]
            rest = [
                item
                for item in compared("SparseTensorProto", *parts)
                if not item.path.startswith(("values", "indices", "dims"))
            ]
            return changes + field_changes(rest)

        self._tensors(scope, "sparse_initializer", (old, new), pairs, differences)

    def _tensors(
        self,
        scope: Scope,
        kind: str,
        lists: tuple[Sequence[ValueInfo], Sequence[ValueInfo]],
        pairs: Pairs,
        differences: Callable[[int, int], list[FieldChange]],
    ) -> None:
        """Compare lists of initializers."""
        old, new = lists
        left = unmatched(len(old), [one for one, _ in pairs])
        out_of_order = {pairs[at][1] for at in moved([one for one, _ in pairs])}
        for one, other in merged(len(new), pairs, left):
            if other is None:
                assert one is not None
                self._lost(scope, kind, old[one])
            elif one is None:
                self._found(scope, kind, new[other])
            else:
                before, after = old[one], new[other]
                if before.name != after.name:
                    rename = Rename("initializer", scope.new.path, before.name, after.name)
                    self.out.renamed(rename)
                changes = differences(one, other)
                if other in out_of_order:
                    changes.append(
                        FieldChange("", "order", f"at position {one}", f"at position {other}")
                    )
                if changes:
                    texts = value_headline(before), value_headline(after)
                    places = self._places(scope, kind, before, after)
                    self.out.changed(kind, after.name, *places, changes, texts=texts)

    def _rename_values(self, scope: Scope) -> None:
        """Collect the names of nodes' outputs that became others."""
        if not scope.names.any:
            return
        told = set()  # names of the interface that became others
        if scope.new.path == "graph":
            olds, news = scope.old.outputs, scope.new.outputs
            told = {(olds[one].name, news[other].name) for one, other in scope.outputs}
        for one, other in scope.nodes:
            before, after = scope.old.nodes[one].outputs, scope.new.nodes[other].outputs
            for name, named in zip(before, after, strict=False):
                if name != named and name and named and (name, named) not in told:
                    self.out.renamed(Rename("value", scope.new.path, name, named))

    def _node_list(self, scope: Scope) -> None:
        old, new, names = scope.old, scope.new, scope.names
        statements, stated = scope.statements
        left = unmatched(len(old.nodes), [one for one, _ in scope.nodes])
        out_of_order = {scope.nodes[at][1] for at in moved([one for one, _ in scope.nodes])}
        for one, other in merged(len(new.nodes), scope.nodes, left):
            if other is None:
                assert one is not None
                node = old.nodes[one]
                place = self._old.place(f"{old.path}.node[{one}]", node.at)
                self.out.removed("node", title(node), place, node_statement(node))
            elif one is None:
                node = new.nodes[other]
                place = self._new.place(f"{new.path}.node[{other}]", node.at)
                self.out.added("node", title(node), place, node_statement(node))
            else:
                node, after = old.nodes[one], new.nodes[other]
                if (
                    other not in out_of_order
                    and statements[one] == stated[other]
                    and (not names.any or _keeps_names(after, names))
                ):
                    continue
                places = (
                    self._old.place(f"{old.path}.node[{one}]", node.at),
                    self._new.place(f"{new.path}.node[{other}]", after.at),
                )
                self._nodes.compare(
                    node, after, places, names, new.path, moved=other in out_of_order
                )


def _keeps_names(node: Node, names: Names) -> bool:
    """Whether nothing that a node refers to has another name now."""
    return (
        names.keeps(node.inputs)
        and names.keeps(node.outputs)
        and not any(graphs_of(attribute) for attribute in node.attributes)
    )


def _path(body: Body, kind: str, name: str) -> str:
    return f"{body.path}.{kind}[{quoted(name)}]"
