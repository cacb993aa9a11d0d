# SPDX-License-Identifier: Apache-2.0
"""Replace the elements of weights."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from onnxtext.ast.model import Function, Graph, Model, Node, ValueInfo
from onnxtext.ast.tensors_and_attributes import (
    Attribute,
    Blob,
    DataFile,
    Tensor,
    TensorData,
    TypedBlob,
)
from onnxtext.ast.visit import walk_graphs
from onnxtext.checker.context.compare_declared_types import describe_contradiction
from onnxtext.editing.errors import refused_edit_error, unknown_name_error
from onnxtext.editing.set_shapes import type_declarations
from onnxtext.proto.decode.lift import lift_fragment

if TYPE_CHECKING:
    import numpy as np


def replace_weight(model: Model, name: str, array: np.ndarray[Any, Any]) -> list[str]:
    """Replace the elements of an initializer, or of the tensor of a `Constant` node.

    A declared type that equals the old type, or contradicts the new type, becomes the new type. The
    old blob is removed if nothing else uses it.

    Args:
        model: the syntax tree; changed in place.
        name: the name of the initializer, or of the output of the node.
        array: the new elements; the weight gets the element type and shape of the array.

    Returns:
        A list with one sentence if the type or shape changed; otherwise an empty list.

    Raises:
        OnnxTextError: no weight has this name; several weights have it, all outside the main graph;
            or ONNX has no element type for the array.
    """
    from onnxtext.printer import print_type

    new = _tensor(array, name)
    weights = [(scope, weight) for scope in walk_graphs(model) for weight in _weights(scope)]
    matches = [(scope, weight) for scope, weight in weights if name in _names(weight)]
    chosen = [pair for pair in matches if pair[0] is model.graph][:1] or matches
    if not chosen:
        raise unknown_name_error(
            "weight", name, [item for _, weight in weights for item in _names(weight)]
        )
    if len(chosen) > 1:
        raise refused_edit_error(
            f"{len(chosen)} weights have the name `{name}`", "rename one of them first"
        )
    ((scope, weight),) = chosen
    old = weight if isinstance(weight, ValueInfo) else weight[2]
    type, data = old.type, old.data
    new = replace(new, data=_placed(model, new, name, data))
    if isinstance(weight, ValueInfo):
        weight.type, weight.data = new.type, new.data
    else:
        node, attribute, tensor = weight
        replaced = replace(attribute, value=replace(tensor, type=new.type, data=new.data))
        node.attributes = tuple(
            [replaced if item is attribute else item for item in node.attributes]
        )
    if isinstance(data, (Blob, TypedBlob)) and not _is_used(model, data.digest):
        model.resources = {
            digest: blob
            for digest, blob in model.resources.items()
            if not digest.startswith(data.digest)
        }
    if type is None or type == new.type:
        return []
    for declared, before, put in type_declarations(scope):
        if declared == name and (before == type or describe_contradiction(before, new.type)):
            put(new.type)
    return [f"the type of `{name}` changes from {print_type(type)} to {print_type(new.type)}"]


_Constant = tuple[Node, Attribute, Tensor]


def _weights(scope: Graph | Function) -> Iterator[ValueInfo | _Constant]:
    """Yield the initializers of a graph, then its `Constant` nodes that have a tensor."""
    if isinstance(scope, Graph):
        yield from [value for value in (*scope.inputs, *scope.values) if value.data is not None]
    for node in scope.nodes:
        for attribute in node.attributes:
            if node.op_type == "Constant" and isinstance(attribute.value, Tensor):
                yield node, attribute, attribute.value


def _names(weight: ValueInfo | _Constant) -> tuple[str, ...]:
    return (weight.name,) if isinstance(weight, ValueInfo) else weight[0].outputs


def _tensor(array: np.ndarray[Any, Any], name: str) -> Tensor:
    """Convert an array to a tensor of the syntax tree; reject types that ONNX lacks."""
    from onnx import numpy_helper

    array = array.astype(array.dtype.newbyteorder("="), copy=False)  # onnx rejects big-endian types
    try:
        data = numpy_helper.from_array(array, name).SerializeToString()
    except (TypeError, ValueError, KeyError, NotImplementedError) as error:
        raise refused_edit_error(f"ONNX has no tensors of type {array.dtype}: {error}") from None
    result = lift_fragment(data, "TensorProto").item
    assert isinstance(result, Tensor)
    return result


def _placed(model: Model, new: Tensor, name: str, old: object) -> TensorData:
    """Return the data of the tensor `new`, which replaces the data `old`.

    If `old` is a blob or in a data file, large new data becomes a blob in the model's resources.
    """
    from onnxtext.printer.move_weights import INLINE_ELEMENTS, WeightMover

    if not isinstance(old, (Blob, TypedBlob, DataFile)):
        return new.data
    mover = WeightMover(INLINE_ELEMENTS)
    data: TensorData = mover.data(new.type, new.data, name)
    model.resources = {**model.resources, **mover.resources}
    return data


def _is_used(model: Model, digest: str) -> bool:
    from onnxtext.weights.statistics import first_uses_of_blobs

    return any(name.startswith(digest) for name in first_uses_of_blobs(model))
