# SPDX-License-Identifier: Apache-2.0
"""Collect the lists of a `GraphProto` or `FunctionProto` from the syntax tree."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from onnxtext.ast.compact_form import list_order
from onnxtext.ast.model import Function, Graph, Node, ValueInfo
from onnxtext.ast.records import Decorator, Word
from onnxtext.ast.types import Type

_ATTRIBUTES = {
    "node": "nodes", "input": "inputs", "output": "outputs", "initializer": "initializers",
    "sparse_initializer": "sparse", "value_info": "infos",
}  # fmt: skip
"""Maps a list field of the ONNX schema to the attribute of `GraphLists` that has the list."""


@dataclass(slots=True)
class GraphLists:
    """The lists of a `GraphProto` or `FunctionProto`.

    Attributes:
        path: the path of the graph or function in the model, such as `graph`.
        inputs: declarations of the inputs, without data.
        infos: the `value_info` list, including entries for typed node outputs and initializers.
        initializers: the dense initializers, in order.
        defaults: the `id()`s of the initializers that are default values of inputs.
        sparse: the sparse initializers.
        producers: the first definition of each value name: (node index, output index).
    """

    path: str
    inputs: list[ValueInfo]
    outputs: list[ValueInfo]
    infos: list[ValueInfo]
    initializers: list[ValueInfo]
    defaults: set[int]
    sparse: list[ValueInfo]
    nodes: list[Node]
    producers: dict[str, tuple[int, int]] = field(default_factory=dict)

    @classmethod
    def of(cls, owner: Graph | Function, path: str) -> GraphLists:
        """Collect the lists of a graph or function.

        If the decorator `@set` or `@unset` replaces a list, the result has an empty list instead:
        the diff compares the decorator as a field of the graph.
        """
        with_data = list_order.known_with_data(owner) if isinstance(owner, Graph) else []
        body = cls(
            path,
            *_interface(owner),
            _infos(owner),
            [value for value in with_data if list_order.is_dense(value)],
            {id(value) for value in owner.inputs if value.data is not None},
            [value for value in with_data if not list_order.is_dense(value)],
            owner.nodes,
        )
        for name in replaced_fields(owner.decorators) & _ATTRIBUTES.keys():
            setattr(body, _ATTRIBUTES[name], [])
        producers = body.producers
        for index, node in enumerate(body.nodes):
            for slot, name in enumerate(node.outputs):
                if name and name not in producers:
                    producers[name] = (index, slot)
        return body


def _interface(owner: Graph | Function) -> tuple[list[ValueInfo], list[ValueInfo]]:
    """Return (inputs, outputs).

    The inputs and outputs of a function have no types here: `_infos` returns the types.
    """
    if isinstance(owner, Function):
        lists = (owner.inputs, owner.outputs)
        inputs, outputs = ([ValueInfo(v.name, at=v.at) for v in values] for values in lists)
        return inputs, outputs
    return [without_default(value) for value in owner.inputs], owner.outputs


def without_default(value: ValueInfo) -> ValueInfo:
    """Return an input without its default value and without the decorators of the default value."""
    if value.data is None:
        return value
    decorators = tuple([d for d in value.decorators if not d.name.startswith("data.")])
    return replace(value, data=None, decorators=decorators)


def replaced_fields(decorators: tuple[Decorator, ...]) -> set[str]:
    """Return the names of the fields that the decorators `@set` and `@unset` replace as a whole."""
    result: set[str] = set()
    for decorator in decorators:
        if decorator.name == "set":
            result.update(f.key for f in decorator.arguments if isinstance(f.key, str))
        elif decorator.name == "unset":
            result.update(f.value.text for f in decorator.arguments if isinstance(f.value, Word))
    return result


def replaces_lists(owner: Graph | Function) -> bool:
    """Whether `@set` or `@unset` replaces one of the lists of a graph or function."""
    return not replaced_fields(owner.decorators).isdisjoint(_ATTRIBUTES)


def _infos(owner: Graph | Function) -> list[ValueInfo]:
    """Return the entries of the `value_info` list in the order of the protobuf field (SPEC 10)."""
    found: list[ValueInfo | tuple[str, Type | None, int]]
    if isinstance(owner, Graph):
        found = list_order.known_infos(owner)
    else:
        typed = [v for v in (*owner.inputs, *owner.outputs) if v.type is not None]
        entries = list_order.node_entries(owner.nodes)
        found = [*typed, *owner.values, *[(e.name, e.type, e.at) for e in entries]]
    metadata = dict(owner.value_metadata)
    return [
        ValueInfo(info[0], info[1], None, (), metadata.pop(info[0], ()), info[2])
        if isinstance(info, tuple)
        else info
        for info in found
    ]
