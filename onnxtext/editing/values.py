# SPDX-License-Identifier: Apache-2.0
"""Edit values: the shape of an input, the elements of a weight."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from onnxtext.ast.model import Graph, Model, ValueInfo
from onnxtext.ast.types import DecoratedDim, Dim, TensorType, Type
from onnxtext.ast.values import Blob, DataFile, Tensor, TypedBlob
from onnxtext.ast.visit import walk_graphs
from onnxtext.editing.errors import refused, unknown
from onnxtext.proto.decode.lift import lift_fragment
from onnxtext.source import Source
from onnxtext.syntax.parse import parse_fragment

if TYPE_CHECKING:
    import numpy as np

Shape = tuple[Dim, ...]

# ---- Shapes ---------------------------------------------------------------------------------


def read_shape(text: str) -> Shape | None:
    """Parse a shape in the syntax of texts, such as `[batch, 3, 224]`.

    Raises:
        OnnxTextError: it is no shape.
    """
    made = parse_fragment(Source(f"float{text.strip()}", "<shape>"), "type").item
    if not isinstance(made, TensorType) or not text.strip().startswith("["):
        raise refused(f"`{text}` is no shape", "write one like `[batch, 3, 224]`")
    return made.shape


def set_shape(model: Model, name: str, shape: Shape | str | None) -> None:
    """Set the shape of a value of the main graph, and let the declared shapes follow.

    Onnx's shape inference runs before and after the edit: every dimension that it gives another
    size or name afterwards is changed in the declarations, too. A symbolic dimension that gets
    another name or a size gets it everywhere.

    Args:
        model: the tree; changed in place.
        name: an input, or another value with a declared type.
        shape: the dimensions, or their text; None for no shape.

    Raises:
        OnnxTextError: the graph has no such value, or it is no tensor.
    """
    if isinstance(shape, str):
        shape = read_shape(shape)
    declared = list(_declared(model.graph))
    chosen = [one for one in declared if one[0] == name]
    if not chosen:
        raise unknown("declared value", name, [one[0] for one in declared])
    before = _inferred(model)
    renamed: dict[str, Dim] = {}
    for _, type, put in chosen:
        if not isinstance(type, TensorType):
            raise refused(f"`{name}` is no tensor")
        renamed |= _renamed(type.shape, shape)
        put(replace(type, shape=shape))
    for scope in walk_graphs(model):
        for _, type, put in _declared(scope) if isinstance(scope, Graph) else ():
            if isinstance(type, TensorType) and type.shape:
                put(_with_shape(type, tuple([_mapped(dim, renamed) for dim in type.shape])))
    after = _inferred(model)
    for index, scope in enumerate(walk_graphs(model.graph)):
        for other, type, put in _declared(scope) if isinstance(scope, Graph) else ():
            if (index or other != name) and isinstance(type, TensorType):
                put(_following(type, before.get((index, other)), after.get((index, other))))


Declaration = tuple[str, Type | None, Callable[[Type], None]]
"""A value, its type, and a function that changes it."""


def _declared(graph: Graph) -> Iterator[Declaration]:
    for value in (*graph.inputs, *graph.outputs, *graph.values):
        if value.type is not None and value.data is None:
            yield value.name, value.type, partial(setattr, value, "type")
    for node in graph.nodes:
        for at, (name, type) in enumerate(zip(node.outputs, node.output_types, strict=False)):
            if type is None:
                continue

            def put(type: Type, node: Any = node, at: int = at) -> None:
                types = list(node.output_types)
                types[at] = type
                node.output_types = tuple(types)

            yield name, type, put


def _plain(dim: Dim) -> int | str | None:
    return dim.value if isinstance(dim, DecoratedDim) else dim


def _renamed(old: Shape | None, new: Shape | None) -> dict[str, Dim]:
    """Return the new dimensions of the symbolic ones that a shape had."""
    pairs = zip(old or (), new or (), strict=False)
    return {one: other for dim, other in pairs if isinstance(one := _plain(dim), str)
            and _plain(other) not in (one, None)}  # fmt: skip


def _mapped(dim: Dim, renamed: Mapping[str, Dim]) -> Dim:
    plain = _plain(dim)
    return renamed[plain] if isinstance(plain, str) and plain in renamed else dim


def _with_shape(type: TensorType, shape: Shape) -> TensorType:
    return type if type.shape == shape else replace(type, shape=shape)


def _following(type: TensorType, before: Shape | None, after: Shape | None) -> TensorType:
    """Return a declared type with the dimensions that were inferred differently afterwards."""
    if type.shape is None or before is None or after is None:
        return type
    if not len(type.shape) == len(before) == len(after):
        return type
    changed = [
        other if one != other else dim
        for dim, one, other in zip(type.shape, before, after, strict=True)
    ]
    return _with_shape(type, tuple(changed))


def _inferred(model: Model) -> dict[tuple[int, str], Shape]:
    """Return the shapes of values that onnx infers from the shapes of the inputs alone.

    Returns:
        The shapes by the number of the graph, in the order of `walk_graphs`, and the name.
    """
    import onnx

    from onnxtext.checker.isolation.pool import Inference
    from onnxtext.proto.encode.lower import LowerError, lower_without_weights

    try:
        proto = onnx.ModelProto.FromString(lower_without_weights(model))
    except LowerError:
        return {}
    for graph in _graphs(proto.graph):
        del graph.value_info[:]
        for output in graph.output:
            output.type.tensor_type.ClearField("shape")
    answer = Inference().shapes(proto.SerializeToString())
    if not isinstance(answer, list):
        return {}
    return {
        (number, value.name): tuple([_dim(dim) for dim in value.type.tensor_type.shape.dim])
        for number, graph in enumerate(_graphs(onnx.ModelProto.FromString(answer[0]).graph))
        for value in (*graph.output, *graph.value_info)
        if value.type.tensor_type.HasField("shape")
    }


def _graphs(graph: Any) -> Iterator[Any]:
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            inner = [attribute.g] if attribute.HasField("g") else []
            for each in (*inner, *attribute.graphs):
                yield from _graphs(each)


def _dim(dim: Any) -> Dim:
    if dim.HasField("dim_value"):
        return int(dim.dim_value)
    made: str = dim.dim_param
    return None if not made or made.startswith("unk__") else made


# ---- Weights --------------------------------------------------------------------------------


def replace_weight(model: Model, name: str, array: np.ndarray[Any, Any]) -> list[str]:
    """Replace the elements of an initializer, or of the tensor of a `Constant` node.

    Args:
        model: the tree; changed in place.
        name: the initializer, or the output of the node.
        array: the new elements, which give the type and the shape, too.

    Returns:
        What else changes: the type or the shape.

    Raises:
        OnnxTextError: the model has no such weight, or ONNX has no such element type.
    """
    new = _tensor(array, name)
    weights = [
        value
        for scope in walk_graphs(model) if isinstance(scope, Graph)
        for value in (*scope.inputs, *scope.values)
        if value.data is not None
    ]  # fmt: skip
    for value in weights:
        if value.name == name:
            return _replace(model, value, new)
    known = [value.name for value in weights]
    for scope in walk_graphs(model):
        for node in scope.nodes:
            for attribute in node.attributes:
                if node.op_type == "Constant" and isinstance(attribute.value, Tensor):
                    known += node.outputs
                    if name in node.outputs:
                        held = ValueInfo(name, attribute.value.type, attribute.value.data)
                        said = _replace(model, held, new)
                        tensor = replace(attribute.value, type=new.type, data=held.data)  # type: ignore[arg-type]
                        made = replace(attribute, value=tensor)
                        node.attributes = tuple(
                            [made if one is attribute else one for one in node.attributes]
                        )
                        return said
    raise unknown("weight", name, known)


def _tensor(array: np.ndarray[Any, Any], name: str) -> Tensor:
    from onnx import numpy_helper

    try:
        data = numpy_helper.from_array(array, name).SerializeToString()
    except (TypeError, ValueError, KeyError, NotImplementedError) as error:
        raise refused(f"ONNX has no tensors of type {array.dtype}: {error}") from None
    made = lift_fragment(data, "TensorProto").item
    assert isinstance(made, Tensor)
    return made


def _replace(model: Model, value: ValueInfo, new: Tensor) -> list[str]:
    from onnxtext.printer import print_type
    from onnxtext.printer.weights import INLINE_ELEMENTS, Mover

    said = []
    if value.type is not None and value.type != new.type:
        said.append(f"`{value.name}` was {print_type(value.type)}, it is {print_type(new.type)}")
    old, value.type = value.data, new.type
    value.data = new.data
    if isinstance(old, (Blob, TypedBlob, DataFile)):  # large data is not in the graph
        mover = Mover(INLINE_ELEMENTS)
        value.data = mover.data(new.type, new.data, value.name)
        model.resources = {**model.resources, **mover.resources}
    if isinstance(old, (Blob, TypedBlob)) and not _is_used(model, old.digest):
        model.resources = {k: v for k, v in model.resources.items() if not k.startswith(old.digest)}
    return said


def _is_used(model: Model, digest: str) -> bool:
    from onnxtext.weights.statistics import find_blobs

    return any(name.startswith(digest) for name in find_blobs(model))
