# SPDX-License-Identifier: Apache-2.0
"""Findings about broken models are complete and unique, have a place, and take linear time."""

from __future__ import annotations

import os
import time
from functools import partial
from itertools import pairwise, permutations
from pathlib import Path

import onnx
import pytest
from onnx import helper

import onnxtext
from onnxtext.checker.context.checked_model import CheckedModel, Options
from onnxtext.checker.context.registry import families
from onnxtext.checker.rules import operators
from onnxtext.diagnostics import Diagnostic, Subject
from tests.checker.models import codes, errors, problems, text
from tests.diagnostics.found import help_of
from tests.running import grows_at_most, limited

MANY = """\
a = Rellu (x)
b = Add (x)
c = Softmax <axs = 0> (x)
d = Neg (nothing)
e = Cast (x)
f = Add (x, i)
g = MatMul (x, w)
x = Abs (x)
y = Relu (x)
z = Neg (later)
later = Abs (y)
"""
FOUND = [
    "op-unknown",
    "input-count",
    "attribute-unknown",
    "value-undefined",
    "attribute-required",
    "type-mismatch",
    "shape-mismatch",
    "value-redefined",
    "node-order",
]


def many() -> str:
    return text(MANY, inputs="float[4] x, int64[4] i", values="float[5, 2] w = [0, ...],")


def test_all_independent_violations_are_found_in_the_order_of_the_text() -> None:
    found = onnxtext.check(many())
    assert [item.code for item in found] == FOUND
    lines = [item.source.position(item.span.start).line for item in found]  # type: ignore[union-attr]
    assert lines == [5, 6, 7, 8, 9, 10, 11, 12, 14]


def test_all_independent_violations_are_found_in_a_binary() -> None:
    found = onnxtext.check(onnxtext.to_binary(many()))
    assert sorted(item.code for item in found) == sorted(FOUND)
    paths = {item.code: item.path for item in found}
    assert paths["op-unknown"] == "graph.node[0].op_type"
    assert paths["attribute-unknown"] == 'graph.node[2].attribute["axs"]'
    assert paths["value-undefined"] == "graph.node[3].input[0]"
    assert paths["value-redefined"] == "graph.node[7].output[0]"


def test_paths_lead_into_nested_graphs_and_functions() -> None:
    nested = text(
        "y = If (c) <then_branch = p () => (float[4] r) { r = Rellu (x) },"
        " else_branch = o () => (float[4] t) { t = Relu (x) }>",
        inputs="float[4] x, bool c",
    )
    (finding,) = onnxtext.check(onnxtext.to_binary(nested))
    assert finding.path == 'graph.node[0].attribute["then_branch"].g.node[0].op_type'
    function = text(
        "y = my.f (x)",
        opsets='21, "my": 1',
        rest='<domain: "my", opset_import: ["": 21]> f (a) => (b) { b = Rellu (a) }',
    )
    (finding,) = onnxtext.check(onnxtext.to_binary(function))
    assert finding.path == 'functions["f"].node[0].op_type'


def test_a_name_used_ten_times_is_one_finding_with_ten_places() -> None:
    nodes = "\n".join(f"n{i} = Neg (missing)" for i in range(10))
    found = onnxtext.check(text(f"{nodes}\ny = Relu (x)"))
    assert [item.code for item in found] == ["value-undefined"]
    assert len(found[0].labels) == 10


def test_no_cascading_findings() -> None:
    nodes = "a = Rellu (x)\nb = Neg (a)\nc = MatMul (b, b)\ny = Add (c, x)"
    assert [item.code for item in onnxtext.check(text(nodes))] == ["op-unknown"]


def test_too_many_inputs_and_a_repeated_node_are_one_finding_each() -> None:
    nodes = "a = Reshape (x, x, x)\n[n] b = Neg (a)\n[n] b = Neg (a)\ny = Abs (b)"
    found = [item.code for item in onnxtext.check(text(nodes))]
    assert found == ["input-count", "value-redefined"]
    nodes = "[n] a = Neg (x)\ny = Abs (a)\n[n] y = Neg (a)"  # two mistakes
    found = [item.code for item in onnxtext.check(text(nodes))]
    assert sorted(found) == ["node-name-duplicate", "value-redefined"]


@pytest.mark.parametrize(
    ("inputs", "value", "code"),
    [
        ("float[2, 3] x", "float[4] w = {1, 2, 3}", "tensor-data-size"),
        ("float[2, 3] x, float[3] w", "float[4] w = {1, 2, 3}", "tensor-data-size"),
        ("float[2, 3] x, float[3] w", "int64[4] w = {1, 2, 3}", "tensor-data-size"),
        ("float[2, 3] x, float[3] w", "float[4] w = {1, 2, 3, 4}", "value-info-conflict"),
        ("float[2, 3] x, float[3] w", "int64[3] w = {1, 2, 3}", "value-info-conflict"),
    ],
)
def test_a_wrong_type_of_an_initializer_is_one_finding(inputs: str, value: str, code: str) -> None:
    source = text("t = Add (x, w)\ny = MatMul (t, w)", inputs=inputs, values=f"{value},")
    for model in (source, onnxtext.to_binary(source)):
        assert [item.code for item in errors(onnxtext.check(model))] == [code]


def test_a_function_without_imports_is_one_finding() -> None:
    function = '<domain: "f"> F (a) => (d) { b = Neg (a) c = ai.onnx.ml.Scaler (b) d = f.G (c) }'
    other = '<domain: "f", opset_import: [17]> G (a) => (b) { b = Abs (a) }'
    source = text("y = f.F (x)", opsets='17, "f": 1, "ai.onnx.ml": 3', rest=f"{function}\n{other}")
    for model in (source, onnxtext.to_binary(source)):
        (found,) = errors(onnxtext.check(model))
        assert found.code == "function-opset-missing"
        assert found.help == 'add 17, "ai.onnx.ml": 3, "f": 1 to `opset_import`'


@pytest.mark.parametrize("cause", ["Nope (x)", "Shape (missing)", "Shape <wrong = 1> (x)"])
def test_unknown_sizes_of_a_resize_give_no_finding(cause: str) -> None:
    nodes = f"s = {cause}\nt = Cast <to = 7> (s)\ny = Resize (x, , , t)"
    assert len(errors(onnxtext.check(text(nodes, inputs="float[1, 1, 4, 4] x")))) == 1


@pytest.mark.parametrize(
    "source",
    [
        text(
            "= If (c) <then_branch = a () => (float[4] t) { t = Neg (x) },"
            " else_branch = b () => (float[4] e) { e = Abs (x) }>\ny = Relu (x)",
            inputs="float[4] x, bool c",
        ),
        text(
            "y = f.F (x)",
            opsets='21, "f": 1',
            rest='<domain: "f", opset_import: [21]>\n'
            "F (a) => (b) <float[4] t> { = Neg (a)\n b = Abs (t) }",
        ),
    ],
    ids=["a body", "a value info"],
)
def test_a_missing_output_is_one_finding(source: str) -> None:
    assert [item.code for item in errors(onnxtext.check(source))] == ["node-no-output"]


