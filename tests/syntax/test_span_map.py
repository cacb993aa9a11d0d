# SPDX-License-Identifier: Apache-2.0
"""The span map finds every part of a statement."""

from __future__ import annotations

import pytest

import onnxtext
from onnxtext.ast import Graph
from onnxtext.ast.visit import walk_graphs
from onnxtext.source import Source
from onnxtext.syntax.parse import parse_model
from onnxtext.syntax.span_map import NODE_PARTS, map_spans
from tests.corpus import onnx_directory, wheel_models

TEXT = """\
g (float[N, 3] x, y) => (float[N, 3] z) <float[2] w = {1, 2}, float[3] u> {
  # a comment
  @doc("d")
  [label] float[3] "a b", , c = my.ops.Op:f16 <axis = 1, then_branch = t () => (q) {
    q = Relu (x)
  }> (x, "w", , y)
  z = Relu (c)
  <alpha = 1.5>
}
"""


def text_at(source: Source, places: object) -> str:
    span = places.span  # type: ignore[attr-defined]
    return source.text[span.start : span.end]


def test_parts_of_a_node_have_spans() -> None:
    source = Source(TEXT)
    model = parse_model(source)
    first, second = model.graph.nodes
    node = map_spans(source, first.at, "node")
    assert text_at(source, node).startswith('@doc("d")')
    assert text_at(source, node).endswith('(x, "w", , y)')
    assert text_at(source, node.find("label")) == "[label]"
    assert text_at(source, node.find("outputs", 0, "name")) == '"a b"'
    assert text_at(source, node.find("outputs", 0, "type")) == "float[3]"
    assert text_at(source, node.find("outputs", 2)) == "c"
    assert text_at(source, node.find("operator")) == "my.ops.Op"
    assert text_at(source, node.find("operator", 2)) == "Op"
    assert text_at(source, node.find("overload")) == "f16"
    assert text_at(source, node.find("attributes", 0)) == "axis = 1"
    assert text_at(source, node.find("attributes", 0, "value")) == "1"
    assert text_at(source, node.find("attributes", 0, "name")) == "axis"
    items = node.find("names").items
    names = [None if item is None else text_at(source, item) for item in items]
    assert names == ["x", '"w"', None, "y"]
    with pytest.raises(LookupError):
        node.find("names", 2)
    last = map_spans(source, second.at, "node")
    assert text_at(source, last) == "z = Relu (c)\n  <alpha = 1.5>"
    assert set(NODE_PARTS.values()) >= set(node.parts)


def test_nested_statements_have_their_own_spans() -> None:
    source = Source(TEXT)
    graph = parse_model(source).graph.nodes[0].attributes[1].value
    assert isinstance(graph, Graph)
    assert text_at(source, map_spans(source, graph.nodes[0].at, "node")) == "q = Relu (x)"
    assert text_at(source, map_spans(source, graph.outputs[0].at, "value_info")) == "q"


def test_parts_of_values_have_spans() -> None:
    source = Source(TEXT)
    graph = parse_model(source).graph
    values = [*graph.inputs, *graph.outputs, *graph.values]
    assert [text_at(source, map_spans(source, value.at, "value_info")) for value in values] == [
        "float[N, 3] x", "y", "float[N, 3] z", "float[2] w = {1, 2}", "float[3] u",
    ]  # fmt: skip
    declared = map_spans(source, graph.values[0].at, "value_info")
    assert text_at(source, declared.find("type")) == "float[2]"
    assert text_at(source, declared.find("data")) == "{1, 2}"


def test_offsets_without_a_statement_are_errors() -> None:
    with pytest.raises(ValueError, match="no node begins"):
        map_spans(Source("g () => () {}"), 2, "node")


@pytest.mark.parametrize("file", wheel_models()[::10])
def test_every_node_of_real_models_has_spans(file: str) -> None:
    text = onnxtext.from_binary((onnx_directory() / file).read_bytes())
    source = Source(text)
    for graph in walk_graphs(parse_model(source)):
        for node in graph.nodes:
            places = map_spans(source, node.at, "node")
            names = [item for item in places.find("names").items if item is not None]
            assert [text_at(source, item).strip('"') for item in names] == list(node.inputs)
