# SPDX-License-Identifier: Apache-2.0
"""Rules read lists and small tensors that are written as blobs or with `...`, like others."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

import onnxtext
from onnxtext.ast import RawData
from onnxtext.ast.model import Model, Node
from onnxtext.ast.visit import rich_lists
from onnxtext.checker.context import resolved_fields
from onnxtext.checker.context.resolved_fields import ResolvedFields
from onnxtext.tensor import blobs
from onnxtext.tensor.blobs import digest_of
from tests.corpus import index, shared_model

FILES = [
    "models/emmtrix_emx-onnx-cgen/micro_kws_m_qdq.onnx",
    "models/harvested_onnxscript-tests/47ea6b76d8168e7d.onnx",
]


def findings(text: str) -> list[tuple[str, str]]:
    return sorted((item.code, item.message) for item in onnxtext.check(text, select=["all"]))


@pytest.mark.data
@pytest.mark.parametrize(
    "file", [entry["file"] for entry in index("models") if entry["file"] in FILES]
)
def test_real_models_have_the_same_findings(file: str) -> None:
    data = shared_model(file)
    expected = findings(onnxtext.from_binary(data, weights="inline"))
    assert findings(onnxtext.from_binary(data, inline_limit=0)) == expected
    # Elements that the text omits are not treated as missing.
    without = findings(onnxtext.from_binary(data, inline_limit=0, weights="none"))
    assert {code for code, _ in without} <= {code for code, _ in expected} | {"weights-left-out"}


LISTS: dict[str, Any] = {
    "perm": [*range(39), 0],
    "equal": [1] * 40,
    "floats": [*np.arange(40, dtype=float)],
    "strings": [f"s{n}" for n in range(40)],
    "text": b"\xff" * 5000,
}


def listed(text: str) -> list[Node]:
    """Return the nodes of a text as rules see them."""
    model = onnxtext.parse(text)
    assert isinstance(model, Model)
    nodes = model.graph.nodes
    return ResolvedFields(model.resources).whole_lists(nodes, rich_lists(nodes))


@pytest.mark.parametrize("name", LISTS)
def test_all_kinds_of_lists_are_read_from_blobs(name: str) -> None:
    node = helper.make_node("Op", ["x"], ["y"], **{name: LISTS[name]})
    data = helper.make_model(helper.make_graph([node], "g", [], [])).SerializeToString()
    short = onnxtext.from_binary(data, inline_limit=32)
    assert "blob" in short or "..." in short
    assert listed(short) == listed(onnxtext.from_binary(data, weights="inline"))
    without = short.partition("\nresources")[0]
    assert "blob" not in without or listed(without)[0].attributes[0].value is not None


def test_findings_have_their_places() -> None:
    """Findings point to the statements of the text, not to copies that contain the values."""
    node = helper.make_node("Transpose", ["x"], ["y"], perm=LISTS["perm"])
    values = [helper.make_tensor_value_info(name, 1, [2] * 40) for name in "xy"]
    graph = helper.make_graph([node], "g", values[:1], values[1:])
    opsets = [helper.make_opsetid("", 21)]
    data = helper.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString()
    text = onnxtext.from_binary(data)
    assert '{blob"' in text
    (found,) = [item for item in onnxtext.check(text) if item.severity == "error"]
    assert "repeated value" in found.message
    line = text.split("\n").index(next(line for line in text.split("\n") if "Transpose" in line))
    assert f":{line + 1}:" in str(found)


INDICES = {
    "Gather": range(40),
    "Slice": range(40),
    "Squeeze": range(40),
    "ReduceSum": range(40),
    "Reshape": [3, 2] * 20,
    "Expand": [7, 6] * 20,
    "ConstantOfShape": [-4, -3] * 20,
}
"""An operator and an input that does not fit it."""


def sparse_model(typed: bool, indices: list[int]) -> onnx.ModelProto:
    parts = [
        numpy_helper.from_array(np.array(list, dtype), name)
        for list, dtype, name in (([1.0] * 40, np.float32, "s"), (indices, np.int64, "i"))
    ]
    if typed:
        parts = [
            helper.make_tensor("s", 1, [40], [1.0] * 40),
            helper.make_tensor("i", 7, [40], indices),
        ]
    sparse = helper.make_sparse_tensor(parts[0], parts[1], [1000])
    node = helper.make_node("Relu", ["s"], ["y"])
    return helper.make_model(helper.make_graph([node], "g", [], [], sparse_initializer=[sparse]))


@pytest.mark.parametrize("typed", [False, True])
@pytest.mark.parametrize("indices", [[*range(40)][::-1], [1, *range(39)], [*range(39), 5000]])
def test_sparse_indices_are_read_from_blobs(typed: bool, indices: list[int]) -> None:
    data = sparse_model(typed, indices).SerializeToString()
    expected = findings(onnxtext.from_binary(data, weights="inline"))
    assert any(code.startswith("sparse-index") for code, _ in expected)
    written = onnxtext.from_binary(data)
    assert 'blob"' in written
    assert findings(written) == expected


@pytest.mark.parametrize("place", ["initializer", "typed initializer", "Constant"])
@pytest.mark.parametrize("operator", INDICES)
def test_small_tensors_are_read_from_blobs(operator: str, place: str) -> None:
    numbers = list(INDICES[operator])
    w = numpy_helper.from_array(np.array(numbers, np.int64), "w")
    if place == "typed initializer":
        w = helper.make_tensor("w", 7, [40], numbers)
    inputs = {"ConstantOfShape": ["w"], "Slice": ["x", "w", "w", "w"]}.get(operator, ["x", "w"])
    nodes = [helper.make_node(operator, inputs, ["y"])]
    if place == "Constant":
        nodes.insert(0, helper.make_node("Constant", [], ["w"], value=w))
    x, y = [helper.make_tensor_value_info(name, 1, [4, 5]) for name in "xy"]
    graph = helper.make_graph(nodes, "g", [x], [y], [] if place == "Constant" else [w])
    opsets = [helper.make_opsetid("", 21)]
    data = helper.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString()
    expected = findings(onnxtext.from_binary(data, weights="inline"))
    assert "shape-mismatch" in {code for code, _ in expected}
    written = onnxtext.from_binary(data, inline_limit=0)
    assert 'blob"' in written
    assert findings(written) == expected


def test_long_lists_are_read_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resolved_fields, "MAX_BYTES", 20_000)
    monkeypatch.setattr(resolved_fields, "MAX_LIST_BYTES", 5_000)
    nodes = [
        helper.make_node("Op", ["x"], [f"y{n}"], a=list(range(n, n + 1000))) for n in range(20)
    ]
    nodes.append(helper.make_node("Op", ["x"], ["z"], a=list(range(3_000))))
    graph = onnx.GraphProto(name="g", node=nodes)
    text = onnxtext.from_binary(onnx.ModelProto(graph=graph).SerializeToString())
    whole = [isinstance(node.attributes[0].value, tuple) for node in listed(text)]
    assert whole[0]
    assert not whole[-1]
    assert 5 < sum(whole) < 15


def test_tensors_are_read_up_to_a_limit() -> None:
    arrays = [np.arange(size) for size in (40, 1_000, 2_000)]
    arrays += [np.arange(size, dtype=np.uint8) for size in (40, 200)]
    tensors = [numpy_helper.from_array(array, f"w{n}") for n, array in enumerate(arrays)]
    graph = onnx.GraphProto(name="g", initializer=tensors)
    text = onnxtext.from_binary(onnx.ModelProto(graph=graph).SerializeToString(), inline_limit=0)
    model = onnxtext.parse(text)
    fields = ResolvedFields(model.resources)
    whole = [fields.small_data(value).data for value in model.graph.values]
    assert [isinstance(data, RawData) for data in whole] == [True, True, False, True, False]


def test_tensors_that_share_a_blob_are_read_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise, the time of a check would not be linear in the size of the text."""
    monkeypatch.setattr(resolved_fields, "MAX_BYTES", 20_000)
    tensors = [numpy_helper.from_array(np.arange(1_000), f"w{n}") for n in range(5)]
    graph = onnx.GraphProto(name="g", initializer=tensors)
    model = onnxtext.parse(onnxtext.from_binary(onnx.ModelProto(graph=graph).SerializeToString()))
    fields = ResolvedFields(model.resources)
    whole = [fields.small_data(value).data for value in model.graph.values]
    assert [isinstance(data, RawData) for data in whole] == [True, True, True, False, False]


