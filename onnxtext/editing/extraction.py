# SPDX-License-Identifier: Apache-2.0
"""Reduce a model to the nodes between two sets of values."""

from __future__ import annotations

from collections.abc import Sequence

from onnxtext.ast.compact_form.list_order import keep_names
from onnxtext.ast.metadata_decorators import Pairs, decorator_entries
from onnxtext.ast.model import Graph, Model, ValueInfo
from onnxtext.ast.types import Type
from onnxtext.ast.visit import walk_nodes
from onnxtext.checker.context.checked_model import function_key, operator_key
from onnxtext.editing.errors import quoted_names, refused_edit_error, unknown_name_error
from onnxtext.show_model.paths_between_values import DataFlow, types_of, types_of_nodes, used_values


def extract(model: Model, starts: Sequence[str], ends: Sequence[str]) -> None:
    """Reduce a model to the nodes that compute the values in `ends` from the values in `starts`.

    `starts` become the inputs of the model, `ends` its outputs. Inputs and outputs without a
    declared type get the type that the checker infers. Training information, and unused inputs,
    functions and weights are removed.

    Args:
        model: the syntax tree; changed in place.
        starts: the new inputs. Each item is the name of a value of the main graph, or a node's
            label, which stands for all outputs of the node. If empty, the inputs of the model stay.
        ends: the new outputs, given like `starts`. If empty, the outputs of the model stay.

    Raises:
        OnnxTextError: a value does not exist; no node is needed to compute the ends; an end needs
            an input that `starts` lacks; or a new input would also be the output of a remaining
            node.
    """
    graph = model.graph
    flow = DataFlow(graph)
    first = _resolve_names(flow, starts) or [value.name for value in graph.inputs]
    last = _resolve_names(flow, ends) or [value.name for value in graph.outputs]
    weights = {value.name for value in graph.values if value.data is not None}
    defaults = {value.name for value in graph.inputs if value.data is not None}
    chosen, missing = _needed_nodes(graph, flow, first, last, weights | defaults)
    if missing:
        raise refused_edit_error(
            f"to compute {quoted_names(last)}, {quoted_names(missing)} must be given",
            "name all needed inputs in `starts` (`--from`)",
        )
    if not chosen:
        raise refused_edit_error(
            f"no path leads from {quoted_names(first)} to {quoted_names(last)}"
        )
    nodes = [graph.nodes[index] for index in sorted(chosen)]
    needed = {name for node in nodes for name in used_values(node)}
    outputs = {name for node in nodes for name in node.outputs}
    again = needed.intersection(outputs, first)
    if starts and again:
        raise refused_edit_error(
            f"`{min(again)}` would be both an input and the output of a node",
            "leave it out of `starts` (`--from`)",
        )
    types = types_of(graph)
    if not types.keys() >= {*(first if starts else ()), *last}:
        types = _inferred_types(model) | types
    kept = _with_annotated(graph, needed.union(outputs, last), weights | defaults)
    before = graph.outputs
    needed_inputs = kept - outputs - weights.difference([value.name for value in graph.inputs])
    graph.inputs, graph.outputs = _interface(graph, types, first, last, needed_inputs)
    graph.nodes = nodes
    _move_declarations(graph, before, weights & kept)
    _drop_unused(model)


def _interface(
    graph: Graph,
    types: dict[str, Type],
    first: Sequence[str],
    last: Sequence[str],
    needed_inputs: set[str],
) -> tuple[list[ValueInfo], list[ValueInfo]]:
    """Return the inputs and outputs of an extracted graph.

    The outputs are `last`. The inputs are the needed values of `first`, followed by other needed
    inputs of the model, all of which have default values. `types` has the types of values by name.
    """
    infos = [value for value in graph.values if value.data is None]
    declared = {value.name: value for value in (*infos, *graph.outputs, *graph.inputs)}

    def value_info(name: str) -> ValueInfo:
        return declared.get(name) or ValueInfo(
            name, types.get(name), metadata=graph.value_metadata.get(name, ())
        )

    others = needed_inputs.difference(first)
    inputs = [value_info(name) for name in first if name in needed_inputs]
    inputs += [value for value in graph.inputs if value.name in others]
    outputs = map(value_info, last)  # an output has no default value
    return inputs, [v if v.data is None else ValueInfo(v.name, v.type) for v in outputs]


