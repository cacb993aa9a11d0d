# SPDX-License-Identifier: Apache-2.0
"""The work and the number of findings do not grow with the product of two sizes in a model."""

from __future__ import annotations

from collections.abc import Callable
from difflib import SequenceMatcher
from unittest import mock

import pytest

import onnxtext
from onnxtext.checker.engine import fix_edits
from onnxtext.checker.rules import undefined_values_and_order
from onnxtext.syntax.span_map import map_spans
from tests.checker.models import text
from tests.running import count_calls, limited

COUNT = 250
HEADER = '<domain: "f", opset_import: [21, "f": 1, "my": 1]>\n'


def names(prefix: str, form: str = "{}", count: int = COUNT) -> str:
    return ", ".join(form.format(f"{prefix}{i}") for i in range(count))


def lines(form: str, count: int = COUNT) -> str:
    return "\n".join(form.replace("#", str(i)) for i in range(count))


def calls(call: str, function: str, count: int = COUNT) -> str:
    """Return a model that calls a function many times."""
    opsets = '21, "f": 1, "my": 1'
    return text(f"{lines(call, count)}\ny = Relu (x)", opsets=opsets, rest=HEADER + function)


LACKING = {
    "inputs": calls("v# = f.F ()", f"F ({names('a')}) => (b0) {{ {lines('b# = Relu (a#)')} }}"),
    "attributes": calls(
        "v# = f.F (x)",
        f"F <{names('a')}> (a) => (b0) {{ {lines('b# = Cast <to: int = @a#> (a)')} }}",
    ),
}


@pytest.mark.parametrize("kind", LACKING)
def test_a_call_that_lacks_many_arguments_has_few_findings(kind: str) -> None:
    found = [item for item in onnxtext.check(LACKING[kind]) if "function-call" in item.code]
    assert len(found) == 20 * COUNT


def overloads() -> str:
    header = '<domain: "f", overload: "{}", opset_import: [21]>\nF (a) => (b) {{ b = Relu (a) }}\n'
    functions = "".join(header.format(f"function_o{i}") for i in range(COUNT))
    calls = lines("v# = f.F:function_u# (x)")
    return text(f"{calls}\ny = Relu (x)", opsets='21, "f": 1', rest=functions)


def test_many_overloads_are_not_listed_for_every_call() -> None:
    found = [item for item in onnxtext.check(overloads()) if "overload" in item.code]
    assert len(found) == COUNT
    assert {len(item.notes[0].split(", ")) for item in found} == {20}
    assert f" and {COUNT - 20} more" in found[0].notes[0]


MISSPELT = {
    "overloads": overloads(),
    "attributes of calls": calls(
        "v# = f.F <{}> (x)".format("parametre_# = 1"),
        f"F <{names('parameter_', '{} = 1')}> (a) => (b) {{ b = Relu (a) }}",
    ),
    "references": calls(
        "v# = f.F (x)",
        f"F <{names('parameter_', '{} = 1')}> (a) => (b) {{\n"
        f"{lines('c# = my.Op <k: int = @parametre_#> (a)')}\nb = Relu (a) }}",
    ),
    "device configurations": text(
        lines('@device("confgiuration_#") v# = Relu (x)') + "\ny = Relu (x)",
        ir_version=11,
        rest=lines('configuration "configuration_#" { num_devices: 2 }'),
    ),
}


@pytest.mark.thorough
@pytest.mark.parametrize("kind", MISSPELT)
def test_suggestions_are_limited(kind: str) -> None:
    with mock.patch("difflib.SequenceMatcher", wraps=SequenceMatcher) as searched:
        found = onnxtext.check(MISSPELT[kind])
    assert len([item for item in found if item.severity == "error"]) >= COUNT
    assert 0 < searched.call_count <= 200


def wrong_parameters(count: int) -> str:
    return calls(
        "v# = f.F (x)",
        f"F <{names('a', '{} = 1', count)}> (a) => (b) {{\n"
        f"{lines('c# = my.Op <k: float = @a#> (a)', count)}\nb = Relu (a) }}",
        count=1,
    )


