# SPDX-License-Identifier: Apache-2.0
"""Every feature on a real document: the examples of the repository."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as t
from pygls.exceptions import JsonRpcException
from pytest_lsp import LanguageClient

import onnxtext
from tests.lsp.documents import EXAMPLES, example
from tests.lsp.session import Session

pytestmark = pytest.mark.asyncio(loop_scope="session")


def opened(client: LanguageClient, name: str) -> Session:
    return Session(client, EXAMPLES / f"{name}.onnxtxt", example(name))


async def hover(session: Session, needle: str) -> str:
    found = await session.ask_at(t.HoverParams, needle)
    assert isinstance(found.contents, t.MarkupContent)
    return found.contents.value


async def test_findings_of_the_checker_have_fixes(client: LanguageClient) -> None:
    session = opened(client, "classifier")
    assert [d for d in await session.diagnostics() if d.severity == 1] == []
    session.replace("Gemm (flowers", "Gemm (flower")
    found = await session.diagnostics()
    wrong = next(d for d in found if d.code == "value-undefined")
    assert session.part(wrong.range) == "flower"
    assert wrong.source == "onnxtext"
    actions = await session.actions(wrong)
    assert actions is not None
    fix = next(a for a in actions if isinstance(a, t.CodeAction) and a.is_preferred)
    assert edited(session, fix.edit) == example("classifier")
    suppress = next(a for a in actions if "Suppress" in a.title)
    assert isinstance(suppress, t.CodeAction)
    suppressed = edited(session, suppress.edit)
    assert "value-undefined" not in {d.code for d in onnxtext.check(suppressed)}
    all_of_them = await session.ask(
        t.CodeActionParams(
            session.document,
            wrong.range,
            t.CodeActionContext([], only=[t.CodeActionKind.SourceFixAll]),
        )
    )
    assert len(all_of_them) == 1
    assert edited(session, all_of_them[0].edit) == example("classifier")


def edited(session: Session, edit: t.WorkspaceEdit | None) -> str:
    assert edit is not None
    assert edit.document_changes
    change = edit.document_changes[0]
    assert isinstance(change, t.TextDocumentEdit)
    assert change.text_document.version == session.number
    return session.apply(change.edits)


async def test_hover_describes_operators_and_values(client: LanguageClient) -> None:
    session = opened(client, "attention")
    await session.diagnostics()
    trilu = await hover(session, "Tri|lu")
    assert "Trilu" in trilu
    assert "ai.onnx` 14" in trilu  # the newest version up to the imported one
    assert "upper or lower triangular" in trilu
    assert "output of the graph" in await hover(session, "looked|_up = ")
    assert "float[Q, V] looked_up" in await hover(session, "looked|_up = ")
    assert "dimension 0 `Q`: the input `queries` declares it ([line " in await hover(
        session, "looked|_up = "
    )
    assert "float[Q, K] scores" in await hover(session, "scores| = Mul")  # inferred in a function
    assert "int, default `0`" not in await hover(session, "(queries, |keys, values)")
    assert "start: int = 0" in await hover(session, "st|art = 0")
    assert "scale: float = 1.0" in await hover(session, "@sc|ale> ()")
    assert "parameter of `Attention`" in await hover(session, "sc|ale = 20.0")
    function = await hover(session, "my.ops.Scor|es <")
    assert "scores = my.ops.Scores <scale: float = 1.0> (queries, keys)" in function


async def test_hover_shows_the_doc_string_of_a_graph_output(
    client: LanguageClient, tmp_path: Path
) -> None:
    text = (
        "<onnxtext: 1, ir_version: 10, opset_import: [21]>\n"
        'g (float[2] x) => (@doc("the sum") float[2] y) {\n  y = Relu (x)\n}\n'
    )
    session = Session(client, tmp_path / "output.onnxtxt", text)
    await session.diagnostics()
    assert "the sum" in await hover(session, "y| = Relu")


async def test_hover_shows_statistics_of_tensors(client: LanguageClient) -> None:
    session = opened(client, "extensions")
    await session.diagnostics()
    sine = await hover(session, "si|ne, index")
    assert "float[16] sine" in sine
    assert "min -1, max 1" in sine
    assert "initializer of the graph `wavetable`" in sine
    assert "min -1, max 1" in await hover(session, "0, 0.38|268343")
    assert "where in the wave to look" in await hover(session, "Mod (posi|tion")
    assert "input with a default" in await hover(session, "ga|in)")
    assert "distortion" in await hover(session, "Clip (ha|lf")
    assert "float16[N] clipped" in await hover(session, "Cast <to = 1> (clip|ped")


async def test_hover_describes_blobs(client: LanguageClient, tmp_path: Path) -> None:
    text = """\
