# SPDX-License-Identifier: Apache-2.0
"""Comments suppress findings."""

from __future__ import annotations

import pytest

import onnxtext
from tests.checker.models import codes, text

WRONG = "y = Rellu (x)"


@pytest.mark.parametrize(
    "nodes",
    [
        f"{WRONG} # onnxtext: ignore[op-unknown]",
        f"# onnxtext: ignore[op-unknown]\n{WRONG}",
        f"# onnxtext: ignore[op-unknown]\n# another comment\n\n{WRONG}",
        f"{WRONG} # onnxtext: ignore",
        f"{WRONG} #onnxtext:ignore".replace("#onnxtext:ignore", "# onnxtext: ignore[ op-unknown ]"),
        "y = Rellu <\n  a = 1,\n> (x) # onnxtext: ignore[op-unknown]",
    ],
)
def test_comments_suppress_findings(nodes: str) -> None:
    assert not codes(text(nodes))


def test_comments_suppress_only_the_named_rule_at_their_statement() -> None:
    other = f"{WRONG} # onnxtext: ignore[input-count]"
    assert codes(text(other)) == {"op-unknown", "unused-suppression"}
    elsewhere = f"a = Neg (x) # onnxtext: ignore[op-unknown]\n{WRONG}"
    assert codes(text(elsewhere)) == {"op-unknown", "unused-suppression"}


def test_a_comment_suppresses_several_rules() -> None:
    nodes = "y = Softmax <axs = 0> (x, x) # onnxtext: ignore[attribute-unknown, input-count]"
    assert not codes(text(nodes))


def test_strings_are_no_comments() -> None:
    nodes = f'{WRONG}\nz = Constant <value_string = "# onnxtext: ignore[op-unknown]"> ()'
    assert codes(text(nodes)) == {"op-unknown"}


def test_unused_and_unknown_suppressions_are_reported() -> None:
    nodes = "y = Relu (x) # onnxtext: ignore[op-unknown, no-such-rule, value-unused]"
    found = onnxtext.check(text(nodes))
    assert [item.code for item in found] == ["unused-suppression"] * 2
    assert "there is no rule `no-such-rule`" in [item.message for item in found]
    assert all(item.severity == "warning" for item in found)
    selected = onnxtext.check(text(nodes), select=["value-unused"])
    assert len(selected) == 3


def test_a_suppressed_finding_hides_no_other() -> None:
    lines = "  # onnxtext: ignore[{}]\n  y = Add (lost)"
    assert codes(text(lines.format("value-undefined"))) == {"input-count"}
    assert codes(text(lines.format("input-count"))) == {"value-undefined"}
    assert codes(text(lines.format("value-undefined, input-count"))) == set()


def test_each_of_several_unknown_attributes_needs_a_comment_of_its_line() -> None:
    ignored = " # onnxtext: ignore[attribute-unknown]"
    for lines in ((ignored, ""), ("", ignored), (ignored, ignored)):
        first, second = lines
        nodes = f"y = Relu <\n  first = 1,{first}\n  second = 2,{second}\n> (x)"
        assert codes(text(nodes)) == ({"attribute-unknown"} if "" in lines else set())


def test_a_comment_at_the_first_use_of_an_undefined_value_suffices() -> None:
    ignored = " # onnxtext: ignore[value-undefined]"
    assert not codes(text(f"y = Add (\n  nothing,{ignored}\n  nothing\n)"))
    assert not codes(text(f"z = Neg (nothing){ignored}\ny = Add (z, nothing)"))