def wrong_calls(count: int) -> str:
    return calls("v# = f.F (x, x)", "F (a) => (b) { b = Relu (a) }", count)


def calls_with_defaults(count: int) -> str:
    return calls(
        "v# = f.F (x)", f"F <{names('a', '{} = 1', count)}> (a) => (b) {{ b = my.Op (a) }}", count
    )


def test_calls_do_not_read_the_defaults_of_their_functions() -> None:
    few, many = calls_with_defaults(COUNT // 5), calls_with_defaults(COUNT)
    assert not [item for item in onnxtext.check(few) if item.severity == "error"]
    assert count_calls(lambda: onnxtext.check(many)) < 6 * count_calls(lambda: onnxtext.check(few))


@pytest.mark.parametrize("make", [wrong_parameters, wrong_calls])
def test_the_header_of_a_function_is_read_once_for_all_findings(make: Callable[[int], str]) -> None:
    found = [item for item in onnxtext.check(make(COUNT)) if item.severity == "error"]
    assert len(found) == COUNT
    spans = {item.labels[-1].span for item in found}
    assert len(spans) == (COUNT if make is wrong_parameters else 1)
    few, many = make(COUNT // 5), make(COUNT)
    assert count_calls(lambda: onnxtext.check(many)) < 6 * count_calls(lambda: onnxtext.check(few))


def test_each_cycle_is_compared_only_with_its_own_nested_uses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reads = 0

    class Counted(undefined_values_and_order.NestedUse):
        @property
        def holder(self) -> int:
            nonlocal reads
            reads += 1
            return int(self[0])

    monkeypatch.setattr(undefined_values_and_order, "NestedUse", Counted)
    branches = (
        "then_branch = t () => (p) { p = Relu (v#) }, else_branch = e () => (q) { q = Relu (x) }"
    )
    found = onnxtext.check(
        text(f"{lines(f'v# = If (c) <{branches}>')}\ny = Relu (x)", inputs="float[4] x, bool c")
    )
    cycles = [item for item in found if item.code == "graph-cycle"]
    assert len(cycles) == COUNT
    assert {len(item.labels) for item in cycles} == {2}
    assert reads < 5 * COUNT


def test_inputs_of_one_name_are_compared_in_linear_time() -> None:
    inputs = lines("float[#] x,", 8000)
    model = f"<ir_version: 10, opset_import: [21]>\ng ({inputs}) => (float y) {{ y = Relu (x) }}"
    with limited(2):
        codes = {item.code for item in onnxtext.check(model)}
    assert "value-info-conflict" not in codes


@pytest.mark.parametrize(("operator", "count"), [("Concat <axis = 1>", 3_000), ("Sum", 12_000)])
def test_sizes_that_a_wide_node_restricts_are_traced_in_linear_time(
    operator: str, count: int
) -> None:
    inputs = f"{names('x', 'float[{0}_size, 1] {0}', count)}, float[4, 1] c"
    nodes = f"y = {operator} ({names('x', count=count)}, c)"
    data = onnxtext.to_binary(text(nodes, inputs=inputs, outputs="float[?, ?] y"))
    with limited(6):
        assert len(onnxtext.check(data)) == count


def test_a_node_is_parsed_once_to_sort_the_graphs_around_it() -> None:
    def model(depth: int) -> str:
        body = "y = Neg (x)"
        for i in range(depth):
            graphs = f"then_branch = t () => (p{i}) {{ {body.replace('y =', f'p{i} =', 1)} }}"
            graphs += f", else_branch = e () => (q{i}) {{ q{i} = Neg (x) }}"
            body = f"y = If (c) <{graphs}>\na{i} = Neg (b{i})\nb{i} = Neg (d{i})\nd{i} = Neg (x)"
        return text(body, inputs="float[4] x, bool c")

    with mock.patch.object(fix_edits, "map_spans", wraps=map_spans) as parsed:
        fixes = [item.fix for item in onnxtext.check(model(20)) if item.code == "node-order"]
    assert len(fixes) == 2 * 20
    assert all(fix is not None and fix.title == "sort the nodes" for fix in fixes)
    assert parsed.call_count == 4  # the nodes of the main graph
