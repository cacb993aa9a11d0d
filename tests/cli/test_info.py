# SPDX-License-Identifier: Apache-2.0
"""`onnxtext info` and the summary behind it."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path

import onnx
import pytest
from onnx import numpy_helper

import onnxtext
from benchmarks.mutants import graphs
from onnxtext.info import ModelSummary, summarize
from onnxtext.proto.decode.lift import lift_model
from tests.cli.command import BAD_TEXT, NO_MODEL, TEXT, binary, run
from tests.corpus import onnx_directory, shared_model, shared_models, wheel_models

MODELS = [
    *[(onnx_directory() / name).read_bytes() for name in wheel_models()[::4]],
    *[shared_model(name) for name in shared_models()[::5]],
]

WEIGHTS = """\
<
  onnxtext: 1, ir_version: 10, opset_import: ["": 21, "my.ops": 1], producer_name: "me",
  producer_version: "3", metadata_props: ["k": "v"],
>
main (float[N, ?] x, seq(int64[M]) s, float[2] d = [1, 2]) => (float[N, K] y) <
  float[3, 4] w = [0, ...],
  int4[3] q = [1, 2, 3],
  string[2] t = {"ab", "c"},
  float[1000] far = ["location": "w.bin", "offset": "4096"],
  float[7] stored = blob"00112233445566778899aabbccddeeff",
