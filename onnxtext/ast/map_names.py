# SPDX-License-Identifier: Apache-2.0
"""Rename the values of graphs and functions, in their declarations and their uses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from onnxtext.ast.byte_strings import to_bytes, to_text
from onnxtext.ast.compact_form.list_order import ORDERS
from onnxtext.ast.model import Function, Graph, Node
from onnxtext.ast.records import Decorator, Field, Record
from onnxtext.ast.visit import list_graphs, nested_graphs

Scope = Graph | Function
Names = Callable[[str], str]

_NAMING = (*ORDERS, "device", "set")
"""The decorators whose arguments may name values."""
_QUANTIZED = {"quant_parameter_tensor_names", "value"}
"""In `@set(quantization_annotation: …)`, the fields with the names of scales and zero points."""


def defined_names(scope: Scope) -> Iterator[str]:
    """Yield the names of the values that a graph or function defines, outside of nested graphs."""
    for value in scope.inputs:
        yield value.name
    if isinstance(scope, Graph):
        yield from [value.name for value in scope.values if value.data is not None]
    for node in scope.nodes:
        yield from filter(None, node.outputs)


def map_names(scope: Scope, names: Names) -> None:
    """Rename values in a graph or function, and in nested graphs that do not redefine them.

    `names` maps the old name of a value to its new name; it must return all other names unchanged.
    """
    _map_declarations(scope, names)
    for node in scope.nodes:
        map_uses(node, names)
        node.outputs = tuple(map(names, node.outputs))


def map_all_names(root: Scope, names: Names) -> None:
    """Rename values in a graph or function and in all nested graphs.

    `names` is as for `map_names`; names that nested graphs define are renamed there, too.
    """
    for scope in list_graphs(root):
        _map_declarations(scope, names)
        for node in scope.nodes:
            _map_own_uses(node, names)
            node.outputs = tuple(map(names, node.outputs))


def _map_declarations(scope: Scope, names: Names) -> None:
    """Rename values in a graph or function, except in its nodes."""
    for value in (*scope.inputs, *scope.outputs, *scope.values):
        value.name = names(value.name)
    scope.decorators = map_names_in_decorators(scope.decorators, names)
    scope.value_metadata = {
        names(name): metadata for name, metadata in scope.value_metadata.items()
    }
    if isinstance(scope, Graph):
        scope.quantization = [annotation.renamed(names) for annotation in scope.quantization]


def map_uses(node: Node, names: Names) -> None:
    """Rename the values that a node and its nested graphs use, except the graphs' own values."""
    _map_own_uses(node, names)
    for graph in nested_graphs((node,)):
        own = set(defined_names(graph))
        map_names(graph, lambda name, own=own: name if name in own else names(name))  # type: ignore[misc]


def _map_own_uses(node: Node, names: Names) -> None:
    """Rename the values that a node uses, except in its nested graphs."""
    node.inputs = tuple(map(names, node.inputs))
    node.decorators = map_names_in_decorators(node.decorators, names)


def map_names_in_decorators(
    decorators: tuple[Decorator, ...], names: Names
) -> tuple[Decorator, ...]:
    """Rename values in the arguments of decorators such as `@value_info(…)`."""

    def mapped(value: Any, *keys: str | int | None) -> Any:
        match value:
            case bytes() if keys[0] in ORDERS or keys[-1] == "tensor_name" or {*keys} >= _QUANTIZED:
                return to_bytes(names(to_text(value)))
            case tuple():
                return tuple([mapped(item, *keys) for item in value])
            case Record():
                return Record(fields(value.fields, *keys))
        return value

    def fields(record_fields: tuple[Field, ...], *keys: str | int | None) -> tuple[Field, ...]:
        return tuple(
            [replace(field, value=mapped(field.value, *keys, field.key)) for field in record_fields]
        )

    return tuple(
        [
            replace(decorator, arguments=fields(decorator.arguments, decorator.name))
            if decorator.name in _NAMING
            else decorator
            for decorator in decorators
        ]
    )
