# SPDX-License-Identifier: Apache-2.0
"""A rename finds names in decorators, and renaming back restores the text."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types as t
from pygls.exceptions import JsonRpcException
from pytest_lsp import LanguageClient

import onnxtext
from onnxtext.sequences import common_prefix
from tests.lsp.session import Session
from tests.lsp.test_features import edited, rename

pytestmark = pytest.mark.asyncio(loop_scope="session")

NESTED = """\
<onnxtext: 1, ir_version: 11, opset_import: [24]>
main (float[4] x, bool c) => (float[4] y) {
  @device("h", sharding_spec: [{tensor_name: "x"}, {tensor_name: "h", device: [0]}])
  @set(metadata_props: [{key: "tensor_name", value: "h"}])
  h = Relu (x)
  s = Abs (h)
  y = If (c) <
    then_branch = @set(
      quantization_annotation: [
        {
          tensor_name: "p"
          quant_parameter_tensor_names: [{key: "SCALE_TENSOR", value: "s"}]
        },
      ],
    )
    @value_info("q", "p")
    a () => (float[4] p) {
      float[4] q = Abs (h)
      float[4] p = Neg (q)
    },
    else_branch = b () => (float[4] r) {
      r = Abs (h)
    },
  >
}
configuration "h" {num_devices: 2}
"""

FUNCTIONS = """\
<onnxtext: 1, ir_version: 10, opset_import: [21, "d": 1]>
g (float x) => (float y, float z) {
  y = d.F:one <"a b" = 3> (x)
  z = d.F:two (x)
}

<domain: "d", overload: "one", opset_import: [21]>
F <"a b" = 1> (x) => (y) {
  y = Softmax <axis: int = @"a b"> (x)
}

<domain: "d", overload: "two", opset_import: [21]>
F (x) => (w) {
  w = Relu (x)
}

metadata {
  value seq {
    k: "v"
  }
  function d.F:one {
    value y {
      k: "v"
    }
  }
}
"""


@pytest.mark.parametrize(
    ("place", "count"),
    [("|h = Relu", 5), ('"|h", device', 5), ("|s = Abs", 2),
     ("float[4] |p = N", 4), ('"|q", "p"', 3), ('"x|"}', 3)],
)  # fmt: skip
async def test_names_in_decorators_are_renamed(
    client: LanguageClient, tmp_path: Path, place: str, count: int
) -> None:
    session = Session(client, tmp_path / "m.onnxtxt", NESTED)
    result = await rename(session, place, "new")
    assert result.count("new") == count
    onnxtext.to_binary(result)


@pytest.mark.parametrize("text", [NESTED, FUNCTIONS.replace(" seq ", " y ")])
@pytest.mark.parametrize("new", ["n", "seq", "a\nb", "nan", "c d", "é"])
async def test_renaming_back_restores_the_text(
    client: LanguageClient, tmp_path: Path, text: str, new: str
) -> None:
    session = Session(client, tmp_path / "m.onnxtxt", text)
    places = ["|F:one", "value |y", '@|"a b"', "|w = Relu"] if text is not NESTED else ["|h = "]
    for place in places:
        range = await session.ask_at(t.PrepareRenameParams, place)
        assert isinstance(range, t.PrepareRenamePlaceholder)
        result = await rename(session, place, new)
        onnxtext.to_binary(result)
        other = Session(client, tmp_path / "n.onnxtxt", result)
        at = other.position(common_prefix(text, result))
        edit = await session.ask(t.RenameParams(other.document, at, range.placeholder))
        assert edited(other, edit) == text


async def test_a_function_may_get_the_name_of_another_overload(
    client: LanguageClient, tmp_path: Path
) -> None:
    text = FUNCTIONS.replace("F:two", "G:two").replace("F (x) => (w)", "G (x) => (w)")
    session = Session(client, tmp_path / "m.onnxtxt", text.replace(" seq ", " y "))
    assert await rename(session, "|G:two", "F") == FUNCTIONS.replace(" seq ", " y ")


async def test_the_standard_domain_may_be_spelled_in_a_section(
    client: LanguageClient, tmp_path: Path
) -> None:
    text = """\
<onnxtext: 1, ir_version: 10, opset_import: [21]>
g (float x) => (float y) {
  y = F (x)
}

<domain: "ai.onnx", opset_import: [21]>
F (x) => (y) {
  y = Relu (x)
}

metadata {
  function ai.onnx.F {
    k: "v"
  }
}
"""
    session = Session(client, tmp_path / "m.onnxtxt", text)
    assert await rename(session, "|F (x) =>", "G") == text.replace("F", "G")


async def test_nothing_is_renamed_on_the_domain_of_an_operator(
    client: LanguageClient, tmp_path: Path
) -> None:
    session = Session(client, tmp_path / "m.onnxtxt", FUNCTIONS)
    assert await session.ask_at(t.PrepareRenameParams, "y = |d.F:one") is None


async def test_names_in_sections_with_any_layout_are_renamed(
    client: LanguageClient, tmp_path: Path
) -> None:
    text = '''\
<onnxtext: 1, ir_version: 10, opset_import: [21]>
@doc("""
metadata { value x { k: "v" } }
""")
g (float[2] x) => (float[2] y) { # } metadata { value x { k: "v" } }
  y = Relu (x)
} metadata # a comment
{ value x { k: """
metadata { value x { k: "v" } }
""" } }
  quantization
{ x: ["SCALE_TENSOR": "y"] }
'''
    session = Session(client, tmp_path / "m.onnxtxt", text)
    result = await rename(session, "|x) =>", "new")
    assert result.replace("new", "x") == text
    assert result.count("new") == 4
    assert "value new { k" in result
    assert "{ new: [" in result


BROKEN = """\
<onnxtext: 1, ir_version: 10, opset_import: [21]>
g (float[2] x) => (float[2] y) {
  h = Relu (x)
  k = Add (h h)
  y = Abs (h)
}