<onnxtext: 1, ir_version: 10, opset_import: [21]>
g () => () <
  float[3, 2] w = blob"24ae2dfe8df57c1b80e54cef3d90ac3b",
  float[3, 2] gone = blob"00000000000000000000000000000000",
> {}

resources {
  "24ae2dfe8df57c1b80e54cef3d90ac3b": base64 \"\"\"
    AACAPwAAAEAAAEBAAACAQAAAoEAAAMBA
    \"\"\"
}
"""
    session = Session(client, tmp_path / "blobs.onnxtxt", text)
    assert "min 1, max 6, mean 3.5" in await hover(session, 'blob"24|ae')
    assert "min 1, max 6, mean 3.5" in await hover(session, "] |w =")
    assert "not in the text" in await hover(session, "go|ne =")


async def test_definitions_and_references_are_found(client: LanguageClient) -> None:
    session = opened(client, "collatz")

    async def definition(needle: str) -> list[tuple[str, str]]:
        found = await session.ask_at(t.DefinitionParams, needle)
        lines = session.text.split("\n")
        return [(session.part(f.range), lines[f.range.start.line].strip()) for f in found]

    # `two` is used two graphs further in than it is defined.
    assert await definition("Div (n, tw|o)") == [("two", "int64 two = 2,")]
    assert await definition("Max (top, nex|t)") == [("next", "next = If (is_even) <")]
    where = "body = step (int64 i, bool going, int64 n, int64 top, int64 count) => ("
    assert await definition("Mod (|n, two)") == [("n", where)]
    assert await definition("int64 steps|,") == [
        ("steps", "last, highest, steps, visited = Loop (limit, not_there, start, start, zero) <")
    ]
    found = await session.ask_at(
        t.ReferenceParams, "int64 |two", context=t.ReferenceContext(include_declaration=True)
    )
    assert len(found) == 3
    assert {session.part(f.range) for f in found} == {"two"}
    used = await session.ask_at(
        t.ReferenceParams, "int64 |two", context=t.ReferenceContext(include_declaration=False)
    )
    assert len(used) == 2
    marked = await session.ask_at(t.DocumentHighlightParams, "Max (top, nex|t)")
    kinds = [m.kind for m in marked]
    assert kinds.count(t.DocumentHighlightKind.Write) == 1
    assert kinds.count(t.DocumentHighlightKind.Text) == 1  # the output of the body
    assert kinds.count(t.DocumentHighlightKind.Read) == 3


async def test_functions_and_parameters_are_found(client: LanguageClient) -> None:
    session = opened(client, "attention")
    found = await session.ask_at(t.DefinitionParams, "my.ops.Attenti|on:masked")
    assert len(found) == 1
    assert session.text[session.offset(found[0].range.start) :].startswith(
        "Attention <scale = 1.0> (queries, keys, values, mask)"
    )
    found = await session.ask_at(t.DefinitionParams, "scale: float = @sca|le> (queries", nth=1)
    assert session.position(session.offset(found[0].range.start)).line == (
        session.text[: session.text.index("Attention <scale = 1.0> (queries, keys, values, mask)")]
    ).count("\n")
    used = await session.ask_at(
        t.ReferenceParams,
        "Scores <sca|le = 1.0>",
        context=t.ReferenceContext(include_declaration=True),
    )
    # Its definition, `@scale` in its body, and two calls that give it.
    assert len(used) == 4


async def rename(session: Session, needle: str, new: str) -> str:
    edit = await session.ask_at(t.RenameParams, needle, new_name=new)
    return edited(session, edit)


async def test_values_can_be_renamed(client: LanguageClient) -> None:
    session = opened(client, "collatz")
    prepared = await session.ask_at(t.PrepareRenameParams, "Mod (n, tw|o)")
    assert prepared.placeholder == "two"
    assert session.part(prepared.range) == "two"
    result = await rename(session, "Mod (n, tw|o)", "a pair")
    assert result == session.text.replace("int64 two", 'int64 "a pair"').replace(
        "(n, two)", '(n, "a pair")'
    )
    onnxtext.parse(result)
    assert "inf" in await rename(session, "Mod (n, tw|o)", "inf")
    assert 'int64 "inf" = 2' in await rename(session, "Mod (n, tw|o)", "inf")
    assert 'int64 "float" = 2' in await rename(session, "Mod (n, tw|o)", '"float"')
    for taken in ("one", "next", "half", "start", "i", ""):
        with pytest.raises(JsonRpcException):
            await rename(session, "Mod (n, tw|o)", taken)
    # `half` and `tripled` are in two branches: neither sees the other.
    assert "tripled" in await rename(session, "int64 hal|f", "tripled")


async def test_names_in_sections_can_be_renamed(client: LanguageClient, tmp_path: Path) -> None:
    text = """\