def test_a_missing_output_hides_only_the_findings_about_one_name() -> None:
    source = text("c = Neg (typo)\n= Neg (x)\ny = Abs (t)", values="float[4] t")
    found = [(item.code, item.subject and item.subject.name) for item in onnxtext.check(source)]
    assert "node-no-output" in [code for code, _ in found]
    assert ("value-undefined", "typo") in found
    assert "t" not in [name for _, name in found]


def test_a_node_without_outputs_names_its_operator_with_its_domain() -> None:
    source = text("y = f.F (x)\n = f.F (x)", opsets='21, "f": 1', rest=_FUNCTION)
    (found,) = errors(onnxtext.check(source))
    assert (found.code, found.subject) == ("node-no-output", Subject("operator", "f.F"))


_FUNCTION = '<domain: "f", opset_import: [21]>\nF (a) => (b) { b = Neg (a) }'
LSTM = "float[1, 1, 1] x, float[1, 4, 1] w, float[1, 4, 1] r, float[1, 1, 1] h"


@pytest.mark.parametrize(
    ("node", "parts", "code"),
    [
        ("y = Add (x, x)", {"inputs": "undefined[4] x"}, "elem-type-undefined"),
        (
            "t = Unsqueeze (x, i)\ny = Squeeze (t, i)",
            {"inputs": "float[4] x, undefined[1] i"},
            "elem-type-undefined",
        ),
        ("y = Neg (x)", {"opsets": "0"}, "opset-version-invalid"),
        (
            "y = f.F (x)",
            {
                "opsets": '0, "f": 1',
                "rest": '<domain: "f", opset_import: [21]>\nF (a) => (b) { b = Neg (a) }',
            },
            "opset-version-invalid",
        ),
        (
            'y = LSTM <hidden_size = 1> (x, w, r, "", "", h)',
            {"inputs": LSTM, "values": 'int64[2] "" = [1, 2]', "outputs": "float[1, 1, 1, 1] y"},
            "value-name-missing",
        ),
    ],
)
def test_a_wrong_declaration_is_one_finding(node: str, parts: dict[str, str], code: str) -> None:
    assert [item.code for item in onnxtext.check(text(node, **parts))] == [code]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "types",
    [
        ("undefined", "undefined"),
        ("seq(undefined[2])", "seq(undefined[ 2])"),
        ("map(double, float)", "map(double,float)"),
    ],
)
def test_equal_types_are_one_finding(types: tuple[str, str]) -> None:
    """Whether equal types are the same object depends on their spelling and on the core."""
    inputs = ", ".join(f"{type} x{index}" for index, type in enumerate(types))
    source = f'<ir_version: 10, opset_import: ["": 20]>\ng ({inputs}) => () {{}}'
    assert len(onnxtext.check(source)) == 1


def test_a_contradiction_is_explained_with_two_places() -> None:
    model = text(
        "y = MatMul (x, W)",
        inputs="float[N, 784] x",
        outputs="float[N, 3] y",
        values="float[10, 3] W = [0, ...],",
    )
    (finding,) = onnxtext.check(model)
    assert finding.message == "`W` has 10 rows, but `x` has 784 columns"
    labels = {label.message for label in finding.labels}
    assert {"`W` has 10 rows", "`x` has 784 columns"} <= labels
    shown = [model[label.span.start : label.span.end] for label in finding.labels]
    assert shown == ["MatMul", "float[10, 3]", "float[N, 784]"]


def test_the_cycle_and_the_chain_are_shown() -> None:
    (finding,) = onnxtext.check(text("a = Add (x, c)\nb = Neg (a)\nc = Abs (b)\ny = Relu (c)"))
    assert finding.code == "graph-cycle"
    assert "`a` -> `b` -> `c` -> `a`" in finding.message


def test_cycles_do_not_depend_on_the_order_of_the_nodes() -> None:
    nodes = ["a = Add (x, c)", "b = Sub (a, d)", "c = Abs (b)", "d = Neg (c)"]
    functions = [
        f'<domain: "l", opset_import: [21, "l": 1]>\n{name} (a) => (b) {{ b = l.{other} (a) }}\n'
        for name, other in ("fg", "gh", "hf")
    ]
    opsets = '21, "l": 1'
    sources = [text("\n".join([*some, "y = Relu (c)"])) for some in permutations(nodes)]
    messages = [item.message for s in sources for item in onnxtext.check(s)]
    assert len(messages) == len(sources)
    assert len(set(messages)) == 1
    sources = [
        text("y = l.f (x)", opsets=opsets, rest="".join(some)) for some in permutations(functions)
    ]
    assert len({onnxtext.check(source)[0].message for source in sources}) == 1


@pytest.mark.parametrize(
    ("nodes", "help"),
    [
        ("y = Rellu (x)", "did you mean `Relu`?"),
        ("y = Softmax <axs = 0> (x)", "did you mean `axis`?"),
        ("hidden = Neg (x)\ny = Relu (hiden)", "did you mean `hidden`?"),
        ("y = Gelu (x)", "it was added in version 20"),
    ],
)
def test_similar_names_are_suggested(nodes: str, help: str) -> None:
    found = onnxtext.check(text(nodes, opsets="17"))
    assert any(item.help and help in item.help for item in found), found


def test_a_name_is_suggested_for_one_attribute_only() -> None:
    function = '<domain: "f", opset_import: [21]>\nf <axis> (a) => (b) { b = Neg (a) }'
    for node in ("Softmax <axs = 0, axi = 1> (x)", "f.f <axs = 0, axi = 1> (x)"):
        source = text(f"y = {node}", opsets='17, "f": 1', rest=function)
        assert str(onnxtext.check(source)).count("did you mean `axis`?") == 1
        present = source.replace("axs =", "axis =")
        assert "did you mean" not in str(onnxtext.check(present))
    needed = function.replace("<axis>", "<axis: int>").replace("Neg", "Softmax <axis: int = @axis>")
    source = text("y = f.f <axs = 0> (x)", opsets='17, "f": 1', rest=needed)
    assert len(onnxtext.check(source)) == 1


def test_syntax_errors_are_findings() -> None:
    (finding,) = onnxtext.check("g () => () { y = Relu (x }")
    assert finding.code == "unclosed-bracket"
    (finding,) = onnxtext.check(b"\x0b\x0b")
    assert finding.severity == "error"