def _move_declarations(graph: Graph, before: Sequence[ValueInfo], weights: set[str]) -> None:
    """Move types and metadata between the interface of a graph and its inner values.

    A value that became an input or output loses its declaration as an inner value. An output that
    became an inner value is declared at the node that computes it. Declarations and metadata of
    values that are no longer in the graph are dropped. `before` are the outputs before the
    extraction, `weights` the names of the initializers that stay.
    """
    outputs = {name for node in graph.nodes for name in node.outputs}
    shown = {value.name for value in (*graph.inputs, *graph.outputs)}
    described = types_of_nodes(graph).keys() | {v.name for v in graph.values if v.data is None}
    inner = {v.name: v for v in before if v.name in outputs - shown - described and v.type}
    moved = shown.difference([value.name for value in before])
    changed = {name: value.type for name, value in inner.items()} | dict.fromkeys(moved)
    for node in graph.nodes:
        if not changed.keys().isdisjoint(node.outputs):
            output_types = dict(zip(node.outputs, node.output_types, strict=False))
            types = [changed.get(name, output_types.get(name)) for name in node.outputs]
            node.output_types = tuple(types) if any(types) else ()
    inside = (outputs | weights) - moved
    graph.decorators = keep_names(graph.decorators, (inside | shown).__contains__)
    graph.values = [
        value for value in graph.values if value.name in (inside if value.data is None else weights)
    ]
    graph.value_metadata = {name: pairs for name, v in inner.items() if (pairs := _metadata(v))} | {
        name: pairs for name, pairs in graph.value_metadata.items() if name in inside
    }


def _with_annotated(graph: Graph, used: set[str], constants: set[str]) -> set[str]:
    """Drop quantization annotations that name values outside of the extracted graph.

    `used` has the names of the values of the extracted graph, `constants` the names that an
    annotation may refer to, such as scales. Return `used` and the constants that the remaining
    annotations name.
    """
    available = used | constants
    complete = [
        annotation
        for annotation in graph.quantization
        if available.issuperset([name for _, name in annotation.entries])
    ]
    kept, size = set(used), -1
    while len(kept) != size:
        size = len(kept)
        chosen = [annotation for annotation in complete if annotation.tensor_name in kept]
        kept.update([name for annotation in chosen for _, name in annotation.entries])
    graph.quantization = chosen
    return kept


def _metadata(value: ValueInfo) -> Pairs:
    """Return the metadata of a value, from its field `metadata`, else its decorator `@meta`."""
    entries = [decorator_entries(item) for item in value.decorators if item.name == "meta"]
    return value.metadata or next(iter(entries), ())


def _inferred_types(model: Model) -> dict[str, Type]:
    """Infer the types of the values of the main graph; return them by name."""
    from onnxtext.checker.inference.inferred_types import inferred_types
    from onnxtext.editing.write_inferred_types import check_subject

    subject = check_subject(model)
    return {} if subject.main is None else inferred_types(subject).get(id(subject.main), {})


def _resolve_names(flow: DataFlow, names: Sequence[str]) -> list[str]:
    """Return the values that `names` name, without duplicates; a label names its node's outputs."""
    found: list[str] = []
    for name in names:
        values = flow.resolve(name)
        if not values:
            raise unknown_name_error("value or node", name, flow.names())
        found += values
    return list(dict.fromkeys(found))


def _needed_nodes(
    graph: Graph, flow: DataFlow, first: Sequence[str], last: Sequence[str], weights: set[str]
) -> tuple[set[int], list[str]]:
    """Return (indices of the nodes that compute `last` from `first`, names of missing values).

    A missing value is needed, but is not in `first` or `weights`, and no node computes it.
    """
    chosen: set[int] = set()
    missing: dict[str, None] = {}
    begins, ends, stack = set(first), set(last), list(last)
    while stack:
        name = stack.pop()
        if name in begins and (name not in ends or name not in flow.producers):
            continue
        index = flow.producers.get(name)
        if index is None:
            if name not in weights:
                missing[name] = None
        elif index not in chosen:
            chosen.add(index)
            stack += [use for use in used_values(graph.nodes[index]) if use not in begins]
    return chosen, list(missing)


def _drop_unused(model: Model) -> None:
    """Remove unused functions, unused resources, and training information."""
    from onnxtext.weights.statistics import first_uses_of_blobs

    model.training = []
    kept = -1
    while kept != len(model.functions):
        kept = len(model.functions)
        called_keys = set(map(operator_key, walk_nodes(model)))
        model.functions = [f for f in model.functions if function_key(f) in called_keys]
    used = first_uses_of_blobs(model)
    model.resources = {
        digest: data
        for digest, data in model.resources.items()
        if any(digest.startswith(name) for name in used)
    }