<onnxtext: 1, ir_version: 10, opset_import: [21, "f": 1]>
g (float[2] x, bool c) => (float[2] z) <float[1] s = {1}, float[1] p = {2}> {
  y = f.F <a = 1.0> (x)
  z = If (c) <
    then_branch = t () => (float[2] q) {
      q = Add (y, y)
    },
    else_branch = e () => (float[2] r) {
      r = Sub (y, y)
    },
  >
}
<domain: "f", opset_import: [21]>
F <a> (i) => (o) {
  o = LeakyRelu <alpha: float = @a> (i)
}

metadata {
  value x { k: "v" }
  node y { x: "y" }
  node z.then_branch.q { k: "y" }
  function f.F { k: "F"  node o { k: "o" } }
}
quantization {
  y: ["SCALE_TENSOR": "s", "ZERO_POINT_TENSOR": "p"]
}
"""
    session = Session(client, tmp_path / "sections.onnxtxt", text)
    assert [d for d in await session.diagnostics() if d.severity == 1] == []
    result = await rename(session, "Add (|y", "new")
    expected = text.replace("y = f.F", "new = f.F").replace("(y, y)", "(new, new)")
    expected = expected.replace("node y {", "node new {").replace("  y: [", "  new: [")
    assert result == expected
    result = await rename(session, "|q = Add", "new")
    assert result == text.replace("float[2] q", "float[2] new").replace(
        "q = Add", "new = Add"
    ).replace("then_branch.q", "then_branch.new")
    result = await rename(session, "float[1] |s", "new")
    assert result == text.replace("float[1] s", "float[1] new").replace('"s"', '"new"')
    assert await rename(session, "f.|F <a", "G") == text.replace("f.F", "f.G").replace(
        "\nF <", "\nG <"
    )
    expected = text.replace("@a", "@new").replace("F <a", "F <new")
    assert await rename(session, "@|a>", "new") == expected
    result = await rename(session, "|o = Leaky", "new")
    assert result == text.replace("=> (o)", "=> (new)").replace("o = Leaky", "new = Leaky").replace(
        "node o", "node new"
    )


async def test_training_bindings_can_be_renamed(client: LanguageClient, tmp_path: Path) -> None:
    text = """\