def test_check_reads_messages_and_paths(tmp_path: Path) -> None:
    wrong = text("y = Rellu (x)")
    model = onnxtext.loads(wrong)
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    other = tmp_path / "model.onnxtxt"
    other.write_text(wrong)
    unnamed = tmp_path / "model"
    unnamed.write_text(wrong)
    for source in (wrong, model, model.SerializeToString(), path, other, unnamed):
        assert codes(source) == {"op-unknown"}
    with pytest.raises(TypeError, match=r"^expected a message of onnx.*, not int"):
        onnxtext.check(1)
    with pytest.raises(ValueError, match="there is no rule or profile `nothing`"):
        onnxtext.check(wrong, select=["nothing"])
    with pytest.raises(FileNotFoundError):
        onnxtext.check(tmp_path / "nowhere.onnx")


def test_fragment_messages_are_checked() -> None:
    node = helper.make_node("Rellu", ["x"], ["y"])
    assert codes(node) == {"op-unknown"}
    graph = helper.make_graph([node], "g", [], [])
    assert "op-unknown" in codes(graph)
    cyclic = helper.make_graph([helper.make_node("Relu", ["y"], ["y"])], "g", [], [])
    assert codes(cyclic) == {"graph-cycle"}
    function = helper.make_function(
        "my", "f", ["a"], ["b"], [helper.make_node("Rellu", ["a"], ["b"])],
        [helper.make_opsetid("", 21)],
    )  # fmt: skip
    assert codes(function) == {"op-unknown"}
    good = helper.make_node("Relu", ["x"], ["y"])
    assert not codes(good)
    assert codes(helper.make_graph([good], "g", [], [])) == {"value-undefined"}
    assert {item.severity for item in onnxtext.check(helper.make_graph([good], "g", [], []))} == {
        "warning"
    }
    alone = '<domain: "my", opset_import: ["": 21]> f (a) => (b) { b = Rellu (a) }'
    assert codes(alone) == {"op-unknown"}


def test_select_and_ignore_choose_rules() -> None:
    lint = text("z = Neg (x)\ny = Relu (x)")
    assert not codes(lint)
    assert codes(lint, select=["value-unused"]) == {"value-unused"}
    assert "value-unused" in codes(lint, select=["all"])
    assert not onnxtext.check(text("y = Rellu (x)"), ignore=["op-unknown"])
    assert not onnxtext.check(text("y = Rellu (x)"), ignore=["all"])
    assert not onnxtext.check(lint, select=["value-unused"], ignore=["all", "value-unused"])


def test_a_node_without_outputs_is_checked_if_the_rules_about_operators_are_ignored() -> None:
    graph = helper.make_graph(
        [helper.make_node("Split", ["x"], [], axis=0)],
        "g",
        [helper.make_tensor_value_info("x", 1, [4])],
        [helper.make_tensor_value_info("x", 1, [4])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 11)], ir_version=8)
    ignored = [rule.code for rule in operators.RULES]
    found = onnxtext.check(model, ignore=[*ignored, "shape-mismatch", "onnx-inference-failed"])
    assert not [item for item in found if item.severity == "error"]


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        ("y = Optional (x, x)", "takes at most 1 input, not 2"),
        ("y, h, c = GRU <hidden_size = 4> (x, x, x)", "has at most 2 outputs, not 3"),
        ("y = Dropout (x, , , x)", "takes 1 to 3 inputs, not 4"),
    ],
)
def test_wrong_counts_are_described(node: str, expected: str) -> None:
    (found,) = [item for item in onnxtext.check(text(node)) if item.code.endswith("put-count")]
    assert found.message.endswith(expected)


@pytest.mark.parametrize(
    ("constant", "node", "message"),
    [
        ("value_ints = [-5]", "ConstantOfShape (c)", "must have non-negative elements"),
        ("value_int = -3", "OneHot (i, c, x)", "must be non-negative"),
        ("value_floats = [1.0, 2.0, 3.0]", "Resize (x, , c)", "same as rank of input"),
    ],
)
def test_numbers_in_attributes_of_constants_are_checked(
    constant: str, node: str, message: str
) -> None:
    source = text(
        f"c = Constant <{constant}> ()\ny = {node}\nz = Relu (x, x)",
        inputs="float[2] x, int64[3] i", outputs="y, float[2] z",
    )  # fmt: skip
    (finding,) = [item for item in onnxtext.check(source) if item.code == "shape-mismatch"]
    assert message in finding.message


@pytest.mark.parametrize(
    "node",
    [
        "f.d.F (x)",
        "If (c) <then_branch = p () => (float[4] u) { u = Neg (x) }, "
        "else_branch = q () => (float[4] v) { v = Abs (x) }>",
    ],
)
def test_a_wrong_declaration_is_reported_once(node: str) -> None:
    function = '<domain: "f.d", opset_import: ["": 21]>\nF (a) => (b) {\n  b = Relu (a)\n}\n'
    found = onnxtext.check(
        text(f"y = {node}", inputs="float[4] x, bool c", outputs="float[5] y",
             opsets='21, "f.d": 1', rest=function)
    )  # fmt: skip
    (finding,) = [item for item in found if item.severity != "info"]
    assert finding.message.startswith("`y` is declared `float[5]`, but ")


def hostile_models() -> dict[str, str]:
    names = [f"n{i}" for i in range(3000)]
    deep = "y = Relu (x)"
    for level in range(25):
        deep = (
            f"y{level} = If (c) <then_branch = p () => (float[4] y) {{ {deep} }},"
            f" else_branch = o () => (float[4] e{level}) {{ e{level} = Neg (x) }}>\n"
            f"y = Neg (y{level})"
        )
        deep = deep.replace("(float[4] y)", f"(float[4] q{level})").replace("y = ", f"q{level} = ")
    return {
        "many findings": "\n".join(f"{name} = Rellu{name} (x)" for name in names),
        "one name": "\n".join(f"{name} = Neg (missing)" for name in names),
        "many names": "\n".join(f"{name} = Neg (missing{name})" for name in names),
        "long cycle": "\n".join(
            f"{name} = Neg ({names[index - 1]})" for index, name in enumerate(names)
        ),
        "reversed": "\n".join(f"{name} = Neg ({after})" for name, after in pairwise(names)),
        "deep": deep,
        "same attribute": "y = Relu <" + ", ".join(["a = 1"] * 3000) + "> (x)",
        "long names": "\n".join(f"{'n' * 2000}{i} = Neg ({'m' * 2000})" for i in range(300)),
    }


@pytest.mark.parametrize("name", hostile_models())
def test_hostile_models_are_checked_fast(name: str) -> None:
    model = text(hostile_models()[name], inputs="float[4] x, bool c", outputs="float[4] o")
    with limited(20):
        found = onnxtext.check(model)
        assert errors(found)
    for item in found:
        assert len(item.message) < 3000
        assert len(item.labels) <= 12


@pytest.mark.parametrize("depth", [10, 45, 400, 3000])
def test_deep_nesting_does_not_crash(depth: int) -> None:
    graph = "y = Relu (x)"
    opening = "y = If (c) <then_branch = p () => (float[4] y) { "
    closing = " }, else_branch = o () => (float[4] y) { y = Neg (x) }>"
    nested = text(opening * depth + graph + closing * depth, inputs="float[4] x, bool c")
    assert codes(nested) in (set(), {"too-deep"})
    type = "seq(" * depth + "float[2]" + ")" * depth
    assert codes(text("y = Relu (x)", inputs=f"{type} x")) & {"too-deep", "type-mismatch"}


