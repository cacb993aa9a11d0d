# SPDX-License-Identifier: Apache-2.0
"""Find functions whose inputs or outputs a side of a merge has reordered, also in all calls."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeVar

from onnxtext.ast.map_names import Scope
from onnxtext.ast.model import Model, Node
from onnxtext.ast.visit import walk_nodes
from onnxtext.checker.context.checked_model import FunctionKey, function_key, operator_key

ScopeKey = FunctionKey | None
"""The key of a function, or None for the main graph."""
_Item = TypeVar("_Item")


class Order(NamedTuple):
    """The new order of the inputs and outputs of a function, as indices in the old order."""

    inputs: Sequence[int]
    outputs: Sequence[int]


def scopes_by_key(model: Model) -> dict[ScopeKey, Scope]:
    """Return the main graph, with the key None, and the functions of a model by key."""
    functions: dict[ScopeKey, Scope] = {function_key(item): item for item in model.functions}
    return {None: model.graph, **functions}


def new_orders(
    base: Model, side: Model, kept: Model, *, check_calls: bool
) -> dict[FunctionKey, Order]:
    """Return the new order of inputs and outputs of each function that a side reordered.

    Functions are left out if the side also edited them in other ways, or if the other side (`kept`)
    renamed or reordered their inputs or outputs. If `check_calls`, functions are also left out if
    the side did not reorder the arguments of all their calls.
    """
    result: dict[FunctionKey, Order] = {}
    before, after, others = map(scopes_by_key, (base, side, kept))
    calls = [_calls_by_key(model) for model in (base, side, kept)] if check_calls else []
    for key, function in before.items():
        if key is None or key not in after or key not in others:
            continue
        versions = [scopes[key] for scopes in (before, after, others)]
        inputs = _new_order([[value.name for value in one.inputs] for one in versions])
        outputs = _new_order([[value.name for value in one.outputs] for one in versions])
        if inputs is None or outputs is None:
            continue
        order = Order(inputs, outputs)
        if all(list(indices) == sorted(indices) for indices in order):
            continue
        reordered = replace(
            function,
            inputs=_permuted(function.inputs, inputs),
            outputs=_permuted(function.outputs, outputs),
        )
        if reordered == after[key] and (
            not check_calls or _calls_follow(order, *[found.get(key, []) for found in calls])
        ):
            result[key] = order
    return result


def _new_order(names: Sequence[list[str]]) -> list[int] | None:
    """Return the new order of a function's inputs or outputs, as indices in the base.

    Return None if a name is repeated, if the side changed the names, or if the other side changed
    the list.

    `names` has the names in the base, in the side with the new order, and in the other side.
    """
    old, new, third = names
    if old != third or sorted(old) != sorted(new) or len(set(old)) < len(old):
        return None
    places = {name: index for index, name in enumerate(old)}
    return [places[name] for name in new]


def _permuted(items: Sequence[_Item], order: Sequence[int]) -> list[_Item]:
    return [items[index] for index in order]


def _calls_follow(
    order: Order, old: Sequence[Node], new: Sequence[Node], others: Sequence[Node]
) -> bool:
    """Whether a side gave all calls of a function the new order, and changed at least one call.

    Return False if a call omits inputs or outputs.

    `old`, `new` and `others` are the calls in the base, in the side and in the other side.
    """
    lengths = [(len(node.inputs), len(node.outputs)) for node in (*old, *new, *others)]
    if any(length != (len(order.inputs), len(order.outputs)) for length in lengths):
        return False
    by_outputs = {node.outputs: node for node in new}
    moved = [(node, tuple(_permuted(node.outputs, order.outputs))) for node in old]
    pairs = [(node, by_outputs[outputs]) for node, outputs in moved if outputs in by_outputs]
    unmoved = [node for node, outputs in moved if node.outputs != outputs]
    return (
        all(tuple(_permuted(node.inputs, order.inputs)) == match.inputs for node, match in pairs)
        and not any(node.outputs in by_outputs for node in unmoved)
        and any((node.inputs, node.outputs) != (one.inputs, one.outputs) for node, one in pairs)
    )


def _calls_by_key(model: Model) -> dict[FunctionKey, list[Node]]:
    """Return the nodes of a model by the operator or function that they call."""
    result: dict[FunctionKey, list[Node]] = defaultdict(list)
    for node in walk_nodes(model):
        result[operator_key(node)].append(node)
    return result


def reorder(model: Model, orders: Mapping[FunctionKey, Order]) -> None:
    """Reorder, in place, the inputs and outputs of functions and their calls.

    A call that omits inputs or outputs is left unchanged.
    """
    for function in model.functions:
        if (order := orders.get(function_key(function))) is not None:
            function.inputs = _permuted(function.inputs, order.inputs)
            function.outputs = _permuted(function.outputs, order.outputs)
    for node in walk_nodes(model):
        order = orders.get(operator_key(node))
        if order is None or len(node.inputs) != len(order.inputs):
            continue
        if len(node.outputs) == len(order.outputs):
            node.inputs = tuple(_permuted(node.inputs, order.inputs))
            node.outputs = tuple(_permuted(node.outputs, order.outputs))
            if node.output_types:
                node.output_types = tuple(_permuted(node.output_types, order.outputs))
