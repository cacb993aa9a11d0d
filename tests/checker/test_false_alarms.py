# SPDX-License-Identifier: Apache-2.0
"""Valid models have no findings, and a finding marks the place of the error."""

from __future__ import annotations

from itertools import pairwise

import onnx
import pytest
from onnx import helper

import onnxtext
from onnxtext import Diagnostic
from onnxtext.checker.engine.fix_loop import fix_text
from tests.checker.models import codes, errors, text

BEFORE_IMPORTS = "<ir_version: {}> g (float[2] x) => (float[2] y) {{ y = {} }}"


@pytest.mark.parametrize("ir_version", [1, 2])
@pytest.mark.parametrize(
    "node", ["Relu (x)", "Neg (x)", "Constant <value = float[2] {1, 2}> ()", "Add (x, x)"]
)
def test_the_first_operator_set_is_implied_before_ir_3(ir_version: int, node: str) -> None:
    source = BEFORE_IMPORTS.format(ir_version, node)
    assert not errors(onnxtext.check(source))
    assert not errors(onnxtext.check(onnxtext.to_binary(source)))


def test_errors_are_found_with_an_implied_operator_set() -> None:
    assert codes(BEFORE_IMPORTS.format(2, "Gelu (x)")) == {"op-unknown"}
    source = BEFORE_IMPORTS.format(2, "MatMul (x, w)").replace(
        " {", " <float[3] w = {1, 2, 3}> {", 1
    )
    assert "shape-mismatch" in codes(source)


def nested(kind: str, ir_version: int) -> str:
    """Return a model whose `Loop` body defines the outer value `t` again.

    `kind` is the kind of the inner `t`: `input`, `initializer` or `node`; `none` for no inner `t`.
    """
    given = "float[4] t" if kind == "input" else ""
    values = " <float[4] t = {1, 2, 3, 4}>" if kind == "initializer" else ""
    node = "t = Relu (x)\n" if kind == "node" else ""
    op = (
        f"y = Loop (m, c, x) <body = b (int64 i, bool k, float[4] {'t' if given else 'p'}) =>"
        f" (bool k2, float[4] o){values} {{ k2 = Identity (k)\n {node}"
        f"o = Neg ({'p' if not given and not node and not values else 't'}) }}>"
    )
    return text(
        "t = Abs (x)\nm = Constant <value = int64 {3}> ()\n"
        f"c = Constant <value = bool {{1}}> ()\n{op}",
        ir_version=ir_version,
        opsets="17",
    )


@pytest.mark.parametrize("ir_version", [4, 8, 9, 10])
@pytest.mark.parametrize("kind", ["input", "initializer", "node"])
def test_names_that_shadow_outer_values_are_found(kind: str, ir_version: int) -> None:
    found = [i for i in onnxtext.check(nested(kind, ir_version)) if i.code == "value-shadows-outer"]
    wanted = "error" if kind == "node" or ir_version >= 9 else "warning"
    assert [item.severity for item in found] == [wanted]
    assert not [i for i in onnxtext.check(nested("none", ir_version)) if "shadows" in i.code]


def duplicated(names: list[str], shapes: list[list[int | None]]) -> bytes:
    x = helper.make_tensor_value_info("x", 1, [2])
    y = helper.make_tensor_value_info("y", 1, [2])
    chain = ["x", "a", "b", "y"]
    nodes = [helper.make_node("Relu", [i], [o]) for i, o in pairwise(chain)]
    graph = helper.make_graph(nodes, "g", [x], [y])
    for name, shape in zip(names, shapes, strict=True):
        graph.value_info.append(helper.make_tensor_value_info(name, 1, shape))
    opsets = [helper.make_opsetid("", 21)]
    result = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    onnx.checker.check_model(result, full_check=True)
    return result.SerializeToString()


@pytest.mark.parametrize("names", ["aa", "abab", "aba", "aabba"])
def test_equal_value_infos_are_a_warning(names: str) -> None:
    data = duplicated(list(names), [[2]] * len(names))
    source = onnxtext.from_binary(data)
    found = onnxtext.check(source)
    assert {(item.code, item.severity) for item in found} == {("value-info-duplicate", "warning")}
    assert not errors(onnxtext.check(data))
    repaired = fix_text(source.encode(), name="m.onnxtxt").text
    assert not onnxtext.check(repaired)
    after = onnx.ModelProto.FromString(onnxtext.to_binary(repaired))
    assert sorted(value.name for value in after.graph.value_info) == sorted(set(names))
    before = onnx.ModelProto.FromString(data)
    del before.graph.value_info[:], after.graph.value_info[:]
    assert after == before


