# SPDX-License-Identifier: Apache-2.0
"""Initializers and `value_info` in any order: no bytes change, and nothing is declared twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import onnxtext
from onnxtext.ast.compact_form import value_infos
from onnxtext.ast.compact_form.list_order import ListOrder, order_of, with_data
from onnxtext.ast.model import Function, Graph, Model
from onnxtext.ast.records import Word
from onnxtext.ast.visit import list_graphs
from onnxtext.diagnostics import OnnxTextError
from onnxtext.printer import print_model
from tests.cli.command import run
from tests.corpus import exports, onnx_directory, shared_model, shared_models, wheel_models

SIZES = st.sampled_from([1, 2, None])


def declare(value: onnx.ValueInfoProto, name: str, size: int | None) -> None:
    value.name = name
    value.type.tensor_type.elem_type = 1
    if size is not None:
        value.type.tensor_type.shape.dim.add(dim_value=size)


@st.composite
def listed(draw: st.DrawFn, *, odd: bool) -> onnx.ModelProto:
    """Draw a model whose `value_info` lists some of its values, in an order of exporters or any."""
    graph = onnx.GraphProto(name="g")
    known: dict[str, list[tuple[str, int | None]]] = {}
    for part, most in (("w", 4), ("x", 3), ("y", 3), ("t", 4)):
        known[part] = [(f"{part}{n}", draw(SIZES)) for n in range(draw(st.integers(0, most)))]
    known["w"] = [(name, 1) for name, _ in known["w"]]
    given_data = [name for name, _ in known["w"]]
    given_data += [name for name, size in known["x"] if size == 1 and draw(st.booleans())]
    if odd:
        given_data += draw(st.lists(st.sampled_from(["x0", "x1", "w0"]), max_size=2))
    for name in draw(st.permutations(given_data)):
        tensor = graph.initializer.add(name=name, dims=[1], data_type=1, raw_data=b"abcd")
        if odd and draw(st.integers(0, 5)) == 0:
            tensor.doc_string = "d"
        if odd and draw(st.integers(0, 5)) == 0:
            tensor.metadata_props.add(key="k", value="v")
    for part, values in (("x", graph.input), ("y", graph.output)):
        for name, size in known[part]:
            declare(values.add(), name, size)
    if draw(st.booleans()):  # an initializer, or an input, is an output too
        known["y"] += draw(
            st.lists(st.sampled_from([*known["w"], *known["x"], ("t0", 1)]), unique=True)
        )
    for name in dict.fromkeys([name for name, _ in [*known["t"], *known["y"]]]):
        if name[0] in "ty":
            graph.node.add(op_type="Op", output=[name])
    parts = draw(st.permutations([draw(st.permutations(v)) if draw(st.booleans()) else v
                                  for v in known.values()]))  # fmt: skip
    infos = [info for part in parts for info in part if draw(st.integers(0, 4))]
    if draw(st.booleans()):
        infos = draw(st.permutations(infos))
    if not odd:
        infos = list(dict.fromkeys(infos))
    elif infos:  # a name may have several values
        name, size = draw(st.sampled_from(infos))
        for values in draw(st.lists(st.sampled_from([graph.input, graph.output]), max_size=3)):
            declare(values.add(), name, size)
    for name, size in infos:
        info = graph.value_info.add()
        declare(info, name, draw(SIZES) if odd and draw(st.booleans()) else size)
        if draw(st.integers(0, 3)) == 0:
            info.metadata_props.add(key="pkg.k", value="v")
        if odd and draw(st.integers(0, 5)) == 0:
            info.doc_string = "d"
    return onnx.ModelProto(ir_version=10, graph=graph)


def kept(model: onnx.ModelProto, metadata: Any) -> Graph:
    """Check that a model keeps its bytes, and its text its layout; return its syntax tree."""
    data = model.SerializeToString()
    text = onnxtext.from_binary(data, metadata=metadata)
    assert onnxtext.to_binary(text) == data
    assert onnxtext.format_text(text) == text
    tree = onnxtext.parse(text)
    assert isinstance(tree, Model)
    return tree.graph


def ambiguous() -> onnx.ModelProto:
    """A model with a list in an order of outputs, one of which has the name of two inputs."""
    graph = onnx.GraphProto(name="g")
    for values, names in ((graph.input, "aa"), (graph.output, "acb"), (graph.value_info, "abc")):
        for name in names:
            declare(values.add(), name, 1)
    return onnx.ModelProto(ir_version=10, graph=graph)


@example(ambiguous(), "auto")
@given(listed(odd=True), st.sampled_from(["auto", "section", "inline"]))
def test_any_list_of_value_infos_is_kept(model: onnx.ModelProto, metadata: Any) -> None:
    kept(model, metadata)


@given(listed(odd=False))
def test_the_native_core_places_types_like_python(model: onnx.ModelProto) -> None:
    """Lists in any order, whose entries may repeat initializers, inputs and outputs."""
    data = model.SerializeToString()
    text = onnxtext.from_binary(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(value_infos, "place_named_types", lambda *_: None)
        assert onnxtext.from_binary(data) == text


@given(listed(odd=False))
def test_no_value_is_declared_twice(model: onnx.ModelProto) -> None:
    assert declared_twice(kept(model, "auto")) == []


@pytest.mark.data
@pytest.mark.filterwarnings("ignore::onnxtext.OnnxTextWarning")
def test_no_value_of_real_models_is_declared_twice() -> None:
    files = [(onnx_directory() / file).read_bytes() for file in wheel_models()]
    files += [shared_model(file) for file in shared_models()]
    files += [path.read_bytes() for path in exports()]
    for data in files:
        tree = onnxtext.parse(onnxtext.from_binary(data))
        if isinstance(tree, Model):
            for graph in list_graphs(tree):
                assert declared_twice(graph) == []


def declared_twice(graph: Graph | Function) -> list[str]:
    """Return the names of values that the text declares twice with the same type and decorators.

    Inputs and outputs of a graph may be the same value, an output may be an initializer, and a
    node's output may have its type in the list of outputs and before the node: then the model
    has two entries, and so has the text. A repeated entry of `value_info` is a separate statement.
    """
    found: dict[str, list[object]] = {}
    for value in (*graph.inputs, *graph.values):
        if isinstance(graph, Graph) or value in graph.values:
            found.setdefault(value.name, []).append((value.type, value.decorators))
    order = order_of(graph) if isinstance(graph, Graph) else None
    if order != ListOrder((Word("nodes"),)):
        for node in graph.nodes:
            for name, type in zip(node.outputs, node.output_types, strict=False):
                if type is not None:
                    found.setdefault(name, []).append((type, ()))
    return [
        name for name, told in found.items() if len(told) > len({str(answer) for answer in told})
    ]


@pytest.mark.parametrize(
    ("order", "infos"),
    [
        ("initializers", "v w t"),
        ("initializers, outputs", "v w y t"),
        ("inputs, initializers", "x v w t"),
        ("nodes, initializers", "t v w"),
        ('initializers, without: ["v"]', "w t"),
        ('initializers, without: ["w"]', "v t"),
        ('"w", initializers', "w v t"),
        ('"w", "t", "v"', "w t v"),
        ('"t", "v", "y", "w"', "t v y w"),
    ],
)
def test_each_order_gives_its_value_infos(order: str, infos: str) -> None:
    head = f"@value_info({order})"
    text = (
        f"<\n  onnxtext: 1,\n>\n{head}\ng (float x) => (float y) <\n"
        "  float v = 1,\n  float w = 2,\n> {\n  float t = A (x)\n  y = B (t)\n}\n"
    )
    binary = onnxtext.to_binary(text)
    found = onnx.load_model_from_string(binary).graph.value_info
    assert " ".join([info.name for info in found]) == infos
    assert onnxtext.from_binary(binary) == text


@pytest.mark.parametrize(
    ("order", "names"),
    [
        ("values", "v w x z"),
        ('"z"', "z x v w"),
        ('"w", "x"', "w x z v"),
        ('"v", inputs', "v x z w"),
        ('"z", "w", "x", "v"', "z w x v"),
    ],
)
def test_each_order_gives_its_initializers(order: str, names: str) -> None:
    text = (
        f"<\n  onnxtext: 1,\n>\n@initializers({order})\ng (\n  float x = 1,\n  float y,\n"
        "  float z = 2,\n) => () <\n  float v = 3,\n  float w = 4,\n> {}\n"
    )
    binary = onnxtext.to_binary(text)
    found = onnx.load_model_from_string(binary).graph.initializer
    assert " ".join([tensor.name for tensor in found]) == names
    assert onnxtext.format_text(text) == text
    again = onnxtext.from_binary(binary)
    assert onnxtext.to_binary(again) == binary
    assert "@initializers(" in again
    assert declared_twice(onnxtext.parse(again).graph) == []


ORDERED = """\
<
  onnxtext: 1,
