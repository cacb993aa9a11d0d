# SPDX-License-Identifier: Apache-2.0
"""No quadratic time: graphs that are hard to match are compared in seconds.

The limits are ten times the measured times, because machines may be busy.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

import pytest

import onnxtext
from onnxtext.ast import (
    Attribute,
    AttributeType,
    Decorator,
    Field,
    Graph,
    Model,
    Node,
    Number,
    Presence,
    TensorType,
    ValueInfo,
)
from onnxtext.diagnostics import OnnxTextError
from onnxtext.differ import ModelDiff
from tests.differ.graphs import chain, diff, model
from tests.running import limited

pytestmark = pytest.mark.thorough

N = 8_000
LIMIT = 16.0  # seconds of processor time


@pytest.fixture(autouse=True)
def _in_seconds() -> Iterator[None]:
    with limited(LIMIT):
        yield


def actions(result: ModelDiff) -> Counter[tuple[str, ...]]:
    return Counter(item.actions for item in result.items)


def test_one_node_less_of_identical_ones_is_found() -> None:
    same = [Node("Relu", ("x",), ("y",))] * N
    assert actions(diff(model(same), model(same[:-1]))) == {("removed",): 1}


def test_removed_nodes_without_outputs_are_found() -> None:
    same = [Node("Print", ("x",))] * N
    assert actions(diff(model(same), model(same[: N // 2]))) == {("removed",): N // 2}


def test_changed_names_are_renames_only() -> None:
    result = diff(model(chain(N)), model(chain(N, "w")))
    assert result.verdict == "names-differ"
    assert len(result.renames) == N - 1


def test_changed_operators_are_changed_nodes() -> None:
    result = diff(model(chain(N)), model(chain(N, operator="Gelu")))
    assert actions(result) == {("changed",): N}


def test_changed_operators_and_names_are_compared() -> None:
    result = diff(model(chain(N)), model(chain(N, "w", "Gelu")))
    assert result.verdict == "differ"


@pytest.mark.parametrize("prefix", ["v", "w"])
def test_reversed_nodes_are_moved(prefix: str) -> None:
    result = diff(model(chain(N)), model(chain(N, prefix)[::-1]))
    assert actions(result) == {("moved",): N - 1}
    assert len(result.renames) == (0 if prefix == "v" else N - 1)


def test_shuffled_nodes_are_moved() -> None:
    nodes = chain(N)
    random.Random(1).shuffle(nodes)
    assert set(actions(diff(model(chain(N)), model(nodes)))) == {("moved",)}


def test_many_changed_inputs_are_one_change() -> None:
    names = [f"x{i}" for i in range(100_000)]
    old, new = Node("Concat", tuple(names), ("y",)), Node("Concat", tuple(names[::-1]), ("y",))
    result = diff(model([old]), model([new]))
    assert actions(result) == {("changed",): 1}
    assert len(result.items[0].fields) == 100_000
    assert len(result.items[0].new_text or "") < 1000
    assert len(str(result)) < 5000


def test_many_changed_dimensions_are_one_change() -> None:
    text = "<ir_version: 10, opset_import: [21]>\ng (float[DIMS] x) => () {}\n"
    old, new = (text.replace("DIMS", ", ".join([dim] * 20_000)) for dim in ("2", "N"))
    (item,) = onnxtext.diff(old, new).items
    assert len(item.fields) == 1


def test_reversed_attributes_are_moved() -> None:
    attributes = [Attribute(f"a{i}", AttributeType.INT, i) for i in range(40_000)]
    old, new = (Node("F", ("x",), ("y",), tuple(items)) for items in (attributes, attributes[::-1]))
    (item,) = diff(model([old]), model([new])).items
    assert len(item.fields) == 39_999


def test_a_renamed_value_of_many_consumers_is_no_change() -> None:
    old = [Node("A", ("x",), ("m",)), *[Node(f"Op{i % 7}", ("m",), (f"a{i}",)) for i in range(N)]]
    new = [Node("B", ("x",), ("n",)), *[Node(f"Op{i % 7}", ("n",), (f"b{i}",)) for i in range(N)]]
    assert actions(diff(model(old), model(new))) == {("changed",): 1}


def test_renamed_cycles_differ_in_names_only() -> None:
    def cycle(prefix: str) -> list[Node]:
        return [Node("Relu", (f"{prefix}{(i - 1) % N}",), (f"{prefix}{i}",)) for i in range(N)]

    assert diff(model(cycle("v")), model(cycle("w"))).verdict == "names-differ"


def test_nodes_with_the_same_output_are_compared() -> None:
    old, new = Node("Relu", ("x",), ("v",)), Node("Relu", ("v",), ("v",))
    assert actions(diff(model([old] * N), model([new] * N))) == {("changed",): N}


def test_many_nested_graphs_are_compared() -> None:
    def branches(prefix: str) -> list[Node]:
        nodes = []
        for i in range(N // 4):
            inner = Node("Relu", (f"{prefix}{i - 1}" if i else "x",), ("q",))
            graph = Graph("b", nodes=[inner], outputs=[ValueInfo("q")])
            attributes = (Attribute("then_branch", AttributeType.GRAPH, graph),)
            nodes.append(Node("If", ("x",), (f"{prefix}{i}",), attributes))
        return nodes

    assert diff(model(branches("v")), model(branches("w"))).verdict == "names-differ"


def test_reordered_value_infos_are_moved() -> None:
    old, new = model(chain(3)), model(chain(3))
    values = [ValueInfo(f"z{i}", TensorType("float", (i,))) for i in range(N)]
    old.graph.values, new.graph.values = values, values[::-1]
    assert actions(diff(old, new)) == {("moved",): N - 1}


def nested(depth: int, operator: str) -> Model:
    outputs = [ValueInfo("y", TensorType("float", ()))]
    graph = Graph("leaf", [], outputs, nodes=[Node(operator, ("x",), ("y",))])
    for level in range(depth):
        attributes = (Attribute("body", AttributeType.GRAPH, graph),)
        graph = Graph(f"g{level}", [], outputs, nodes=[Node("Loop", ("x",), ("y",), attributes)])
    return Model(graph, presence=Presence(version=1))


def test_changes_in_deep_graphs_are_found() -> None:
    result = diff(nested(30, "Relu"), nested(30, "Neg"))
    assert [item.new and item.new.path for item in result.items] == [
        "graph" + '.node[0].attribute["body"].g' * 30 + ".node[0]"
    ]


def test_too_deep_graphs_are_errors() -> None:
    with pytest.raises(OnnxTextError, match="nested too deep"):
        diff(nested(2000, "Relu"), nested(2000, "Neg"))


@pytest.mark.parametrize("label", ["old", "new"])
def test_the_model_that_cannot_be_encoded_is_named(label: str) -> None:
    unknown = Decorator("set", (Field("nope", Number("1")),))
    bad, good = model([Node("Relu", ("x",), ("y",), decorators=(unknown,))]), model([])
    with pytest.raises(OnnxTextError, match=f"^{label}: error: NodeProto has no field `nope`"):
        diff(*((bad, good) if label == "old" else (good, bad)))


def test_many_unknown_fields_of_one_node_are_compared() -> None:
    def node(first: int) -> Node:
        numbers = [Number(str(first + index)) for index in range(100_000)]
        decorators = tuple([Decorator("set", (Field(999, number),)) for number in numbers])
        return Node("Relu", ("x",), ("y",), decorators=decorators)

    assert diff(model([node(0)]), model([node(1)])).verdict == "differ"
