# SPDX-License-Identifier: Apache-2.0
"""Every finding has help and names its rule; every fix removes its finding."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

import onnxtext
from onnxtext import Diagnostic
from onnxtext.checker.context.registry import rules
from tests.checker.models import text
from tests.checker.test_findings import many
from tests.checker.test_pages import directory, example, select
from tests.checker.test_variants import PLACES, RULES, load
from tests.diagnostics.found import help_of

__all__ = ["directory"]

FIXABLE = {
    "sorted": text("y = Relu (a) # last\n# first\na = Neg (x)"),
    "imported": "<onnxtext: 1, ir_version: 10>\ng (float[4] x) => (float[4] y) { y = Relu (x) }\n",
    "imported by a function": text(
        "y = my.f (x)", opsets='21, "my": 1', rest='<domain: "my"> f (a) => (b) { b = Relu (a) }\n'
    ),
    "the domain of a function": text(
        "y = my.f (x)",
        rest='<domain: "my", opset_import: ["": 21]> f (a) => (b) { b = Relu (a) }\n',
    ),
    "renamed": text("hidden = Neg (x)\nz = Abs (hiden)\ny = Add (hiden, z)"),
    "renamed in a nested graph": text(
        "hidden = Neg (x)\ny = If (c) <then_branch = p () => (float[4] q) { q = Neg (hiden) },"
        " else_branch = o () => (float[4] r) { r = Neg (x) }>",
        inputs="float[4] x, bool c",
    ),
    "an unknown value info": text("y = Relu (x)", values="float[4] gone,\nfloat[1] w = [1],"),
    "an unused initializer": text("y = Relu (x)", values="float[1] w = [1],\nfloat[1] v = [2],"),
    "an operator": text("z = Rellu (x)\ny = Rellu (z)"),
    "a function's operator": text(
        "y = my.twise (x)",
        opsets='21, "my": 1',
        rest='<domain: "my", opset_import: ["": 21]> twice (a) => (b) { b = Add (a, a) }\n',
    ),
    "an attribute": text("y = Softmax <axs = 0> (x)"),
    "a value of an attribute": text(
        'y = Relu (x)\nz = BitShift <direction = "left"> (u, u)', inputs="float[4] x, uint8[1] u"
    ),
    "an attribute of a call": text(
        "y = my.f <alphas = 1.0> (x)",
        opsets='21, "my": 1',
        rest='<domain: "my", opset_import: ["": 21]> f <alpha: float = 2.0> (a) => (b) '
        "{ b = LeakyRelu <alpha: float = @alpha> (a) }\n",
    ),
}


def failing(directory: Path) -> Iterator[tuple[str, str, list[Diagnostic]]]:
    """Yield every failing example of the tests with its findings."""
    for code in rules():
        model = example(code, "Example")
        yield code, model, onnxtext.check(model, base_dir=directory, select=select(code))
    for place, code in product(PLACES, RULES):
        model = onnxtext.from_binary(place(load(example(code, "Example"))).SerializeToString())
        yield code, model, onnxtext.check(model, base_dir=directory, select=select(code))
    for name, model in {**FIXABLE, "many": many()}.items():
        yield name, model, onnxtext.check(model, select=["all", "style"])


def test_every_finding_has_help_and_names_its_rule(directory: Path) -> None:
    count = 0
    for name, model, found in failing(directory):
        for item in found:
            count += 1
            assert item.help, (name, item)
            assert not item.help.endswith("."), item.help
            if item.code != "unused-suppression":
                assert item.notes[-1] == rules()[item.code].note, item
        if name == "unused-suppression":
            continue
        for item in onnxtext.check(onnxtext.to_binary(model), base_dir=directory):
            assert item.help, (name, item)
    assert count > 300


def test_every_fix_removes_its_finding_and_adds_none(directory: Path) -> None:
    kinds = set()
    for name, model, found in failing(directory):
        for item in found:
            if item.fix is None:
                continue
            kinds.add((item.fix.title.split()[0], item.fix.applicability))
            result = item.fix.apply(model)
            before = onnxtext.check(model, base_dir=directory, select=select(item.code))
            after = onnxtext.check(result, base_dir=directory, select=select(item.code))
            # Both branches of an `If` may have the finding.
            same = [[(i.code, i.message) for i in found].count((item.code, item.message))
                    for found in (before, after)]  # fmt: skip
            assert same[1] < same[0], name
            assert len(after) < len(before), (name, before, after)
    assert kinds == {
        ("sort", "safe"), ("remove", "safe"), ("import", "safe"), ("write", "safe"),
        ("write", "unsafe"),
    }  # fmt: skip


@pytest.mark.parametrize("name", FIXABLE)
def test_fixable_findings_have_a_fix(name: str) -> None:
    found = onnxtext.check(FIXABLE[name], select=["all", "style"])
    assert found
    assert any(item.fix is not None for item in found), found


def test_an_element_type_as_a_value_has_its_number_in_the_help() -> None:
    (found,) = onnxtext.check(text("y = Cast <to = int64> (x)", outputs="int64[4] y"))
    assert found.code == "attribute-type"
    assert "`7`, the number of `int64`" in help_of(found)
