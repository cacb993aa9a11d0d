# SPDX-License-Identifier: Apache-2.0
"""Replace the elements of weights."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from onnxtext.ast.model import Graph, Model, ValueInfo
from onnxtext.ast.tensors_and_attributes import Blob, DataFile, Tensor, TypedBlob
from onnxtext.ast.visit import walk_graphs
from onnxtext.editing.errors import refused, unknown
from onnxtext.proto.decode.lift import lift_fragment

if TYPE_CHECKING:
    import numpy as np


def replace_weight(model: Model, name: str, array: np.ndarray[Any, Any]) -> list[str]:
    """Replace the elements of an initializer, or of the tensor of a `Constant` node.

    Args:
        model: the syntax tree; changed in place.
        name: the name of the initializer, or of the output of the node.
        array: the new elements; the weight gets the element type and shape of the array.

    Returns:
        A sentence if the type or shape changed; otherwise an empty list.

    Raises:
        OnnxTextError: the model has no such weight, or ONNX has no element type for the array.
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
    from onnxtext.printer.move_weights import INLINE_ELEMENTS, Mover

    said = []
    if value.type is not None and value.type != new.type:
        said.append(
            f"the type of `{value.name}` changes from {print_type(value.type)} to "
            f"{print_type(new.type)}"
        )
    old, value.type = value.data, new.type
    value.data = new.data
    if isinstance(old, (Blob, TypedBlob, DataFile)):  # keep large data outside of the graph
        mover = Mover(INLINE_ELEMENTS)
        value.data = mover.data(new.type, new.data, value.name)
        model.resources = {**model.resources, **mover.resources}
    if isinstance(old, (Blob, TypedBlob)) and not _is_used(model, old.digest):
        model.resources = {k: v for k, v in model.resources.items() if not k.startswith(old.digest)}
    return said


def _is_used(model: Model, digest: str) -> bool:
    from onnxtext.weights.statistics import find_blobs

    return any(name.startswith(digest) for name in find_blobs(model))
