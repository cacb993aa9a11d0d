# SPDX-License-Identifier: Apache-2.0
"""Texts for reading, made without a process; `tests/cli/test_show.py` runs the command."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

import onnxtext
from onnxtext.ast.model import Graph, Node
from onnxtext.show_model import load_model as reading_module
from onnxtext.show_model.annotate_text import annotate
from onnxtext.show_model.find_bodies import NamedBody
from onnxtext.show_model.load_model import read_model
from onnxtext.show_model.paths_between_values import cut_graph
from onnxtext.show_model.print_part import PartOptions, part_text
from onnxtext.show_model.show_error import ShowError
from tests.corpus import EXAMPLES, SHARED
from tests.seeds import draws

STATISTICS = re.compile(r" # (min .*|[\d,]+ bytes)$", re.MULTILINE)


def weighted(count: int = 300) -> bytes:
    """A model with a large weight, in an `If`, a function and metadata."""
    weight = numpy_helper.from_array(np.arange(count, dtype=np.float32), "w")
    float_type = TensorProto.FLOAT
    nodes = [
        helper.make_node("Add", ["x", "w"], ["a"], name="first"),
        helper.make_node(
            "If",
            ["flag"],
            ["z"],
            name="choice",
            then_branch=helper.make_graph(
                [helper.make_node("Exp", ["a"], ["p"])],
                "yes",
                [],
                [helper.make_tensor_value_info("p", float_type, [count])],
            ),
            else_branch=helper.make_graph(
                [helper.make_node("Abs", ["x"], ["q"])],
                "no",
                [],
                [helper.make_tensor_value_info("q", float_type, [count])],
            ),
        ),
        helper.make_node("Relu", ["z"], ["y"], name="last"),
        helper.make_node("Twice", ["x"], ["unused"], domain="local"),
    ]
    graph = helper.make_graph(
        nodes,
        "main",
        [
            helper.make_tensor_value_info("x", float_type, [count]),
            helper.make_tensor_value_info("flag", TensorProto.BOOL, []),
        ],
        [helper.make_tensor_value_info("y", float_type, [count])],
        [weight],
    )
    function = helper.make_function(
        "local", "Twice", ["i"], ["o"], [helper.make_node("Add", ["i", "i"], ["o"])],
        [helper.make_opsetid("", 21)],
    )  # fmt: skip
    model = helper.make_model(graph, functions=[function])
    nodes[0].metadata_props.add(key="pkg.torch.onnx.stack_trace", value="a\nb")
    model.graph.node[0].CopyFrom(nodes[0])
    return model.SerializeToString()


def reading_text(data: bytes) -> str:
    """What `from-binary --weights none --metadata none` prints, without the `encoding` section."""
    text = onnxtext.from_binary(data, weights="none", metadata="none")
    return re.sub(r"\nencoding \{.*?\n\}\n", "", text, flags=re.DOTALL)


def shown(data: bytes, name: str, base: Path) -> str:
    reading = read_model(data, name, base)
    text = part_text(reading, PartOptions())
    return "".join(annotate(text, reading, color=False, terminal=False))


@pytest.mark.parametrize("weights", ["section", "inline", "store", "safetensors"])
def test_a_text_is_shown_like_its_binary(weights: Any, tmp_path: Path) -> None:
    """Weights in the text, in a store beside it, or in a safetensors file."""
    data = weighted()
    text = tmp_path / "m.onnxtxt"
    onnxtext.dump(onnx.load_from_string(data), text, weights=weights)
    assert shown(text.read_bytes(), text.name, tmp_path) == shown(data, "m.onnx", tmp_path)


def test_external_data_has_statistics(tmp_path: Path) -> None:
    """Statistics are shown if the file exists; otherwise only the reference is shown."""
    model = onnx.load_from_string(weighted())
    options: Any = {"save_as_external_data": True, "location": 'odd "name".bin'}
    onnx.save(model, tmp_path / "m.onnx", size_threshold=0, **options)
    data = (tmp_path / "m.onnx").read_bytes()
    (line,) = re.findall("^.* w =? .*$", shown(data, "m.onnx", tmp_path), re.MULTILINE)
    assert 'external("odd \\"name\\".bin", 0, 1200)' in line
    assert STATISTICS.search(line)
    assert "min 0, max 299, mean 149.5" in line
    (tmp_path / 'odd "name".bin').unlink()
    assert shown(data, "m.onnx", tmp_path) == reading_text(data)


@pytest.mark.parametrize("path", EXAMPLES, ids=str)
def test_examples_are_shown_with_statistics(path: Path) -> None:
    reading = read_model(path.read_bytes(), path.name, path.parent)
    text = part_text(reading, PartOptions())
    result = shown(path.read_bytes(), path.name, path.parent)
    data = onnxtext.to_binary(path.read_text(encoding="utf-8"), base_dir=path.parent)
    assert STATISTICS.sub("", result) == reading_text(data)
    colored = "".join(annotate(text, reading, color=True, terminal=True))
    assert re.sub(r"\x1b\[[\d;]*m", "", colored) == result


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Graphs of nodes with up to three inputs among the values before them."""
    nodes: list[Node] = []
    for index in range(draw(st.integers(1, 12))):
        count = draw(st.integers(0, 3))
        inputs = [f"v{draw(st.integers(-2, index - 1))}" for _ in range(count)]
        nodes.append(Node("Op", tuple(inputs), (f"v{index}",)))
    return Graph("g", nodes=nodes)


