# SPDX-License-Identifier: Apache-2.0
"""Large tensors, printed in blocks, have the same line breaks as row by row."""

from __future__ import annotations

from math import prod

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import onnxtext
from onnxtext.ast.tensors_and_attributes import RawData
from onnxtext.ast.types import TensorType
from onnxtext.printer import large_tensors
from onnxtext.printer import types_and_tensors as values_printer
from onnxtext.printer.large_tensors import flat_parts, nested_parts
from onnxtext.printer.layout import STEP, filled
from onnxtext.printer.types_and_tensors import data_text, nested_lines
from onnxtext.tensor.elements import ELEMENTS
from onnxtext.tensor.print_elements import format_rows
from tests.laws.test_models import check_layout

INT64 = ELEMENTS["int64"]


@given(st.data(), st.sampled_from([1, 40, 1 << 15]), st.sampled_from(["", STEP * 2]))
def test_blocks_equal_single_rows(data: st.DataObject, block: int, indent: str) -> None:
    shape = data.draw(st.lists(st.integers(2, 4), min_size=1, max_size=3))
    shape.append(data.draw(st.integers(2, 70)))
    rows = prod(shape[:-1])
    widest = data.draw(st.lists(st.integers(0, 14), min_size=rows, max_size=rows))
    chance = np.random.default_rng(data.draw(st.integers(0, 99)))
    digits = [chance.integers(0, most + 1, shape[-1]) for most in widest]
    raw = (10 ** np.concatenate(digits)).astype(np.int64).tobytes()
    lines = nested_lines(format_rows(INT64, raw, shape[-1]), shape[:-1], indent)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(large_tensors, "_BLOCK", block)
        found = "".join(nested_parts(INT64, raw, shape, indent))
        count = prod(shape)
        flat = "".join(flat_parts(INT64, raw, count, indent))
    assert found == "\n".join(lines)[len(indent) :]
    assert flat == filled(format_rows(INT64, raw, 1, count), "[]", indent, 0)


@pytest.mark.parametrize(
    "shape", [(40, 17), (3, 5, 33), (2000, 16), (7, 1, 900), (9001,), (70, 8, 3, 3)]
)
@pytest.mark.parametrize("kind", ["float", "int8", "int4", "bool", "complex64", "float16"])
def test_the_block_size_does_not_change_the_text(shape: tuple[int, ...], kind: str) -> None:
    chance = np.random.default_rng(1)
    values = chance.standard_normal(shape, np.float32)
    values[::3] = 1.5  # short rows among long ones
    values[-1] = np.inf
    raw = {
        "float": values.tobytes(),
        "int8": chance.integers(-99, 99, values.size, np.int8).tobytes(),
        "int4": chance.integers(0, 16, (values.size + 1) // 2, np.uint8).tobytes(),
        "bool": (values > 0).tobytes(),
        "complex64": (values * (1 + 1j)).astype(np.complex64).tobytes(),
        "float16": values.astype(np.float16).tobytes(),
    }[kind]
    if kind == "int4" and values.size % 2:
        raw = raw[:-1] + bytes([raw[-1] & 15])
    whole = TensorType(kind, shape)
    texts = set()
    for large, block in ((0, 1), (0, 100), (0, 1 << 20), (1 << 20, 1)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(values_printer, "LARGE", large)
            patch.setattr(large_tensors, "_BLOCK", block)
            texts.add(data_text(whole, RawData(raw), STEP, 0))
    (text,) = texts
    (value,) = onnxtext.parse(f"g () => () <{kind}{list(shape)} w = {text}> {{}}").graph.values
    assert value.data == RawData(raw)


@pytest.mark.parametrize("name", ["a(b", 'a"[', "x[1]", ")(", "\\\\("])
def test_long_dimensions_with_brackets_are_not_broken(name: str) -> None:
    graph = onnx.helper.make_graph([], "g", [], [])
    shape = [name * 60, "N", 'q"' * 60]
    graph.input.append(onnx.helper.make_tensor_value_info("x", 1, shape))
    data = onnx.helper.make_model(graph).SerializeToString()
    text = onnxtext.from_binary(data)
    assert onnxtext.to_binary(text) == data
    assert onnxtext.format_text(text) == text


NAMES = st.text("abcdefgh", min_size=1, max_size=40)
NUMBERS = st.lists(st.integers(0, 10**7), max_size=30)


@st.composite
def odd_models(draw: st.DrawFn) -> onnx.ModelProto:
    """A model with data in several fields of a tensor, with pairs of names, and external data."""
    model = onnx.ModelProto(ir_version=10)
    model.graph.name = "g"
    training = model.training_info.add()
    annotation = model.graph.quantization_annotation.add(tensor_name=draw(NAMES))
    for pairs in (
        training.initialization_binding,
        training.update_binding,
        annotation.quant_parameter_tensor_names,
        model.metadata_props,
    ):
        for key, value in draw(st.lists(st.tuples(NAMES, NAMES), max_size=4)):
            pairs.add(key=key, value=value)
    node = model.graph.node.add(op_type="Op", output=["y"])
    held = node.attribute.add(name=draw(NAMES), type=onnx.AttributeProto.TENSOR)
    for tensor in (model.graph.initializer.add(name=draw(NAMES)), held.t):
        tensor.data_type = 1
        tensor.dims.extend(draw(st.lists(st.integers(0, 10**6), max_size=4)))
        if draw(st.booleans()):
            tensor.data_location = onnx.TensorProto.EXTERNAL
            values = [draw(NAMES), *[str(number) for number in draw(NUMBERS)[:2]]]
            for key, value in zip(("location", "offset", "length"), values, strict=False):
                tensor.external_data.add(key=key, value=value)
            continue
        for field in ("float_data", "int32_data", "int64_data", "uint64_data", "double_data"):
            getattr(tensor, field).extend(draw(NUMBERS))
        tensor.string_data.extend([item.encode() for item in draw(st.lists(NAMES, max_size=6))])
    return model


@given(odd_models())
def test_no_line_is_too_long(model: onnx.ModelProto) -> None:
    data = model.SerializeToString()
    text = onnxtext.from_binary(data)
    check_layout(text)
    assert onnxtext.to_binary(text) == data
    assert onnxtext.format_text(text) == text
