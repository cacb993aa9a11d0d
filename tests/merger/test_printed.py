# SPDX-License-Identifier: Apache-2.0
"""Merges whose model is printed, because no merge of the texts means the merged model."""

from __future__ import annotations

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
