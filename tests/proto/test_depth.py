# SPDX-License-Identifier: Apache-2.0
"""Nested graphs and types become a model that protobuf reads, or are rejected."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

import onnx
import pytest

import onnxtext


@pytest.mark.parametrize("graphs", [1, 12, 20, 22, 25, 31, 33])
@pytest.mark.parametrize("types", [1, 8, 12, 19, 20, 21, 48, 50])
def test_nested_models_are_readable_or_rejected(graphs: int, types: int) -> None:
    type = "seq(" * (types - 1) + "float[N]" + ")" * (types - 1)
    text = f"g ({type} x) => ({type} y) {{}}"
    for _ in range(graphs - 1):
        text = f"g () => () {{ y = If <b = {text}> () }}"
    if 3 * graphs + 2 * types > 75:
        with contextlib.suppress(onnxtext.OnnxTextError):
            assert onnx.ModelProto.FromString(onnxtext.to_binary(text)).HasField("graph")
    else:
        assert onnx.ModelProto.FromString(onnxtext.to_binary(text)).HasField("graph")


def test_types_nest_at_most_49_levels() -> None:
    def graph(levels: int) -> str:
        return f"g ({'seq(' * levels}float[N]{')' * levels} x) => () {{}}"

    assert onnxtext.parse(graph(49)).graph.inputs[0].name == "x"
    with pytest.raises(onnxtext.OnnxTextError, match="more than 49 levels"):
        onnxtext.parse(graph(50))


@pytest.mark.parametrize("part", ["ModelProto", "GraphProto", "NodeProto"])
def test_errors_of_deep_messages_have_no_offset(part: str) -> None:
    """Protobuf writes messages that it does not read; a message of Python has no offsets."""
    model = onnx.ModelProto()
    graph = model.graph
    for _ in range(60):
        graph = graph.node.add(op_type="If").attribute.add(name="then_branch", type="GRAPH").g
    message = {"GraphProto": model.graph, "NodeProto": model.graph.node[0]}.get(part, model)
    for use in (onnxtext.dumps, lambda given: onnxtext.diff(given, given)):
        with pytest.raises(onnxtext.OnnxTextError) as error:
            use(message)
        assert_deep(error.value.diagnostics)
    assert_deep(onnxtext.check(message))


def assert_deep(diagnostics: Sequence[onnxtext.Diagnostic]) -> None:
    (diagnostic,) = diagnostics
    assert (diagnostic.code, diagnostic.file) == ("too-deep", "<message>")
    assert diagnostic.offset is None
    assert "byte" not in str(diagnostic)