def test_different_value_infos_that_fit_together_are_a_warning() -> None:
    data = duplicated(["a", "a"], [[2], [None]])
    (finding,) = onnxtext.check(onnxtext.from_binary(data))
    assert (finding.code, finding.fix) == ("value-info-duplicate", None)
    assert finding.severity == "warning"  # onnx's checker and onnxruntime accept it


def test_declared_initializers_are_not_removed_with_their_declarations() -> None:
    source = text(
        "y = Add (x, w)", values="float[4] w = {1, 2, 3, 4}, float[4] w = {1, 2, 3, 4},"
    ).replace("main (", "@value_info(initializers)\nmain (")
    for item in onnxtext.check(source):
        if item.code == "value-info-duplicate":
            assert item.fix is None


def test_an_empty_domain_of_a_function_is_not_missing() -> None:
    body = "(a) => (b) {\n  c = Exp (a)\n  b = Log (c)\n}"
    stored = f'<domain: "", opset_import: ["": 21]>\nSoftplus {body}'
    assert not codes(text("y = Softplus (x)", rest=stored))
    missing = f'<opset_import: ["": 21]>\nOther {body}'
    assert codes(text("y = Relu (x)", rest=missing)) == {"function-domain-missing"}


def marked(source: str, item: Diagnostic) -> str:
    assert item.span is not None
    return source[item.span.start : item.span.end]


@pytest.mark.parametrize(
    ("header", "code", "place"),
    [
        ("<ir_version: 8>", "opset-import-missing", "<ir_version: 8>"),
        ("<opset_import: [21]>", "ir-version-missing", "<opset_import: [21]>"),
        ("# c\n<\n  ir_version: 8,\n>", "opset-import-missing", "<"),
        ("<ir_version: 0, opset_import: [21]>", "ir-version-missing", "0"),
        ("<ir_version: 8, opset_import: []>", "opset-import-missing", "[]"),
    ],
)
def test_a_missing_header_key_is_shown_in_the_header(header: str, code: str, place: str) -> None:
    source = f"{header}\nmain (float[4] x) => (float[4] y) {{ y = Relu (x) }}\n"
    found = [item for item in onnxtext.check(source) if item.code == code]
    assert [marked(source, item) for item in found] == [place]


BRANCHES = (
    "{y} = If (c) <then_branch = t () => (float[4] z) {{ z = Relu ({use}) }},"
    " else_branch = e () => (float[4] z2) {{ z2 = Relu (x) }}>"
)


@pytest.mark.parametrize(
    ("nodes", "code"),
    [
        (BRANCHES.format(y="y", use="y"), "graph-cycle"),
        (BRANCHES.format(y="a", use="b") + "\nb = Neg (a)\ny = Neg (b)", "graph-cycle"),
        (BRANCHES.format(y="y", use="b") + "\nb = Neg (x)", "node-order"),
        (
            "y = If (c) <then_branch = o () => (float[4] q) { "
            + BRANCHES.format(y="q", use="y")
            + " }, else_branch = e () => (float[4] w) { w = Relu (x) }>",
            "graph-cycle",
        ),
    ],
)
def test_cycles_through_nested_graphs_are_found(nodes: str, code: str) -> None:
    source = text(nodes, inputs="float[4] x, bool c")
    (finding,) = errors(onnxtext.check(source))
    assert finding.code == code
    repaired = fix_text(source.encode(), name="m.onnxtxt").text
    if code == "node-order":
        assert not errors(onnxtext.check(repaired))
    else:
        assert not repaired or repaired == source


def test_a_name_that_a_nested_graph_defines_is_not_a_cycle() -> None:
    """The branch defines its own `y`, which is not the output of its node."""
    branch = BRANCHES.format(y="y", use="x").replace(
        "z = Relu (x) }", "k = Relu (x)\n z = Neg (k) }"
    )
    source = text(f"b = Neg (k)\n{branch}\nk = Abs (x)", inputs="float[4] x, bool c")
    assert "graph-cycle" not in codes(source)