<onnxtext: 1, ir_version: 10, opset_import: [21]>
g (float[2] x) => (float[2] z) <float[2] w = {1, 2}> {
  z = Add (x, w)
}
training {
  initialization: init () => (float[2] w0) {
    w0 = Constant <value = float[2] {0, 0}> ()
  }
  algorithm: step () => (float[2] w1) {
    w1 = Neg (w)
  }
  initialization_binding: ["w": "w0"]
  update_binding: ["w": "w1"]
}
"""
    session = Session(client, tmp_path / "training.onnxtxt", text)
    assert [d for d in await session.diagnostics() if d.severity == 1] == []
    result = await rename(session, "Neg (|w", "weight")
    assert result == text.replace("[2] w =", "[2] weight =").replace("x, w", "x, weight").replace(
        "(w)", "(weight)"
    ).replace('"w":', "weight:").replace("weight:", '"weight":')
    result = await rename(session, "|w1 = Neg", "new")
    assert result == text.replace("w1 =", "new =").replace("] w1", "] new").replace('"w1"', '"new"')


async def complete(session: Session, line: str, *, after: str) -> dict[str, t.CompletionItem]:
    """Return the completions at the mark in a line that is inserted after another one."""
    at = session.text.index(after) + len(after)
    end = session.text.index("\n", at) + 1
    session.edit(end, end, line.replace("|", "") + "\n")
    offset = end + line.index("|")
    found = await session.ask(t.CompletionParams(session.document, session.position(offset)))
    session.edit(end, end + len(line), "")
    session.items_at = offset  # type: ignore[attr-defined]
    return {item.label: item for item in found.items}


async def test_completion_offers_names_and_operators(client: LanguageClient) -> None:
    session = opened(client, "attention")
    after = "everything)"
    operators = await complete(session, "  z = |", after=after)
    assert {"Relu", "Conv", "my.ops.Attention", "my.ops.Attention:masked"} <= operators.keys()
    assert "ai.onnx.ml.Scaler" not in operators  # not imported
    conv = operators["Conv"]
    assert isinstance(conv.text_edit, t.TextEdit)
    assert conv.text_edit.new_text == "Conv (${1:X}, ${2:W})$0"
    assert conv.insert_text_format == t.InsertTextFormat.Snippet
    resolved = await session.ask(conv)
    assert "convolution operator" in resolved.documentation.value
    cast = operators["Cast"]
    assert cast.text_edit.new_text == "Cast <to = ${1:0}> (${2:input})$0"  # type: ignore[union-attr]
    begun = await complete(session, "  z = So|", after=after)
    assert "Softmax" in begun
    assert "Conv" not in begun
    inside = await complete(session, "  z = my.ops.|", after=after)
    assert {"Scores", "Attention", "Attention:masked"} <= inside.keys()
    assert "Relu" not in inside

    values = await complete(session, "  z = Relu (|", after=after)
    assert next(iter(values)) == "mask"  # the nearest one first
    assert {"queries", "length", "everything"} <= values.keys()
    assert not {"running_mean", "z", "turned"} & values.keys()
    assert values["everything"].detail == "bool[K, K]"
    second = await complete(session, "  z = Add (mask, qu|", after=after)
    assert "queries" in second
    assert "mask" not in second

    attributes = await complete(session, "  z = Conv <group = 1, |", after=after)
    assert {"auto_pad", "pads", "strides"} <= attributes.keys()
    assert "group" not in attributes
    enumerated = await complete(session, "  z = Conv <auto_pad = |", after=after)
    assert {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"} <= enumerated.keys()
    assert enumerated["VALID"].text_edit.new_text == '"VALID"'  # type: ignore[union-attr]
    own = await complete(session, "  z = my.ops.Scores <|", after=after)
    assert list(own) == ["scale"]
    parameters = await complete(session, "  z = LeakyRelu <alpha: float = @|", after="fit = MatMul")
    assert list(parameters) == ["scale"]

    types = await complete(session, "  fl|", after=after)
    assert {"float", "float16", "seq", "bfloat16"} <= types.keys()
    keys = await complete(session, "  |", after="ir_version: 10,")
    assert {"producer_name", "doc_string", "metadata_props"} <= keys.keys()
    assert "ir_version" not in keys
    decorators = await complete(session, "  @|", after=after)
    assert {"doc", "meta", "set"} <= decorators.keys()


async def test_completion_quotes_names(client: LanguageClient) -> None:
    session = opened(client, "extensions")
    values = await complete(session, "  z = Relu (|", after="full = Cast")
    assert values["wave/scale:0"].text_edit.new_text == '"wave/scale:0"'  # type: ignore[union-attr]
    begun = await complete(session, '  z = Relu ("wa|', after="full = Cast")
    item = begun["wave/scale:0"]
    assert isinstance(item.text_edit, t.TextEdit)
    assert item.text_edit.new_text == '"wave/scale:0"'
    # The replaced range begins at the quote.
    width = item.text_edit.range.end.character - item.text_edit.range.start.character
    assert width == len('"wa')


async def test_signature_help_shows_inputs_and_attributes(client: LanguageClient) -> None:
    session = opened(client, "convnet")

    async def shown(line: str) -> Any:
        at = session.text.index("  direction")
        session.edit(at, at, line.replace("|", "") + "\n")
        found = await session.ask(
            t.SignatureHelpParams(session.document, session.position(at + line.index("|")))
        )
        session.edit(at, at + len(line), "")
        return found

    found = await shown("  z = Conv (image, |")
    assert found.active_parameter == 1
    assert found.signatures[0].label == "Y: T = Conv (X: T, W: T, B?: T)"
    assert [p.label for p in found.signatures[0].parameters or ()] == ["X: T", "W: T", "B?: T"]
    found = await shown("  z = Conv <group = 1> (image, sobel, |")
    assert found.active_parameter == 2
    found = await shown("  z = Conv <kernel_shape = [3, 3], auto_pad = |> (image)")
    labels = [str(p.label) for p in found.signatures[0].parameters or ()]
    assert labels[found.active_parameter or 0] == "auto_pad"
    found = await shown("  z = Concat <axis = 0> (image, image, image, |")
    assert found.active_parameter == 0  # a variadic input


async def test_hover_explains_sizes_with_the_attributes_of_a_call(
    client: LanguageClient, tmp_path: Path
) -> None:
    text = """\
