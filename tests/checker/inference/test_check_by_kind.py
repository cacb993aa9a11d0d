# SPDX-License-Identifier: Apache-2.0
"""The fast path for large models with few kinds of nodes gives the same findings."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import onnx
import pytest
from onnx import AttributeProto, GraphProto

import onnxtext
from benchmarks.check_models import OPERATORS, VARIANTS, layered
from benchmarks.mutants import graphs
from onnxtext.checker.engine.check_tree import run_rules
from onnxtext.checker.inference import check_by_kind as kinds
from onnxtext.checker.inference import propagate_by_kind
from onnxtext.checker.inference.explain_shape_errors import spell_type
from onnxtext.checker.inference.inferred_types import inferred_type_texts, inferred_types
from onnxtext.proto.decode.lift import LiftError, lift_model
from onnxtext.source import Source
from onnxtext.syntax.parse import parse_model
from tests.checker.models import text, types_of
from tests.corpus import SHARED, exports, onnx_directory, shared_models
from tests.seeds import draws, fresh_seed

COUNT = 400
Change = Callable[[GraphProto], object]


def _shape(graph: GraphProto, index: int) -> onnx.TensorShapeProto:
    return graph.value_info[index].type.tensor_type.shape


def _last(graph: GraphProto, operator: str) -> onnx.NodeProto:
    return [node for node in graph.node if node.op_type == operator][-1]


def _weight(graph: GraphProto) -> None:
    """Change the size of a weight that one node uses."""
    name = _last(graph, "Add").input[1]
    (tensor,) = [tensor for tensor in graph.initializer if tensor.name == name]
    tensor.dims[0] = 32
    tensor.raw_data = tensor.raw_data[:128]


def _set_sizes(graph: GraphProto, *indices: int) -> None:
    for index in indices:
        _shape(graph, index).dim[0].dim_value = index


CHANGES: dict[str, tuple[Change, set[str]]] = {
    "nothing": (lambda g: None, set()),
    "an element type": (
        lambda g: setattr(g.value_info[211].type.tensor_type, "elem_type", 7),
        {"type-mismatch"},
    ),
    "a size": (lambda g: setattr(_shape(g, 211).dim[1], "dim_value", 63), {"shape-mismatch"}),
    "a rank": (lambda g: _shape(g, 211).dim.pop(), {"shape-mismatch"}),
    "a symbol": (lambda g: setattr(_shape(g, 211).dim[0], "dim_param", "other"), set()),
    "a size for a symbol": (lambda g: setattr(_shape(g, 211).dim[0], "dim_value", 8), set()),
    "two sizes for a symbol": (lambda g: _set_sizes(g, 211, 311), {"shape-mismatch"}),
    "an unknown size": (lambda g: _shape(g, 211).dim[0].Clear(), set()),
    "no type": (lambda g: g.value_info.pop(211), set()),
    "an axis": (lambda g: setattr(_last(g, "Softmax").attribute[0], "i", 7), {"shape-mismatch"}),
    "an attribute's type": (
        lambda g: setattr(_last(g, "Softmax").attribute[0], "type", AttributeProto.FLOAT),
        {"attribute-value-mismatch"},
    ),
    "an operator": (lambda g: setattr(_last(g, "Relu"), "op_type", "Rellu"), {"op-unknown"}),
    "a weight": (_weight, {"shape-mismatch"}),
    "an output": (
        lambda g: setattr(g.output[0].type.tensor_type.shape.dim[2], "dim_value", 5),
        {"shape-mismatch"},
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_one_different_node_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = onnx.ModelProto.FromString(layered(COUNT))
    change, wanted = CHANGES[name]
    change(model.graph)
    data = model.SerializeToString()
    found = onnxtext.check(data)
    assert {item.code for item in found if item.severity == "error"} == wanted
    monkeypatch.setattr(kinds, "MIN_NODES", COUNT + 1)
    assert onnxtext.check(data) == found


def test_one_different_constant_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nodes are of one kind only if the small constants in their inputs are equal."""
    model = onnx.ModelProto.FromString(VARIANTS["reshaped"](COUNT))
    make = onnx.helper.make_tensor
    model.graph.initializer.append(make("four", 1, [4], [1.0] * 4))
    for index, shape in enumerate([[2, 2], [2, 2], [4, 1], [3, 7]]):
        model.graph.initializer.append(make(f"shape_{index}", 7, [2], shape))
        node = onnx.helper.make_node("Reshape", ["four", f"shape_{index}"], [f"reshaped_{index}"])
        model.graph.node.append(node)
    data = model.SerializeToString()
    found = onnxtext.check(data)
    assert {item.code for item in found if item.severity == "error"} == {"shape-mismatch"}
    monkeypatch.setattr(kinds, "MIN_NODES", 1 << 30)
    assert onnxtext.check(data) == found