def test_pads_of_old_versions_have_the_value_of_an_attribute() -> None:
    """Before version 11, the attribute `value` of `Pad` is the added element, 3 here."""
    source = """<ir_version: 5, opset_import: [9]>
    g (float[1, 1, 3, 3] x, float[3, 3, 6, 6] w) => (float[3, 3, 6, 6] z) <float[2] two = [2, 2]> {
      scales = Pad <pads = [2, 0], value = 3.0> (two)
      y = Upsample (x, scales)
      z = Add (y, w)
    }"""
    assert codes(source) == set()


@pytest.mark.parametrize(
    ("outputs", "severity"),
    [('a, y, ""', "warning"), ('y, "", ""', "warning"), ('a, "", y', "error"), ("y", "error")],
)
@pytest.mark.parametrize("opset", [6, 18])
def test_omitted_last_outputs_of_split_are_a_warning(
    outputs: str, severity: str, opset: int
) -> None:
    """onnx does not count the outputs if the dimension is symbolic."""
    call = "Split <split = [2, 1]> (x)" if opset == 6 else "Split (x, parts)"
    source = text(
        f"{outputs} = {call}", inputs="float[N] x", outputs="float[K] y",
        values="int64[2] parts = [2, 1]", ir_version=8, opsets=str(opset),
    )  # fmt: skip
    onnx.checker.check_model(onnx.load_from_string(onnxtext.to_binary(source)), full_check=True)
    found = [item.severity for item in onnxtext.check(source) if item.code == "shape-mismatch"]
    assert found == [severity]


def test_a_scale_of_unknown_size_may_be_a_single_one() -> None:
    """With a single scale, `axis` has no meaning, and `M` is no dimension of `x`."""
    node = "y = QuantizeLinear <axis = {}> (x, s)"
    inputs, outputs = "float[2, 4] x, float[M] s", "uint8[2, 4] y"
    far = text(node.format(2), inputs=inputs, outputs=outputs, opsets="13")
    assert not onnxtext.check(far)
    (finding,) = onnxtext.check(far.replace("axis = 2", "axis = -1"))
    assert "`M` must be 1 or 4" in finding.message
    assert codes(far.replace("float[M]", "float[3]")) == {"shape-mismatch"}


IMAGE = "float[1, 2, 4, 4] x"
WRONGLY_INFERRED = (
    # Versions before 22: onnx also counts windows that start in the pads at the end.
    ("MaxPool <ceil_mode = 1, kernel_shape = [1, 1], strides = [2, 2]> (x)",
     IMAGE, "float[1, 2, 2, 2] y", 11),
    ("AveragePool <ceil_mode = 1, kernel_shape = [3], strides = [3], pads = [1, 1]> (x)",
     "float[1, 2, 2] x", "float[1, 2, 1] y", 19),
    # onnx ignores the default values of these attributes.
    ("MeanVarianceNormalization (x)", IMAGE, "float[1, 2, 4, 4] y", 13),
    ('STFT (x, step, "", length)', "float[1, 128, 1] x", "float[1, 15, 9, 2] y", 17),
    # Versions before 11 do not mention negative axes, but runtimes accept them.
    ("Squeeze <axes = [-1]> (x)", "float[3, 1] x", "float[3] y", 9),
    ("Unsqueeze <axes = [-1, 0]> (x)", "float[3] x", "float[1, 3, 1] y", 9),
)  # fmt: skip