def chain(count: int, last: str, body: str = "b = {} (a)") -> str:
    """Return a model with a chain of functions; each calls the next, and the last calls `last`."""
    calls = [*[f"my.f{index}" for index in range(1, count)], last]
    functions = "".join(
        f'<domain: "my", opset_import: ["": 21, "my": 1]> f{index} (a) => (b) '
        f"{{ {body.replace('{}', call)} }}\n"
        for index, call in enumerate(calls)
    )
    return text("y = my.f0 (x)", opsets='21, "my": 1', rest=functions)


@pytest.mark.parametrize("count", [50, pytest.param(10_000, marks=pytest.mark.thorough)])
def test_recursive_functions_terminate(count: int) -> None:
    assert codes(chain(count, "my.f0")) == {"function-recursive"}


@pytest.mark.thorough
def test_long_chains_of_calls_are_checked() -> None:
    """Neither the depth of the calls nor the number of paths is a problem."""
    for model in (chain(10_000, "Relu"), chain(1_000, "Relu", "c = {} (a) d = {} (c) b = {} (d)")):
        with limited(40):
            assert not codes(model)
    (found,) = errors(onnxtext.check(chain(10_000, "Rellu")))
    assert found.code == "op-unknown"


def test_functions_that_call_each_other_are_reported_once() -> None:
    """Several cycles of calls share the functions; a finding for each would be quadratic."""
    (found,) = onnxtext.check(chain(50, "my.f0", "c = {} (a) b = my.f0 (c)"))
    assert found.message == "recursive function: `f0` -> `f0`"


def test_the_header_of_a_function_with_decorators_is_found() -> None:
    model = text(
        "y = my.f (x)",
        opsets='21, "my": 1',
        rest='@doc("d") <domain: "my", opset_import: ["": 21, "": 20]> f (a) => (b) '
        "{ b = Relu (a) }\n",
    )
    (found,) = onnxtext.check(model)
    assert [model[slice(*label.span)] for label in found.labels] == ['"": 20', '"": 21']


def test_calls_that_double_at_every_level_terminate() -> None:
    functions = "".join(
        f'<domain: "my", opset_import: ["": 21, "my": 1]> f{i} (a) => (b) '
        f"{{ c = my.f{i + 1} (a)\n b = my.f{i + 1} (c) }}\n"
        for i in range(40)
    )
    functions += '<domain: "my", opset_import: ["": 21]> f40 (a) => (b) { b = Rellu (a) }\n'
    model = text("y = my.f0 (x)", opsets='21, "my": 1', rest=functions)
    with limited(20):
        assert codes(model) == {"op-unknown"}


def test_checking_takes_linear_time() -> None:
    def seconds(count: int) -> float:
        nodes = [helper.make_node("Neg", [f"v{i}"], [f"v{i + 1}"]) for i in range(count)]
        x = helper.make_tensor_value_info("v0", 1, [4])
        y = helper.make_tensor_value_info(f"v{count}", 1, [4])
        result = helper.make_model(
            helper.make_graph(nodes, "g", [x], [y]),
            opset_imports=[helper.make_opsetid("", 21)],
            ir_version=10,
        )
        data = result.SerializeToString()
        taken, found = seconds_to_check(data)
        assert not found
        return taken

    assert grows_at_most(seconds, 10_000, 40_000, factor=8)


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["binary", "text"])
def test_many_findings_of_any_kind_take_linear_time(kind: str) -> None:
    """The time for a finding does not grow with the model.

    Four times as many findings take four times as long, and with a quadratic step sixteen times.
    The limit is 9 times, because caches fill up.
    """

    def seconds(kind: str, count: int) -> float:
        nodes = [helper.make_node("Neg", [f"missing{i}"], [f"n{i}"]) for i in range(count)]
        nodes += [helper.make_node(f"Neg{i}Zq", ["x"], [f"m{i}"]) for i in range(count)]
        graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", 1, [2])], [])
        graph.quantization_annotation.extend(
            onnx.TensorAnnotation(tensor_name=f"q{i}") for i in range(count // 2)
        )
        opsets = [helper.make_opsetid("", 21)] * (count // 2)
        model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
        source = model.SerializeToString() if kind == "binary" else onnxtext.dumps(model)
        taken, found = seconds_to_check(source)
        assert len(found) == 3 * count - 1
        return taken

    assert grows_at_most(partial(seconds, kind), 500, 2_000, factor=9)


def test_messages_about_devices_have_no_empty_names() -> None:
    groups = "index_to_device_group_map: [{value: [7]}, {value: [8]}]"
    dims = "sharded_dim: [{}, {axis: 9, simple_sharding: [{num_shards: 0}]}]"
    spec = f"sharding_spec: [{{device: [5], {groups}, {dims}}}]"
    model = text(f'@device("d", {spec})\ny = Relu (x)', inputs="float[4] x", outputs="float[4] y")
    found = onnxtext.check(
        f'{model}configuration "" {{ num_devices: 0 }}\nconfiguration "d" {{ num_devices: 2 }}'
    )
    messages = [item.message for item in found]
    assert (
        "`index_to_device_group_map` of a tensor without a name has two entries without a key"
        in (messages)
    )
    assert not [message for message in messages if "``" in message or "None" in message]


def test_repeated_keys_of_external_data_are_found() -> None:
    entries = '"location": "a.bin", "offset": "0", "location": "b.bin"'
    source = text("y = Relu (w)", values=f"float[4] w = [{entries}]")
    messages = [item.message for item in onnxtext.check(source) if "key" in item.code]
    assert messages == ["the tensor `w` has the key `location` 2 times in its external data"]


LOOP = """\
y = Loop <body = b (int64 i, bool go, v) => (bool again, next) {
  again = Identity (go)
  NODES
}> (n, c, x)
"""


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        ("next = Add (v, w)", ["shape-mismatch"]),
        ("sum = Add (v, w)\n  next = Concat <axis = 0> (v, v)", ["shape-mismatch"]),
        ("next = d.f (v, w)", ["shape-mismatch"]),
        # The first iteration may skip these nodes.
        ("next = If <then_branch = t () => (o) { o = Add (v, w) }, else_branch = "
         "e () => (o) { o = Concat <axis = 0> (v, v) }> (go)", []),
        ("next = Concat <axis = 0> (v, v)", []),
    ],
)  # fmt: skip
def test_errors_in_the_first_iteration_of_a_loop_are_found(nodes: str, expected: list[str]) -> None:
    """An unknown shape of the next iteration must not hide the error that is its cause."""
    source = text(
        LOOP.replace("NODES", nodes),
        inputs="float[3] x, float[4] w, int64 n, bool c",
        outputs="float[M] y",
        opsets='"": 21, "d": 1',
        rest='<domain: "d", opset_import: ["": 21]>\nf (a, b) => (r) { r = Add (a, b) }\n',
    )
    assert [item.code for item in errors(onnxtext.check(source))] == expected


