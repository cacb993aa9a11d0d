# SPDX-License-Identifier: Apache-2.0
"""The sections after the functions: their meaning, and the binding of entries to owners."""

from __future__ import annotations

import re

import onnx
import pytest

import onnxtext
from onnxtext.diagnostics import OnnxTextError
from onnxtext.printer.layout import WIDTH
from onnxtext.printer.quoting import SPECIAL_WORDS
from onnxtext.source import Source
from onnxtext.syntax.parse import parse_partial
from tests.corpus import shared_model
from tests.diagnostics.found import fix_of
from tests.laws.test_models import check_default

TEXT = """\
<
  onnxtext: 1,
  ir_version: 13,
>
main (
  float[2] x,
  float[2] d = [0, 0],
) => (float[2] y) <float[2] w = {1, 2}, float[3] info> {
  q = MatMul (x, w)
  "/odd.name" = Relu (q)
  @meta("only": "one")
  y = If (q) <
    then_branch = t (float[2] i) => (z) {
      z = Relu (x)
    },
    branches = [a () => () {}, b () => (u) {
      u = Relu (x)
    }],
  >
}

<domain: "my.ops", overload: "f16">
Gelu (a) => (b) {
  b = Relu (a)
}

metadata {
  graph {
    "a.b": "main"
  }
  value x {
    kind: "input"
  }
  value info {
    kind: "info"
  }
  tensor w {
    origin: "folded"
  }
  node q {
    namespace: "q"
    trace: \"""
      line 1
        line 2
      \"""
  }
  node "/odd.name" {
    k: "odd"
  }
  graph y.then_branch {
    k: "then"
  }
  value y.then_branch.i {
    k: "i"
  }
  node y.then_branch.z {
    k: "z"
  }
  node y.branches[1].u {
    k: "u"
  }
  function my.ops.Gelu:f16 {
    origin: "lib"
    version: "1"
    node b {
      k: "b"
    }
  }
}

quantization {
  x: ["SCALE_TENSOR": "s", "ZERO_POINT_TENSOR": "z"]
  y.then_branch.i: ["SCALE_TENSOR": "t"]
}

training {
  initialization: init () => (float[2] w0) {
    w0 = Constant <value = float[2] [0, 0]> ()
  }
  algorithm: step () => () {}
  initialization_binding: ["w": "w0"]
}

configuration "2gpu" {
  num_devices: 2
  device: ["cpu", "cuda:0"]
}
"""


def entries(message: object) -> dict[str, str]:
    return {entry.key: entry.value for entry in message.metadata_props}  # type: ignore[attr-defined]


def test_every_entry_is_bound_to_its_owner() -> None:
    model = onnxtext.loads(TEXT)
    graph = model.graph
    q, odd, branch = graph.node
    then, branches = branch.attribute
    assert entries(graph) == {"a.b": "main"}
    assert entries(graph.input[0]) == {"kind": "input"}
    assert entries(graph.value_info[0]) == {"kind": "info"}
    assert entries(graph.initializer[1]) == {"origin": "folded"}
    assert entries(graph.initializer[0]) == {}
    assert entries(q) == {"namespace": "q", "trace": "line 1\n  line 2"}
    assert entries(odd) == {"k": "odd"}
    assert entries(branch) == {"only": "one"}
    assert entries(then.g) == {"k": "then"}
    assert entries(then.g.input[0]) == {"k": "i"}
    assert entries(then.g.node[0]) == {"k": "z"}
    assert entries(branches.graphs[1].node[0]) == {"k": "u"}
    assert entries(model.functions[0]) == {"origin": "lib", "version": "1"}
    assert entries(model.functions[0].node[0]) == {"k": "b"}
    annotation = graph.quantization_annotation[0]
    assert annotation.tensor_name == "x"
    assert len(annotation.quant_parameter_tensor_names) == 2
    assert then.g.quantization_annotation[0].tensor_name == "i"
    (training,) = model.training_info
    assert training.initialization.name == "init"
    assert training.algorithm.name == "step"
    assert training.initialization_binding[0].value == "w0"
    if not hasattr(model, "configuration"):
        return  # an onnx before 1.18 keeps it as an unknown field
    (configuration,) = model.configuration
    assert configuration.name == "2gpu"
    assert configuration.num_devices == 2


def test_sections_round_trip() -> None:
    text = onnxtext.from_binary(onnxtext.to_binary(TEXT))
    assert onnxtext.to_binary(text) == onnxtext.to_binary(TEXT)
    # Short single entries move to their statement; others stay in the section.
    assert '@meta("k": "odd")' in text
    for line in (
        "  node q {", "  function my.ops.Gelu:f16 {", '  x: ["SCALE_TENSOR": "s",', "training {",
        "  y.then_branch.i: [", 'configuration "2gpu" {',
    ):  # fmt: skip
        assert "\n" + line in text


