# SPDX-License-Identifier: Apache-2.0
"""Merges whose model is printed, because no merge of the texts means the merged model."""

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
