# SPDX-License-Identifier: Apache-2.0
"""Conversions to other opsets: models compute the same, and nothing else changes."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import defs

import onnxtext
from benchmarks import opsets as benchmark
from onnxtext.ast.model import Node
from onnxtext.ast.tensors_and_attributes import AttributeType
from onnxtext.ast.visit import walk_nodes
from onnxtext.checker.context.signatures import newest_versions
from onnxtext.diagnostics import OnnxTextError
from onnxtext.editing import apply, set_opset
from onnxtext.editing.opsets import convert, plan_conversion
from onnxtext.editing.opsets.rules import table
from onnxtext.editing.opsets.rules.table import REVIEWED, RULES
from onnxtext.editing.opsets.signature_changes import (
    MEANT_BEFORE,
    ONLY_NEWER,
    ONLY_OLDER,
    REMOVED,
    SAME_MEANING,
    UNUSED_BY_OLDER,
)
from tests.corpus import backend_runs
from tests.running import grows_at_most
from tests.seeds import fresh_seed, seeded

HEAD = "<onnxtext: 1, ir_version: 8, opset_import: [{}]>\n"


def model(version: int, text: str) -> str:
    return HEAD.format(version) + text


def converted(text: str, version: int) -> str:
    result = apply(text, lambda tree: convert(tree, {"": version})).content
    assert isinstance(result, str)
    return result


def outputs(text: str, inputs: list[np.ndarray]) -> list[np.ndarray]:
    ort = pytest.importorskip("onnxruntime", reason="onnxruntime needs Python 3.11")
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(
        onnxtext.to_binary(text), options, providers=["CPUExecutionProvider"]
    )
    names = [value.name for value in session.get_inputs()]
    return list(session.run(None, dict(zip(names, inputs, strict=True))))


def read_cases(name: str) -> dict[str, tuple[int, int, str, str]]:
    """Return the versions, the reason and the graph of each case of a file."""
    found = {}
    for block in (Path(__file__).parent / name).read_text("utf-8").split("## ")[1:]:
        head, _, body = block.partition("\n")
        title, versions, *reason = head.split(": ", 2)
        before, after = versions.split(" to ")
        found[title] = int(before), int(after), "".join(reason), body.strip()
    return found


CASES = read_cases("opset_conversions.txt")
TOLD = read_cases("opset_obstacles.txt")


@pytest.mark.parametrize("name", CASES)
def test_the_converted_model_computes_the_same(name: str) -> None:
    before, after, _, body = CASES[name]
    text = model(before, body)
    result = converted(text, after)
    assert f"opset_import: [{after}]" in result
    assert not [item for item in onnxtext.check(result) if item.severity == "error"]
    shape = list(onnxtext.parse(text).graph.inputs[0].type.shape)  # type: ignore[union-attr, arg-type]
    x = np.random.default_rng(fresh_seed()).standard_normal(shape).astype(np.float32)
    for one, other in zip(outputs(text, [x]), outputs(result, [x]), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "name", ["squeeze and unsqueeze", "clip", "reduce", "slice", "top k", "split", "pad"]
)
def test_converting_back_gives_the_same_text(name: str) -> None:
    before, after, _, body = CASES[name]
    text = onnxtext.format_text(model(before, body).replace("ir_version: 8", "ir_version: 14"))
    assert converted(converted(text, after), before) == text


@pytest.mark.parametrize("name", TOLD)
def test_obstacles_of_a_conversion_are_reported(name: str) -> None:
    before, after, reason, body = TOLD[name]
    text = model(before, body)
    with pytest.raises(OnnxTextError) as caught:
        converted(text, after)
    found = caught.value.diagnostics
    assert [item.code for item in found] == ["opset-conversion"] * len(found)
    assert reason in "\n".join(item.message for item in found)
    assert all(item.labels for item in found)  # in the text


# ---- Nothing else changes --------------------------------------------------------------------

KEPT = """\
# A model.
<onnxtext: 1, ir_version: 10,   opset_import: ["com.microsoft": 1, 11, "my.own": 3]> # head
g (float[2,3] x) => (float[2, 3] y, float[2,3] shape) # graph
<
  float[2] w = {1,2},  float[1, 2, 3] c # declared