def with_metadata(block: str) -> str:
    return TEXT.partition("metadata {")[0] + f"metadata {{ {block} }}"


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ('node nothing { k: "v" }', "there is no node with the first output `nothing`"),
        ('value qq { k: "v" }', "there is no value `qq`"),
        ('tensor x { k: "v" }', "there is no tensor `x`"),
        ('node y.else_branch.z { k: "v" }', "there is no graph attribute `else_branch`"),
        ('node y.branches[7].u { k: "v" }', "branches"),
        ('function my.ops.Other { k: "v" }', "there is no function"),
        ('function my.ops.Gelu { k: "v" }', "there is no function"),
        ('nodes q { k: "v" }', "`nodes` is not a kind"),
        ('node { k: "v" }', "needs a name"),
        ('k: "v"', "is outside of a block"),
        ('node q { node q { k: "v" } }', "only entries"),
        ('node q:f16 { k: "v" }', "only a function can have an overload"),
    ],
)
def test_dangling_names_are_errors(block: str, message: str) -> None:
    with pytest.raises(OnnxTextError, match=message) as caught:
        onnxtext.parse(with_metadata(block))
    assert caught.value.diagnostics[0].where().startswith("<string>:")


def test_similar_names_are_suggested() -> None:
    with pytest.raises(OnnxTextError) as caught:
        onnxtext.parse(with_metadata('node "/od.name" { k: "v" }'))
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "metadata-dangling"
    assert diagnostic.help == 'write `"/odd.name"`'
    assert diagnostic.source is not None
    mended = fix_of(diagnostic).apply(diagnostic.source.text)
    assert mended == with_metadata('node "/odd.name" { k: "v" }')


@pytest.mark.parametrize(
    ("path", "message", "help", "mended"),
    [
        ("my.ops.Gelo:f16", "`my.ops.Gelo:f16`", "write `Gelu`", "my.ops.Gelu:f16"),
        ("my.ops.Gelu", "`my.ops.Gelu`", "write `my.ops.Gelu:f16`", None),
        ('my.ops.Gelu:"f 8"', "`my.ops.Gelu:f 8`", "write `my.ops.Gelu:f16`", None),
        ("my.ops.Gelo", "`my.ops.Gelo`", None, None),
    ],
)
def test_functions_with_the_same_overload_are_suggested(
    path: str, message: str, help: str | None, mended: str | None
) -> None:
    text = with_metadata(f'function {path} {{ k: "v" }}')
    with pytest.raises(OnnxTextError) as caught:
        onnxtext.parse(text)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.message == f"there is no function {message}"
    assert diagnostic.help == help
    assert diagnostic.source is not None
    fixed = diagnostic.fix and diagnostic.fix.apply(diagnostic.source.text)
    assert fixed == (mended and text.replace(path, mended))


def test_section_keywords_are_names_elsewhere() -> None:
    words = ["metadata", "quantization", "training", "configuration", "order"]
    words += ["encoding", "resources"]
    for word in words:
        text = (
            f"{word} ({word}) => ({word}) {{ {word} = {word} <{word} = {word} () => () {{}}> "
            f"({word}) }} {word} (a) => (b) {{}}"
        )
        assert onnxtext.loads(text) == onnx.parser.parse_model(text)


@pytest.mark.data
def test_exporter_metadata_moves_out_of_the_graph() -> None:
    data = shared_model("models/exported/cond_dynamo.onnx")
    before = onnxtext.from_binary(data, metadata="inline").partition("{\n  ")[2]
    graph = onnxtext.from_binary(data).partition("metadata {")[0]
    assert before.count("@meta") > 10
    # One line per node; inline metadata is short.
    body = graph.partition("> {\n")[2]
    assert "@meta" not in body
    assert len(body.split("\n")) < 30


GENERATED = """\
<
  onnxtext: 1,
>
@value_info(initializers)
main (float[2] x) => (float[2] y) <
  float[2] w = {1, 2},
  float[2] v = {3, 4},
> {
  float[2] q = Mul (x, w)
  y = Mul (q, v)
}

metadata {
  value v {
    kind: "PARAMETER"
  }
  value q {
    kind: "made"
    why: "test"
  }
}
"""


def test_values_without_a_statement_have_metadata() -> None:
    data = onnxtext.to_binary(GENERATED)
    infos = onnx.ModelProto.FromString(data).graph.value_info
    assert [(info.name, entries(info)) for info in infos] == [
        ("w", {}),
        ("v", {"kind": "PARAMETER"}),
        ("q", {"kind": "made", "why": "test"}),
    ]
    assert onnxtext.from_binary(data) == GENERATED
    inline = onnxtext.from_binary(data, metadata="inline")
    assert '@meta("kind": "made", "why": "test")' in inline
    assert onnxtext.to_binary(inline) == data


