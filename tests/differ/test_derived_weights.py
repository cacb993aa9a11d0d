# SPDX-License-Identifier: Apache-2.0
"""Weights derived from other weights (transposed, cast, quantized); no Δ between element types."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from onnxtext.differ import ModelDiff, ModelSide, WeightChange, compare
from onnxtext.differ.render import text
from tests.differ.graphs import diff_of

Array = NDArray[Any]


def made_of(weights: dict[str, Array], *nodes: onnx.NodeProto) -> bytes:
    tensors = []
    for name, array in weights.items():
        if array.dtype == ml_dtypes.bfloat16:
            shape, raw = array.shape, array.tobytes()
            tensors.append(helper.make_tensor(name, TensorProto.BFLOAT16, shape, raw, raw=True))
        else:
            tensors.append(numpy_helper.from_array(array, name))
    graph = helper.make_graph(nodes or [], "g", [], [], tensors)
    data: bytes = helper.make_model(graph).SerializeToString()
    return data


def only(result: ModelDiff) -> WeightChange:
    """The change of the only weight, which is neither added nor removed."""
    found = [
        change.weights
        for item in result.items
        for change in item.fields
        if item.kind == "initializer" and change.weights is not None
    ]
    assert not [i for i in result.items if i.kind == "initializer" and i.actions[0] == "removed"]
    (weights,) = found
    return weights


def normal(*shape: int) -> Array:
    return np.random.default_rng(7).standard_normal(shape).astype(np.float32)


@given(st.permutations([0, 1, 2, 3]), st.booleans())
@settings(max_examples=15)
def test_transposed_weights_are_recognized(order: list[int], renamed: bool) -> None:
    array = normal(2, 3, 4, 5)
    turned = np.ascontiguousarray(array.transpose(order))
    name = "other" if renamed else "w"
    result = diff_of(made_of({"w": array}), made_of({name: turned}))
    if order == [0, 1, 2, 3]:
        assert not result.items
        return
    assert only(result).how == "transposed"
    assert only(result).max_abs is None
    assert "#  transposed, 120 elements\n" in text.render(result)
    assert [(r.old, r.new) for r in result.renames] == ([("w", "other")] if renamed else [])


def test_a_transposed_square_weight_is_recognized() -> None:
    array = normal(16, 16)
    result = diff_of(made_of({"w": array}), made_of({"w": np.ascontiguousarray(array.T)}))
    assert only(result).how == "transposed"
    symmetric = array + array.T
    assert not diff_of(made_of({"w": symmetric}), made_of({"w": symmetric.T.copy()})).items


def test_almost_transposed_weights_are_measured() -> None:
    array = normal(8, 8)
    turned = np.ascontiguousarray(array.T)
    turned[7, 6] += 1
    weights = only(diff_of(made_of({"w": array}), made_of({"w": turned})))
    assert weights.how is None
    assert weights.changed is not None


@pytest.mark.parametrize(
    "dtype", [np.float16, np.float64, ml_dtypes.bfloat16], ids=["float16", "double", "bfloat16"]
)
@pytest.mark.parametrize("name", ["w", "w_half"])
def test_cast_weights_are_recognized(dtype: Any, name: str) -> None:
    array = normal(5, 7)
    array[0, :2] = np.inf, np.nan
    result = diff_of(made_of({"w": array}), made_of({name: array.astype(dtype)}))
    assert (only(result).how or "").startswith("cast from float to ")
    assert only(result).max_abs is None
    assert "|Δ|" not in text.render(result)


def test_other_values_of_another_type_have_no_difference() -> None:
    array = normal(4, 4)
    half = array.astype(np.float16)
    half[0, 0] += 1
    weights = only(diff_of(made_of({"w": array}), made_of({"w": half})))
    assert (weights.how, weights.changed, weights.max_abs) == (None, 1, None)
    codes = np.arange(16, dtype=np.uint8).reshape(4, 4)
    weights = only(diff_of(made_of({"w": array}), made_of({"w": codes})))
    assert (weights.how, weights.changed, weights.max_abs, weights.mean_abs) == (None,) * 4
    assert weights.note == "differences between float and uint8 are not computed"


def quantized(array: Array, axis: int | None) -> tuple[Array, Array, Array, float]:
    """Return codes, scales, zero points, and the largest error."""
    over = tuple(i for i in range(array.ndim) if i != axis) if axis is not None else None
    low, high = array.min(over, keepdims=True), array.max(over, keepdims=True)
    scale = ((high - low) / 255).astype(np.float32)
    zero = np.round(-low / scale).astype(np.uint8)
    codes = np.clip(np.round(array / scale) + zero, 0, 255).astype(np.uint8)
    back = (codes.astype(np.float64) - zero) * scale.astype(np.float64)
    error = float(np.abs(back - array).max())
    shape: Any = () if axis is None else (-1,)
    return codes, scale.reshape(shape), zero.reshape(shape), error


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("name", ["w", "w_quantized"])
def test_weights_quantized_by_the_graph_are_recognized(axis: int | None, name: str) -> None:
    """`DequantizeLinear` gives the scale and the axis; both axes have the same length."""
    array = normal(8, 8) * np.arange(1, 9, dtype=np.float32)
    codes, scale, zero, error = quantized(array, axis)
    node = helper.make_node("DequantizeLinear", [name, "s", "z"], ["d"], axis=axis or 0)
    result = diff_of(made_of({"w": array}), made_of({name: codes, "s": scale, "z": zero}, node))
    (weights,) = [
        change.weights
        for item in result.items
        for change in item.fields
        if change.weights is not None
    ]
    assert weights.how == "quantized from float to uint8"
    assert weights.max_abs == pytest.approx(error)
    back = diff_of(made_of({name: codes, "s": scale, "z": zero}, node), made_of({name: array}))
    (again,) = [c.weights for i in back.items for c in i.fields if c.weights is not None]
    assert again.how == "dequantized from uint8 to float"
    assert again.max_abs == pytest.approx(error)


def test_weights_with_quantized_names_are_recognized() -> None:
    array = normal(6, 9)
    codes, scale, zero, error = quantized(array, None)
    new = {"w_quantized": codes, "w_scale": scale, "w_zero_point": zero}
    result = diff_of(made_of({"w": array}), made_of(new))
    assert only(result).max_abs == pytest.approx(error)
    codes, scale, zero, error = quantized(array, 1)
    new = {"w_quantized": codes, "w_scale": scale, "w_zero_point": zero}
    assert only(diff_of(made_of({"w": array}), made_of(new))).max_abs == pytest.approx(error)


def test_an_ambiguous_axis_is_not_guessed() -> None:
    array = normal(6, 6)
    codes, scale, zero, _ = quantized(array, 1)
    new = {"w_quantized": codes, "w_scale": scale, "w_zero_point": zero}
    weights = only(diff_of(made_of({"w": array}), made_of(new)))
    assert (weights.how, weights.max_abs) == (None, None)


def test_unrelated_weights_are_not_called_derived() -> None:
    """Other values of a fitting shape and type are neither transposed nor cast."""
    result = diff_of(made_of({"a": normal(4, 6)}), made_of({"b": normal(6, 4) + 1}))
    assert sorted(item.actions for item in result.items) == [("added",), ("removed",)]


def test_a_scale_that_does_not_fit_its_type_is_not_used() -> None:
    def side(weight: str) -> ModelSide:
        return ModelSide.of_text(f"""\
g () => () <{weight}, float s = blob"ba7816bf8f01cfea"> {{
  o = DequantizeLinear (w, s)
}}
resources {{ "ba7816bf8f01cfea": base64 "YWJj" }}
""")

    result = compare(side("float[2] w = [1.5, 2]"), side("int8[2] w = [7, 2]"))
    assert only(result).note == "differences between float and int8 are not computed"


def test_unmatched_strings_are_compared_without_their_content() -> None:
    text = 'g () => () <string[2] {0} = {{"{0}", "b"}}, float[20] {0}2 = [{1}, ...]> {{}}'
    old, new = [ModelSide.of_text(text.format(*pair)) for pair in (("v", 1), ("w", 2))]
    assert len(compare(old, new).items) == 4
