# SPDX-License-Identifier: Apache-2.0
"""Edit nodes: set an attribute, insert nodes, remove a node."""

from __future__ import annotations

from collections.abc import Iterator

from onnxtext.ast.compact_form.list_order import keep_names
from onnxtext.ast.map_names import defined_names, map_names, map_uses
from onnxtext.ast.model import Function, Graph, Model, Node
from onnxtext.ast.tensors_and_attributes import Attribute
from onnxtext.ast.visit import nested_graphs, walk_graphs
from onnxtext.diagnostics import OnnxTextError
from onnxtext.editing.errors import quoted_names, refused_edit_error, unknown_name_error
from onnxtext.editing.find_nodes import find_node
from onnxtext.editing.rename_values import graphs_to_search
from onnxtext.show_model.paths_between_values import used_values
from onnxtext.source import Source
from onnxtext.syntax.parse import parse_fragment


def set_attribute(model: Model, node: str, text: str) -> None:
    """Set an attribute of a node; replace an attribute of the same name.

    Args:
        model: the syntax tree; changed in place.
        node: the node's label (`NodeProto.name`), or the name of one of its outputs.
        text: the attribute in the syntax of texts, such as `axis = 1`.

    Raises:
        OnnxTextError: the name `node` is unknown or ambiguous, or the text is not an attribute.
    """
    _, target = find_node(model, node)
    item = parse_fragment(Source(text, "<attribute>"), "attribute").item
    if not isinstance(item, Attribute):
        raise refused_edit_error("write an attribute, such as `axis = 1`")
    put_attribute(target, item)


def put_attribute(node: Node, new: Attribute) -> None:
    """Add an attribute to a node, or replace its attribute of the same name."""
    attributes = list(node.attributes)
    for index, attribute in enumerate(attributes):
        if attribute.name == new.name:
            attributes[index] = new
            break
    else:
        attributes.append(new)
    node.attributes = tuple(attributes)


def insert(
    model: Model,
    text: str,
    *,
    after: str | None = None,
    before: str | None = None,
    instead_of: str | None = None,
) -> None:
    """Parse nodes from a text and insert them into a graph.

    Without `after` and `before`, the new nodes follow the node that computes `instead_of`; if there
    is none, they follow all nodes whose outputs they use.

    Args:
        model: the syntax tree; changed in place.
        text: one or more nodes, such as `y2 = Relu (y)`.
        after: insert the nodes after this node, given by its label or the name of an output.
        before: like `after`, but insert the nodes before this node; `after` is then ignored.
        instead_of: the name of a value. The first output of the last new node replaces this
            value as an input of all nodes that are already in the graph.

    Raises:
        OnnxTextError: the text has errors or no node; a given name is unknown or ambiguous; a new
            name is already in use; a value would be used before it is computed; `instead_of` is an
            output of its graph; or the last new node has no output to replace it.
    """
    item = parse_fragment(Source(text, "<nodes>"), "nodes").item
    if not isinstance(item, list) or not item:
        raise refused_edit_error(
            "there is no node to insert", "write a node, such as `y2 = Relu (y)`"
        )
    for node in item:
        node.at = -1
    scope, index = _place(model, item, after or instead_of, before, labels=after is not None)
    outputs = [name for node in item for name in node.outputs if name]
    for other in graphs_to_search(model, list(walk_graphs(model)), scope):
        taken = set(defined_names(other)).intersection(outputs)
        if taken:
            raise refused_edit_error(f"`{min(taken)}` is already a value of `{other.name}`")
    if instead_of is not None:
        if not item[-1].outputs:
            raise refused_edit_error(
                f"the last new node has no output that could replace `{instead_of}`"
            )
        _reroute(scope, instead_of, item[-1].outputs[0])
    scope.nodes[index:index] = item
    _check_order(scope, index, index + len(item))


def _place(
    model: Model, nodes: list[Node], after: str | None, before: str | None, *, labels: bool
) -> tuple[Graph | Function, int]:
    """Return the graph to insert nodes into, and the index of the first inserted node.

    `after` and `before` are as in `insert`; `after` may also name a value that no node computes. If
    `labels` is False, `after` is no label.
    """
    if before is not None:
        scope, node = find_node(model, before)
        return scope, _index(scope, node)
    chosen: Graph | Function | None = None
    if after is not None and after not in [value.name for value in model.graph.inputs]:
        try:
            scope, node = find_node(model, after, labels=labels)
        except OnnxTextError:
            if after not in defined_names(model.graph):
                values = [(graph, (*graph.inputs, *graph.values)) for graph in walk_graphs(model)]
                owners = [graph for graph, given in values if after in [one.name for one in given]]
                if len(owners) != 1:
                    raise
                (chosen,) = owners
        else:
            return scope, _index(scope, node) + 1
    produced = {name for node in nodes for name in node.outputs}
    used = {name for node in nodes for name in used_values(node)} - produced
    scope = chosen or next((one for one, names in _visible(model) if used <= names), model.graph)
    producers = [index for index, node in enumerate(scope.nodes) if used.intersection(node.outputs)]
    return scope, max(producers, default=-1) + 1


def _visible(model: Model) -> Iterator[tuple[Graph | Function, set[str]]]:
    """Yield (graph or function, names that its nodes can use); the main graph comes first."""
    names: dict[int, set[str]] = {}
    for scope in walk_graphs(model):
        visible = names.get(id(scope), set()).union(defined_names(scope))
        yield scope, visible
        names.update([(id(inner), visible) for inner in nested_graphs(scope.nodes)])