>
{
  # first
  @doc("what") [one] a = Relu(x) # behind
  [two] float[1,2,3] b = Unsqueeze<axes=[0]>( a ) # axes
  c = Unsqueeze <axes = [0]> (a)
  axes = com.microsoft.Gelu(x)
  shape = my.own.F<a = 2>(axes)
  y = Softmax <axis: int = 1> (a)
}
<domain: "my.own", opset_import: [11, "my.own": 3]> F <a> (u) => (v) {
  p = Unsqueeze <axes = [0]> (u)  # in the function
  v = Squeeze <axes = [0]> (p)
}
"""


def test_only_converted_nodes_change() -> None:
    lines = converted(KEPT, 13).split("\n")
    wanted = KEPT.replace(" 11,", " 13,").replace("[11,", "[13,").split("\n")
    gone = [line for line in wanted if line not in lines]
    new = [line for line in lines if line not in wanted]
    assert gone == [
        "  [two] float[1,2,3] b = Unsqueeze<axes=[0]>( a ) # axes",
        "  c = Unsqueeze <axes = [0]> (a)",
        "  p = Unsqueeze <axes = [0]> (u)  # in the function",
        "  v = Squeeze <axes = [0]> (p)",
    ]
    assert new == [
        "  axes_2 = Constant <value = int64[1] [0]> ()",  # `axes` is taken
        "  [two] float[1, 2, 3] b = Unsqueeze (a, axes_2) # axes",
        "  c = Unsqueeze (a, axes_2)",
        "  axes_3 = Constant <value = int64[1] [0]> ()",
        "  p = Unsqueeze (u, axes_3)  # in the function",
        "  v = Squeeze (p, axes_3)",
    ]


@pytest.mark.parametrize(
    ("attributes", "up", "down"),
    [
        ("min = 0.0", "`min` becomes an input", "`min` becomes an attribute"),
        ("max = 0.0", "`max` becomes an input", "`max` becomes an attribute"),
        (
            "min = 0.0, max = 1.0",
            "`min` and `max` become inputs",
            "`min` and `max` become attributes",
        ),
    ],
)
def test_notes_name_the_limits_that_are_set(attributes: str, up: str, down: str) -> None:
    text = model(10, f"g (float[2] x) => (float[2] y) {{ y = Clip <{attributes}> (x) }}")
    newer = apply(text, lambda tree: set_opset(tree, 11))
    assert newer.notes == (f"`Clip`: {up}",)
    older = apply(newer.content, lambda tree: set_opset(tree, 10))
    assert older.notes == (f"`Clip`: {down}",)


def test_converting_to_the_same_version_changes_nothing() -> None:
    assert converted(KEPT, 11) == KEPT
    data = onnxtext.to_binary(KEPT)
    assert apply(data, lambda tree: convert(tree, {"": 11})).content == data


def nodes_of(data: bytes) -> list[onnx.NodeProto]:
    return list(onnx.ModelProto.FromString(data).graph.node)


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore")
def test_nodes_with_the_same_schema_keep_their_bytes() -> None:
    """A law: a node whose operator is the same in both versions is the same, byte for byte."""
    draw = seeded()
    cases = [case for case in backend_runs() if len(nodes_of(case.model)) > 3]
    tried = 0
    for case in draw.sample(cases, 40):
        imports = {i.domain: i.version for i in onnx.ModelProto.FromString(case.model).opset_import}
        version = imports.get("", 0)
        target = draw.randrange(8, newest_versions()[""] + 1)
        try:
            result = apply(case.model, partial(convert, targets={"": target})).content
        except OnnxTextError:
            continue
        assert isinstance(result, bytes)
        kept = [
            node.SerializeToString()
            for node in nodes_of(case.model)
            if not node.domain and since(node, version) == since(node, target)
        ]
        left = [node.SerializeToString() for node in nodes_of(result)]
        after = iter(left)
        replaced = {name for node in nodes_of(case.model) for name in node.output} - {
            name for node in nodes_of(result) for name in node.output
        }
        for data in kept:
            if not replaced.intersection(onnx.NodeProto.FromString(data).output):
                assert any(data == other for other in after), case.name
        tried += 1
    assert tried > 5


def since(node: onnx.NodeProto, version: int) -> int | None:
    try:
        return defs.get_schema(node.op_type, version, node.domain).since_version
    except defs.SchemaError:
        return None


# ---- The tables ------------------------------------------------------------------------------


def steps() -> list[tuple[defs.OpSchema, defs.OpSchema]]:
    by_name: dict[tuple[str, str], list[defs.OpSchema]] = {}
    for schema in defs.get_all_schemas_with_history():
        by_name.setdefault((schema.domain, schema.name), []).append(schema)
    found = []
    for history in by_name.values():
        history.sort(key=lambda schema: schema.since_version)
        found += list(pairwise(history))
    return found


def key(schema: defs.OpSchema) -> tuple[str, str, int]:
    return schema.domain, schema.name, schema.since_version


def test_every_step_is_covered() -> None:
    """Each change of a reviewed version, except of types, has a rule or an entry in a table."""
    open_ones = []
    for old, new in steps():
        step = key(new)
        if step in RULES or new.deprecated or step[2] > REVIEWED.get(step[0], 1):
            continue
        for name in old.attributes:
            if name not in new.attributes:
                known = name == "consumed_inputs" or name in REMOVED.get(step, {})
                open_ones += [] if known else [(step, "removed", name)]
                continue
            one, other = old.attributes[name], new.attributes[name]
            if one.type != other.type:
                open_ones.append((step, "type", name))
            known = name in SAME_MEANING.get(step, ()) or name in MEANT_BEFORE.get(step, {})
            # If both versions have a default, the conversion writes the old one into the node.
            new_default = other.default_value.name and not one.default_value.name
            if new_default and not known:
                open_ones.append((step, "default", name))
        for name, formal in new.attributes.items():
            if name not in old.attributes and formal.required:
                open_ones.append((step, "required", name))
        if new.min_input > old.min_input:
            open_ones.append((step, "inputs", ""))
    assert open_ones == []


def test_the_tables_name_existing_operators() -> None:
    known = {key(new): (old, new) for old, new in steps()}
    newest = {domain or "ai.onnx": version for domain, version in newest_versions().items()}
    for entries in (REMOVED, UNUSED_BY_OLDER, MEANT_BEFORE, SAME_MEANING, ONLY_NEWER, ONLY_OLDER):
        for step, names in entries.items():
            if step[2] <= newest[step[0] or "ai.onnx"]:
                old, new = known[step]
                assert set(names) <= {*old.attributes, *new.attributes}, step
    for step in RULES:
        if step[2] <= newest[step[0] or "ai.onnx"]:
            assert step in known, step


def test_the_rules_cover_the_installed_onnx() -> None:
    """If this fails, read the changes of the new versions, then raise `REVIEWED`."""
    for domain, version in newest_versions().items():
        assert REVIEWED.get(domain, 1) >= version, domain


# ---- Backend cases ---------------------------------------------------------------------------


def judge(sample: int, offset: int, targets: tuple[int, ...]) -> list[tuple[str, int, str]]:
    cases = backend_runs()[offset::sample]
    return [
        (name, target, verdict)
        for case in cases
        for name, target, _, verdict, _ in benchmark.judge_case((case, targets, False))
    ]


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore")
def test_backend_cases_compute_the_same() -> None:
    pytest.importorskip("onnxruntime", reason="onnxruntime needs Python 3.11")
    offset = seeded().randrange(100)
    found = judge(100, offset, (9, 12, 17, 21, 28))
    verdicts = [verdict for _, _, verdict in found]
    assert [each for each in found if each[2] in ("wrong", "crashed")] == []
    assert verdicts.count("equal") > len(verdicts) / 3


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_all_backend_cases_compute_the_same() -> None:
    pytest.importorskip("onnxruntime", reason="onnxruntime needs Python 3.11")
    found = judge(1, 0, benchmark.TARGETS)
    assert [each for each in found if each[2] in ("wrong", "crashed")] == []


# ---- Other parts -----------------------------------------------------------------------------


def test_the_ir_version_is_raised() -> None:
    text = model(11, "g (float[2] x) => (float[2] y) { y = Relu (x) }")
    assert "ir_version: 10" in converted(text, 21)
    assert "ir_version: 8" in converted(text, 15)
    text = "<onnxtext: 1, ir_version: 2> g (float[2] x) => (float[2] y) { y = Relu (x) }"
    assert "ir_version: 3" in converted(text, 8)


def test_the_operator_sets_that_need_the_ir_version_are_named() -> None:
    text = model(11, "g (float[2] x) => (float[2] y) { y = Relu (x) }")
    plan = plan_conversion(onnxtext.parse(text), {"": 21, "ai.onnx.ml": 3})
    (message,) = [remark.message for remark in plan.remarks if "ir_version" in remark.message]
    assert message == "`ir_version` is raised from 8 to 10, which came with opset 21"


def test_other_domains_are_converted() -> None:
    body = 'y = ai.onnx.ml.LabelEncoder <keys_strings = ["a"], values_int64s = [1]> (x)'
    text = model(15, f"g (string[2] x) => (int64[2] y) {{ {body} }}")
    text = text.replace("[15]", '[15, "ai.onnx.ml": 2]')
    result = apply(text, lambda tree: convert(tree, {"ai.onnx.ml": 4})).content
    assert result == text.replace("ir_version: 8", "ir_version: 9").replace("2]>", "4]>")


@pytest.mark.parametrize("classes", ['"a", "b"', ""])
def test_string_classes_stay_strings(classes: str) -> None:
    body = f"y = ai.onnx.ml.LabelEncoder <classes_strings: strings = [{classes}]> (x)"
    text = model(9, f"g (string[2] x) => (int64[2] y) {{ {body} }}")
    text = text.replace("[9]", '[9, "ai.onnx.ml": 1]')
    tree = onnxtext.parse(text)
    convert(tree, {"ai.onnx.ml": 2})
    kinds = {item.name: item.type for item in tree.graph.nodes[0].attributes}
    assert kinds == {"keys_strings": AttributeType.STRINGS, "values_int64s": AttributeType.INTS}


@pytest.mark.parametrize(
    ("before", "declared", "nodes", "after"),
    [
        ('@doc("x")', "<int64[1] axes, bool[1, 3] m>", "", '@doc("x") g'),
        ('@value_info("axes", "u", "m")', "<bool[1, 3] m>", "int64[1]", '@value_info("u") g'),
        ('@value_info("m", "axes")', "<bool[1, 3] m>", "int64[1]", "g"),
    ],
)
def test_declarations_of_removed_values_are_removed(
    before: str, declared: str, nodes: str, after: str
) -> None:
    text = f"""{before} g (float[3] x) => (float[1, 3] y) {declared} {{
      {nodes} axes = Constant <value = int64[1] {{0}}> ()
      float[1, 3] u = Unsqueeze (x, axes)
      d, m = Dropout (u)
      y = Relu (d)
    }}
    quantization {{ m: ["SCALE_TENSOR": "u"] }}
    """
    result = converted(model(13, text), 9)
    assert f"\n{after} (float[3] x) => (float[1, 3] y)" in result
    assert not {"axes", "m"} & {value.name for value in onnxtext.loads(result).graph.value_info}
    assert [item for item in onnxtext.check(result) if item.severity != "info"] == []


def test_constants_of_quantization_annotations_stay() -> None:
    text = """g (float[3] x) => (float[1, 3] y) {
      axes = Constant <value = int64[1] {0}> ()
      y = Unsqueeze (x, axes)
    }
    quantization { x: ["ZERO_POINT_TENSOR": "axes"] }
    """
    assert "axes = Constant" in converted(model(13, text), 9)


TWO_TYPES = """\
g (float[2] x, {0}[2] w) => (float[2] y, {0}[2] z) {{ y = f.F (x) z = f.F (w) }}
<domain: "f", opset_import: [{1}]> F (u) => (v) {{ {2} }}
"""


@pytest.mark.parametrize(
    ("before", "node", "after"),
    [
        (20, "v = Gelu (u)", 13),  # the definition has a `Cast` to the type
        (17, "a = Constant <value_float = 1.0> () b = CastLike (a, u) v = Add (b, u)", 13),
        (9, "v = Clip <min = 0.5> (u)", 13),
    ],
)
def test_a_function_is_converted_for_the_types_of_all_calls(
    before: int, node: str, after: int
) -> None:
    head = HEAD.format(f'{before}, "f": 1')
    converted(head + TWO_TYPES.format("float", before, node), after)
    with pytest.raises(OnnxTextError, match="the type of `u`"):
        converted(head + TWO_TYPES.format("double", before, node), after)


def test_an_older_version_must_allow_the_types_of_all_calls() -> None:
    head = HEAD.format('18, "f": 1')
    converted(head + TWO_TYPES.format("double", 18, "v = Softmax (u)"), 11)
    with pytest.raises(OnnxTextError, match="not all types are allowed"):
        converted(head + TWO_TYPES.format("bfloat16", 18, "v = Softmax (u)"), 11)
    node = "a = Constant <value_float = 2.0> () v = Pow (a, u)"  # version 7 has one type
    with pytest.raises(OnnxTextError, match="not all types are allowed"):
        converted(head + TWO_TYPES.format("double", 18, node), 11)


@pytest.mark.parametrize(
    ("inputs", "nodes"),
    [
        ("float[2, 3] u", "v = Softmax <axis = 0> (u)"),
        ("u", "float[N, 3] a = Relu (u) v = Softmax <axis = 0> (a)"),
        (
            "float[2, 3] u",
            "c = Constant <value = bool {1}> () v = If <then_branch = t () => (p) "
            "{ p = Softmax <axis = 0> (u) }, else_branch = e () => (q) { q = Relu (u) }> (c)",
        ),
    ],
)
def test_declared_shapes_in_functions_are_used(inputs: str, nodes: str) -> None:
    text = HEAD.format('13, "f": 1') + "g (float[2, 3] x) => (float[2, 3] y) { y = f.F (x) }\n"
    text += f'<domain: "f", opset_import: [13]> F ({inputs}) => (v) {{ {nodes} }}\n'
    result = converted(text, 12)
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_allclose(outputs(text, [x])[0], outputs(result, [x])[0], rtol=1e-4)
    with pytest.raises(OnnxTextError, match="the rank of"):
        converted(text.replace("float[2, 3] u", "u").replace("float[N, 3]", ""), 12)


@pytest.mark.parametrize("shape", [(2, 3, 0), (2, 0, 3), (0, 2, 3)])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_softmax_of_a_tensor_without_elements_is_converted(
    shape: tuple[int, ...], axis: int
) -> None:
    sizes = ", ".join(map(str, shape))
    text = HEAD.format("11")
    text += f"g (float[{sizes}] x) => (float[{sizes}] y) {{ y = Softmax <axis = {axis}> (x) }}"
    result = converted(text, 13)
    assert "Reshape" not in result
    assert outputs(result, [np.zeros(shape, np.float32)])[0].shape == shape


CALLS = """\
g (float[2, 3] x) => (float[2, 1] y) {{ a = f.Outer {} (x) y = f.Inner <axes = [1]> (a) }}
<domain: "f", opset_import: [{}, "f": 1]> Outer <outer> (u) => (v) {{
  v = f.Inner <axes: ints = @outer> (u)
}}
<domain: "f", opset_import: [{}]> Inner <axes> (u) => (v) {{ v = {} (u) }}
"""


@pytest.mark.parametrize(
    ("before", "node", "after"),
    [(13, "ReduceMean <axes: ints = @axes>", 18), (24, "Swish <alpha: float = @axes>", 23)],
)
def test_a_parameter_becomes_a_constant_if_all_calls_set_it(
    before: int, node: str, after: int
) -> None:
    head = HEAD.format(f'{before}, "f": 1')
    text = head + CALLS.format("<outer = [0]>", before, before, node)
    assert "@axes> ()" in converted(text, after)
    with pytest.raises(OnnxTextError, match="has no value in some calls"):
        converted(head + CALLS.format("", before, before, node), after)


@pytest.mark.parametrize("version", [0, 99])
def test_unknown_versions_are_errors(version: int) -> None:
    text = model(11, "g (float[2] x) => (float[2] y) { y = Relu (x) }")
    with pytest.raises(OnnxTextError, match="version"):
        apply(text, lambda tree: set_opset(tree, version))


def test_every_obstacle_is_reported() -> None:
    """The plan has all obstacles; callers may show only some of them."""
    names = [f"s{index}" for index in range(600)]
    inputs = ", ".join([f"float[4] {name}" for name in names])
    nodes = " ".join([f"y{name} = Upsample (x, {name})" for name in names])
    text = model(9, f"g (float[1, 2, 3, 4] x, {inputs}) => (ys0) {{ {nodes} }}")
    obstacles = plan_conversion(onnxtext.parse(text), {"": 7}).obstacles
    assert len({remark.message for remark in obstacles}) == len(names)


@pytest.mark.parametrize(
    "body",
    [
        "y = ReduceSum (x, n)",
        "y = Dropout (x, h)",
        "y = DFT (x, , e)",
        'y = GridSample <mode = "none"> (x, x)',
        "y = Clip (x, h, e)",
        "y = Pad (x, n, h, n)",
        "y = Resize (x, h, h)",
        "y = Split <num_outputs = 0> (x)",
        "= Shape <start = 1> (x)",
        "y = GroupNormalization <num_groups = 0> (x, h, h)",
        "y = AveragePool <ceil_mode = 1, kernel_shape = [0], strides = [0], pads = [9, 9]> (x)",
        "y = TopK (x, e)",
        "y = Constant <value_ints: ints = []> ()",
    ],
)
def test_invalid_nodes_do_not_crash_the_conversion(body: str) -> None:
    weights = "double[1] h = [1e300], float[1] n = [nan], int64[0] e = []"
    for before, after in ((28, 7), (20, 11), (7, 28), (17, 21)):
        text = model(before, f"g (float[1, 2, 3, 4] x) => (y) <{weights}> {{ {body} }}")
        plan = plan_conversion(onnxtext.parse(text), {"": after})
        assert {remark.code for remark in plan.remarks} <= {"opset-conversion", "opset-change"}
        if not plan.obstacles:
            assert converted(text, after)


@pytest.mark.parametrize("version", [-1, 0, 99])
def test_models_of_unknown_versions_are_errors(version: int) -> None:
    text = model(version, "g (float[2] x) => (float[2] y) { y = Relu (x) }")
    with pytest.raises(OnnxTextError, match="which is unknown"):
        converted(text, 13)


def test_many_nodes_take_linear_time() -> None:
    import time

    def seconds(count: int) -> float:
        lines = [f"y{n} = Unsqueeze <axes = [0]> (x)\n z{n} = Softmax (y{n})" for n in range(count)]
        text = model(11, "g (float[2, 3] x) => (float[1, 2, 3] z0) {\n" + "\n".join(lines) + "\n}")
        data = onnxtext.to_binary(text)
        started = time.process_time()
        result = apply(data, lambda tree: convert(tree, {"": 13})).content
        assert isinstance(result, bytes)
        assert len(nodes_of(result)) == 5 * count + 1
        return time.process_time() - started

    assert grows_at_most(seconds, 300, 3000, factor=30)


def test_constants_are_shared() -> None:
    body = "a = Unsqueeze <axes = [0]> (x) y = Unsqueeze <axes = [0]> (a)"
    text = model(11, f"g (float[2] x) => (float[1, 1, 2] y) {{ {body} }}")
    result = onnxtext.parse(converted(text, 13))
    assert [node.op_type for node in walk_nodes(result)] == ["Constant", "Unsqueeze", "Unsqueeze"]
    assert all(isinstance(node, Node) for node in walk_nodes(result))


def test_newer_changes_are_obstacles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "REVIEWED", {"": 8})
    for older, newer in ((8, 11), (11, 8)):
        text = model(older, "g (float[2, 3] x) => (float[?, ?] y) { y = Clip (x) }")
        with pytest.raises(OnnxTextError, match="no rule for the change of `Clip` in version 11"):
            converted(text, newer)