@given(graphs(), st.data())
@settings(max_examples=draws(150))
def test_a_cut_has_exactly_the_nodes_on_paths(graph: Graph, data: st.DataObject) -> None:
    """The cut is compared with an enumeration of all paths."""
    names = [node.outputs[0] for node in graph.nodes]
    start, end = data.draw(st.sampled_from(names)), data.draw(st.sampled_from(names))
    makers = {node.outputs[0]: node for node in graph.nodes}

    def leads(name: str, goal: str) -> bool:
        """Return whether the value `name` is `goal` or is computed from it."""
        return name == goal or any(leads(used, goal) for used in inputs(name))

    def inputs(name: str) -> tuple[str, ...]:
        return makers[name].inputs if name in makers else ()

    expected = [
        node
        for node in graph.nodes
        if any(leads(used, start) for used in node.inputs) and leads(end, node.outputs[0])
    ]
    try:
        found = cut_graph([NamedBody(graph, "")], [start], [end], "m").graph
    except ShowError:
        assert not expected
        return
    assert list(found.nodes) == expected
    result = {node.outputs[0] for node in expected}
    used = {name for node in expected for name in node.inputs}
    assert {value.name for value in found.inputs} == used - result


def test_statistics_are_computed_for_what_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Digests and statistics are computed only for the weights that are shown."""
    described: list[int] = []
    hashed: list[int] = []
    sha256 = hashlib.sha256

    def describe(element: str, data: bytes) -> str:
        described.append(len(data))
        return "min"

    def digest(data: bytes) -> Any:
        hashed.append(len(data))
        return sha256(data)

    monkeypatch.setattr(reading_module, "describe_briefly", describe)
    monkeypatch.setattr(hashlib, "sha256", digest)
    tensors = [numpy_helper.from_array(np.arange(100.0) + i, f"w{i}") for i in range(50)]
    graph = helper.make_graph([], "g", [], [], tensors)
    data = helper.make_model(graph).SerializeToString()
    reading = read_model(data, "m.onnx", None)
    pieces = annotate(part_text(reading, PartOptions()), reading, color=False, terminal=False)
    assert described == hashed == []
    while "w3" not in next(pieces):
        pass
    assert len(described) == len(hashed) == 3


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::onnxtext.OnnxTextWarning")
@pytest.mark.skipif(SHARED is None, reason="no shared data: models")
def test_real_models_are_shown_with_statistics() -> None:
    assert SHARED is not None
    paths = sorted([*SHARED.rglob("models/**/*.onnx"), *SHARED.rglob("exports/*.onnx")])
    assert len(paths) > 100
    for path in paths:
        data = path.read_bytes()
        try:
            expected = reading_text(data)
        except onnxtext.OnnxTextError:
            with pytest.raises(onnxtext.OnnxTextError):
                read_model(data, path.name, path.parent)
            continue
        assert STATISTICS.sub("", shown(data, path.name, path.parent)) == expected, path
