# SPDX-License-Identifier: Apache-2.0
"""Merges in which the merged model is printed, because merging the texts gives another model."""

from __future__ import annotations

import pytest

import onnxtext
from onnxtext.merger.models.canonical_models import lift, lower_all
from tests.merger.laws import merged

HEAD = "<onnxtext: 1, ir_version: 10, opset_import: [20]>\n"


def test_typed_data_with_equal_varints_keeps_its_entries() -> None:
    """`{1, 2}` has the same varints in `int32_data` and `int64_data`, but other entries."""
    values = ("int32[2] a = {1, 2}", "int64[2] b = {1, 2}", 'string[1] c = {"\\x02"}')
    for order in (values, values[::-1]):
        model = onnxtext.parse(f"{HEAD}g () => () <{', '.join(order)}> {{}}\n")
        (data,), marks = lower_all([model], {})
        assert lift(data, marks, [model]).graph.values == model.graph.values


def test_a_renamed_and_described_value_keeps_the_edit_of_the_other_side() -> None:
    base = f"{HEAD}g (float x) => (float y) {{ y = Foo (x) }}\n"
    ours = base.replace("y = Foo", '@doc("d") z = Foo').replace("y)", "z)")
    found = merged(base, ours, base.replace("Foo (x)", "Foo <k = 1> (x)"))
    assert not found.conflicts
    assert '@doc("d") z = Foo <k = 1> (x)' in str(found)


LAYOUT = f"""# The first line
{HEAD}g (float x) => (float z) {{
  a = Abs  (x) # spaces
  y = Foo (a) <
    body = inner () => () {{
      p = Neg (x)
      q = Exp (p)
    }},
  >
  z = Add (y, a)
}}
"""


@pytest.mark.parametrize(
    ("ours", "theirs", "together"),
    [
        (("= inner", '= @doc("d") inner'), ("Exp (p)", "Log (p)"), '@doc("d") inner () => ()'),
        (("(y, a)", '("y", a)'), ("y ", "w "), "z = Add (w, a)"),
    ],
    ids=["graph with a new decorator", "quoted and renamed"],
)
def test_edits_of_one_statement_keep_the_layout_of_the_file(
    ours: tuple[str, str], theirs: tuple[str, str], together: str
) -> None:
    other = LAYOUT.replace(*theirs)
    if theirs[1] == "w ":
        other = other.replace("(y,", "(w,")
    result = merged(LAYOUT, LAYOUT.replace(*ours), other)
    assert not result.conflicts
    assert str(result).startswith("# The first line\n<onnxtext: 1, ir")
    assert "a = Abs  (x) # spaces" in str(result)
    assert together in str(result)


FUNCTION = f"""# The first line
{HEAD}g (float x) => (float y) {{
  y = l.F  (x, x) # spaces
}}

<domain: "l", opset_import: [20]>
F (p, s) => (q) {{ # body
  q = Neg  (p)
  r = Exp (q)
}}
"""


@pytest.mark.parametrize("new", [("(p, s, u)", "(p, s, v)"), ("(n, p, s)", "(p, s, v)")])
def test_a_conflict_in_the_inputs_of_a_function_marks_only_its_line(new: tuple[str, str]) -> None:
    found = merged(FUNCTION, *[FUNCTION.replace("(p, s)", inputs) for inputs in new])
    assert found.conflicts == 1
    before, after = FUNCTION.split("F (p, s) => (q) { # body\n")
    versions = [f"F {inputs} => (q) {{ # body" for inputs in (new[0], "(p, s)", new[1])]
    assert str(found) == (
        f"{before}<<<<<<< ours\n{versions[0]}\n||||||| base\n{versions[1]}\n=======\n{versions[2]}"
        f"\n>>>>>>> theirs\n{after}"
    )


def test_outputs_of_a_function_stay_distinct() -> None:
    ours, theirs = [FUNCTION.replace("=> (q)", f"=> ({names})") for names in ("q, r", "r")]
    assert merged(FUNCTION, ours, theirs).conflicts == 1


def test_metadata_of_a_renamed_value_keeps_the_layout() -> None:
    metadata = 'metadata {\n  function l.F {\n    node q {\n      k: "v"\n    }\n  }\n}\n'
    theirs = FUNCTION.replace("l.F", "l.G").replace("F (p", "G (p")
    found = merged(FUNCTION, f"{FUNCTION}\n{metadata}", theirs)
    assert not found.conflicts
    assert str(found).startswith(theirs.split("q = Neg")[0])
    assert '@meta("k": "v")' in str(found)


@pytest.mark.parametrize("end", ["\n  ", " "], ids=["own lines", "one line"])
def test_decorators_that_both_sides_add_are_separated(end: str) -> None:
    head = "<ir_version: 10, opset_import: [21]>\ng (float x) => (float y) {\n  "
    base, ours, theirs = (
        f"{head}{decorators}y = Neg (x)\n}}\n"
        for decorators in ("", f'@doc("a"){end}', f'@meta("k": "v"){end}')
    )
    found = str(onnxtext.merge(base, ours, theirs))
    assert found == f'{head}@doc("a"){end}@meta("k": "v"){end}y = Neg (x)\n}}\n'
