# SPDX-License-Identifier: Apache-2.0
"""Merges whose model is printed, because no merge of the texts means the merged model."""

from __future__ import annotations

import onnxtext
from tests.merger.laws import merged

HEAD = "<onnxtext: 1, ir_version: 10, opset_import: [20]>\n"


def test_equal_bytes_in_two_typed_fields_stay_apart() -> None:
    """The varints of `{1, 2}` are equal in `int32_data` and `int64_data`, but not their entries."""
    values = (
        'int32[2] a = {1, 2}, int64[2] b = {1, 2}, string[1] c = {"\\x02"}, int64[2] d = {3, 3}'
    )
    base = f"{HEAD}g (float x) => (float y) <{values}> {{ y = Foo (x) }}\n"
    meta = 'metadata {\n  node y {\n    k: "v"\n  }\n}\n'
    ours = base.replace("y)", "z)").replace("y =", "z =") + meta.replace("y", "z")
    theirs = base.replace("Foo", "Bar")
    found = merged(base, ours, theirs)
    assert not found.conflicts
    assert onnxtext.parse(str(found)).graph.values == onnxtext.parse(base).graph.values


def test_a_renamed_and_described_value_keeps_the_edit_of_the_other_side() -> None:
    base = f"{HEAD}g (float x) => (float y) {{ y = Foo (x) }}\n"
    ours = base.replace("y = Foo", '@doc("d") z = Foo').replace("y)", "z)")
    found = merged(base, ours, base.replace("Foo (x)", "Foo <k = 1> (x)"))
    assert not found.conflicts
    assert '@doc("d") z = Foo <k = 1> (x)' in str(found)