@pytest.mark.parametrize(("call", "inputs", "outputs", "opset"), WRONGLY_INFERRED)
@pytest.mark.parametrize("holder", ["", "branch with a type", "branch", "function", "both", "two"])
def test_shapes_that_onnx_infers_wrongly_are_right(
    call: str, inputs: str, outputs: str, opset: int, holder: str
) -> None:
    nodes, values = f"y = {call}", "int64 step = {8},\nint64 length = {16},"
    functions, header = "", f'"": {opset}, "my": 1'
    if holder.startswith(("branch", "both")):
        kind = outputs[:-2] if "type" in holder else ""
        branches = [f"g () => ({kind} {name}) {{ {name} = {call} }}" for name in "pq"]
        nodes = "y = If (c) <then_branch = {}, else_branch = {}>".format(*branches)
    for name in {"function": "F", "both": "F", "two": "FG"}.get(holder, ""):
        functions += f'<domain: "my", opset_import: [{header}]>\n{name} (x, c, step, length) '
        functions += f"=> (y) {{\n  {nodes}\n}}\n"
        nodes = f"y = my.{name} (x, c, step, length)"
    source = text(
        nodes, inputs=f"{inputs}, bool c", outputs=outputs, values=values, ir_version=8,
        opsets=header, rest=functions,
    )  # fmt: skip
    assert not [item for item in onnxtext.check(source) if item.code != "initializer-unused"]
    large = text(
        f"{nodes}\n_ = Identity (none)", inputs=f"{inputs}, bool c, float[2] none, float[3] wrong",
        outputs=f"{outputs}, float[4] z", values=values, ir_version=8, opsets=header,
        rest=functions,
    ).replace("_ = Identity (none)", "z = Add (none, wrong)")  # fmt: skip
    assert codes(large) == {"shape-mismatch"}, "errors of other nodes are found"


UNKNOWN = {
    "a branch": "y = If (c) <then_branch = t () => (p) { p = ext.Foo (x) }, "
    "else_branch = e () => (q) { q = Identity (x) }>",
    "a branch in a branch": "y = If (c) <then_branch = t () => (p) { p = If (c) "
    "<then_branch = t2 () => (r) { r = Neg (x) }, else_branch = e2 () => (s) { s = ext.Foo (x) }> "
    "}, else_branch = e () => (q) { q = Identity (x) }>",
    "a carried value": "y = Loop (n, c, x) <body = b (int64 i, bool g, v) => (bool h, w) "
    "{ h = Identity (g)\n w = ext.Foo (v) }>",
    "an output of a loop": "u, y = Loop (n, c, x) <body = b (int64 i, bool g, v) => "
    "(bool h, w, z) { h = Identity (g)\n w = Neg (v)\n z = ext.Foo (v) }>",
    "a scan": "y = Scan <num_scan_inputs = 1, body = b (v) => (w) { w = ext.Foo (v) }> (x)",
    "a call in a branch": "y = If (c) <then_branch = t () => (p) { p = my.foo (x) }, "
    "else_branch = e () => (q) { q = Identity (x) }>",
    "a branch in a function": "y = my.choose (c, x)",
    "a scan in a function": "y = my.scan (x)",
    "axes": "u = ext.Foo (x)\nfloat[2, 0] y = Slice (x, zero, zero, u)",
    "steps": "u = ext.Foo (x)\nfloat[1, 3] y = Slice (x, zero, two, , u)",
    "axes to squeeze": "u = ext.Foo (x)\ny4 = Reshape (x, ones)\nfloat[1, 6] y = Squeeze (y4, u)",
    "a zero point": "u = ext.Foo (x)\ny = QuantizeLinear (x, scale, u)",
}
FUNCTIONS = """\
<domain: "my", opset_import: ["": 21, "ext": 1]>
foo (a) => (b) { b = ext.Foo (a) }
<domain: "my", opset_import: ["": 21, "ext": 1]>
choose (d, a) => (b) { b = If (d) <then_branch = t () => (p) { p = ext.Foo (a) },
  else_branch = e () => (q) { q = Identity (a) }> }
<domain: "my", opset_import: ["": 21, "ext": 1]>
scan (a) => (b) { b = Scan <num_scan_inputs = 1, body = s (v) => (w) { w = ext.Foo (v) }> (a) }
"""


@pytest.mark.parametrize("place", UNKNOWN)
def test_outputs_of_unknown_operators_may_have_the_right_type(place: str) -> None:
    source = text(
        f"{UNKNOWN[place]}\no = Neg (x)",
        inputs="float[2, 3] x, bool c, int64 n",
        outputs="float[2, 3] o",
        values="int64[2] zero = {0, 0},\nint64[2] two = {2, 2},\nint64[4] ones = {1, 1, 1, 6},\n"
        "float scale = {1},",
        opsets='21, "ext": 1, "my": 1',
        rest=FUNCTIONS,
    )
    assert not errors(onnxtext.check(source))


