# SPDX-License-Identifier: Apache-2.0
"""Generate random edits of nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from onnx import ModelProto, helper, numpy_helper

from benchmarks.merging.edits import (
    Draw,
    Edit,
    Gone,
    fresh,
    metadata_change,
    node_of,
    one,
    owners,
    remove,
    rename,
    reorder,
    values_of,
)


def node_edit(model: ModelProto, draw: Draw) -> Edit | None:
    where = draw.choice(owners(model))
    graph = where(model)
    nodes = [node for node in graph.node if node.output and node.output[0]]
    if not nodes:
        return None
    node = draw.choice(nodes)
    kind = draw.choice(list(NODE_CHANGES))
    change = NODE_CHANGES[kind](node, graph, draw)
    output = node.output[0]
    if change is None:
        return None

    def run(model: Any) -> None:
        graph = where(model)
        change(node_of(graph, output), graph)

    return Edit(f"node {kind} {output}", run)


def _set_attribute(node: Any, graph: Any, draw: Draw) -> Any:
    names = [a.name for a in node.attribute] + [draw.choice(["axis", "alpha", fresh(draw, "a")])]
    name = draw.choice(names)
    values = [draw.randrange(9), 0.5, "text", [1, draw.randrange(9)], [0.25, 1.5], ["a", "b"]]
    value = draw.choice(
        [*values, numpy_helper.from_array(np.array([draw.random()], np.float32), "t")]
    )

    def change(node: Any, graph: Any) -> None:
        made = helper.make_attribute(name, value)
        found = [a for a in node.attribute if a.name == name]
        if found:
            found[0].CopyFrom(made)
        else:
            node.attribute.append(made)

    return change


def _delete_attribute(node: Any, graph: Any, draw: Draw) -> Any:
    if not node.attribute:
        return None
    name = draw.choice(node.attribute).name
    return lambda node, graph: remove(node.attribute, one(node.attribute, name=name))


def _swap_attributes(node: Any, graph: Any, draw: Draw) -> Any:
    if len(node.attribute) < 2:
        return None
    return lambda node, graph: reorder(node.attribute, list(node.attribute)[::-1])


def _scalar(field: str, values: Callable[[Draw], Any]) -> Any:
    def make(node: Any, graph: Any, draw: Draw) -> Any:
        value = values(draw)
        return lambda node, graph: setattr(node, field, value)

    return make


def _unlabel(node: Any, graph: Any, draw: Draw) -> Any:
    return (lambda node, graph: node.ClearField("name")) if node.HasField("name") else None


def _metadata(node: Any, graph: Any, draw: Draw) -> Any:
    return metadata_change(node, draw)


def _input(node: Any, graph: Any, draw: Draw) -> Any:
    if not node.input:
        return None
    at, name = draw.randrange(len(node.input)), draw.choice(values_of(graph))
    old = node.input[at]

    def change(node: Any, graph: Any) -> None:
        if len(node.input) <= at:
            raise Gone
        node.input[at] = name

    return change if old != name else None


def _more_inputs(node: Any, graph: Any, draw: Draw) -> Any:
    name = draw.choice([*values_of(graph), ""])
    return lambda node, graph: node.input.append(name)


def _fewer_inputs(node: Any, graph: Any, draw: Draw) -> Any:
    at = draw.randrange(len(node.input)) if node.input else None

    def change(node: Any, graph: Any) -> None:
        if at is None or len(node.input) <= at:
            raise Gone
        del node.input[at]

    return change if node.input else None


def _more_outputs(node: Any, graph: Any, draw: Draw) -> Any:
    name = fresh(draw, "out")
    return lambda node, graph: node.output.append(name)


def _rename_output(node: Any, graph: Any, draw: Draw) -> Any:
    old, new = node.output[0], fresh(draw, "renamed")
    return lambda node, graph: rename(graph, old, new)


def _delete(node: Any, graph: Any, draw: Draw) -> Any:
    return lambda node, graph: remove(graph.node, node)


def _bypass(node: Any, graph: Any, draw: Draw) -> Any:
    """Delete a node; its users use its input instead."""
    if not node.input or not node.input[0] or len(node.output) != 1:
        return None
    output, value = node.output[0], node.input[0]

    def change(node: Any, graph: Any) -> None:
        remove(graph.node, node)
        for other in graph.node:
            for at, name in enumerate(other.input):
                if name == output:
                    other.input[at] = value

    return change


def _insert(node: Any, graph: Any, draw: Draw) -> Any:
    output, name = node.output[0], fresh(draw, "inserted")
    made = helper.make_node(draw.choice(["Relu", "Identity"]), [output], [name])
    users = [n.output[0] for n in graph.node if output in n.input and n.output and n.output[0]]
    reroute = draw.choice([*users, ""]) if draw.random() < 0.6 else ""

    def change(node: Any, graph: Any) -> None:
        if reroute:
            user = node_of(graph, reroute)
            if output not in user.input:
                raise Gone
            user.input[list(user.input).index(output)] = name
        order = [n for other in graph.node for n in ((other, made) if other is node else (other,))]
        reorder(graph.node, order)

    return change


def _duplicate(node: Any, graph: Any, draw: Draw) -> Any:
    names = [fresh(draw, "copy") for _ in node.output]
    made = type(node)()
    made.CopyFrom(node)
    del made.output[:]
    made.output.extend(names)

    def change(node: Any, graph: Any) -> None:
        reorder(graph.node, [*graph.node, made])

    return change


def _move(node: Any, graph: Any, draw: Draw) -> Any:
    others = [n.output[0] for n in graph.node if n.output and n.output[0] != node.output[0]]
    if not others:
        return None
    target = draw.choice(others)

    def change(node: Any, graph: Any) -> None:
        after = node_of(graph, target)
        rest = [n for n in graph.node if n is not node]
        at = next(index for index, n in enumerate(rest) if n is after)
        reorder(graph.node, [*rest[: at + 1], node, *rest[at + 1 :]])

    return change


NODE_CHANGES: dict[str, Any] = {
    "set attribute": _set_attribute,
    "set attribute again": _set_attribute,
    "delete attribute": _delete_attribute,
    "swap attributes": _swap_attributes,
    "operator": _scalar("op_type", lambda draw: draw.choice(["Tanh", "Abs", "Neg"])),
    "label": _scalar("name", lambda draw: fresh(draw, "label")),
    "no label": _unlabel,
    "doc": _scalar("doc_string", lambda draw: fresh(draw, "doc\nof node")),
    "domain": _scalar("domain", lambda draw: draw.choice(["", "ai.onnx", "my.domain"])),
    "overload": _scalar("overload", lambda draw: draw.choice(["", "f16"])),
    "metadata": _metadata,
    "input": _input,
    "more inputs": _more_inputs,
    "fewer inputs": _fewer_inputs,
    "more outputs": _more_outputs,
    "rename output": _rename_output,
    "delete": _delete,
    "bypass": _bypass,
    "insert": _insert,
    "insert again": _insert,
    "duplicate": _duplicate,
    "move": _move,
}
