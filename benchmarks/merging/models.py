# SPDX-License-Identifier: Apache-2.0
"""Generate random edits of the header, functions and sections."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from onnx import ModelProto, helper

from benchmarks.merging.edits import (
    Draw,
    Edit,
    Gone,
    fresh,
    function_of,
    metadata_change,
    remove,
    reorder,
    values_of,
)


def _field(name: str, field: str, values: Callable[[Draw], Any], *, graph: bool = False) -> Any:
    def make(model: ModelProto, draw: Draw) -> Edit:
        value = values(draw)
        return Edit(f"{name}", lambda m: setattr(m.graph if graph else m, field, value))

    return make


def _opset(model: ModelProto, draw: Draw) -> Edit:
    domain = draw.choice([*[item.domain for item in model.opset_import], "new.domain"])
    version, delete = draw.randrange(7, 25), draw.random() < 0.2

    def run(model: Any) -> None:
        found = [item for item in model.opset_import if item.domain == domain]
        if delete and not found:
            raise Gone
        if delete:
            remove(model.opset_import, found[0])
        elif found:
            found[0].version = version
        else:
            model.opset_import.add(domain=domain, version=version)

    return Edit(f"opset {domain}", run)


def _model_metadata(model: ModelProto, draw: Draw) -> Edit:
    change = metadata_change(model, draw)
    return Edit("model metadata", change)


def _graph_metadata(model: ModelProto, draw: Draw) -> Edit:
    change = metadata_change(model.graph, draw)
    return Edit("graph metadata", lambda model: change(model.graph))


def _add_function(model: ModelProto, draw: Draw) -> Edit:
    name = fresh(draw, "F")
    nodes = [helper.make_node("Relu", ["a"], ["b"])]
    made = helper.make_function("my", name, ["a"], ["b"], nodes, [helper.make_opsetid("", 18)])
    return Edit("add function", lambda model: model.functions.append(made))


def _function_change(model: ModelProto, draw: Draw) -> Edit | None:
    if not model.functions:
        return None
    chosen = draw.choice(model.functions)
    where = function_of(chosen.domain, chosen.name, chosen.overload)
    kind = draw.choice(["delete", "doc", "input", "opset", "attribute", "rename"])
    word = fresh(draw, "f")

    def run(model: Any) -> None:
        function = where(model)
        match kind:
            case "delete":
                remove(model.functions, function)
            case "doc":
                function.doc_string = word
            case "input":
                function.input.append(word)
            case "opset":
                function.opset_import.add(domain=word, version=1)
            case "attribute":
                function.attribute.append(word)
            case "rename":
                for node in model.graph.node:
                    if (node.domain, node.op_type) == (function.domain, function.name):
                        node.op_type = word
                function.name = word

    return Edit(f"function {kind} {chosen.name}", run)


def _quantization(model: ModelProto, draw: Draw) -> Edit:
    known = [item.tensor_name for item in model.graph.quantization_annotation]
    name, scale = draw.choice([*known, *values_of(model.graph)]), fresh(draw, "scale")
    delete = name in known and draw.random() < 0.4

    def run(model: Any) -> None:
        annotations = model.graph.quantization_annotation
        found = [item for item in annotations if item.tensor_name == name]
        if len(found) > 1 or (delete and not found):
            raise Gone
        if delete:
            remove(annotations, found[0])
            return
        item = found[0] if found else annotations.add(tensor_name=name)
        entries = [entry for entry in item.quant_parameter_tensor_names if entry.key == "SCALE"]
        entry = entries[0] if entries else item.quant_parameter_tensor_names.add(key="SCALE")
        entry.value = scale

    return Edit(f"quantization {name}", run)


def _training(model: ModelProto, draw: Draw) -> Edit:
    word = fresh(draw, "t")

    def run(model: Any) -> None:
        if not model.training_info:
            model.training_info.add().algorithm.name = "step"
        info = model.training_info[0]
        info.update_binding.add(key=word, value="w")

    return Edit("training", run)


def _device(model: ModelProto, draw: Draw) -> Edit:
    name, count = draw.choice(["2gpu", fresh(draw, "conf")]), draw.randrange(1, 9)

    def run(model: Any) -> None:
        found = [item for item in model.configuration if item.name == name]
        item = found[0] if found else model.configuration.add(name=name)
        item.num_devices = count

    return Edit("configuration", run)


def _shuffle(model: ModelProto, draw: Draw) -> Edit:
    seed = draw.randrange(10**6)
    field = draw.choice(["node", "initializer", "value_info"])

    def run(model: Any) -> None:
        items = getattr(model.graph, field)
        order = sorted(items, key=lambda item: item.SerializeToString())
        random.Random(seed).shuffle(order)
        if field == "node":
            order = _sorted(order, list(items))
        reorder(items, order)

    return Edit(f"shuffle {field}", run)


def _sorted(nodes: list[Any], before: list[Any]) -> list[Any]:
    """Sort nodes topologically; return `before`, the old order, if that is impossible."""
    made: list[Any] = []
    known = {name for node in nodes for name in node.output}
    rest = list(nodes)
    while rest:
        ready = [n for n in rest if not known & set(_used(n))]
        if not ready:
            return before
        made += ready
        rest = [n for n in rest if all(n is not other for other in ready)]
        known -= {name for node in ready for name in node.output}
    return made


def _used(node: Any) -> list[str]:
    names = [name for name in node.input if name]
    for attribute in node.attribute:
        for inner in attribute.g.node:
            names += _used(inner)
    return names


MODEL_EDITS: tuple[Any, ...] = (
    _field("IR version", "ir_version", lambda draw: draw.randrange(3, 12)),
    _field("producer", "producer_name", lambda draw: fresh(draw, "tool")),
    _field("producer version", "producer_version", lambda draw: fresh(draw, "1")),
    _field("domain", "domain", lambda draw: fresh(draw, "org")),
    _field("model version", "model_version", lambda draw: draw.randrange(99)),
    _field("model doc", "doc_string", lambda draw: fresh(draw, "doc\nof it")),
    _field("graph name", "name", lambda draw: fresh(draw, "g"), graph=True),
    _field("graph doc", "doc_string", lambda draw: fresh(draw, "doc"), graph=True),
    _opset,
    _model_metadata,
    _graph_metadata,
    _add_function,
    _function_change,
    _function_change,
    _quantization,
    _training,
    _device,
    _shuffle,
)


def model_edit(model: ModelProto, draw: Draw) -> Edit | None:
    """Return a random edit of the header, functions or sections; None if it is impossible."""
    edit: Edit | None = draw.choice(MODEL_EDITS)(model, draw)
    return edit