def test_values_without_a_statement_are_bound_last() -> None:
    model = onnxtext.loads(GENERATED.replace("value v {", "value x {"))
    assert entries(model.graph.input[0]) == {"kind": "PARAMETER"}
    with pytest.raises(OnnxTextError, match="there is no value `q`"):
        onnxtext.loads(GENERATED.replace("float[2] q = Mul", "q = Mul"))


def test_metadata_options_decide_where_metadata_is() -> None:
    data = onnxtext.to_binary(TEXT)
    text = onnxtext.from_binary(data, metadata="section")
    assert "@meta" not in text
    assert '  node "/odd.name" {\n    k: "odd"' in text
    assert onnxtext.to_binary(text) == data
    without = onnxtext.from_binary(data, metadata="none")
    assert "@meta" not in without
    assert without.count("metadata") == 1
    assert "\nmetadata none\n" in without
    with pytest.raises(OnnxTextError, match="printed without its metadata") as caught:
        onnxtext.to_binary(without)
    assert caught.value.diagnostics[0].code == "metadata-left-out"
    left = onnxtext.loads(without.replace("\nmetadata none\n", ""))
    whole = onnx.ModelProto.FromString(data)
    assert [node.op_type for node in left.graph.node] == [n.op_type for n in whole.graph.node]
    assert not any(entries(node) for node in left.graph.node)


def test_a_value_declared_twice_round_trips() -> None:
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Relu", ["x"], ["q"])],
        "g",
        [onnx.helper.make_tensor_value_info("x", 1, [2])],
        [onnx.helper.make_tensor_value_info("q", 1, [2])],
        value_info=[onnx.helper.make_tensor_value_info("q", 1, [2])],
    )
    graph.value_info[0].metadata_props.add(key="a", value="b\nc")
    data = onnx.helper.make_model(graph).SerializeToString()
    text = onnxtext.from_binary(data)
    assert "metadata {\n  value_info q {" in text
    assert onnxtext.to_binary(text) == data
    graph.value_info.append(graph.value_info[0])  # no path names the second one
    data = onnx.helper.make_model(graph).SerializeToString()
    text = onnxtext.from_binary(data)
    assert "@meta(" in text
    assert onnxtext.to_binary(text) == data


def test_only_dangling_entries_are_lost() -> None:
    good = 'node q { k: "v" }'
    whole = onnxtext.parse(with_metadata(good))
    text = with_metadata(f'node x1 {{ a: "b" }}\n  {good}\n  value x2 {{ a: "b" }}')
    partial, diagnostics = parse_partial(Source(text, "t"), "model")
    assert partial == whole
    assert [diagnostic.code for diagnostic in diagnostics] == ["metadata-dangling"] * 2
    places = [text[slice(*diagnostic.labels[0].span)] for diagnostic in diagnostics]
    assert places == ["x1", "x2"]


def test_only_dangling_annotations_are_lost() -> None:
    text = with_metadata('node q { k: "v" }') + '\nquantization { q.body.x: ["K": "v"] }\n'
    partial, (diagnostic,) = parse_partial(Source(text, "t"), "model")
    assert partial == onnxtext.parse(with_metadata('node q { k: "v" }'))
    assert diagnostic.code == "metadata-dangling"
    assert text[slice(*diagnostic.labels[0].span)] == "body"


@pytest.mark.parametrize(
    ("block", "wrong"),
    [
        ('node x1 { a: "b" }', "x1"),
        ('node "x 1" { a: "b" }', '"x 1"'),
        ('node # a comment\n x1 { a: "b" }', "x1"),
        ('node x1.body.y { a: "b" }', "x1"),
        ('node q . "bo.dy"[0] .y { a: "b" }', '"bo.dy"'),
        ('graph q.body { a: "b" }', "body"),
        ('tensor node { a: "b" }', "node"),
        ('function my.ops.Gelu { a: "b" }', "Gelu"),
    ],
)
def test_the_wrong_name_is_underlined(block: str, wrong: str) -> None:
    text = with_metadata(block)
    _, (diagnostic,) = parse_partial(Source(text, "t"), "model")
    assert diagnostic.code == "metadata-dangling"
    assert text[slice(*diagnostic.labels[0].span)] == wrong