@pytest.mark.parametrize(
    "nodes",
    [
        "next = Add (v, w)",
        "sum = Add (v, w)\n  next = Identity (v)",
        "odd = SpaceToDepth <blocksize = 2> (u)\n  next = Identity (v)",
    ],
)
@pytest.mark.parametrize(
    ("count", "condition", "found"),
    [
        ("zero", "c", False),
        ("negative", "c", False),
        ("n", "zero", False),
        ("", "zero", False),
        ("n", "one", True),
        ("one", "", True),
    ],
)
def test_errors_in_a_loop_that_never_runs_are_ignored(
    nodes: str, count: str, condition: str, found: bool
) -> None:
    """onnx accepts these models, and onnxruntime runs them."""
    count, condition = count and f"n_{count}", condition and f"c_{condition}"
    source = text(
        LOOP.replace("NODES", nodes).replace("(n, c, x)", f"({count}, {condition}, x)"),
        inputs="float[3] x, float[4] w, float[1, 1, 3, 4] u, int64 n_n, bool c_c",
        outputs="float[M] y",
        values="int64 n_zero = {0}, int64 n_negative = {-1}, int64 n_one = {1}, "
        "bool c_zero = {0}, bool c_one = {1},",
    )
    assert found == any(item.code == "shape-mismatch" for item in onnxtext.check(source))


def test_errors_that_onnx_finds_in_a_loop_that_never_runs_are_kept() -> None:
    nodes = "sum = Add (x, w)\n  next = Identity (v)"
    source = text(
        f"n = Constant <value_int = 0> ()\n{LOOP.replace('NODES', nodes)}",
        inputs="float[3] x, float[4] w, bool c",
        outputs="float[M] y",
    )
    (found,) = errors(onnxtext.check(source))
    assert found.code == "shape-mismatch"
    assert "`Add`" in found.message


@pytest.mark.parametrize(
    "nodes", ["next = Add (x, w)", "odd = SpaceToDepth <blocksize = 2> (u)\n  next = Identity (v)"]
)
@pytest.mark.parametrize("operator", ["my.Loop", "ai.onnx.Loop"])
def test_an_operator_of_another_domain_is_not_a_loop(nodes: str, operator: str) -> None:
    source = text(
        LOOP.replace("NODES", nodes).replace("Loop", operator),
        inputs="float[3] x, float[4] w, float[1, 1, 3, 4] u, bool c",
        outputs="float[M] y",
        values="int64 n = {0},",
        opsets='"": 21, "my": 1',
    )
    found = any(item.code == "shape-mismatch" for item in onnxtext.check(source))
    assert found == (operator == "my.Loop")


@pytest.mark.parametrize("domain", ["", "ai.onnx.", "my."])
@pytest.mark.parametrize("node", [
    "y = If <then_branch = t () => (p) { p = Relu (x) }, else_branch = e () => (p) { p = Abs (x) }>"
    " (c)",
    "y = Loop <body = b (int64 i, bool d, q) => (bool d, r) { r = Add (q, x) }> (, c, x)",
    "y = Scan <num_scan_inputs = 1, body = b (q) => (r) { r = Relu (q) }> (w)",
    "s = SequenceConstruct (x)\nt = SequenceMap <body = b (q) => (r) { r = Relu (q) }> (s)\n"
    "  y = SequenceAt (t, n)",
])  # fmt: skip
def test_types_of_bodies_follow_only_from_standard_operators(node: str, domain: str) -> None:
    for operator in ("If", "Loop", "Scan", "SequenceMap"):
        node = node.replace(f"= {operator} <", f"= {domain}{operator} <")
    inputs = "float[3] x, float[2, 3] w, bool c, int64 n"
    source = text(node, inputs=inputs, outputs="float[4, 4] y", opsets='"": 21, "my": 1')
    found = any(item.code == "shape-mismatch" for item in onnxtext.check(source))
    assert found == (domain != "my.")


def test_a_file_of_external_data_is_looked_up_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "w.bin").write_bytes(bytes(8))
    values = ", ".join(f'float[2] w{index} = external("w.bin", 0, 8)' for index in range(20))
    source = text("y = Relu (w1)", values=f'{values}, float[2] v = external("v.bin", 0, 8)')
    seen = []
    stat = Path.stat

    def counted(path: Path, **options: bool) -> os.stat_result:
        seen.append(path.name)
        return stat(path, **options)

    monkeypatch.setattr(Path, "stat", counted)
    found = onnxtext.check(source, base_dir=tmp_path)
    assert [item.code for item in found if item.code.startswith("external")] == [
        "external-file-missing"
    ]
    assert sorted(seen) == ["v.bin", "w.bin"]


def test_sharding_in_many_nested_graphs_takes_linear_time() -> None:
    """The visible values are collected once for a graph, not once for each graph nested in it."""
    (family,) = [f for f in families() if any(rule.code == "sharding-axis" for rule in f.RULES)]

    def seconds(count: int) -> float:
        spec = 'sharding_spec: [{tensor_name: "x", sharded_dim: [{axis: 3}]}]'
        nodes = "\n".join(
            f"y{i} = If (c) <then_branch = p{i} () => (float[4] q) "
            f'{{ @device("d", {spec}) q = Relu (x) }}, '
            f"else_branch = r{i} () => (float[4] s) {{ s = Neg (x) }}>"
            for i in range(count)
        )
        outputs = ", ".join(f"float[4] y{i}" for i in range(count))
        model = text(nodes, inputs="float[4] x, bool c", outputs=outputs)
        subject = CheckedModel(
            onnxtext.parse(model + 'configuration "d" { num_devices: 2 }'), Options()
        )
        start = time.process_time()
        assert len(list(family.check(subject))) == count
        return time.process_time() - start

    assert grows_at_most(seconds, 500, 2_000, factor=9)


def seconds_to_check(model: str | bytes) -> tuple[float, list[Diagnostic]]:
    start = time.process_time()
    found = onnxtext.check(model)
    return time.process_time() - start, found


@pytest.mark.thorough
def test_a_name_used_a_million_times_is_one_finding() -> None:
    """A node with a million undefined inputs is one finding."""
    for name, uses, wanted in (("missing", 1_000_000, {"value-undefined"}), ("x", 100_000, set())):
        model = text(f"y = Sum ({', '.join([name] * uses)})")
        with limited(60):
            found = onnxtext.check(model)
        assert {item.code for item in found} == wanted
        assert len(found) == len(wanted)
        for item in found:
            assert item.span is not None
            assert "and 999,988 more places" in item.notes
            assert "used 1,000,000 times" in item.message