@pytest.mark.parametrize("place", ["initializer", "Constant"])
@pytest.mark.parametrize("element", ["float32", "int32", "int8"])
def test_weights_do_not_use_up_the_limit_for_shapes(element: str, place: str) -> None:
    """Models have thousands of biases, which are as small as shapes, but no rule reads them."""
    sizes = {"float32": 1024, "int32": 1024, "int8": 4096}
    bias = np.arange(sizes[element], dtype=np.int32)
    tensors = [
        numpy_helper.from_array((bias * (n + 1)).astype(element), f"b{n}") for n in range(1_100)
    ]
    tensors.append(numpy_helper.from_array(np.arange(40), "w"))
    nodes = [helper.make_node("Gather", ["x", "w"], ["y"])]
    if place == "Constant":
        nodes[:0] = [helper.make_node("Constant", [], [item.name], value=item) for item in tensors]
    x, y = [
        helper.make_tensor_value_info(name, 1, [size, 5]) for name, size in (("x", 4), ("y", 40))
    ]
    graph = helper.make_graph(nodes, "g", [x], [y], [] if place == "Constant" else tensors)
    opsets = [helper.make_opsetid("", 21)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    written = onnxtext.from_binary(model.SerializeToString())
    assert "shape-mismatch" in {code for code, _ in findings(written)}


def test_each_blob_is_hashed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Encoding verifies the blobs; rules do not verify them again."""
    hashed: list[bytes] = []

    def count(data: bytes | memoryview) -> str:
        hashed.append(bytes(data))
        return digest_of(data)

    monkeypatch.setattr(blobs, "digest_of", count)
    tensors = [numpy_helper.from_array(np.arange(n, n + 40), f"w{n}") for n in range(3)]
    graph = onnx.GraphProto(name="g", initializer=tensors)
    opsets = [helper.make_opsetid("", 21)]
    model = onnx.ModelProto(graph=graph, ir_version=10, opset_import=opsets)
    source = onnxtext.from_binary(model.SerializeToString(), inline_limit=0)
    onnxtext.check(source)
    assert len(hashed) == len(set(hashed)) == 3
    assert "AAAA" in source
    found = onnxtext.check(source.replace("AAAA", "AAAB", 1))
    assert "blob-damaged" in {item.code for item in found}