def test_omitted_outputs_have_no_value(monkeypatch: pytest.MonkeyPatch) -> None:
    """A constant without a name is not the value of omitted inputs."""
    model = onnx.ModelProto.FromString(VARIANTS["reshaped"](COUNT))
    nodes = model.graph.node
    tensor = onnx.helper.make_tensor("", 7, [1], [5])
    nodes.insert(0, onnx.helper.make_node("Constant", [], [""], value=tensor))
    nodes.append(onnx.helper.make_node("Squeeze", [nodes[1].output[0], ""], ["squeezed"]))
    data = model.SerializeToString()
    found = onnxtext.check(data)
    monkeypatch.setattr(kinds, "MIN_NODES", 1 << 30)
    assert onnxtext.check(data) == found


def test_the_fast_path_is_used() -> None:
    subject, found = run_rules(lift_model(layered(COUNT)))
    assert not found
    assert kinds.fits_by_kind(subject)
    assert kinds.sizes_fit_by_kind(subject)
    assert len(OPERATORS) <= propagate_by_kind.FEW_KINDS


@pytest.mark.parametrize("operator", ["Div", "Mod", "Mul"])
def test_elements_of_constants_that_have_no_effect_make_no_kinds(operator: str) -> None:
    def model(first: int) -> bytes:
        lines = ["int64[N] v0 = Neg (x)"]
        for index in range(COUNT // 2):
            lines.append(f"c{index} = Constant <value = int64 {{{index + first}}}> ()")
            lines.append(f"int64[N] v{index + 1} = {operator} (v{index}, c{index})")
        lines.append(f"y = Neg (v{COUNT // 2})")
        return onnxtext.to_binary(text("\n".join(lines), inputs="int64[N] x", outputs="int64[N] y"))

    subject, found = run_rules(lift_model(model(first=1)))
    assert not found
    assert kinds.sizes_fit_by_kind(subject)
    found = run_rules(lift_model(model(first=0)))[1]
    assert len(found) == (operator != "Mul")


def _mutate(model: onnx.ModelProto, seed: int) -> None:
    """Apply one random change, which may break rules of types and shapes."""
    choose = random.Random(seed)
    graph = choose.choice([graph for graph in graphs(model.graph) if len(graph.node) > 1])
    node = choose.choice(graph.node)
    typed = [info for info in (*graph.value_info, *graph.output) if info.type.tensor_type.shape.dim]
    weights = [tensor for tensor in graph.initializer if tensor.dims]
    changes = ["operator", "input", "attribute"]
    changes += ["element", "size", "symbol", "unknown", "rank"] if typed else []
    changes += ["weight"] if weights else []
    change = choose.choice(changes)
    shape = choose.choice(typed).type.tensor_type.shape if typed else onnx.TensorShapeProto()
    match change:
        case "operator":
            node.op_type = choose.choice(["Add", "Relu", "MatMul", "Not", "Softmax", "Sigmoid"])
        case "input":
            node.input[0] = choose.choice(graph.node).output[0]
        case "attribute":
            node.attribute.append(onnx.helper.make_attribute("axis", choose.randint(-5, 5)))
        case "element":
            choose.choice(typed).type.tensor_type.elem_type = choose.randint(1, 11)
        case "size":
            choose.choice(shape.dim).dim_value = choose.randint(1, 64)
        case "symbol":
            choose.choice(shape.dim).dim_param = "other"
        case "unknown":
            choose.choice(shape.dim).Clear()
        case "rank":
            shape.dim.pop()
        case "weight":
            weight = choose.choice(weights)
            weight.dims[0] //= 2
            weight.raw_data = weight.raw_data[: len(weight.raw_data) // 2]


@pytest.mark.parametrize("variant", VARIANTS)
def test_types_by_kind_equal_types_node_by_node(
    variant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = onnxtext.from_binary(VARIANTS[variant](COUNT))
    model = parse_model(Source(text, "m"))
    monkeypatch.setattr(propagate_by_kind, "FEW_KINDS", COUNT)
    found = inferred_type_texts(run_rules(model)[0])
    monkeypatch.setattr(kinds, "MIN_NODES", 1 << 30)
    assert inferred_type_texts(run_rules(model)[0]) == found
    assert sum(map(len, found.values())) >= COUNT


def test_what_onnx_infers_wrongly_is_corrected_by_kind() -> None:
    """The last window of the pooling would start in the pads at the end."""
    chain = "\n".join(f"y{index + 1} = Relu (y{index})" for index in range(COUNT))
    pool = "MaxPool <kernel_shape = [2], strides = [2], pads = [0, 1], ceil_mode = 1> (x)"
    source = text(
        f"y0 = {pool}\n{chain}",
        inputs="float[1, 1, 6] x",
        outputs=f"float[1, 1, ?] y{COUNT}",
        opsets="19",
    )
    found = types_of(source)
    assert found["y0"] == found[f"y{COUNT}"] == "float[1, 1, 3]"


def _mutate_function(model: onnx.ModelProto, choose: random.Random) -> None:
    """Change a function or a call, which may break rules of types and shapes."""
    function = choose.choice(model.functions)
    node = choose.choice(function.node)
    call = choose.choice([call for call in model.graph.node if call.op_type == function.name])
    match choose.randrange(9):
        case 0:
            node.op_type = choose.choice(["Add", "Relu", "MatMul", "Not", "Softmax", "Sigmoid"])
        case 1:
            node.input[0] = choose.choice(function.node).output[0]
        case 2:
            node.attribute.append(onnx.helper.make_attribute("alpha", choose.randint(-5, 5)))
        case 3:
            function.opset_import[0].version = choose.choice([1, 6, 13, 22])
        case 4:
            call.attribute.pop()
        case 5:
            call.attribute[0].CopyFrom(onnx.helper.make_attribute("alpha", 3))
        case 6:
            model.functions.append(function)
            model.functions[-1].name += "_never_called"
            model.functions[-1].node[0].op_type = choose.choice(["Not", "Relu"])
        case 7:
            shapes: list[list[str | int | None]] = [["batch", 64, 64], ["batch", 8, 64], ["n", 1]]
            shape = choose.choice(shapes)
            function.value_info.append(
                onnx.helper.make_tensor_value_info(node.output[0], choose.choice([1, 7]), shape)
            )
        case 8:  # a function that calls another one
            node.op_type, node.domain = choose.choice(model.functions).name, function.domain


def _test_equal_findings(model: onnx.ModelProto, monkeypatch: pytest.MonkeyPatch) -> None:
    data = model.SerializeToString()
    found = onnxtext.check(data)
    monkeypatch.setattr(kinds, "MIN_NODES", 1 << 30)
    assert onnxtext.check(data) == found


@pytest.mark.parametrize("number", range(6))
def test_mutated_functions_have_the_same_findings(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    seed = fresh_seed() + number
    print("seed", seed)  # shown if the test fails
    model = onnx.ModelProto.FromString(VARIANTS["functions"](COUNT))
    _mutate_function(model, random.Random(seed))
    _test_equal_findings(model, monkeypatch)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(draws(60)))
def test_more_mutated_functions_have_the_same_findings(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = onnx.ModelProto.FromString(VARIANTS["functions"](COUNT))
    _mutate_function(model, random.Random(seed))
    _test_equal_findings(model, monkeypatch)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "variant", ["layers", "no value infos", "unknown sizes", "nested", "mixed", "reshaped"]
)
@pytest.mark.parametrize("seed", range(draws(20)))
def test_mutants_have_the_same_findings_without_the_fast_path(
    variant: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = onnx.ModelProto.FromString(VARIANTS[variant](COUNT))
    _mutate(model, seed)
    monkeypatch.setattr(propagate_by_kind, "FEW_KINDS", COUNT)
    _test_equal_findings(model, monkeypatch)


@pytest.mark.parametrize(
    ("variant", "fits"),
    [
        ("no value infos", (True, True)),
        ("unknown sizes", (True, False)),
        ("nested", (True, True)),
        ("functions", (True, True)),
        ("mixed", (True, True)),
        ("reshaped", (True, True)),
    ],
)
def test_only_suitable_models_use_the_fast_path(
    variant: str, fits: tuple[bool, bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(propagate_by_kind, "FEW_KINDS", COUNT)
    subject, found = run_rules(lift_model(VARIANTS[variant](COUNT)))
    assert not found
    assert (kinds.fits_by_kind(subject), kinds.sizes_fit_by_kind(subject)) == fits


RENAMED = """\
<ir_version: 10, opset_import: [21]>
g (float[n, 4] x, float[4, 1] w) => (float[m, 1] y, float[rows, 4] z) {
  a = Relu (x)
  z = Relu (a)
  y = MatMul (z, w)
}
"""


def _both_walks(data: bytes, monkeypatch: pytest.MonkeyPatch) -> list[list[dict[str, str]]]:
    """Return the types of all scopes as text, inferred by kind if possible, and node by node."""
    result = []
    for least in (1, 1 << 30):
        monkeypatch.setattr(kinds, "MIN_NODES", least)
        subject, _ = run_rules(lift_model(data), encoded=lambda: data)
        known = inferred_types(subject)
        result.append(
            [
                {name: spell_type(type) for name, type in known.get(id(scope), {}).items()}
                for scope in subject.scopes
            ]
        )
    return result


def test_symbols_of_declared_outputs_are_used_by_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    by_kind, by_node = _both_walks(onnxtext.to_binary(RENAMED), monkeypatch)
    assert by_kind == by_node
    assert by_kind[0]["y"] == "float[n, 1]"


def _sampled(everything: bool) -> list[Path]:
    paths = [*exports(), *onnx_directory().glob("backend/test/data/**/*.onnx")]
    paths += [SHARED / file for file in shared_models() if SHARED is not None]
    paths = sorted([path for path in paths if path.stat().st_size < 200_000])
    return paths if everything else random.Random(fresh_seed()).sample(paths, 20)


@pytest.mark.parametrize("everything", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_real_models_have_the_same_types(everything: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in _sampled(everything):
        try:
            by_kind, by_node = _both_walks(path.read_bytes(), monkeypatch)
        except LiftError:
            continue
        assert by_kind == by_node, path