@pytest.mark.thorough
def test_an_undefined_name_of_many_nodes_is_found_fast() -> None:
    nodes = [helper.make_node("Neg", ["missing"], [f"n{i}"]) for i in range(30_000)]
    graph = helper.make_graph(nodes, "g", [], [])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    with limited(20):
        found = onnxtext.check(model.SerializeToString())
    assert [item.code for item in found] == ["value-undefined"]


def test_many_symbols_take_linear_time() -> None:
    """Chains of equal symbols, each of which is a number in the end."""
    count = 5_000
    inputs = ", ".join(f"float[N{i}] x{i}" for i in range(count))
    nodes = "\n".join(f"y{i} = Concat <axis = 1> (a{i}, a{i + 1})" for i in range(count - 1))
    rows = "\n".join(f"a{i} = Unsqueeze (x{i}, one)" for i in range(count))
    for number in ("", "\nb = MatMul (x0, four)\nc = MatMul (x7, five)"):
        model = text(
            f"{rows}\n{nodes}{number}\nout = Identity (x0)",
            inputs=inputs,
            outputs="float[N0] out",
            values="int64[1] one = [1],\nfloat[4, 1] four = [0, ...],\n"
            "float[5, 1] five = [0, ...],",
        )
        with limited(30):
            found = onnxtext.check(model)
        wanted = "dim-variable-conflict" if number else "dim-forced"
        assert [item.code for item in found] == [wanted]


def test_a_large_function_called_often_is_checked_fast() -> None:
    body = "\n".join(f"b{i + 1} = Neg (b{i})" for i in range(3_000))
    functions = f'<domain: "my", opset_import: ["": 21]> f (b0) => (b3000) {{ {body} }}\n'
    calls = "\n".join(f"v{i + 1} = my.f (v{i})" for i in range(1_000))
    model = text(
        calls, inputs="float[N] v0", outputs="float[N] v1000", opsets='21, "my": 1', rest=functions
    )
    with limited(60):
        found = onnxtext.check(model)
    assert not found


@pytest.mark.parametrize(("hidden", "note"), [(0, None), (1, "1 more place"), (2, "2 more places")])
def test_places_that_are_not_shown_are_counted(hidden: int, note: str | None) -> None:
    (found,) = onnxtext.check(text(f"y = Sum ({', '.join(['missing'] * (12 + hidden))})"))
    assert [item for item in found.notes if "more" in item] == ([f"and {note}"] if note else [])


@pytest.mark.parametrize(("version", "severity"), [(-1, "error"), (99, "warning")])
def test_only_negative_unknown_ir_versions_are_errors(version: int, severity: str) -> None:
    found = onnxtext.check(text("y = Relu (x)", ir_version=version))
    assert [(item.code, item.severity) for item in found] == [("ir-version-unknown", severity)]


@pytest.mark.parametrize(
    "layout",
    [
        "}\nquantization {",
        "} quantization {",
        "}\n  quantization\n{",
        '}\nmetadata { value x { k: """\nz\nquantization { z: [] }\n""" } } quantization # z\n{',
    ],
)
def test_findings_in_a_section_are_placed_whatever_its_layout(layout: str) -> None:
    model = text("y = Relu (x)", rest='quantization { z: ["SCALE_TENSOR": "y"] }')
    model = model.replace("}\nquantization {", layout)
    (finding,) = onnxtext.check(model)
    assert layout in model
    assert finding.span is not None
    start = model.rindex('z: ["SCALE_TENSOR')
    assert finding.span == (start, start + 1)


def test_a_finding_in_a_configuration_is_placed_in_its_section() -> None:
    rest = 'configuration a {num_devices: 1, device: ["b"]} configuration a {num_devices: 1}'
    model = text("y = Relu (x)", rest=rest, ir_version=11, opsets="24")
    (finding,) = onnxtext.check(model)
    assert finding.code == "device-config-name"
    start = model.rindex("a {num_devices")
    assert finding.span == (start, start + 1)


@pytest.mark.parametrize(
    ("interface", "node", "message"),
    [
        (
            '(opaque("d", "n") x) => (float[2] y)',
            "y = Relu (x)",
            "the inputs of `Relu` do not fit: the operator does not accept the type of its input "
            "`X`",
        ),
        (
            "() => (int64[2] y)",
            "y = RandomNormal <dtype = 7, shape = [2]> ()",
            "the attributes of `RandomNormal` do not fit: output has unsupported type "
            "tensor(int64)",
        ),
        (
            "() => (sparse_tensor(float[4]) y)",
            "y = Constant <sparse_value = sparse_tensor(float[4]) "
            "sparse(float[1] [7], int64[1] [2])> ()",
            "shape inference of onnx failed: `Constant`: an output is declared as sparse_tensor, "
            "but the operator computes tensor",
        ),
    ],
)
def test_phrases_of_onnx_are_explained(interface: str, node: str, message: str) -> None:
    header = "<onnxtext: 1, ir_version: 10, opset_import: [21]>"
    for label in ("", "[] ", "[n] "):
        (finding,) = onnxtext.check(f"{header}\nmain {interface} {{ {label}{node} }}")
        assert (finding.code, finding.message) == ("type-mismatch", message)


@pytest.mark.parametrize(
    ("node", "parts"),
    [
        ("y = Transpose <perm = [0, 2]> (x)", "inputs or attributes"),
        ("y = ConstantOfShape <value = float[2] [1, 2]> (s)", "inputs or attributes"),
        ("y = Add (x, w)", "inputs"),
    ],
)
def test_messages_name_attributes_only_if_the_node_has_some(node: str, parts: str) -> None:
    source = text(node, inputs="float[2, 3] x, float[4] w, int64[2] s", outputs="float[?, ?] y")
    (finding,) = errors(onnxtext.check(source))
    assert finding.message.startswith(f"the {parts} of `{node.split()[2]}` do not fit: ")


@pytest.mark.parametrize(
    ("node", "cause"),
    [
        (
            "float[2, 3] y = Reshape (x, s)",
            "the number of elements of `x` is 6, but the number of elements of the new shape is 8",
        ),
        (
            "float[1, 2, 3] y = Conv <kernel_shape = [3]> (c, k)",
            "dimension 2 of `k` is 2, but entry 0 of `kernel_shape` is 3",
        ),
    ],
)
@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("nested", [False, True])
def test_inputs_that_do_not_fit_are_found_despite_a_declared_output(
    node: str, cause: str, listed: bool, nested: bool
) -> None:
    """onnx rejects a declared output if it knows the size, even in a branch that may never run."""
    declared, _, rest = node.partition("] ")
    values = "int64[2] s = {4, 2},\nfloat[2, 4, 2] k = [0, ...],"
    nodes = f"{rest if listed else node}\nz = Identity (y)"
    if nested:
        infos = f"{declared}] y" if listed else ""
        branch = f"() => ({declared}] z) <{infos}> {{\n{nodes} }}"
        nodes = f"z = If (b) <then_branch = t {branch}, else_branch = e {branch}>"
    source = text(
        nodes,
        inputs="float[2, 3] x, float[1, 4, 3] c, bool b",
        outputs=f"{declared}] z",
        values=values + f"\n{declared}] y," * (listed and not nested),
    )
    found = onnxtext.check(source)
    assert len(found) == (2 if nested else 1)
    try:
        onnx.checker.check_model(onnxtext.to_binary(source), full_check=True)
    except onnx.shape_inference.InferenceError:
        assert errors(found) == found
    else:
        assert nested
        assert not errors(found)
    for finding in found:
        assert finding.message.endswith(f" do not fit: {cause}")