@pytest.mark.parametrize("version", [13, 17, 18, 26])
def test_parts_of_unknown_sizes_may_have_any_sizes(version: int) -> None:
    """Before version 18, onnx infers equal parts if the type of the sizes is unknown."""
    source = text(
        "u = ext.Foo (x)\ny, z = Split <axis = 1> (x, u)",
        inputs="float[2, 6] x",
        outputs="float[2, 1] y, float[2, 5] z",
        opsets=f'{version}, "ext": 1',
    )
    assert not errors(onnxtext.check(source))
    assert errors(onnxtext.check(source.replace("float[2, 1] y", "int64[2, 1] y")))


ANY_RANK = {
    "the product of queries and keys": "float[1, 2, 2, 2] y, , , float[1, 2, 2, 2] z = "
    "Attention <qk_matmul_output_mode = 3> (x, k, u)",
    "a query": "float[1, 2, 2, 2] y = ai.onnx.preview.FlexAttention (u, k, k)",
    "a loop that onnx does not infer": "y = Loop (n, , x) <body = b (int64 i, bool g, v) => "
    "(bool h, w) { h = Identity (g)\n w = GroupNormalization <num_groups = 2> (v, one, one) }>",
    "a branch that onnx does not infer": "y = If (c) <then_branch = t () => (float[] p) "
    "{ p = GroupNormalization <num_groups = 2> (x, one, one) }, else_branch = e () => (q) "
    "{ q = GroupNormalization <num_groups = 2> (x, one, one) }>",
}


@pytest.mark.parametrize("place", ANY_RANK)
def test_unknown_ranks_may_be_right(place: str) -> None:
    source = text(
        f"u = Reshape (x, sizes)\n{ANY_RANK[place]}\no = Neg (x)",
        inputs="float[1, 2, 2, 2] x, float[1, 2, 2, 2] k, int64[?] sizes, bool c",
        outputs="float[1, 2, 2, 2] o",
        values="float[2] one = {1, 1},\nint64 n = {2},",
        opsets='23, "ai.onnx.preview": 1',
    )
    assert not errors(onnxtext.check(source))


def test_onnx_may_infer_one_of_two_branches() -> None:
    """onnx infers no type for version 9 of `Compress`."""
    source = text(
        "y = If (c) <then_branch = t () => (p) { p = Compress (x, c1) }, "
        "else_branch = e () => (q) { q = Relu (x) }>\nz = Relu (x)",
        inputs="float[2] x, bool c, bool[2] c1",
        outputs="float[2] z",
        opsets="9",
    )
    assert not errors(onnxtext.check(source))


def test_scanned_outputs_may_come_from_operators_that_onnx_does_not_know() -> None:
    body = "body = b (v) => (w) { w = com.microsoft.Gelu (v) }"
    source = text(
        f"y = Scan <num_scan_inputs = 1, {body}> (x)",
        inputs="float[3, 2] x",
        outputs="float[3, 2] y",
        opsets='21, "com.microsoft": 1',
    )
    assert not errors(onnxtext.check(source))
    wrong = source.replace("com.microsoft.Gelu", "SequenceConstruct")
    assert errors(onnxtext.check(wrong))


def test_the_number_of_sizes_of_a_resize_may_be_unknown() -> None:
    """onnx does not propagate `end` through `Identity`, and assumes that there are no sizes."""
    source = text(
        "end = Identity (two)\ns = Shape (x)\nc = Slice (s, zero, end)\n"
        "sizes = Concat <axis = 0> (c, rest)\ny = Resize (x, , , sizes)",
        inputs="float[a, 3, b, c] x",
        outputs="float[?, ?, ?, ?] y",
        values="int64[1] zero = {0},\nint64[1] two = {2},\nint64[2] rest = {4, 4},",
        opsets="13",
    )
    assert not codes(source)
    assert errors(onnxtext.check(source.replace("(x, , , sizes)", "(x, , , zero)")))