> {
  c = Constant <value = float[5] [1, ...]> ()
  y = If <
    then_branch = inner () => (float z) { z = my.ops.F (c) },
    else_branch = inner () => (float z) <float[2] w2 = [1, 2]> { z = Relu (c) z2 = Relu (z) },
  > (b)
}
<domain: "my.ops", opset_import: ["": 21]>
F (a) => (b) { b = Relu (a) }
resources { store: "m.weights" }
"""


def view(data: bytes) -> ModelSummary:
    return summarize(lift_model(data))


@pytest.mark.parametrize("at", range(len(MODELS)))
def test_summaries_of_real_models_are_right(at: int) -> None:
    model = onnx.ModelProto.FromString(MODELS[at])
    found = view(MODELS[at])
    every = [graph for owner in (model.graph, *model.functions) for graph in graphs(owner)]
    trained = [
        graph
        for training in model.training_info
        for owner in (training.initialization, training.algorithm)
        for graph in graphs(owner)
    ]
    nodes = [node for graph in (*every, *trained) for node in graph.node]
    assert found.nodes == len(nodes) == sum(found.operators.values())
    names = Counter(node.op_type for node in nodes)
    assert Counter(
        {key: sum(found.operators[name] for name in found.operators if name.split(".")[-1] == key)
         for key in names}
    ) == names  # fmt: skip
    assert [value.name for value in found.inputs] == [value.name for value in model.graph.input]
    assert [value.name for value in found.outputs] == [value.name for value in model.graph.output]
    assert len(found.functions) == len(model.functions)
    assert found.subgraphs == len(every) - 1 - len(model.functions) + sum(
        len(list(graphs(owner))) - 1
        for training in model.training_info
        for owner in (training.initialization, training.algorithm)
    )
    assert sum(amount.size for amount in found.types.values()) == found.parameters.size
    assert sum(amount.size for amount in found.places.values()) == found.parameters.size
    dense = [tensor for graph in every if hasattr(graph, "initializer")
             for tensor in graph.initializer]  # fmt: skip
    if not trained and not any(attribute.HasField("t") or attribute.tensors
                               for node in nodes for attribute in node.attribute):  # fmt: skip
        assert found.parameters.tensors == len(dense) + sum(
            len(graph.sparse_initializer) for graph in every if hasattr(graph, "initializer")
        )
        assert found.parameters.elements >= sum(math.prod(tensor.dims) for tensor in dense)


@pytest.mark.parametrize("at", range(0, len(MODELS), 3))
def test_a_text_and_its_model_have_the_same_summary(at: int) -> None:
    text = onnxtext.from_binary(MODELS[at])
    assert summarize(onnxtext.parse(text)) == view(MODELS[at])


def test_sizes_are_those_of_numpy() -> None:
    for data in MODELS:
        model = onnx.ModelProto.FromString(data)
        tensors = {tensor.name: tensor for tensor in model.graph.initializer}
        for weight in view(data).largest:
            tensor = tensors.get(weight.name)
            if tensor is None or weight.place != "in the file" or weight.element == "string":
                continue
            if tensor.data_location == onnx.TensorProto.EXTERNAL:
                continue
            array = numpy_helper.to_array(tensor)
            assert weight.elements == array.size
            if weight.element in ("float", "double", "int64", "int32", "uint8", "int8"):
                assert weight.size == array.nbytes


def test_the_summary_shows_every_part(tmp_path: Path) -> None:
    (tmp_path / "m.onnxtxt").write_text(WEIGHTS)
    result = run("info", "m.onnxtxt", cwd=tmp_path)
    assert (result.status, result.err) == (0, "")
    assert result.out.decode().splitlines()[1:] == [
        "from        me 3, IR version 10",
        "opsets      ai.onnx 21, my.ops 1",
        "graph       main, 6 nodes, 2 nested graphs, 1 metadata entry",
        "inputs      x  float[N, ?]",
        "            s  seq(int64[M])",
        "            d  float[2] = default",
        "outputs     y  float[N, K]",
        "dimensions  N: x[0], y[0]",
        "            M: s[0]",
        "            K: y[1]",
        "functions   my.ops.F  1 node",
        "operators   Relu      3",
        "            Constant  1",
        "            If        1",
        "            my.ops.F  1",
        "parameters  8 tensors, 1,033 elements, 4.1 kB",
        "types       float   6 tensors, 1,028 elements, 4.1 kB",
        "            string  1 tensor, 2 elements, 3 B",
        "            int4    1 tensor, 3 elements, 2 B",
        "weights     w.bin        1 tensor, 1,000 elements, 4.0 kB",
        "            in the file  6 tensors, 26 elements, 89 B",
        "            m.weights    1 tensor, 7 elements, 28 B",
        "largest      4.0 kB  far  float[1000]",
        "               48 B  w  float[3, 4]",
        "               28 B  stored  float[7]",
        "               20 B  c.value  float[5]",
        "                8 B  d  float[2]",
        "                8 B  w2  float[2]",
        "                3 B  t  string[2]",
        "                2 B  q  int4[3]",
    ]


def test_several_files_are_shown_side_by_side(tmp_path: Path) -> None:
    (tmp_path / "a.onnx").write_bytes(binary())
    (tmp_path / "b.onnxtxt").write_text(TEXT.replace("y = Relu (x)", "t = Tanh (x) y = Tanh (t)"))
    result = run("info", "a.onnx", "b.onnxtxt", "a.onnx", cwd=tmp_path)
    lines = [line.split() for line in result.out.decode().splitlines()]
    assert lines[0] == ["file", "a.onnx,", "61", "B", "b.onnxtxt,", "122", "B"]
    assert ["operators", "Tanh", "-", "Tanh", "2"] in lines
    assert ["Relu", "1", "Relu", "-"] in lines


@pytest.mark.parametrize("words", [["--output-format", "json"], ["--json"]], ids="-".join)
def test_json_has_the_summary(tmp_path: Path, words: list[str]) -> None:
    (tmp_path / "a.onnx").write_bytes(binary())
    result = run("info", *words, "a.onnx", cwd=tmp_path)
    [found] = json.loads(result.out)
    assert found["file"] == "a.onnx"
    assert found["operators"] == {"Relu": 1}
    assert found["dimensions"] == {"N": ["x[0]", "y[0]"]}
    assert found["parameters"] == {"tensors": 0, "elements": 0, "size": 0}


def test_files_with_errors_do_not_stop_the_others(tmp_path: Path) -> None:
    (tmp_path / "a.onnx").write_bytes(binary())
    (tmp_path / "b.onnx").write_bytes(NO_MODEL)
    (tmp_path / "c.onnxtxt").write_text(BAD_TEXT)
    result = run(
        "info", "--output-format", "concise", "b.onnx", "c.onnxtxt", "a.onnx", cwd=tmp_path
    )
    assert result.status == 1
    assert result.out.decode().startswith("file        a.onnx")
    assert [line.split(":")[0] for line in result.err.splitlines()] == ["b.onnx", "c.onnxtxt"]
    assert run("info", "missing.onnx", cwd=tmp_path).status == 2


def test_hostile_models_are_summarized(tmp_path: Path) -> None:
    """Huge and negative sizes, unknown types, and names with control characters."""
    tensors = 'float[9223372036854775807, 9223372036854775807] "\\x1b[31m" = [],'
    text = f"<onnxtext: 1> g () => () < {tensors} > {{ }}"
    model = onnxtext.parse(text.replace("= []", '= ["location": "\\x07"]'))
    assert summarize(model).parameters.elements == 9223372036854775807**2
    proto = onnx.ModelProto()
    for kind, dims in ((99, [2]), (1, [-3, -5]), (1, [-1]), (0, [])):
        proto.graph.initializer.add(name="\x1b[31m", data_type=kind, dims=dims)
    (tmp_path / "m.onnx").write_bytes(proto.SerializeToString())
    result = run("info", "m.onnx", cwd=tmp_path)
    assert result.status == 0
    assert b"\x1b" not in result.out


def test_info_reads_standard_input(tmp_path: Path) -> None:
    result = run("info", "-", cwd=tmp_path, stdin=binary())
    assert result.out.decode().startswith("file        <stdin>, 61 B")