<onnxtext: 1, ir_version: 10, opset_import: [21, "own": 1]>
graph g (float[N, 4] x) => (float[?, ?] y) {
  y = own.outer <order = [1, 0]> (x)
}

<domain: "own", opset_import: [21]>
turn <perm> (a) => (b) {
  b = Transpose <perm: ints = @perm> (a)
}

<domain: "own", opset_import: [21, "own": 1]>
outer <order> (a) => (c) {
  c = own.turn <perm: ints = @order> (a)
}
"""
    session = Session(client, tmp_path / "calls.onnxtxt", text)
    await session.diagnostics()
    found = await hover(session, "|y = own")
    assert "dimension 1 `N`: the input `x` declares it ([line 2]" in found, found


@pytest.mark.parametrize("needle", ["|mid = Relu", "float[?] mi|d", "Neg (|mid)"])
async def test_references_without_declarations_are_uses(
    client: LanguageClient, tmp_path: Path, needle: str
) -> None:
    text = """\
<onnxtext: 1, ir_version: 10, opset_import: [21]>
g (float[N] x) => (float[N] y, mid) <float[?] mid> {
  mid = Relu (x)
  y = Neg (mid)
}
"""
    session = Session(client, tmp_path / "uses.onnxtxt", text)

    async def lines(whole: bool) -> list[str]:
        context = t.ReferenceContext(include_declaration=whole)
        found = await session.ask_at(t.ReferenceParams, needle, context=context)
        assert {session.part(each.range) for each in found} == {"mid"}
        return [text.split("\n")[each.range.start.line].split(maxsplit=1)[0] for each in found]

    assert await lines(True) == ["g", "g", "mid", "y"]
    assert await lines(False) == ["g", "y"]