metadata {
  value h {
    k: "v"
  }
}
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [("", ""), ("(h h)", "(h, "), ("(h h)", '("h)'), ("(h h)", '(", h)'), ("Abs", ") Abs"),
     ("value h", 'value [ "h'), ("x) =>", "x)) =")],
)  # fmt: skip
async def test_a_name_near_a_syntax_error_prevents_a_rename(
    client: LanguageClient, tmp_path: Path, old: str, new: str
) -> None:
    session = Session(client, tmp_path / "m.onnxtxt", BROKEN.replace(old, new))
    with pytest.raises(JsonRpcException, match=r"`h` .* near a syntax error"):
        await rename(session, "|h = Relu", "new")


async def test_names_far_from_a_syntax_error_are_renamed(
    client: LanguageClient, tmp_path: Path
) -> None:
    text = BROKEN.replace("(h h)", '(x "x)').replace("value h", "value [ h")
    session = Session(client, tmp_path / "m.onnxtxt", text)
    assert await rename(session, "|y = Abs", "z") == text.replace("y", "z", 1).replace("y =", "z =")
    with pytest.raises(JsonRpcException, match="`x` also occurs in line 4"):
        await rename(session, "|x) =>", "z")


async def test_strings_far_from_a_syntax_error_are_no_names(
    client: LanguageClient, tmp_path: Path
) -> None:
    text = (
        BROKEN.replace("(h h)", "(x x)").replace('"v"', '"h"').replace("ir_v", 'domain: "h", ir_v')
    )
    session = Session(client, tmp_path / "m.onnxtxt", text)
    made = await rename(session, "|h = Relu", "z")
    assert made.count("z") == 3
    assert made.replace("z", "h") == text


async def test_a_parameter_keeps_its_name_if_a_call_has_the_new_one(
    client: LanguageClient, tmp_path: Path
) -> None:
    text = FUNCTIONS.replace('<"a b" = 3>', '<"a b" = 3, c = 4>')
    session = Session(client, tmp_path / "m.onnxtxt", text)
    with pytest.raises(JsonRpcException, match="calls this function already has an attribute `c`"):
        await rename(session, '@|"a b"', "c")


async def test_new_names_are_valid(client: LanguageClient, tmp_path: Path) -> None:
    text = NESTED.replace("h = Relu", 'h = "Relu"').replace("(q)", '(q, "\\"q\\"")')
    session = Session(client, tmp_path / "m.onnxtxt", text)
    with pytest.raises(JsonRpcException, match="a lone surrogate"):
        await rename(session, "|s = Abs", "\ud800")
    assert r"""float[4] "\"p" = Neg""" in await rename(session, "float[4] |p = N", '"p')
    assert "float[4] p2 = Neg" in await rename(session, "float[4] |p = N", ' "p2" ')
    # An editor sends the placeholder back if the user does not change it.
    assert await session.ask_at(t.RenameParams, r'(q, "|\"q\""', new_name='"q"') is None


async def test_the_range_to_rename_is_the_name(client: LanguageClient, tmp_path: Path) -> None:
    text = FUNCTIONS.replace(" seq ", " y ").replace("z = d.F", '["l 1"] z = d.F')
    text = text.replace("  value y {", '  node ["l 1"] {\n    k: "v"\n  }\n  value y {', 1)
    session = Session(client, tmp_path / "m.onnxtxt", text)
    for offset in range(len(text)):
        found = await session.ask(t.PrepareRenameParams(session.document, session.position(offset)))
        if found is not None:
            assert isinstance(found, t.PrepareRenamePlaceholder)
            assert session.part(found.range).strip('"') == found.placeholder
            start, end = session.offset(found.range.start), session.offset(found.range.end)
            assert start <= offset <= end


async def test_outputs_of_nested_graphs_that_outer_graphs_define_are_renamed(
    client: LanguageClient, tmp_path: Path
) -> None:
    text = (
        "<ir_version: 10, opset_import: [21]>\n"
        "g (float x, bool c) => (float y) {\n"
        "  h = Relu (x)\n"
        "  [if] y = If (c) <then_branch = a () => (float h) {}, else_branch = b () => (z) {}>\n"
        "}\n"
        'metadata { output [if].then_branch.h { k: "v" } output [if].else_branch.z { k: "v" } }\n'
    )
    session = Session(client, tmp_path / "m.onnxtxt", text)
    for place in ("|h = ", "float |h", ".|h {"):
        assert await rename(session, place, "new") == (
            text.replace(" h = ", " new = ").replace(" h)", " new)").replace(".h {", ".new {")
        )
    changed = await rename(session, "(|z)", "new")  # no graph defines it
    assert changed == text.replace("(z)", "(new)").replace(".z {", ".new {")