def _check_order(scope: Graph | Function, start: int, end: int) -> None:
    """Check the order of the new nodes, which have the indices from `start` to `end - 1`.

    Raises:
        OnnxTextError: a new node uses a value of a later node, or an old node uses a value of a
            later new node.
    """
    producers = {
        name: index for index, node in enumerate(scope.nodes) for name in node.outputs if name
    }
    for index, node in enumerate(scope.nodes[:end]):
        for name in used_values(node):
            producer = producers.get(name, -1)
            if producer >= index and (index >= start or start <= producer < end):
                raise refused_edit_error(
                    f"`{name}` would be used before it is computed",
                    "insert the new nodes after the nodes whose outputs they use, and before the "
                    "nodes that use the new outputs",
                )


def _index(scope: Graph | Function, node: Node) -> int:
    return next(index for index, other in enumerate(scope.nodes) if other is node)


def _reroute(scope: Graph | Function, old: str, new: str) -> None:
    """Replace `old` by `new` in all node inputs; reject an `old` that is unknown or an output."""
    if old not in defined_names(scope):
        raise unknown_name_error("value", old, defined_names(scope))
    if any(value.name == old for value in scope.outputs):
        raise refused_edit_error(
            f"cannot replace `{old}`: it is an output of `{scope.name}`, and the output's name "
            "would change",
            f"in the text, rename only the output of the node that computes `{old}`, and let the "
            f"new node compute `{old}`",
        )
    for node in scope.nodes:
        map_uses(node, lambda name: new if name == old else name)


def remove(model: Model, node: str) -> None:
    """Remove a node, and replace uses of its first output by its first given input.

    If the first output is a graph output, the input gets the name of this output instead.

    Args:
        model: the syntax tree; changed in place.
        node: the node's label (`NodeProto.name`), or the name of one of its outputs.

    Raises:
        OnnxTextError: the name `node` is unknown or ambiguous; a used output cannot be replaced by
            the first input; or training information uses a name that would disappear.
    """
    scope, target = find_node(model, node)
    rest = [other for other in scope.nodes if other is not target]
    needed = {name for other in rest for name in used_values(other)}
    needed |= {value.name for value in scope.outputs}
    kept = [name for name in target.outputs if name in needed]
    source = next(filter(None, target.inputs), None)
    if scope is model.graph:
        # If the node computes a graph output, its input gets the name of that output, and the old
        # name of the input disappears. Otherwise, the names of the node's outputs disappear.
        renamed = any(value.name in target.outputs for value in scope.outputs)
        trained = _used_in_training(model).intersection([source] if renamed else target.outputs)
        if trained:
            raise refused_edit_error(
                f"cannot remove this node: `training_info` uses `{min(trained)}`"
            )
    if kept:
        if kept != [target.outputs[0]] or source is None:
            raise refused_edit_error(
                f"cannot remove this node: other nodes or graph outputs use {quoted_names(kept)}"
            )
        _bypass(scope, rest, kept[0], source)
    scope.nodes = rest
    remove_declarations(scope, set(target.outputs).difference(defined_names(scope)))


def remove_declarations(scope: Graph | Function, gone: set[str]) -> None:
    """Remove the value infos, metadata and annotations of values that no node computes anymore."""
    scope.values = [
        value for value in scope.values if value.data is not None or value.name not in gone
    ]
    scope.value_metadata = {k: v for k, v in scope.value_metadata.items() if k not in gone}
    scope.decorators = keep_names(scope.decorators, lambda name: name not in gone)
    if isinstance(scope, Graph):
        scope.quantization = [
            annotation for annotation in scope.quantization if annotation.tensor_name not in gone
        ]


def _used_in_training(model: Model) -> set[str]:
    """Return the names of values that training algorithms and bindings use."""
    result: set[str] = set()
    for training in model.training:
        for node in training.algorithm.nodes if training.algorithm is not None else ():
            result.update(used_values(node))
        for pair in (*training.initialization_binding, *training.update_binding):
            result.update(pair)
    return result


def _bypass(scope: Graph | Function, rest: list[Node], old: str, source: str) -> None:
    """Replace uses of the removed node's output `old` by its input `source`.

    If `old` is a graph output, rename `source` to `old` instead. `rest` are the remaining nodes.

    Raises:
        OnnxTextError: a nested graph hides `source`, or `source` cannot get the name of
            a graph output.
    """
    for other in rest:
        if old in used_values(other) and any(
            source in defined_names(one) for one in walk_graphs(other)
        ):
            raise refused_edit_error(
                f"cannot remove this node: its input `{source}` is hidden by another `{source}` in "
                f"a nested graph of a node that uses `{old}`"
            )
    if all(value.name != old for value in scope.outputs):
        for other in rest:
            map_uses(other, lambda name: source if name == old else name)
        return
    # A graph output keeps its name, so the input is renamed to the name of the output.
    if any(value.name == source for value in scope.outputs):
        raise refused_edit_error(f"`{old}` and `{source}` are both outputs of `{scope.name}`")
    if not any(source in other.outputs for other in rest):
        raise refused_edit_error(
            f"`{old}` is an output of `{scope.name}`, and no remaining node computes `{source}`"
        )
    scope.nodes = rest
    scope.values = [value for value in scope.values if value.name != source]
    for name in (old, source):  # the graph output declares the value and its metadata
        scope.value_metadata.pop(name, None)
    if isinstance(scope, Graph):
        scope.quantization = [
            annotation for annotation in scope.quantization if annotation.tensor_name != old
        ]
    map_names(scope, lambda name: old if name == source else name)
    for other in rest:
        if old in other.outputs and other.output_types:  # the graph output declares the type
            types = zip(other.outputs, other.output_types, strict=True)
            kept = tuple([None if name == old else type for name, type in types])
            other.output_types = kept if any(kept) else ()
    rest[:] = scope.nodes