@pytest.mark.parametrize(
    ("node", "help"),
    [
        ("ReduceMean <axes = [0]> (x)", "pass it as input 2: in this version of the operator, "),
        ("ReduceMean <axes = [0]> (x, a)", "remove it, or change input 2: in this version of "),
        ("Clip <max = 6.0> (x)", "pass it as input 3: in this version of the operator, "),
        ('Cast <to = "FLOAT16"> (x)', "write a value of type `int`, such as `10`, the number of "),
        ("Cast <to = float16> (x)", "write a value of type `int`, such as `10`, the number of "),
    ],
)
def test_help_knows_attributes_that_became_inputs_and_numbers_of_types(
    node: str, help: str
) -> None:
    source = text(f"y = Relu (x)\nz = {node}", values="int64[1] a = {0}")
    (finding,) = errors(onnxtext.check(source))
    assert help_of(finding).startswith(help)


@pytest.mark.parametrize(
    ("domain", "help"),
    [
        ("ml", "write `ai.onnx.ml` instead, or add "),
        ("ai.onnx.mk", "write `ai.onnx.ml` instead, or add "),
        ("mine", "add "),
        ("com.microsoft", "add "),
    ],
)
def test_an_imported_domain_is_suggested_for_a_similar_one(domain: str, help: str) -> None:
    nodes = f"a = ai.onnx.ml.Binarizer (x)\ny = {domain}.Op (a)"
    (finding,) = errors(onnxtext.check(text(nodes, opsets='"ai.onnx.ml": 5, "my.own": 1')))
    assert finding.help == f'{help}"{domain}": 1 to `opset_import`'


@pytest.mark.thorough
@pytest.mark.parametrize(
    "section", ['configuration "d" { device: ["cpu"] }', 'training { update_binding: ["a": "b"] }']
)
def test_findings_in_many_sections_take_linear_time(section: str) -> None:
    """The sections of a text are not searched again for each finding."""
    model = text("y = Relu (x)", ir_version=11, rest=f"{section}\n" * 8_000)
    with limited(8):
        found = onnxtext.check(model)
    assert len({item.labels[0].span for item in errors(found)}) >= 8_000


def test_fixes_are_planned_after_many_findings_without_a_repair() -> None:
    unknown = "\n".join(f"n{i} = Neg{i}Zq (x)" for i in range(120))
    *others, last = onnxtext.check(text(f"{unknown}\ny = Rellu (x)"))
    assert [item.fix for item in others] == [None] * 120
    assert last.fix is not None


def test_the_negative_dimensions_that_onnx_rejects_are_errors() -> None:
    source = text(
        "a = Relu (x)\ny = Relu (a)",
        inputs="float[-5] z, float[2] x",
        outputs="float[-3] y, float[-2] a",
    )
    for model in (source, onnxtext.to_binary(source)):
        severities = {item.message[1]: item.severity for item in onnxtext.check(model)}
        assert severities == {"z": "warning", "y": "error", "a": "error"}
    branches = "then_branch = t () => (a) {{ {0} }}, else_branch = b () => (a) {{ {0} }}"
    source = text(
        f"y = If (c) <{branches.format('r = Attention (q, q, x) a = Neg (r)')}>",
        inputs="float[1, 2, 2, 8] q, float[1, 2, 2, -3] x, bool c",
        outputs="float[1, 2, 2, 8] y",
        opsets="23",
    )
    assert [item.severity for item in problems(source)] == ["error"]


@pytest.mark.parametrize(
    ("arguments", "problem"), [("s, b", "have different lengths"), ("s, a, z, z", "a step is 0")]
)
def test_the_cause_why_a_slice_is_rejected_is_named(arguments: str, problem: str) -> None:
    values = "int64[1] a = {1}, int64[2] b = {1, 2}, int64[1] z = {0},"
    nodes = f"s = Shape (x)\ny = Slice (x, {arguments})"
    (found,) = errors(onnxtext.check(text(nodes, inputs="float[N] x", values=values)))
    assert found.message.endswith(problem)


@pytest.mark.parametrize(
    "source",
    [
        text(f"y = {'d.' * 3000}Op (x)"),
        text("y = my.f (x)", opsets='21, "my": 1', rest=f'<domain: "my"> {"f" * 3000} (a) => (b) {{'
             " b = Neg (a) }"),
        text("y = my.f (x)", opsets='21, "my": 1', rest='<domain: "my", opset_import: [21], '
             f'overload: "{"o" * 3000}"> f (a) => (b) {{ b = Neg (a) }}'),
        text(f"y = {'F' * 3000} <a = 1, a = 2> (x)"),
        text("y = Relu (x)", opsets=f'21, "{"d" * 3000}": 1, "{"d" * 3000}": 2'),
    ],
)  # fmt: skip
def test_long_names_are_cut_in_messages(source: str) -> None:
    found = onnxtext.check(source, select=["all"])
    assert found
    for item in found:
        assert max(map(len, (item.message, item.help or "", *item.notes))) < 500


def test_shortened_names_keep_their_ends() -> None:
    """Names that differ only at their ends still differ in the message and the suggestion."""
    name = "v" * 100
    source = text(f"{name}a = Neg (x)\ny = Abs ({name}b)")
    (found,) = errors(onnxtext.check(source))
    assert found.code == "value-undefined"
    assert "vvb`" in found.message
    assert "vva`" in help_of(found)


@pytest.mark.parametrize(
    ("condition", "used", "wanted"), [("", "k", "error"), ("", "t", "warning"), ("t", "k", None)]
)
@pytest.mark.parametrize("nested", [False, True])
def test_a_condition_that_no_loop_passes_needs_a_type(
    condition: str, used: str, wanted: str | None, nested: bool
) -> None:
    """onnxruntime rejects each untyped condition of a `Loop` without one; onnx, if it is used.

    In functions, both reject it only if the function is called.
    """
    given = condition or '""'
    node = f"k2 = Identity ({used})"
    if nested:
        branch = f"() => (bool[] k2) {{\n{node} }}"
        node = f"k2 = If (t) <then_branch = h {branch}, else_branch = e {branch}>"
    nodes = (
        "t = Constant <value = bool {1}> ()\nm = Constant <value = int64 {3}> ()\n"
        f"y = Loop (m, {given}, x) <body = b (i, k, p) => (k2, q) {{\n"
        f"{node}\nq = Neg (p) }}>"
    )
    found = [(item.code, item.severity) for item in onnxtext.check(text(nodes))]
    assert found == ([("type-missing", wanted)] if wanted else [])
    function = f'<domain: "my", opset_import: ["": 21]>\nf (x) => (y) {{\n{nodes}\n}}'
    found = [(i.code, i.severity) for i in onnxtext.check(text("y = Neg (x)", rest=function))]
    assert found == ([("type-missing", "warning")] if wanted else [])