def test_an_annotation_of_a_nested_graph_uses_outer_values() -> None:
    source = text(
        "y = If (c) <then_branch = a () => (float[4] t) { t = Relu (x) },"
        " else_branch = b () => (float[4] e) { e = Neg (x) }>",
        inputs="float[4] x, bool c",
        values="float s = {1},",
    )
    model = onnx.load_from_string(onnxtext.to_binary(source))
    assert codes(model, select=["value-unused"]) == {"value-unused"}
    annotation = model.graph.node[0].attribute[0].g.quantization_annotation.add(tensor_name="t")
    annotation.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="s")
    assert not codes(model, select=["value-unused"])


@pytest.mark.parametrize("condition", ["bool c = true,", "bool c = false,"])
def test_an_error_in_a_branch_that_never_runs_is_found_at_its_node(condition: str) -> None:
    branches = "a () => (float[4] t) {{ {} t = Relu (x) }}", "b () => (float[4] e) { e = Neg (x) }"
    wrong = branches[0].format("hot = OneHot (scalar, depth, values)\n")
    names = ("then", "else") if condition == "bool c = false," else ("else", "then")
    source = text(
        f"y = If (c) <{names[0]}_branch = {wrong}, {names[1]}_branch = {branches[1]}>",
        inputs="float[4] x, int64 scalar",
        values=f"{condition} int64 depth = 3, float[2] values = [0, 1],",
    )
    with pytest.raises(onnx.shape_inference.InferenceError, match="OneHot"):
        onnx.shape_inference.infer_shapes(
            onnx.load_from_string(onnxtext.to_binary(source)), strict_mode=True
        )
    (finding,) = errors(onnxtext.check(source))
    assert (finding.code, marked(source, finding)) == ("shape-mismatch", "OneHot")


IMPORTS = [("",), ("ai.onnx",), ("", "ai.onnx")]


def spelled(imports: tuple[str, ...], domain: str, *, nested: bool) -> bytes:
    """Return a valid model whose node writes the standard domain as `domain`."""
    x, y, z = (helper.make_tensor_value_info(name, 1, [2]) for name in "xyz")
    node = helper.make_node("Relu", ["x"], ["z"], domain=domain)
    if nested:
        body = helper.make_graph([node], "b", [], [z])
        c = helper.make_node("Constant", [], ["c"], value=helper.make_tensor("", 9, [], [True]))
        nodes = [c, helper.make_node("If", ["c"], ["y"], then_branch=body, else_branch=body)]
    else:
        nodes = [node, helper.make_node("Neg", ["z"], ["y"])]
    opsets = [helper.make_opsetid(name, 21) for name in imports]
    graph = helper.make_graph(nodes, "g", [x], [y])
    return helper.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString()


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("imports", IMPORTS)
def test_both_spellings_of_the_standard_domain_are_imported(
    imports: tuple[str, ...], nested: bool
) -> None:
    """onnx rejects nodes with `ai.onnx`; onnxruntime, only in functions and nested graphs."""
    for domain in ("", "ai.onnx"):
        data = spelled(imports, domain, nested=nested)
        found = [i for i in onnxtext.check(data) if i.code != "opset-import-duplicate"]
        severity = "error" if nested else "warning"
        wanted = [("opset-domain-not-imported", severity)] if domain else []
        assert [(item.code, item.severity) for item in found] == wanted


def test_functions_with_any_domain_are_called_in_nested_graphs() -> None:
    """onnx's inference of single nodes must know the imports of domains that are not ASCII."""
    body = (
        "y = Scan (x) <num_scan_inputs = 1, body = b (float e) => (float r) {"
        ' r = "é".f (e) }>\nz = Relu (z0)'
    )
    function = '<domain: "é", opset_import: ["": 21]>\nf (a) => (b) {\n  b = Exp (a)\n}'
    source = text(body, opsets='21, "é": 1', rest=function)
    assert codes(source) == {"value-undefined"}  # with an error, each node is inferred


