# SPDX-License-Identifier: Apache-2.0
"""Large diffs group similar changes; no difference is lost."""

from __future__ import annotations

import json as json_module
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onnxtext.ast.model import Node
from onnxtext.differ import ModelDiff, ModelSide, compare
from onnxtext.differ.render import json, markdown, stat, text
from onnxtext.differ.render.hunks import MAX_ITEMS
from tests.corpus import SHARED
from tests.differ.graphs import axis, diff, mesh, model
from tests.running import grows_at_most


def layers(count: int, *, fused: bool) -> list[Node]:
    """Layers of `MatMul` and `Add`, which an optimizer fuses."""
    nodes = []
    for i in range(count):
        if fused:
            inputs = (f"a{i}", "w", "b")
            nodes.append(Node("FusedMatMul", inputs, (f"a{i + 1}",), domain="com.microsoft"))
        else:
            nodes.append(Node("MatMul", (f"a{i}", "w"), (f"m{i}",)))
            nodes.append(Node("Add", (f"m{i}", "b"), (f"a{i + 1}",)))
    return nodes


def fusion(count: int) -> ModelDiff:
    return diff(model(layers(count, fused=False)), model(layers(count, fused=True)))


def heads(shown: str) -> list[str]:
    return [line[3:-3] for line in shown.splitlines() if line.startswith("@@ ")]


def test_a_fusion_is_one_group() -> None:
    result = fusion(30)
    shown = text.render(result)
    assert heads(shown) == ["30 × MatMul + Add became com.microsoft.FusedMatMul", "60 differences"]
    assert "-m0 = MatMul (a0, w)\n-a1 = Add (m0, b)\n+a1 = com.microsoft.FusedMatMul" in shown
    assert "# … and 29 more like this\n" in shown
    assert "`onnxtext diff --all` shows each" in shown
    assert heads(markdown.render(result))[0] == heads(shown)[0]


