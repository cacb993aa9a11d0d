# SPDX-License-Identifier: Apache-2.0
"""The statistics of a changed weight, for each field and file that can hold its data."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from onnx import TensorProto, helper

import onnxtext
from onnxtext.ast import Blob, RawData, TensorType
from onnxtext.differ import ModelSide, WeightChange, compare
from onnxtext.differ.matching.derived_weights import BLOCK
from onnxtext.differ.tensor_data import TensorRef, compare_data
from tests.cli.command import run
from tests.differ.graphs import diff_of, model
from tests.seeds import draws

DTYPES = {
    "float": np.float32, "double": np.float64, "float16": np.float16, "int8": np.int8,
    "uint8": np.uint8, "int16": np.int16, "int32": np.int32, "int64": np.int64,
    "uint64": np.uint64, "bool": np.bool_, "complex64": np.complex64,
    "bfloat16": ml_dtypes.bfloat16, "float8e4m3fn": ml_dtypes.float8_e4m3fn,
}  # fmt: skip


def measured(element: str, old: bytes, new: bytes, count: int) -> WeightChange | None:
    side = ModelSide(model([]), "empty")
    type = TensorType(element, (count,))
    return compare_data(
        TensorRef(type, RawData(old), "w", side.reader),
        TensorRef(type, RawData(new), "w", side.reader),
    )


def expected_statistics(
    old: NDArray[np.generic], new: NDArray[np.generic]
) -> tuple[int, float, float]:
    """Return the number of changes, the largest and the mean difference, element by element."""
    distances = []
    changed = 0
    for one, other in zip(old.tolist(), new.tolist(), strict=True):
        if isinstance(one, complex) and isinstance(other, complex):
            distances.append(abs(one - other))
        else:
            distances.append(abs(float(one) - float(other)))
        changed += one != other
    return changed, max(distances), sum(distances) / len(distances)


@pytest.mark.parametrize("element", DTYPES)
def test_figures_equal_those_of_single_elements(element: str) -> None:
    source = np.random.default_rng(1)
    old = source.integers(0, 2 if element == "bool" else 100, 1000).astype(DTYPES[element])
    new = old.copy()
    new[[3, 500, 999]] = (~old[[3, 500, 999]] if element == "bool"
                          else old[[3, 500, 999]] // 2 + np.ones(3, old.dtype)
                          if element != "complex64" else old[[3, 500, 999]] + 2j)  # fmt: skip
    result = measured(element, old.tobytes(), new.tobytes(), 1000)
    changed, largest, mean = expected_statistics(old, new)
    assert changed
    assert result is not None
    assert (result.elements, result.changed) == (1000, changed)
    assert result.max_abs == pytest.approx(largest)
    assert result.mean_abs == pytest.approx(mean)


@settings(deadline=None, max_examples=draws(60))
@given(st.sampled_from([(4, "int4"), (4, "uint4"), (2, "int2"), (2, "uint2")]), st.data())
def test_packed_integers_are_compared(kind: tuple[int, str], data: st.DataObject) -> None:
    bits, element = kind
    low = -(1 << bits - 1) if element[0] == "i" else 0
    high = low + (1 << bits) - 1
    values = st.lists(st.integers(low, high), min_size=9, max_size=9)
    old, new = data.draw(values), data.draw(values)

    def packed(numbers: list[int]) -> bytes:
        whole = sum((number & (1 << bits) - 1) << bits * i for i, number in enumerate(numbers))
        return whole.to_bytes((9 * bits + 7) // 8, "little")

    result = measured(element, packed(old), packed(new), 9)
    if old == new:
        assert result is None
        return
    changed, largest, mean = expected_statistics(np.array(old), np.array(new))
    assert result is not None
    assert (result.changed, result.max_abs) == (changed, largest)
    assert result.mean_abs == pytest.approx(mean)


def test_differences_of_large_integers_are_not_zero() -> None:
    old, new = np.array([2**53, 7]), np.array([2**53 + 1, 7])
    result = measured("int64", old.tobytes(), new.tobytes(), 2)
    assert result == WeightChange(2, 1, 1.0, 0.5)


def test_changes_in_every_block_are_counted() -> None:
    old = np.zeros(2 * BLOCK + 5, np.float32)
    new = old.copy()
    new[[0, BLOCK - 1, BLOCK, 2 * BLOCK + 4]] = [1, 2, 3, 8]
    result = measured("float", old.tobytes(), new.tobytes(), len(old))
    assert result == WeightChange(len(old), 4, 8.0, 14 / len(old), 0, 0)


def test_nans_and_infinities_are_counted() -> None:
    old = np.array([1, np.nan, np.inf, np.inf, 0, 5], np.float32)
    new = np.array([np.nan, np.nan, np.inf, -np.inf, -0.0, 5], np.float32)
    result = measured("float", old.tobytes(), new.tobytes(), 6)
    assert result is not None
    assert result.changed == 3  # -0.0 too: its bits differ from 0.0
    assert (result.old_nans, result.new_nans) == (1, 2)
    assert result.max_abs == float("inf")


def test_weights_of_another_type_are_called_cast() -> None:
    result = diff_of(*[tensor_model(helper.make_tensor("w", kind, [3], [1.0, 2.0, 0.1]))
                     for kind in (TensorProto.FLOAT, TensorProto.FLOAT16)])  # fmt: skip
    (item,) = result.items
    assert {(f.path, f.category) for f in item.fields} >= {("data_type", "model")}
    (weights,) = [f.weights for f in item.fields if f.weights is not None]
    assert (weights.elements, weights.how) == (3, "cast from float to float16")
    assert weights.max_abs is None


# ---- Where data is --------------------------------------------------------------------------


def tensor_model(*tensors: onnx.TensorProto) -> bytes:
    value = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    node = helper.make_node("Identity", [tensors[0].name], ["y"])
    graph = helper.make_graph([node], "g", [], [value], list(tensors))
    result: bytes = helper.make_model(graph).SerializeToString()
    return result


def floats(values: NDArray[np.float32], name: str = "w", *, raw: bool = True) -> onnx.TensorProto:
    data = values.tobytes() if raw else values.tolist()
    return helper.make_tensor(name, TensorProto.FLOAT, values.shape, data, raw=raw)


def test_a_renamed_tensor_is_found_by_its_content() -> None:
    values = np.arange(300, dtype=np.float32)
    result = diff_of(tensor_model(floats(values)), tensor_model(floats(values, "v")))
    assert result.verdict == "names-differ"
    assert [(r.kind, r.old, r.new) for r in result.renames] == [("initializer", "w", "v")]


def test_a_renamed_and_changed_tensor_is_found_by_its_use() -> None:
    values = np.arange(300, dtype=np.float32)
    result = diff_of(tensor_model(floats(values)), tensor_model(floats(values + 1, "v")))
    assert [(r.kind, r.old, r.new) for r in result.renames] == [("initializer", "w", "v")]
    (item,) = result.items
    assert item.fields[0].weights == WeightChange(300, 300, 1.0, 1.0, 0, 0)


def test_typed_and_raw_data_are_the_same_values() -> None:
    values = np.arange(30, dtype=np.float32)
    result = diff_of(tensor_model(floats(values, raw=False)), tensor_model(floats(values)))
    assert result.verdict == "stored-differently"
    (stored,) = result.stored
    assert (stored.what, stored.old, stored.new) == ("initializer.data", "float_data", "raw_data")


@pytest.mark.parametrize("weights", ["section", "store", "safetensors", "inline"])
def test_texts_are_compared_with_their_weights(tmp_path: Path, weights: str) -> None:
    values = np.arange(3000, dtype=np.float32)
    old, new = tmp_path / "old.onnx", tmp_path / "new.onnx"
    old.write_bytes(tensor_model(floats(values)))
    new.write_bytes(tensor_model(floats(values * np.float32(1.5))))
    for path in (old, new):
        options = ["--weights", weights, "--force"]
        assert run("from-binary", *options, path).status == 0
    texts = [path.with_suffix(".onnxtxt") for path in (old, new)]
    assert compare(ModelSide.of_file(old), ModelSide.of_file(texts[0])).verdict == "same"
    result = compare(*map(ModelSide.of_file, texts))
    (item,) = result.items
    change = item.fields[0].weights
    assert change is not None
    assert (change.elements, change.changed, change.max_abs) == (3000, 2999, 1499.5)


def test_missing_weights_are_noted(tmp_path: Path) -> None:
    texts = []
    for index in range(2):
        path = tmp_path / f"{index}.onnx"
        path.write_bytes(tensor_model(floats(np.arange(300, dtype=np.float32) + index)))
        assert run("from-binary", "--weights", "store", path).status == 0
        texts.append(path.with_suffix(".onnxtxt"))
    for blob in (tmp_path / "0.weights").iterdir():
        blob.unlink()
    # Digests tell whether blobs are the same, wherever they are.
    assert compare(ModelSide.of_file(texts[0]), ModelSide.of_file(texts[0])).verdict == "same"
    (item,) = compare(*map(ModelSide.of_file, texts)).items
    (change,) = item.fields
    assert change.old is not None
    assert change.old.startswith('blob"')
    assert change.weights is not None
    assert "is missing" in (change.weights.note or "")


def test_texts_printed_without_weights_are_noted() -> None:
    texts = [
        onnxtext.from_binary(
            tensor_model(floats(np.arange(300, dtype=np.float32) + index)), weights="none"
        )
        for index in range(2)
    ]
    result = compare(*[ModelSide.of_text(text, label=f"{i}.txt") for i, text in enumerate(texts)])
    assert result.verdict == "differ"
    assert result.notes == tuple(f"{i}.txt was printed without its weights" for i in (0, 1))
    assert compare(ModelSide.of_text(texts[0]), ModelSide.of_text(texts[0])).verdict == "same"


def external(directory: Path, values: NDArray[np.float32]) -> Path:
    directory.mkdir()
    path = directory / "m.onnx"
    proto = onnx.ModelProto.FromString(tensor_model(floats(values)))
    onnx.save(proto, path, save_as_external_data=True, location="w.bin", size_threshold=0)
    return path


def test_external_data_is_compared(tmp_path: Path) -> None:
    values = np.arange(3000, dtype=np.float32)
    old, same = external(tmp_path / "a", values), external(tmp_path / "b", values)
    changed = external(tmp_path / "c", values + 1)
    embedded = tmp_path / "e.onnx"
    embedded.write_bytes(tensor_model(floats(values)))
    assert compare(ModelSide.of_file(old), ModelSide.of_file(same)).verdict == "same"
    # The files of the models are the same bytes; their data is not.
    assert old.read_bytes() == changed.read_bytes()
    (item,) = compare(ModelSide.of_file(old), ModelSide.of_file(changed)).items
    assert item.fields[0].weights == WeightChange(3000, 3000, 1.0, 1.0, 0, 0)
    result = compare(ModelSide.of_file(old), ModelSide.of_file(embedded))
    assert result.verdict == "stored-differently"
    (old.parent / "w.bin").unlink()
    result = compare(ModelSide.of_file(old), ModelSide.of_file(same))
    assert result.verdict == "same"
    assert "No such file" in result.notes[0]
    assert compare(ModelSide.of_file(old), ModelSide.of_file(embedded)).verdict == "differ"


@pytest.mark.parametrize("other", ['external("b.bin", 0, 8)', "[1, 2]"])
def test_another_reference_to_unknown_data_is_one_change(other: str) -> None:
    text = "g () => () <float[2] w = {0}> {{ y = A <t = float[2] {0}> () }}"
    old, new = [ModelSide.of_text(text.format(data)) for data in ('external("a.bin", 0, 8)', other)]
    result = compare(old, new)
    assert [len(item.fields) for item in result.items] == [1, 1]
    assert result.stored == ()


def test_paths_outside_of_the_directory_are_rejected(tmp_path: Path) -> None:
    (tmp_path / "secret.bin").write_bytes(bytes(16))
    inside = tmp_path / "inside"
    inside.mkdir()
    texts = []
    for index, name in enumerate(("../secret.bin", "w.bin")):
        tensor = floats(np.zeros(4, np.float32))
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value=name)
        texts.append(inside / f"{index}.onnx")
        texts[-1].write_bytes(tensor_model(tensor))
    (inside / "w.bin").write_bytes(bytes(16))
    result = compare(*map(ModelSide.of_file, texts))
    assert result.verdict == "differ"
    assert "leads out of" in str([f.weights for item in result.items for f in item.fields])


def test_blobs_are_compared_by_digest() -> None:
    side = ModelSide(model([]), "empty")
    type = TensorType("float", (3,))
    digest = "0123456789abcdef" * 4
    old, new = (TensorRef(type, Blob(digest[:size]), "w", side.reader) for size in (32, 16))
    assert compare_data(old, new) is None


def test_lists_of_strings_with_different_missing_blobs_differ() -> None:
    text = """<onnxtext: 1, ir_version: 10, opset_import: ["my": 1]>
g (float x) => (float y) {
  y = my.F <s = [blob"aaaaaaaaaaaaaaaa", "x"]> (x)
}
"""
    (item,) = onnxtext.diff(text, text.replace("a" * 16, "b" * 16)).items
    assert (item.kind, item.actions) == ("node", ("changed",))
    assert onnxtext.diff(text, text).verdict == "same"


def test_lists_are_replaced_in_graphs_with_missing_weights_and_names_that_are_not_utf_8() -> None:
    text = """<ir_version: 10, opset_import: [21]>
@set(input: [{name: "q"}])
g (float[100] b"\\x80") => (float[100] y) <float[100] w = blob"abcdabcdabcdabcd"> {
  y = Add (b"\\x80", w)
}
"""
    (item,) = onnxtext.diff(text, text.replace("Add", "Sub")).items
    assert (item.kind, item.actions) == ("node", ("changed",))