@pytest.mark.parametrize("node", ["Identity (b)", "Add (a, b)", "my.g (a, b)"])
@pytest.mark.parametrize("depth", [1, 2])
def test_a_nested_value_hides_an_omitted_input_of_a_function(depth: int, node: str) -> None:
    """onnx accepts such a call: the body reads the initializer, not the input that it hides."""
    body = f"o = {node}"
    for _ in range(depth - 1):
        branch = f"inner () => (float[4] o) {{\n{body}\n}}"
        body = f"o = If (t) <then_branch = {branch}, else_branch = {branch}>"
    hiding = f"outer () => (float[4] o) <float[4] b = {{1, 2, 3, 4}}> {{\n{body}\n}}"
    function = (
        '<domain: "my", opset_import: ["": 21, "my": 1]>\n'
        "f (a, b) => (c) {\nt = Constant <value = bool {1}> ()\n"
        f"c = If (t) <then_branch = {hiding}, else_branch = {hiding}>\n}}\n"
        '<domain: "my", opset_import: ["": 21]>\n'
        "g (a, b) => (c) {\nc = Add (a, b)\n}"
    )
    source = text("y = my.f (x)", ir_version=8, opsets='21, "my": 1', rest=function)
    onnx.checker.check_model(onnxtext.to_binary(source), full_check=True)
    assert not errors(onnxtext.check(source))
    needed = source.replace(" <float[4] b = {1, 2, 3, 4}>", "")
    assert [item.code for item in errors(onnxtext.check(needed))] == ["function-call-arity"]


@pytest.mark.parametrize(
    "node", ["Optional (z)", "SequenceConstruct (z)", "Relu (z)", "SequenceInsert (s, z)"]
)
def test_nodes_after_an_output_that_onnx_cannot_infer_have_no_errors(node: str) -> None:
    """onnx cannot infer an `If` that returns an untyped initializer; onnxruntime can."""
    source = text(
        "t = Constant <value = bool {1}> ()\ns = SequenceConstruct (x)\nr, z = If (t) <\n"
        "else_branch = e () => (c, float[] o) <int64[1] c = {4}> {\no = Neg (x)\n},\n"
        "then_branch = h () => (p, float[] q) {\nq = Neg (x)\np = Shape (q)\n}>\n"
        f"u = {node}\ny = Identity (x)"
    )
    assert not errors(onnxtext.check(source))


@pytest.mark.parametrize(
    ("inputs", "outputs", "nodes"),
    [
        # The kernel shape does not fit; this changes the number of columns of the product.
        (
            "float[1, 1, 4, 4] x, float[1, 1, 3, 3] w, float[4, 2] m",
            "float[1, 2] y",
            "c = Conv <kernel_shape = [2, 2]> (x, w)\nf = Flatten (c)\ny = MatMul (f, m)",
        ),
        # The number of hidden units does not fit; this changes the shape of the output.
        (
            "float[5, 1, 2] x, float[1, 4, 2] w, float[1, 4, 4] r",
            "float[5, 1, 1, 4] y",
            "h = RNN <hidden_size = 3> (x, w, r)\ny = Neg (h)",
        ),
        # The first declaration is wrong; a later one that agrees with the node is not.
        ("float[2] x", "float[3] a, float[2] y", "a = Neg (x)\ny = Identity (a)"),
    ],
    ids=["attribute", "input", "declaration"],
)
def test_later_nodes_do_not_repeat_a_wrong_shape(inputs: str, outputs: str, nodes: str) -> None:
    source = f"<ir_version: 10, opset_import: [21]> g ({inputs}) => ({outputs}) {{\n{nodes}\n}}"
    found = [item for item in onnxtext.check(source) if item.code == "shape-mismatch"]
    wrong = nodes.splitlines()[0].split()[2]
    assert found
    assert all(f"`{wrong}`" in item.message for item in found)


def test_wrong_declared_ranks_that_onnx_accepts_are_no_errors() -> None:
    """scikit-learn's exporter declares `int64[N]` for labels of shape `[N, 1]`."""
    source = text(
        "f = ai.onnx.ml.ArrayFeatureExtractor (c, i)\nt = Transpose (f)\n"
        "y = Cast <to = 7> (t)\nz = com.microsoft.Unknown (y)",
        inputs="int64[?, 1] i",
        outputs="int64[?] y, float[?] z",
        values="int64[2] c = {0, 1}",
        opsets='17, "ai.onnx.ml": 1, "com.microsoft": 1',
    )
    data = onnxtext.to_binary(source)
    onnx.checker.check_model(data, full_check=True)
    for model in (source, data):
        (found,) = [i for i in onnxtext.check(model) if i.code == "shape-mismatch"]
        assert found.severity == "warning"
        assert found.message == "`y` is declared `int64[?]`, but `Cast` computes `int64[?, 1]`"
