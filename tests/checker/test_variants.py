# SPDX-License-Identifier: Apache-2.0
"""Every rule applies wherever it can be broken: nested graphs, functions, training graphs.

The failing example on the page of a rule is moved to each of these places. There it breaks the same
rule and no other rule, in the binary and in its text. The moved fixed example breaks no rule.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import onnx
import pytest

import onnxtext
from onnxtext.checker.context.registry import rules
from tests.checker.models import codes, text
from tests.checker.test_pages import directory, example, select
from tests.checker.variants import in_function, in_nested_graph, in_training

__all__ = ["directory"]

Place = Callable[[onnx.ModelProto], onnx.ModelProto]
PLACES = (in_nested_graph, in_function, in_training)
NESTED, FUNCTION, TRAINING = (place.__name__ for place in PLACES)

OTHER = {
    # The specification has separate rules for functions:
    ("opset-domain-not-imported", FUNCTION): {"function-opset-missing"},
    ("input-duplicate", FUNCTION): {"function-input-duplicate"},
    ("output-duplicate", FUNCTION): {"function-output-duplicate"},
    ("graph-output-undefined", FUNCTION): {"function-output-undefined"},
    ("attribute-ref-outside-function", FUNCTION): {"attribute-ref-unknown"},
    # A model without imports also lacks them for the call.
    ("opset-import-missing", FUNCTION): {"opset-domain-not-imported", "function-opset-missing"},
    # A function has no initializers: they become constants.
    ("value-name-missing", FUNCTION): {"output-empty-required"},
    ("initializer-duplicate", FUNCTION): {"value-redefined"},
    ("value-info-conflict", FUNCTION): {"type-mismatch"},
    ("sparse-values-name", FUNCTION): {"output-empty-required"},
}
"""Rules whose example breaks an equivalent rule at another place."""

_MODEL = "the rule is about the model as a whole"
_MAIN = "only the inputs and outputs of the main graph need a type (IR Graphs)"
_OLD = "the IR version that the example needs has no such place"
_INPUTS = "the rule is about the dimensions of the main graph's inputs"
_TRAINING = "the rule is about training information, which only models have"
CANNOT = {
    ("ir-version-missing", FUNCTION): _MODEL,
    ("ir-version-missing", TRAINING): _MODEL,
    ("needs-ir-version", FUNCTION): _OLD,  # but see `EXTRA`
    ("graph-missing", NESTED): "the attribute would be no graph: attribute-value-mismatch",
    ("graph-missing", FUNCTION): "a body is a list of nodes",
    ("graph-missing", TRAINING): "`algorithm` may be left out",
    ("graph-name-missing", FUNCTION): "a body is no graph; see function-name-missing and `EXTRA`",
    ("initializer-not-input", FUNCTION): "a function cannot have initializers",
    ("initializer-not-input", TRAINING): _OLD,
    ("graph-input-untyped", TRAINING): _MAIN,
    ("graph-output-untyped", NESTED): _MAIN,
    ("graph-output-untyped", FUNCTION): _MAIN,
    ("graph-output-untyped", TRAINING): _MAIN,
    ("type-missing", TRAINING): f"{_MAIN}; but see `EXTRA`",
    ("dim-forced", NESTED): _INPUTS,
    ("dim-forced", TRAINING): _INPUTS,
    ("quantization-annotation", FUNCTION): "a function has no annotations",
    **{
        (code, place.__name__): _TRAINING
        for code in rules()
        if code.startswith("training-")
        for place in PLACES
    },
}
"""Rules whose example is valid at another place, and why."""

FUNCTION_TEXT = """\
<onnxtext: 1, ir_version: {ir_version}, opset_import: [21, "my": 1]>
main (float[4] x, bool c) => (float[4] y) {{
  y = my.f (x, c)
}}
<domain: "my", opset_import: ["": 21]>
f (x, c) => (y) {{
{body}
}}
"""
BRANCHES = """\
  y = If (c) <
    then_branch = "" () => (float[4] q) { q = Neg (x) },
    else_branch = no () => (float[4] r) { r = Neg (x) },
  >"""
EXTRA = {
    ("needs-ir-version", FUNCTION): FUNCTION_TEXT.format(
        ir_version=9, body='  @meta("org.example.key": "value") y = Relu (x)'
    ),
    ("graph-name-missing", FUNCTION): FUNCTION_TEXT.format(ir_version=10, body=BRANCHES),
    ("graph-output-undefined", FUNCTION): FUNCTION_TEXT.format(
        ir_version=10, body=BRANCHES.replace("{ q =", "{ u =").replace('""', "yes")
    ),
    ("type-missing", TRAINING): text(
        "y = Relu (x)",
        rest="training {\n  algorithm: step (@set(type: {sequence_type: {}}) s) => (float[4] z) "
        "{\n    z = Abs (x)\n  }\n}\n",
    ),
}
"""Other texts that break a rule at places where its example does not."""


def load(model: str) -> onnx.ModelProto:
    return onnx.ModelProto.FromString(onnxtext.to_binary(model))


def found(source: str | bytes, code: str, directory: Path) -> set[str]:
    level = rules()[code].level
    return {
        item.code
        for item in onnxtext.check(source, base_dir=directory, select=select(code))
        if item.severity != "info" or level == "info"
    }


TEXTS_ONLY = {"backslash-lost", "unused-suppression"}
"""Rules about the spelling of a text or its comments: no binary breaks them."""
RULES = [code for code in rules() if code not in TEXTS_ONLY]


@pytest.mark.parametrize("code", RULES)
@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
def test_moved_examples_break_the_same_rule(code: str, place: Place, directory: Path) -> None:
    broken = place(load(example(code, "Example"))).SerializeToString()
    key = code, place.__name__
    assert not (key in OTHER and key in CANNOT)
    if key in CANNOT:
        assert code not in found(broken, code, directory)
        return
    wanted = OTHER.get(key, {code})
    assert found(broken, code, directory) == wanted, (
        f"{place.__name__}: add {key} to CANNOT if the rule cannot be broken there, or to OTHER if "
        "another rule is"
    )
    assert found(onnxtext.from_binary(broken), code, directory) == wanted
    fixed = place(load(example(code, "Fixed"))).SerializeToString()
    assert not found(fixed, code, directory)


@pytest.mark.parametrize(("code", "place"), EXTRA)
def test_extra_examples_break_the_rule_in_their_graph(code: str, place: str) -> None:
    assert codes(EXTRA[code, place]) == {code}
    assert codes(onnxtext.to_binary(EXTRA[code, place])) == {code}