>
g (float x = 1) => (float y) <float w = 2> {
  float t = Add (x, w)
  y = Relu (t)
}

order {
  @initializers("w", "x")
  @value_info("t", initializers)
}
"""


def test_the_section_equals_the_decorators() -> None:
    """The `order` section means the same as the decorators before the graph."""
    before = ORDERED.partition("\norder")[0].replace(
        "g (", '@initializers("w", "x")\n@value_info("t", initializers)\ng ('
    )
    binary = onnxtext.to_binary(ORDERED)
    assert onnxtext.to_binary(before) == binary
    assert [tensor.name for tensor in onnx.load_model_from_string(binary).graph.initializer] == [
        "w", "x",
    ]  # fmt: skip
    tree = onnxtext.parse(ORDERED)
    assert isinstance(tree, Model)
    assert print_model(tree) == onnxtext.format_text(ORDERED) == ORDERED
    remarked = ORDERED.replace("order {", "# one\norder { # two").replace("ers)\n}", "ers) # 3\n}")
    assert onnxtext.format_text(remarked).count("#") == 3
    joined = ORDERED.replace('  @initializers("w", "x")\n', "").replace(
        "g (", '@doc("d")\n@initializers("w", "x")\ng ('
    )
    mixed = onnxtext.parse(joined)
    assert isinstance(mixed, Model)
    assert onnxtext.parse(print_model(mixed)) == mixed


@pytest.mark.parametrize("metadata", ["auto", "section", "inline"])
def test_long_orders_are_printed_at_the_end(metadata: Any) -> None:
    names = [f"a_rather_long_name_{index}" for index in range(50)]
    graph = onnx.GraphProto(name="g")
    for name in names:
        graph.node.add(op_type="Op", output=[name])
    for name in reversed(names):
        declare(graph.value_info.add(), name, 1)
    model = onnx.ModelProto(ir_version=10, graph=graph)
    tree = kept(model, metadata)
    assert not tree.values
    text = onnxtext.from_binary(model.SerializeToString())
    assert text.index("a_rather_long_name_0 = Op ()") < text.index("\norder {\n  @value_info(\n")
    assert max(map(len, text.split("\n"))) <= 100


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ('order { @doc("d") }', "`@doc` cannot be in a section `order`"),
        ("order { @initializers(nodes) }", "the arguments of @initializers must be"),
        ('order { @initializers(without: ["w"]) }', "the arguments of @initializers must be"),
        ("order {} order {}", "there are two `order` sections"),
    ],
)
def test_errors_in_the_section_are_reported(section: str, message: str) -> None:
    with pytest.raises(OnnxTextError) as caught:
        onnxtext.to_binary(f"<onnxtext: 1> g () => () <float w = 1> {{}} {section}")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "order", ['"z", initializers', 'initializers, "z", "z"', 'initializers, without: ["z"]']
)
def test_unknown_names_are_ignored(order: str) -> None:
    """A node can be removed from the text: `check` warns, and its repairs leave a valid text."""
    text = f"@value_info({order}) g () => () <float w = 1, float u> {{}}"
    found = onnx.load_model_from_string(onnxtext.to_binary(text)).graph.value_info
    assert [info.name for info in found] == ["w", "u"]
    (finding,) = [item for item in onnxtext.check(text) if "names" in item.message]
    assert finding.code == "value-info-unknown"
    assert "`z`, for which the graph `g` declares no type" in finding.message
    untyped = '@value_info("t") g (float[1] x) => (float[1] y) { t = Relu(x) y = Relu(t) }'
    (finding,) = [item for item in onnxtext.check(untyped) if "names" in item.message]
    assert finding.message == (
        "`@value_info` names `t`, for which the graph `g` declares no type"
    )  # it is a value
    twice = '@initializers("w", "z", "w") g () => () <float v = 1, float w = 1> {}'
    result = onnx.load_model_from_string(onnxtext.to_binary(twice)).graph.initializer
    assert [tensor.name for tensor in result] == ["w", "v"]


@pytest.mark.data
@pytest.mark.parametrize("path", exports(), ids=lambda path: path.name)
def test_nodes_begin_on_the_first_lines(path: Any) -> None:
    text = onnxtext.from_binary(path.read_bytes())
    tree = onnxtext.parse(text)
    assert isinstance(tree, Model)
    line = text.count("\n", 0, tree.graph.nodes[0].at) + 1
    assert line <= 60 + len(with_data(tree.graph))


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ("initialisers", "the arguments of @value_info must be"),
        ("initializers, initializers", "an argument of @value_info is given twice"),
        ("", "the arguments of @value_info must be"),
    ],
)
def test_errors_in_the_decorator_are_reported(order: str, message: str) -> None:
    with pytest.raises(OnnxTextError) as caught:
        onnxtext.to_binary(f"@value_info({order}) g () => () <float w = 1> {{}}")
    assert message in str(caught.value)


def test_renaming_keeps_the_order(tmp_path: Path) -> None:
    file = tmp_path / "m.onnxtxt"
    file.write_text(ORDERED.replace("onnxtext: 1,", "onnxtext: 1,\n  opset_import: [21],"))
    assert run("edit", file, "rename", "w", "new").status in (0, 1)
    assert '@initializers("new", "x")' in file.read_text()
    found = onnx.load_model_from_string(onnxtext.to_binary(file.read_text())).graph.initializer
    assert [tensor.name for tensor in found] == ["new", "x"]