def test_functions_write_the_standard_domain_as_tools_find_it() -> None:
    """onnx and onnxruntime reject `ai.onnx` in nodes and imports of functions."""
    function = '<domain: "my", opset_import: ["{}": 21]>\nf (a) => (b) {{\n  b = {}Exp (a)\n}}'
    for imported, domain, count in (("", "", 0), ("", "ai.onnx.", 1), ("ai.onnx", "", 1)):
        source = text("y = my.f (x)", opsets='21, "my": 1', rest=function.format(imported, domain))
        found = [(item.code, item.severity) for item in onnxtext.check(source)]
        assert found == [("function-opset-missing", "error")] * count
        both = source.replace('"ai.onnx": 21', '"ai.onnx": 21, "": 21')
        if both != source:
            for version, severity in ((21, "warning"), (20, "error")):
                source = both.replace('"": 21]>\nf', f'"": {version}]>\nf')
                found = [(item.code, item.severity) for item in onnxtext.check(source)]
                assert found == [("opset-import-duplicate", severity)]
        unused = both.replace("Exp", "my.h").replace(', "": 21', ', "my": 1')
        if imported:  # both tools ignore it
            assert "function-opset-missing" not in codes(unused)
            nested = unused.replace("(a)\n", "<g = h () => (c) { c = Exp (a) }> (a)\n")
            found = [(item.code, item.severity) for item in onnxtext.check(nested)]
            assert ("function-opset-missing", "warning") in found  # only onnxruntime rejects it


@pytest.mark.parametrize("operator", ["LayerNormalization", "Softmax"])
def test_an_unknown_attribute_that_onnx_accepts_is_a_warning(operator: str) -> None:
    weight = ", x" if operator == "LayerNormalization" else ""
    source = text(f"y = {operator} <axs = 0> (x{weight})")
    try:
        onnx.checker.check_model(onnxtext.to_binary(source), full_check=True)
        severity = "warning"
    except onnx.checker.ValidationError:
        severity = "error"
    (found,) = onnxtext.check(source)
    assert (found.code, found.severity) == ("attribute-unknown", severity)


def test_unknown_attributes_of_a_node_are_one_finding() -> None:
    """A wrong operator is one mistake; a misspelled attribute has its own finding and fix."""
    conv = "y = Relu <auto_pad = 'NOTSET', group = 1, pads = [1, 1], strides = [1]{}> (x)"
    short, long = (text(conv.format(rest).replace("'", '"')) for rest in ("", ", a = 1, b = 2"))
    for source in (short, onnxtext.to_binary(short)):
        (found,) = onnxtext.check(source)
        assert found.code == "attribute-unknown"
        assert found.message.endswith("attributes `auto_pad`, `group`, `pads` and `strides`")
    (found,) = onnxtext.check(long)
    assert len(found.labels) == 6
    assert found.message.endswith("`auto_pad`, `group`, `pads`, `strides` and 2 more")
    misspelled = text("y = Softmax <axs = 0, some = 1, other = 2> (x)")
    subjects = [item.subject for item in onnxtext.check(misspelled)]
    assert [(item.name, item.suggestion) for item in subjects if item] == [
        ("axs", "axis"), ("some", None),
    ]  # fmt: skip
    private = text("y = Relu <__a = 0, b = 1, __c = 2> (x)")
    first, second = onnxtext.check(private)
    assert (first.severity, len(first.labels)) == ("info", 2)
    assert (second.severity, len(second.labels)) == ("error", 1)
    assert second.message == "`Relu` has no attribute `b`"


UNSORTED = (
    "a = Add (x, x)\nb = Transpose <perm = [1]> (a)\ny = Relu (b)",
    "a = Abs (x)\nb = MatMul (a, w)\nc = Abs (b)\ny = Cast <to = 1> (b)",
    "a = Cast <to = 7> (x)\nb = Sqrt (a)\ny = Add (b, x)",
    "a = Abs (x)\nc = Constant <value = bool {1}> ()\ny = If (c) <then_branch = t () => (p) "
    "{ p = Add (a, w) }, else_branch = e () => (q) { q = Neg (x) }>",
    "a = Abs (x)\ny = my.f (a)",
    "s = Shape (x)\nd = Add (s, s)\ny = Reshape (x, d)",
)
"""Sorted nodes with an error that depends on the types of earlier nodes."""


@pytest.mark.parametrize("nodes", UNSORTED)
def test_unsorted_nodes_have_the_findings_of_sorted_nodes(nodes: str) -> None:
    sources = [
        text(
            "\n".join(lines),
            values="float[5, 2] w = [0, ...]",
            opsets='21, "my": 1',
            rest=f'<domain: "my", opset_import: ["": 21]>\nf (x) => (y) {{\n{body}\n}}',
        )
        for lines in (nodes.split("\n"), nodes.split("\n")[::-1])
        for body in ["p = Abs (x)\ny = MatMul (p, p)"]
    ]
    found = [onnxtext.check(source) for source in (*sources, onnxtext.to_binary(sources[1]))]
    messages = [
        sorted(item.message for item in items if item.code != "node-order") for items in found
    ]
    assert messages[0] == messages[1] == messages[2]
    assert len(messages[0]) == 1
    assert any(item.code == "node-order" for item in found[1])


def test_wrong_declarations_in_branches_that_never_run_are_found() -> None:
    """onnx rejects them; the output of the branch has no known type then."""
    branch = "() => (bool[{}] {}) {{ {} = Identity (b) }}"
    source = text(
        "n = Size (x)\nzero = Constant <value_int = 0> ()\ne = Equal (n, zero)\n"
        "b = Cast <to = 9> (x)\n"
        f"c = If (e) <then_branch = t {branch.format('4, 3', 'p', 'p')}, "
        f"else_branch = f {branch.format('4', 'q', 'q')}>\ny = Identity (c)",
        outputs="bool[4] y",
    )
    for model in (source, onnxtext.to_binary(source)):
        (found,) = errors(onnxtext.check(model))
        assert found.message == "`p` is declared `bool[4, 3]`, but `Identity` computes `bool[4]`"
    with pytest.raises(onnx.shape_inference.InferenceError):
        onnx.checker.check_model(onnxtext.to_binary(source), full_check=True)