@pytest.mark.parametrize("name", sorted(SPECIAL_WORDS))
def test_steps_named_like_types_are_quoted_before_an_index(name: str) -> None:
    inner = onnx.helper.make_graph([onnx.helper.make_node("Relu", ["x"], ["z"])], "inner", [], [])
    inner.quantization_annotation.add(tensor_name="z").quant_parameter_tensor_names.add(
        key="SCALE_TENSOR", value="s"
    )
    inner.node[0].metadata_props.add(key="pkg.k", value="v")
    outer = onnx.helper.make_node("Op", ["x"], ["y"], domain="d")
    outer.attribute.add(name=name, type=onnx.AttributeProto.GRAPHS).graphs.extend([inner] * 2)
    model = onnx.helper.make_model(onnx.helper.make_graph([outer], "g", [], []))
    data = model.SerializeToString()
    text = onnxtext.from_binary(data, metadata="section")
    assert onnxtext.to_binary(text) == data
    assert onnxtext.format_text(text) == text


def test_keys_are_counted_once_per_item() -> None:
    nodes = [onnx.helper.make_node("Op", [], [f"y{index}"]) for index in range(6)]
    for node in nodes[1:]:
        for _ in range(2):
            node.metadata_props.add(key="k", value="")
    nodes[0].metadata_props.add(key="k", value="v")
    model = onnx.helper.make_model(onnx.helper.make_graph(nodes, "g", [], []))
    assert '@meta("k": "v")' in check_default(model.SerializeToString())


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ("step: g () => () {}", "`step` is not a field of training"),
        ('algorithm: ["w": "w0"]', "`algorithm` must be a graph"),
        ("update_binding: g () => () {}", "`update_binding` must be a list of bindings"),
        ("initialization: g () => () {}", "`initialization` is given twice"),
    ],
)
def test_wrong_items_of_training_are_errors(item: str, message: str) -> None:
    text = TEXT.replace("  algorithm: step () => () {}", f"  {item}")
    with pytest.raises(OnnxTextError, match=re.escape(message)):
        onnxtext.loads(text)


@pytest.mark.parametrize("name", ["short", "a" * 40, "b" * 120])
@pytest.mark.parametrize("width", [12, 40, 50, 57])
@pytest.mark.parametrize("values", ["", "<float[N] v> "])
@pytest.mark.parametrize("node", ["", " y = Relu (x) "])
def test_decorated_graphs_stay_within_the_width(
    name: str, width: int, values: str, node: str
) -> None:
    graph = f'@doc("{"d" * (width - 8)}") {name} () => () {values}{{{node}}}'
    for context in (
        f"g () => () {{}} training {{ initialization: {graph} algorithm: {graph} }}",
        f"g () => () {{ z = A <some_long_name_of_an_attribute = {graph}> () }}",
    ):
        data = onnxtext.to_binary(context)
        check_default(data)
        text = onnxtext.from_binary(data)
        assert onnxtext.format_text(text) == text


@pytest.mark.parametrize("length", range(20, 76))
def test_the_comma_after_an_empty_graph_stays_within_the_width(length: int) -> None:
    name = "g" * length
    for graph in (
        f"{name} (float[N] x) => (float[N] y) {{}}",
        f"{name} () => () <float[1] v> {{}}",
        f"{name} () => () <float[1] v, float[1] w> {{}}",
        f'@doc("d") {name} () => () {{}}',
    ):
        data = onnxtext.to_binary(
            f"g () => () {{ z = A <graph = {graph}, graphs: graphs = [{graph}, {graph}]> () }}"
        )
        text = onnxtext.from_binary(data)
        assert max(len(line) for line in text.splitlines()) <= WIDTH
        assert onnxtext.format_text(text) == text


@pytest.mark.parametrize("length", range(20, 90))
def test_decorated_functions_stay_within_the_width(length: int) -> None:
    function = f'@unset(name) "" <{"p" * length}> (first) => (second) {{}}'
    text = onnxtext.from_binary(onnxtext.to_binary(f"g () => () {{}} {function}"))
    assert max(len(line) for line in text.splitlines()) <= WIDTH
    assert onnxtext.format_text(text) == text


@pytest.mark.parametrize("domains", [("", "ai.onnx"), ("ai.onnx", ""), ("", ""), ("ai.onnx",)])
def test_functions_of_the_standard_domain_keep_their_metadata(domains: tuple[str, ...]) -> None:
    """`""` and `ai.onnx` are one domain, but two spellings, which paths distinguish."""
    model = onnx.ModelProto(ir_version=10, graph=onnx.GraphProto(name="g"))
    model.opset_import.add(version=21)
    for index, domain in enumerate(domains):
        function = model.functions.add(name="f", domain=domain)
        function.metadata_props.add(key="long", value=f"{index}" * 200)
    data = model.SerializeToString(deterministic=True)
    text = onnxtext.from_binary(data)
    assert onnxtext.to_binary(text) == data
    duplicates = [item for item in onnxtext.check(text) if item.code == "function-duplicate"]
    assert len(duplicates) == len(domains) - 1
