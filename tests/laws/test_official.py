# SPDX-License-Identifier: Apache-2.0
"""L2: texts have the same meaning as in the official parser; texts that it rejects are rejected.

The only differences are those of docs/laws.md. They are listed here with their reasons. The tests
fail for a new difference, and for a listed one that no longer exists.
"""

from __future__ import annotations

from typing import Any

import pytest

from onnxtext.ast import Fragment, Type
from onnxtext.diagnostics import OnnxTextError
from onnxtext.proto.encode.lower import lower_fragment, lower_model
from onnxtext.source import Source
from onnxtext.syntax.parse import parse_fragment, parse_model
from tests.corpus import SHARED, index

pytestmark = pytest.mark.data

KEPT = "values of tensor, graph and type lists are kept (officially parsed, then lost)"
PACKED = "2- and 4-bit literals are packed as the schema says (officially one an entry)"
DIFFERENT_MEANING = {
    "nodes/probe_attr_112_a_float_1_1_float_1_2.onnxtxt": KEPT,
    "nodes/probe_attr_114_a_graphs_g.onnxtxt": KEPT,
    "nodes/probe_attr_115_a_g.onnxtxt": KEPT,
    "nodes/probe_attr_117_a_float_1.onnxtxt": KEPT,
    "graphs/probe_tensor_050_int4_3_w_8_7_1.onnxtxt": PACKED,
    "graphs/probe_tensor_051_uint4_3_w_15_1_2.onnxtxt": PACKED,
    "graphs/probe_tensor_053_int2_4_w_2_1_0_1.onnxtxt": PACKED,
    "graphs/probe_tensor_054_uint2_4_w_3_2_1_0.onnxtxt": PACKED,
}

SWALLOWED = "officially an error inside a function's attribute list is swallowed"
TRAILING = "officially text after the construct is ignored"
SEPARATED = "officially a comma between two nodes silently adds an output to the second"
REJECTED_HERE = {
    "functions/probe4_function_0_00_f_a_x_y.onnxtxt": SWALLOWED,
    "functions/probe4_function_0_01_f_a_foo_x_y.onnxtxt": SWALLOWED,
    "functions/probe4_function_0_03_f_a_x_y.onnxtxt": SWALLOWED,
    "functions/probe4_function_0_04_f_a_1_x_x_y.onnxtxt": SWALLOWED,
    "functions/probe4_function_0_06_f_a_float_2_t_1_2_x_y.onnxtxt": SWALLOWED,
    "functions/probe4_function_0_07_f_a_int_2_5_x_y.onnxtxt": SWALLOWED,
    "functions/probe4_function_0_10_f_a_g_x_y_x_y.onnxtxt": SWALLOWED,
    "functions/probe_function_020_f_a_x_y.onnxtxt": SWALLOWED,
    "functions/probe_function_037_f_x_y_g_x_y.onnxtxt": TRAILING,
    "graphs/probe_graph_024_g_x_A_y_B.onnxtxt": SEPARATED,
    "nodes/probe_node_003_y_A_a_1_x_b_2.onnxtxt": TRAILING,
    "nodes/probe_node_050_y_A_x_garbage.onnxtxt": TRAILING,
}

COMMA = "a list may end in a comma (S8)"
QUOTED = "names that are no identifiers are quoted (section 5)"
RAW = "brackets are raw data (5.2)"
NARROW = "narrow floats are written as values (5.2)"
USES_AN_EXTENSION = {
    "invalid/function__probe_function_004_f_x_y.onnxtxt": COMMA,
    "invalid/function__probe_function_028_opset_import_1_f_x_y.onnxtxt": COMMA,
    "invalid/graph__probe_graph_018_g_x_y.onnxtxt": COMMA,
    "invalid/graph__probe_tensor_012_float_2_w_1_2.onnxtxt": COMMA,
    "invalid/graph__probe_tensor_060_float_2_w_location_a_bin.onnxtxt": COMMA,
    "invalid/model__probe_model_004_ir_version_10_g.onnxtxt": COMMA,
    "invalid/node__probe_attr_123_a_g_q.onnxtxt": QUOTED,
    "invalid/node__probe_attr_124_a_graph_g_q.onnxtxt": QUOTED,
    "invalid/node__probe_attr_142_a_1.onnxtxt": QUOTED,
    "invalid/node__probe_node_017_y_a_b_C_x.onnxtxt": QUOTED,
    "invalid/node__probe_node_020_y_C_ov_x.onnxtxt": QUOTED,
    "invalid/graph__probe_tensor_021_float16_1_w_1_0.onnxtxt": NARROW,
    "invalid/graph__probe_tensor_038_bool_1_w_true.onnxtxt": "bools are written as such (5.2)",
    "invalid/graph__probe_tensor_068_float_2_w_1_2.onnxtxt": RAW,
}

ACCEPTED = [entry for entry in index("official_texts") if entry["outcome"] == "parses"]
REFUSED = [entry for entry in index("official_texts") if entry["outcome"] != "parses"]


def read(entry: dict[str, Any]) -> Any:
    """Parse an official text."""
    assert SHARED is not None
    text = (SHARED / "official_texts" / entry["file"]).read_bytes().decode("utf-8")
    source = Source(text, entry["file"])
    match entry["kind"]:
        case "model":
            return parse_model(source)
        case "nodelist":
            return parse_fragment(source, "nodes")
        case kind:
            return parse_fragment(source, kind)


def lower(result: Any) -> bytes:
    return lower_fragment(result) if isinstance(result, Fragment) else lower_model(result)


def name_of(entry: dict[str, Any]) -> str:
    file: str = entry["file"]
    return file


@pytest.mark.parametrize("entry", ACCEPTED, ids=name_of)
def test_accepted_texts_equal_the_official_model(entry: dict[str, Any]) -> None:
    file = entry["file"]
    if file in REJECTED_HERE:
        with pytest.raises(OnnxTextError) as caught:
            read(entry)
        check_place(caught.value)
        return
    result = read(entry)
    if "binary" not in entry:  # fragments that only the C++ interface can parse
        assert isinstance(result, Fragment | Type)
        return
    assert SHARED is not None
    official = (SHARED / "official_texts" / entry["binary"]).read_bytes()
    assert (lower(result) == official) == (file not in DIFFERENT_MEANING)


@pytest.mark.parametrize("entry", REFUSED, ids=name_of)
def test_rejected_texts_are_rejected_with_a_location(entry: dict[str, Any]) -> None:
    if entry["file"] in USES_AN_EXTENSION:
        read(entry)
        return
    with pytest.raises(OnnxTextError) as caught:
        read(entry)
    check_place(caught.value)


def check_place(error: OnnxTextError) -> None:
    for diagnostic in error.diagnostics:
        assert diagnostic.source is not None
        assert diagnostic.labels
        name, line, column = diagnostic.where().rsplit(":", 2)
        assert name == diagnostic.source.name
        assert int(line) >= 1
        assert int(column) >= 1
        assert diagnostic.message


def test_listed_differences_exist() -> None:
    files = {entry["file"] for entry in index("official_texts")}
    assert {*DIFFERENT_MEANING, *REJECTED_HERE, *USES_AN_EXTENSION} <= files
    assert len(ACCEPTED) > 900
    assert len(REFUSED) > 130
