# SPDX-License-Identifier: Apache-2.0
"""No line is too long; lists of numbers are broken into lines like all other lists."""

from __future__ import annotations

import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import onnxtext
from onnxtext.format.format_in_full import write_document
from onnxtext.printer import print_model
from onnxtext.printer.graphs_and_nodes import GraphPrinter
from onnxtext.printer.layout import STEP, WIDTH, fill_list, fill_list_text, wrap_items, wrap_text
from tests.laws.test_models import check_layout

NUMBER_TEXTS = st.text("0123456789.-e", min_size=1, max_size=25).filter(lambda text: text != "...")
ITEMS = st.lists(NUMBER_TEXTS, min_size=1, max_size=60)


@given(ITEMS, st.integers(1, 60))
def test_joined_items_break_like_separate_ones(items: list[str], width: int) -> None:
    assert wrap_text(", ".join(items), width) == wrap_items(items, width)


@given(st.just([]) | ITEMS, st.sampled_from(["", STEP * 2]), st.integers(0, 120))
def test_lists_of_joined_items_equal_lists_of_items(
    items: list[str], indent: str, budget: int
) -> None:
    assert fill_list_text(", ".join(items), "[]", indent, budget) == fill_list(
        items, "[]", indent, budget
    )


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


NAME = "model/decoder/layers.0/self_attn/q_proj/MatMul_output_0"
TEXTS = [
    # A lone `@unset` before the name of the main graph.
    """
    @unset(name) "" (
      @doc("d") @set(type: {tensor_type: {elem_type: 1, 999: 7}}) "x/y/z/0/1") => () {}
    """,
    # A node with a function or graph parameter, but without a graph.
    """
    g () => () { y = If (x) <a: graphs = []> }
    """,
    """
    g () => () {}
    <domain: "d"> f <body> (x) => (y) { y = If <then_branch: graph = @body, b: graph> (x) }
    """,
    # A list that repeats a string of several lines.
    """
    g () => () { y = Op <a: strings[64] = [b"a\\nb", ...]> () }
    """,
    # Decorators inside types.
    """
    g (
      float[@denotation(b"a\\nb") N, @denotation("DATA_CHANNEL") 3,
        9223372036854775807, "a long name"] x,
      seq(@denotation("a sequence element with a long denotation, such as of an image") float[N]) y,
      optional(@denotation("a long denotation of an element") float[@denotation("the batch") 1,
        @denotation("the width, with a long denotation") "a width with a long expression, N + 1"]
      ) z,
    ) => () {}
    """,
    # A graph in an attribute whose name does not fit after its decorators.
    f"""
    g () => () {{
      y = If () <then_branch = @doc("a short text") "{NAME[:50]}" () => (a, b, c) {{}}>
      z = If () <branches = [@doc("a short text") "{NAME[:50]}/and/more" (x) => () {{}}]>
    }}
    """,
    # Decorators, names and blobs of tensors in lists and in sparse tensors.
    f"""
    g () => () {{
      y = Op <
        a = [
          float[64] "{NAME}" [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
            21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42,
            43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64],
          @doc("a doc string of medium length") float[9223372036854775807, 9223372036854775807] n,
        ],
        b = float[9223372036854775807, 9223372036854775807, 9223372036854775807, 1, 2, 3] "{NAME}",
        c = @doc("a doc string that is too long to share a line with the tensor, which follows it")
          double[1, 2] "{NAME}" external("weights.bin", 123456789, 16),
        d = sparse_tensor(float[4]) sparse(
          @meta("key": "value", "another": "value") @doc("values")
          float[3] "a/long/name/of/values/0" [1, 2, 4],
          int64[3] [0, 1, 2]),
        e = float "{NAME}/and/a/suffix/that/makes/it/long" = -1.1754943508222875e-38,
        f = sparse_tensor(float[9]) sparse(
          float[3] "{NAME}/and/a/suffix/that/makes/it/long" [1, 2, 4],
          int64[3] [0, 1, 2]),
      > ()
    }}
    """,
]


@pytest.mark.parametrize("text", TEXTS)
def test_every_part_of_a_statement_breaks(text: str) -> None:
    data = onnxtext.to_binary("@meta() <onnxtext: 1>" + text)
    printed = onnxtext.from_binary(data)
    assert max(map(len, printed.split("\n"))) <= WIDTH
    assert onnxtext.to_binary(printed) == data
    assert print_model(onnxtext.parse(printed), GraphPrinter()) == printed
    assert write_document(printed) == printed


def test_a_type_alone_breaks() -> None:
    shape: list[str | int | None] = [9223372036854775807, "N + 1"] * 4
    type = onnx.helper.make_sequence_type_proto(onnx.helper.make_tensor_type_proto(1, shape))
    text = onnxtext.dumps(type)
    assert max(map(len, text.split("\n"))) <= WIDTH
    assert onnxtext.loads(text, onnx.TypeProto) == type