def test_small_diffs_are_not_grouped() -> None:
    result = fusion(MAX_ITEMS // 2)
    assert len(result.items) == MAX_ITEMS
    assert text.render(result) == text.render(result, every=True)
    assert len(heads(text.render(result))) == MAX_ITEMS


def test_rendering_every_difference_makes_no_groups() -> None:
    result = fusion(30)
    assert len(heads(text.render(result, every=True))) == len(result.items) == 60
    assert len(heads(markdown.render(result, every=True))) == 60


def test_shared_constants_do_not_join_rewrites() -> None:
    """The nodes that use a common constant are not grouped as one rewrite."""
    old = [Node("Constant", (), ("c",))]
    old += [Node("Mul", (f"x{i}", "c"), (f"y{i}",)) for i in range(50)]
    new = [Node("Scale", (f"x{i}",), (f"y{i}",)) for i in range(50)]
    shown = heads(text.render(diff(model(old), model(new))))
    assert "50 × Mul became Scale" in shown
    assert any(line.startswith("graph.node[0]") for line in shown)  # the constant


def test_equal_changes_of_attributes_are_one_group() -> None:
    old = [Node("Softmax", (f"x{i}",), (f"y{i}",), axis(1)) for i in range(60)]
    new = [Node("Softmax", (f"x{i}",), (f"y{i}",), axis(-1 - i % 2)) for i in range(60)]
    shown = heads(text.render(diff(model(old), model(new))))
    assert shown[:-1] == [
        "30 × Softmax: axis = 1 → axis = -1",
        "30 × Softmax: axis = 1 → axis = -2",
    ]


def edited(nodes: list[Node], numbers: list[int]) -> list[Node]:
    """Nodes with other operators, without some nodes, and with more nodes."""
    result = []
    for index, node in enumerate(nodes):
        kind = numbers[index % len(numbers)]
        if kind == 1:
            continue
        if kind == 2:
            result.append(Node("Swish", node.inputs, node.outputs, node.attributes))
        elif kind == 3:
            result += [node, Node("Cast", node.outputs[:1], (f"cast{index}",))]
        else:
            result.append(node)
    return result


@given(st.integers(0, 1 << 30), st.lists(st.integers(0, 5), min_size=1, max_size=9))
@settings(max_examples=25)
def test_every_difference_is_in_one_place(seed: int, numbers: list[int]) -> None:
    """Each item is in at most one group, and is shown or counted exactly once."""
    nodes = mesh(120, seed)
    result = diff(model(nodes), model(edited(nodes, numbers)))
    items = {item.key: item for item in result.items}
    assert len(items) == len(result.items)
    grouped = Counter(
        key for group in result.groups for occurrence in group.occurrences for key in occurrence
    )
    assert set(grouped) <= set(items)
    assert set(grouped.values()) <= {1}
    assert {key for key, item in items.items() if item.kind == "node"} <= set(grouped)
    listed = json_module.loads(json.render(result))
    numbers = [n for group in listed["groups"] for found in group["occurrences"] for n in found]
    assert len(numbers) == len(set(numbers)) == len(grouped)
    assert len(listed["items"]) == len(result.items)
    shown = heads(text.render(result))
    if len(result.items) <= MAX_ITEMS:
        assert len([line for line in shown if not line.startswith("renamed")]) == len(result.items)
        return
    titles = {group.title: group for group in result.groups}
    counted = 0
    for line in shown:
        count, _, title = line.partition(" × ")
        if line.startswith(("renamed", "stored")) or line.endswith(" differences"):
            continue
        group = titles.get(title if count.isdigit() and title in titles else line)
        if group is None:
            counted += 1
            continue
        counted += sum(map(len, group.occurrences))
        assert len(group.occurrences) == (int(count) if title in titles else 1)
    assert counted == len(result.items)


def test_ignored_differences_leave_the_groups() -> None:
    old = [Node("Relu", (f"x{i}",), (f"y{i}",), name=f"n{i}") for i in range(60)]
    new = [Node("Relu", (f"x{i}",), (f"y{i}",), name=f"other{i}") for i in range(60)]
    new[0] = Node("Tanh", ("x0",), ("y0",), name="n0")
    result = diff(model(old), model(new)).without(["names"])
    assert len(result.items) == 1
    assert "Tanh" in text.render(result)
    assert "differences" not in text.render(result)


def test_operators_are_counted() -> None:
    shown = stat.render(fusion(30))
    assert shown.splitlines()[2:8] == [
        " operator                  | before | after | difference",
        " Add                       |     30 |     0 |        -30",
        " MatMul                    |     30 |     0 |        -30",
        " com.microsoft.FusedMatMul |      0 |    30 |        +30",
        " all nodes                 |     60 |    30 |        -30",
        "",
    ]
    counts = json_module.loads(json.render(fusion(3)))["operators"]
    assert {"operator": "Add", "old": 3, "new": 0} in counts


@pytest.mark.thorough
def test_the_result_does_not_depend_on_hashes(tmp_path: Path) -> None:
    code = (
        "import sys; from onnxtext.differ.render import text; "
        "from tests.differ.test_grouped_changes import diff, edited, mesh, model; "
        "nodes = mesh(300, 5); "
        "sys.stdout.write(text.render(diff(model(nodes), model(edited(nodes, [0, 1, 2, 3])))))"
    )
    root = Path(__file__).parents[2]
    result = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            check=True,
            cwd=root,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(result) == 1
    assert b" differences @@" in result.pop()


@pytest.mark.thorough
def test_time_is_linear() -> None:
    """8,000 differences in one chain: four times the nodes take about four times as long."""

    def seconds(count: int) -> float:
        start = time.process_time()
        shown = text.render(fusion(count))
        assert len(shown) < 1000
        return time.process_time() - start

    assert grows_at_most(seconds, 1_000, 4_000, factor=8)


@pytest.mark.skipif(SHARED is None, reason="no shared data: exports")
@pytest.mark.parametrize(("name", "most"), [("lm_opt", 150), ("lm_int8", 100), ("lm_slim", 110)])
def test_diffs_of_tools_are_short(name: str, most: int) -> None:
    assert SHARED is not None
    sides = [ModelSide.of_file(SHARED / "exports" / f"{part}.onnx") for part in ("lm_ts", name)]
    result = compare(*sides)
    assert text.render(result).count("\n") < most < text.render(result, every=True).count("\n")
