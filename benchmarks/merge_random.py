# SPDX-License-Identifier: Apache-2.0
"""Random edits of models by the onnx API, and what two sets of them must give together.

An edit finds what it changes by name, so that it can be made on the base and on a model that other
edits have changed already; `Gone` says that it cannot. Two sets of edits fit together if both
orders give the same model, where the order of the items of most lists is no matter.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from onnx import AttributeProto, ModelProto, TensorProto, helper, numpy_helper


class Gone(Exception):
    """What an edit changes is not there."""


@dataclass(frozen=True, eq=False)
class Edit:
    """A change of a model.

    Attributes:
        name: what it does.
        apply: does it; raises `Gone`.
    """

    name: str
    apply: Callable[[Any], None]


def apply(model: ModelProto, *sets: Sequence[Edit]) -> ModelProto | None:
    """A model after sets of edits, each edit made once; None if one of them cannot be made."""
    made = ModelProto()
    made.CopyFrom(model)
    done: list[Edit] = []
    for edits in sets:
        for edit in edits:
            if edit in done:
                continue
            done.append(edit)
            try:
                edit.apply(made)
            except Gone:
                return None
    return made


# ---- Finding things ---------------------------------------------------------------------------


def one(items: Any, **fields: Any) -> Any:
    """The only item with these fields."""
    found = [i for i in items if all(getattr(i, name) == value for name, value in fields.items())]
    if len(found) != 1:
        raise Gone
    return found[0]


def node_of(graph: Any, output: str) -> Any:
    """The only node whose first output has a name."""
    found = [node for node in graph.node if list(node.output[:1]) == [output]]
    if len(found) != 1:
        raise Gone
    return found[0]


Where = Callable[[Any], Any]
"""Finds a graph or function in a model."""


def owners(model: ModelProto) -> list[Where]:
    """The main graph, graphs in attributes of its nodes, graphs of functions."""
    found: list[Where] = [lambda model: model.graph] * 4
    for node in model.graph.node:
        for attribute in node.attribute:
            if attribute.type == AttributeProto.GRAPH and node.output:
                found.append(_nested(node.output[0], attribute.name))
    for function in model.functions:
        found.append(_function(function.domain, function.name, function.overload))
    return found


def _nested(output: str, name: str) -> Where:
    return lambda model: one(node_of(model.graph, output).attribute, name=name).g


def _function(domain: str, name: str, overload: str) -> Where:
    return lambda m: one(m.functions, domain=domain, name=name, overload=overload)


def remove(items: Any, item: Any) -> None:
    """Take an item out of a list, by its identity."""
    at = next(at for at, other in enumerate(items) if other is item)
    del items[at]


def reorder(items: Any, order: Sequence[Any]) -> None:
    """Put copies of items into a list."""
    copies = []
    for item in order:
        made = type(item)()
        made.CopyFrom(item)
        copies.append(made)
    del items[:]
    items.extend(copies)


def rename(graph: Any, old: str, new: str, *, model: Any = None) -> None:
    """Rename a value wherever it is named."""
    for node in graph.node:
        for names in (node.input, node.output):
            for at, name in enumerate(names):
                if name == old:
                    names[at] = new
        for attribute in node.attribute:
            if attribute.type == AttributeProto.GRAPH:
                rename(attribute.g, old, new)
    for field in ("input", "output", "value_info", "initializer"):
        items = getattr(graph, field, ())
        for at, item in enumerate(items):
            if isinstance(item, str):
                if item == old:
                    items[at] = new
            elif item.name == old:
                item.name = new
    for annotation in getattr(graph, "quantization_annotation", ()):
        if annotation.tensor_name == old:
            annotation.tensor_name = new


def values_of(graph: Any) -> list[str]:
    """The names that nodes can use."""
    names = [i if isinstance(i, str) else i.name for i in graph.input]
    names += [tensor.name for tensor in getattr(graph, "initializer", ())]
    return [*names, *[name for node in graph.node for name in node.output if name]] or ["x"]


# ---- Edits of nodes ---------------------------------------------------------------------------

Draw = random.Random


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


def _fresh(draw: Draw, word: str) -> str:
    return f"{word}_{draw.randrange(10**8)}"


def _set_attribute(node: Any, graph: Any, draw: Draw) -> Any:
    names = [a.name for a in node.attribute] + [draw.choice(["axis", "alpha", _fresh(draw, "a")])]
    name = draw.choice(names)
    values = [draw.randrange(9), 0.5, "text", [1, draw.randrange(9)], [0.25, 1.5], ["a", "b"]]
    value = draw.choice([*values, numpy_helper.from_array(np.float32([draw.random()]), "t")])

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


def _clear(field: str) -> Any:
    def make(node: Any, graph: Any, draw: Draw) -> Any:
        return (lambda node, graph: node.ClearField(field)) if node.HasField(field) else None

    return make


def _metadata(node: Any, graph: Any, draw: Draw) -> Any:
    return metadata_change(node, draw)


def metadata_change(owner: Any, draw: Draw) -> Any:
    keys = [entry.key for entry in owner.metadata_props]
    key, value = draw.choice([*keys, "k", _fresh(draw, "key")]), _fresh(draw, "value\nof")
    delete = key in keys and draw.random() < 0.3

    def change(owner: Any, graph: Any = None) -> None:
        found = [entry for entry in owner.metadata_props if entry.key == key]
        if len(found) > 1 or (delete and not found):
            raise Gone
        if delete:
            remove(owner.metadata_props, found[0])
        elif found:
            found[0].value = value
        else:
            owner.metadata_props.add(key=key, value=value)

    return change


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
    name = _fresh(draw, "out")
    return lambda node, graph: node.output.append(name)


def _rename_output(node: Any, graph: Any, draw: Draw) -> Any:
    old, new = node.output[0], _fresh(draw, "renamed")
    return lambda node, graph: rename(graph, old, new)


def _delete(node: Any, graph: Any, draw: Draw) -> Any:
    return lambda node, graph: remove(graph.node, node)


def _bypass(node: Any, graph: Any, draw: Draw) -> Any:
    """Delete a node; those that have used it use its input."""
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
    output, name = node.output[0], _fresh(draw, "inserted")
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
    names = [_fresh(draw, "copy") for _ in node.output]
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
        at = next(at for at, n in enumerate(rest) if n is after)
        reorder(graph.node, [*rest[: at + 1], node, *rest[at + 1 :]])

    return change


NODE_CHANGES: dict[str, Any] = {
    "set attribute": _set_attribute,
    "set attribute again": _set_attribute,
    "delete attribute": _delete_attribute,
    "swap attributes": _swap_attributes,
    "operator": _scalar("op_type", lambda draw: draw.choice(["Tanh", "Abs", "Neg"])),
    "label": _scalar("name", lambda draw: _fresh(draw, "label")),
    "no label": _clear("name"),
    "doc": _scalar("doc_string", lambda draw: _fresh(draw, "doc\nof node")),
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

# ---- Edits of values --------------------------------------------------------------------------


def value_edit(model: ModelProto, draw: Draw) -> Edit | None:
    """An edit of an input, output or value info."""
    where = draw.choice(owners(model))
    graph = where(model)
    field = draw.choice(["input", "output", "value_info", "value_info"])
    items = getattr(graph, field, ())
    items = [item for item in items if not isinstance(item, str)]
    if not items:
        return None
    name = draw.choice(items).name
    kind = draw.choice(list(VALUE_CHANGES))
    change = VALUE_CHANGES[kind](one_or_none(items, name), draw)
    if change is None:
        return None

    def run(model: Any) -> None:
        graph = where(model)
        items = getattr(graph, field)
        change(one(items, name=name), items, graph)

    return Edit(f"{field} {kind} {name}", run)


def one_or_none(items: Sequence[Any], name: str) -> Any:
    return next(item for item in items if item.name == name)


def _dim(value: Any, draw: Draw) -> Any:
    dims = value.type.tensor_type.shape.dim
    if not dims:
        return None
    at, size = draw.randrange(len(dims)), draw.choice([draw.randrange(1, 99), "N", "batch"])

    def change(value: Any, items: Any, graph: Any) -> None:
        dims = value.type.tensor_type.shape.dim
        if len(dims) <= at:
            raise Gone
        dims[at].Clear()
        if isinstance(size, int):
            dims[at].dim_value = size
        else:
            dims[at].dim_param = size

    return change


def _rank(value: Any, draw: Draw) -> Any:
    def change(value: Any, items: Any, graph: Any) -> None:
        value.type.tensor_type.shape.dim.add(dim_value=7)

    return change if value.type.HasField("tensor_type") else None


def _no_shape(value: Any, draw: Draw) -> Any:
    def change(value: Any, items: Any, graph: Any) -> None:
        value.type.tensor_type.ClearField("shape")

    return change if value.type.tensor_type.HasField("shape") else None


def _element(value: Any, draw: Draw) -> Any:
    element = draw.choice([TensorProto.DOUBLE, TensorProto.INT64, TensorProto.FLOAT16])

    def change(value: Any, items: Any, graph: Any) -> None:
        value.type.tensor_type.elem_type = element

    return change if value.type.HasField("tensor_type") else None


def _value_doc(value: Any, draw: Draw) -> Any:
    text = draw.choice(["", _fresh(draw, "doc")])
    return lambda value, items, graph: setattr(value, "doc_string", text)


def _denotation(value: Any, draw: Draw) -> Any:
    text = _fresh(draw, "D")
    return lambda value, items, graph: setattr(value.type, "denotation", text)


def _value_metadata(value: Any, draw: Draw) -> Any:
    change = metadata_change(value, draw)
    return lambda value, items, graph: change(value)


def _delete_value(value: Any, draw: Draw) -> Any:
    return lambda value, items, graph: remove(items, value)


def _add_value(value: Any, draw: Draw) -> Any:
    name = _fresh(draw, "value")
    made = helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, "N"])
    at_end = draw.random() < 0.5

    def change(value: Any, items: Any, graph: Any) -> None:
        order = [*items, made] if at_end else [made, *items]
        reorder(items, order)

    return change


def _rename_value(value: Any, draw: Draw) -> Any:
    old, new = value.name, _fresh(draw, "renamed")
    return lambda value, items, graph: rename(graph, old, new)


def _swap_values(value: Any, draw: Draw) -> Any:
    def change(value: Any, items: Any, graph: Any) -> None:
        rest = [item for item in items if item is not value]
        reorder(items, [value, *rest])

    return change


VALUE_CHANGES: dict[str, Any] = {
    "dim": _dim,
    "dim again": _dim,
    "rank": _rank,
    "no shape": _no_shape,
    "element": _element,
    "doc": _value_doc,
    "denotation": _denotation,
    "metadata": _value_metadata,
    "delete": _delete_value,
    "delete again": _delete_value,
    "add": _add_value,
    "rename": _rename_value,
    "to the front": _swap_values,
}

# ---- Edits of initializers --------------------------------------------------------------------


def initializer_edit(model: ModelProto, draw: Draw) -> Edit | None:
    """An edit of an initializer of the main graph or a nested one."""
    where = draw.choice(owners(model))
    graph = where(model)
    if not getattr(graph, "initializer", ()):
        return None
    name = draw.choice(graph.initializer).name
    tensor = one_or_none(graph.initializer, name)
    kind = draw.choice(list(TENSOR_CHANGES))
    change = TENSOR_CHANGES[kind](tensor, draw)
    if change is None:
        return None

    def run(model: Any) -> None:
        graph = where(model)
        change(one(graph.initializer, name=name), graph)

    return Edit(f"initializer {kind} {name}", run)


def _raw(tensor: Any, draw: Draw) -> Any:
    if not tensor.raw_data:
        return None
    at, byte = draw.randrange(len(tensor.raw_data)), draw.randrange(256)

    def change(tensor: Any, graph: Any) -> None:
        data = bytearray(tensor.raw_data)
        if len(data) <= at:
            raise Gone
        data[at] = byte
        tensor.raw_data = bytes(data)

    return change


def _array(tensor: Any) -> Any:
    try:
        return numpy_helper.to_array(tensor)
    except Exception:
        raise Gone from None


def _retyped(tensor: Any, draw: Draw) -> Any:
    kind = draw.choice([np.float64, np.float32, np.int32])

    def change(tensor: Any, graph: Any) -> None:
        try:
            made = numpy_helper.from_array(_array(tensor).astype(kind), tensor.name)
        except (ValueError, TypeError):
            raise Gone from None
        tensor.CopyFrom(made)

    return change if not tensor.external_data else None


def _reshaped(tensor: Any, draw: Draw) -> Any:
    def change(tensor: Any, graph: Any) -> None:
        tensor.dims.insert(0, 1)

    return change


def _typed(tensor: Any, draw: Draw) -> Any:
    def change(tensor: Any, graph: Any) -> None:
        if not tensor.raw_data:
            raise Gone
        values = np.frombuffer(tensor.raw_data, "<f4")
        tensor.ClearField("raw_data")
        tensor.float_data.extend(values)

    float_bytes = tensor.data_type == TensorProto.FLOAT and 0 < len(tensor.raw_data) < 4000
    return change if float_bytes and len(tensor.raw_data) % 4 == 0 else None


def _external(tensor: Any, draw: Draw) -> Any:
    place = _fresh(draw, "weights")

    def change(tensor: Any, graph: Any) -> None:
        tensor.ClearField("raw_data")
        tensor.ClearField("external_data")
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value=place)

    return change


def _tensor_doc(tensor: Any, draw: Draw) -> Any:
    text = _fresh(draw, "doc")
    return lambda tensor, graph: setattr(tensor, "doc_string", text)


def _delete_tensor(tensor: Any, draw: Draw) -> Any:
    return lambda tensor, graph: remove(graph.initializer, tensor)


def _rename_tensor(tensor: Any, draw: Draw) -> Any:
    old, new = tensor.name, _fresh(draw, "renamed")
    return lambda tensor, graph: rename(graph, old, new)


def _add_tensor(tensor: Any, draw: Draw) -> Any:
    count = draw.choice([1, 3, 100])
    values = np.array([draw.random() for _ in range(count)], np.float32)
    made = numpy_helper.from_array(values, _fresh(draw, "weight"))
    return lambda tensor, graph: graph.initializer.append(made)


def _tensor_to_front(tensor: Any, draw: Draw) -> Any:
    def change(tensor: Any, graph: Any) -> None:
        rest = [other for other in graph.initializer if other is not tensor]
        reorder(graph.initializer, [tensor, *rest])

    return change


def _no_info(tensor: Any, draw: Draw) -> Any:
    """Delete the value info of an initializer."""
    name = tensor.name
    return lambda tensor, graph: remove(graph.value_info, one(graph.value_info, name=name))


def _sparse(tensor: Any, draw: Draw) -> Any:
    values = helper.make_tensor(_fresh(draw, "sparse"), TensorProto.FLOAT, [1], [draw.random()])
    indices = helper.make_tensor("i", TensorProto.INT64, [1], [draw.randrange(9)])
    made = helper.make_sparse_tensor(values, indices, [9])
    return lambda tensor, graph: graph.sparse_initializer.append(made)


TENSOR_CHANGES: dict[str, Any] = {
    "values": _raw,
    "values again": _raw,
    "element": _retyped,
    "shape": _reshaped,
    "typed": _typed,
    "external": _external,
    "doc": _tensor_doc,
    "delete": _delete_tensor,
    "rename": _rename_tensor,
    "add": _add_tensor,
    "to the front": _tensor_to_front,
    "no value info": _no_info,
    "add sparse": _sparse,
}

# ---- Edits of models --------------------------------------------------------------------------


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
    name = _fresh(draw, "F")
    nodes = [helper.make_node("Relu", ["a"], ["b"])]
    made = helper.make_function("my", name, ["a"], ["b"], nodes, [helper.make_opsetid("", 18)])
    return Edit("add function", lambda model: model.functions.append(made))


def _function_change(model: ModelProto, draw: Draw) -> Edit | None:
    if not model.functions:
        return None
    chosen = draw.choice(model.functions)
    where = _function(chosen.domain, chosen.name, chosen.overload)
    kind = draw.choice(["delete", "doc", "input", "opset", "attribute", "rename"])
    word = _fresh(draw, "f")

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
    name, scale = draw.choice([*known, *values_of(model.graph)]), _fresh(draw, "scale")
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
    word = _fresh(draw, "t")

    def run(model: Any) -> None:
        if not model.training_info:
            model.training_info.add().algorithm.name = "step"
        info = model.training_info[0]
        info.update_binding.add(key=word, value="w")

    return Edit("training", run)


def _device(model: ModelProto, draw: Draw) -> Edit:
    name, count = draw.choice(["2gpu", _fresh(draw, "conf")]), draw.randrange(1, 9)

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
    """Nodes behind those that they use; as they were if that cannot be."""
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
    _field("producer", "producer_name", lambda draw: _fresh(draw, "tool")),
    _field("producer version", "producer_version", lambda draw: _fresh(draw, "1")),
    _field("domain", "domain", lambda draw: _fresh(draw, "org")),
    _field("model version", "model_version", lambda draw: draw.randrange(99)),
    _field("model doc", "doc_string", lambda draw: _fresh(draw, "doc\nof it")),
    _field("graph name", "name", lambda draw: _fresh(draw, "g"), graph=True),
    _field("graph doc", "doc_string", lambda draw: _fresh(draw, "doc"), graph=True),
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
    """An edit of the header, of functions or of sections."""
    edit: Edit | None = draw.choice(MODEL_EDITS)(model, draw)
    return edit


def draw_edits(model: ModelProto, draw: Draw, count: int) -> list[Edit]:
    """Edits that can be made on a model one after the other."""
    found: list[Edit] = []
    makers = [node_edit] * 5 + [value_edit] * 3 + [initializer_edit] * 3 + [model_edit] * 2
    for _ in range(count * 10):
        if len(found) == count:
            break
        edit = draw.choice(makers)(model, draw)
        if edit is None or _contradicts(edit, found):
            continue
        made = apply(model, [*found, edit])
        before = apply(model, found)
        if made is not None and made != before:
            found.append(edit)
    return found


def _contradicts(edit: Edit, others: Sequence[Edit]) -> bool:
    """Whether an edit takes away what another one of the same side has changed."""
    target = edit.name.rpartition(" ")[2]
    ends = ("delete", "bypass", "rename")
    return any(
        other.name.endswith(f" {target}") and any(w in one.name for one in (edit, other) for w in ends)
        for other in others
    )


# ---- What both give ---------------------------------------------------------------------------


def expected(model: ModelProto, ours: Sequence[Edit], theirs: Sequence[Edit]) -> set[bytes]:
    """What both sets of edits may give, whatever the order of items; nothing if they contradict.

    That is what the edits give in both orders, or what each side gives for the items that only
    it has changed in the end.
    """
    found = [apply(model, ours, theirs), apply(model, theirs, ours)]
    made = {normal(one) for one in found if one is not None}
    apart = by_items(model, ours, theirs)
    return {*(made if len(made) == 1 else ()), *([] if apart is None else [apart])}


def by_items(model: ModelProto, ours: Sequence[Edit], theirs: Sequence[Edit]) -> bytes | None:
    """What each side gives for the items that only it has changed; None if both have changed one."""
    versions = []
    for edits in ((), ours, theirs):
        made = apply(model, edits)
        assert made is not None
        found = items_of(made)
        if found is None:
            return None
        versions.append(found)
    base, mine, others = versions
    result: dict[Any, Any] = {}
    for key in {**base, **mine, **others}:
        values = [version.get(key) for version in versions]
        if values[1] != values[2] and values[0] not in values[1:]:
            return None
        result[key] = values[2] if values[0] == values[1] else values[1]
    merged = ModelProto()
    for (owner, field, *_), value in result.items():
        if value is None:
            continue
        message = merged.graph if owner else merged
        if isinstance(value, list):
            getattr(message, field).add().CopyFrom(value[0])
        else:
            setattr(message, field, value)
    return normal(merged)


_KEYS: dict[str, Callable[[Any], Any]] = {
    "node": lambda item: tuple(item.output),
    "sparse_initializer": lambda item: item.values.name,
    "opset_import": lambda item: item.domain,
    "functions": lambda item: (item.domain, item.name, item.overload),
    "metadata_props": lambda item: item.key,
    "quantization_annotation": lambda item: item.tensor_name,
    "training_info": lambda item: "training",
}


def items_of(model: ModelProto) -> dict[Any, Any] | None:
    """The items of a model and its graph by their keys; None if two have the same key."""
    found: dict[Any, Any] = {}
    for owner, message in ((0, model), (1, model.graph)):
        for field, value in message.ListFields():
            if field.name == "graph":
                continue
            if field.message_type is None:
                found[owner, field.name] = value
                continue
            for item in value:
                key = (owner, field.name, _KEYS.get(field.name, lambda item: item.name)(item))
                if key in found:
                    return None
                found[key] = [item]
    return found


def normal(model: ModelProto) -> bytes:
    """A model whatever the order of the items of its lists."""
    made = ModelProto()
    made.CopyFrom(model)
    _normalize(made)
    data: bytes = made.SerializeToString(deterministic=True)
    return data


_FIXED = frozenset(("dim", "training_info", "external_data", "graphs", "tensors"))


def _normalize(message: Any) -> None:
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        if not hasattr(value, "add"):
            _normalize(value)
            continue
        for item in value:
            _normalize(item)
        if field.name not in _FIXED:
            reorder(value, sorted(value, key=lambda item: item.SerializeToString()))
