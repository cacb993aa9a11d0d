# SPDX-License-Identifier: Apache-2.0
"""An edit that refers to a value conflicts if the other side gives its name to another value."""

from __future__ import annotations

import pytest

import onnxtext
from onnxtext.merger.rebound_uses import find_rebound_uses
from tests.merger.clean_merges import HEADER, check_merge, merges
from tests.running import limited

BASE = """g (float[2] x) => (float[2] y) <
  float[2] w = {1, 2},
> {
  "1" = Abs (x)
  "2" = Neg ("1")
  "3" = Exp ("2")
  y = Sub ("3", w)
}
"""
RENUMBERED = """g (float[2] x) => (float[2] y) <
  float[2] w = {7, 8},
  float[2] v = {1, 2},
> {
  "1" = Add (x, w)
  "2" = Abs ("1")
  "3" = Neg ("2")
  "4" = Exp ("3")
  y = Sub ("4", v)
}
"""
EDITS = {
    "a graph output": ("float[2] y)", 'float[2] y, float[2] "2")'),
    "a value info": ('  "2" =', '  float[2] "2" ='),
    "an annotated value": ("}\n", '}\nquantization {\n  "2": ["SCALE_TENSOR": "w"]\n}\n'),
    "a quantization parameter": ("}\n", '}\nquantization {\n  x: ["SCALE_TENSOR": "2"]\n}\n'),
    "a new node": ("  y =", '  z = Tan ("2")\n  y ='),
    "an input": ('Exp ("2")', 'Exp ("1")'),
    "an initializer": ("  float[2] w", '  @doc("d") float[2] w'),
    "a use of an initializer": ("  y =", "  z = Tan (w)\n  y ="),
}


@pytest.mark.parametrize("name", EDITS)
def test_a_reference_to_a_renumbered_value_is_a_conflict(name: str, *, binary: bool) -> None:
    edited = BASE.replace(*EDITS[name])
    assert edited != BASE
    assert merges(BASE, edited, RENUMBERED, binary=binary) is None


def test_a_value_info_that_both_sides_add_for_different_values_is_a_conflict(
    *, binary: bool
) -> None:
    ours, theirs = [text.replace(*EDITS["a value info"]) for text in (BASE, RENUMBERED)]
    assert merges(BASE, ours, theirs, binary=binary) is None


def test_a_deleted_value_info_of_a_renumbered_value_is_a_conflict(*, binary: bool) -> None:
    base, renumbered = [
        text.replace('  "3" =', '  float[2] "3" =').replace('  "4" =', '  float[2] "4" =')
        for text in (BASE, RENUMBERED)
    ]
    deleted = base.replace('float[2] "3"', '"3"')
    assert merges(base, deleted, renumbered, binary=binary) is None
    edited = base.replace("Sub", "Add")
    check_merge(base, deleted, edited, deleted.replace("Sub", "Add"), binary=binary)


SWAPPED = """g (float[2] x) => (float[2] y) {
  a = Abs (x)
  b = Neg (x)
  y = Sub (a, b)
}
"""
SWAPPED_NAMES = """g (float[2] x) => (float[2] y) {
  b = Abs (x)
  a = Neg (x)
  y = Sub (b, a)
}
"""


def test_an_input_that_equals_a_renamed_one_is_a_conflict(*, binary: bool) -> None:
    """The merge of the inputs, `Sub (b, a)`, does not have the edit."""
    edited = SWAPPED.replace("(a, b)", "(a, a)")
    renumbered = SWAPPED_NAMES.replace("  y", "  c = Exp (x)\n  y")
    assert merges(SWAPPED, edited, renumbered, binary=binary) is None


INSERTED = """g (float[2] x) => (float[2] y) {
  c = Abs (x)
  a = Sqrt (c)
  b = Neg (x)
  y = Sub (a, b)
}
"""


@pytest.mark.parametrize("base", [SWAPPED, SWAPPED.replace("Sub (a, b)", "Exp (b)")])
def test_a_node_inserted_after_a_value_is_no_conflict(base: str, *, binary: bool) -> None:
    end = base[base.index("  y =") :]
    edited = base.replace("  y =", "  q = Tan (a)\n  y =")
    inserted = INSERTED.replace("  y = Sub (a, b)\n}\n", end)
    check_merge(
        base, edited, inserted, inserted.replace("  y =", "  q = Tan (a)\n  y ="), binary=binary
    )


FUNCTION = """g (float[2] x, float[2] z) => (float[2] y) {
  y = my.F (x, z)
}

<domain: "my", opset_import: [20]>
F (a, b) => (c) {
  d = Neg (b)
  c = Sub (a, d)
}
"""
PARAMETERS = FUNCTION.replace("F (a, b)", "F (b, a)").replace("Neg (b)", "Neg (a)")
PARAMETERS = PARAMETERS.replace("Sub (a, d)", "Sub (b, d)")


def test_a_call_fits_parameters_whose_names_are_swapped(*, binary: bool) -> None:
    call = ("  y =", "  w = my.F (z, x)\n  y =")
    ours, wanted = FUNCTION.replace(*call), PARAMETERS.replace(*call)
    check_merge(FUNCTION, ours, PARAMETERS, wanted, binary=binary)


def test_a_new_use_of_a_parameter_whose_name_is_swapped_is_a_conflict(*, binary: bool) -> None:
    """The side that swaps the names also edits the function."""
    ours = FUNCTION.replace("  c =", "  e = Exp (b)\n  c =").replace("a, d)", "a, e)")
    theirs = PARAMETERS.replace("  d =", "  f = Abs (b)\n  d =")
    assert merges(FUNCTION, ours, theirs, binary=binary) is None


def test_parameters_in_another_order_are_a_conflict_with_a_new_call(*, binary: bool) -> None:
    """Without a call, it is not certain that the side only reordered the parameters."""
    base = FUNCTION.replace("my.F (x, z)", "Sub (x, z)")
    ours = base.replace("  y =", "  w = my.F (z, x)\n  y =")
    theirs = base.replace("F (a, b)", "F (b, a)")
    assert merges(base, ours, theirs, binary=binary) is None


def test_a_conflict_about_a_typed_output_has_the_output_of_each_side() -> None:
    edited = BASE.replace(*EDITS["a value info"])
    found = onnxtext.merge(*[onnxtext.to_binary(HEADER + t) for t in (BASE, RENUMBERED, edited)])
    assert found.conflicts == 1
    assert '<<<<<<< ours\n  "2" = Abs ("1")\n||||||| base\n' in str(found)


def test_many_functions_are_compared_in_linear_time() -> None:
    functions = "".join(
        f'<domain: "d", opset_import: [21]>\nF{number} (a) => (b) {{ b = Relu (a) }}\n'
        for number in range(4000)
    )
    model = onnxtext.parse(f"<ir_version: 10, opset_import: [21]>\ng () => () {{}}\n{functions}")
    with limited(2):
        assert not list(find_rebound_uses(model, [model, model, model]))
