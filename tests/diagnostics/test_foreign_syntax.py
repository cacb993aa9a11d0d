# SPDX-License-Identifier: Apache-2.0
"""Syntax of other languages: each mistake is reported once, at its place."""

from __future__ import annotations

import pytest

from onnxtext.diagnostics import Diagnostic
from onnxtext.diagnostics.full import render
from onnxtext.source import Source
from onnxtext.syntax.parse import parse_partial
from tests.diagnostics.found import fix_of, help_of

HEADER = "<ir_version: 10, opset_import: [21]>\n"
HEAD = "main (float[N] x) => (float[N] y) {\n"


def found_in(text: str) -> list[Diagnostic]:
    return list(parse_partial(Source(text, "a.onnxtxt"), "model")[1])


def place(found: Diagnostic) -> str:
    """Return the underlined text of a diagnostic."""
    assert found.source is not None
    assert found.span is not None
    return found.source.text[slice(*found.span)]


def unmarked(text: str) -> tuple[str, list[tuple[int, int]]]:
    """Return a text without the marks `«` and `»`, and the spans between them."""
    plain, *others = text.split("«")
    spans = []
    for other in others:
        inside, after = other.split("»")
        spans.append((len(plain), len(plain) + len(inside)))
        plain += inside + after
    return plain, spans


def is_mended(found: Diagnostic, text: str, wanted: str) -> None:
    """Assert that the fix gives this text, and that the text is valid."""
    assert fix_of(found).apply(text) == wanted
    assert found_in(wanted) == []


# The error is between the marks « and ».
NODES = [
    ("Op <a = 1«;» b = 2> (x)", "semicolon", "Op <a = 1, b = 2> (x)"),
    ("Op <a = [1«;» 2]> (x)", "semicolon", "Op <a = [1, 2]> (x)"),
    ("Op («*»x)", "wrong-mark", "Op (x)"),
    ("Softmax(x, «axis=-1»)", "misplaced-attributes", "Softmax <axis=-1> (x)"),
    ("Op (\nx,\n«a = 1»,\n)", "misplaced-attributes", "Op <a = 1> (\nx\n)"),
    ("Op (\nx,\n«a = 1», # c\n)", "misplaced-attributes", "Op <a = 1> (\nx # c\n)"),
    ("Op (x, «a = g () => () {}»)", "misplaced-attributes", "Op <a = g () => () {}> (x)"),
    ("Op («a = 1, b = 2»)", "misplaced-attributes", "Op <a = 1, b = 2> ()"),
    ("Softmax (x) <mode = «one»>", "unquoted-string", 'Softmax (x) <mode = "one">'),
    ("Pad <mode = «edge», a = 1> (x)", "unquoted-string", 'Pad <mode = "edge", a = 1> (x)'),
    ("Cast <to = «FLOAT»> (x)", "unknown-type", "Cast <to = 1> (x)"),
    ("Cast <to = «TensorProto.INT64»> (x)", "unknown-type", "Cast <to = 7> (x)"),
    ("Cast <to = «np.float32»> (x)", "unknown-type", "Cast <to = 1> (x)"),
    ("Cast <to = «np.bool_»> (x)", "unknown-type", "Cast <to = 9> (x)"),
    ("Op <value = «torch.float32»[1] {1}> (x)", "unknown-type", "Op <value = float[1] {1}> (x)"),
    ("Relu «[x]»", "wrong-mark", "Relu (x)"),
    ("Relu «{x, x}»", "wrong-mark", "Relu (x, x)"),
    ("Relu «x»", "missing-bracket", "Relu (x)"),
    ("Conv <strides = «(1, 1)»> (x)", "wrong-mark", "Conv <strides = [1, 1]> (x)"),
    ("Conv <strides = «{1, 1}»> (x)", "wrong-mark", "Conv <strides = [1, 1]> (x)"),
    ("Concat <«int axis» = 1> (x)", "misplaced-type", "Concat <axis: int = 1> (x)"),
    ("Op <a: «list[int]» = [1]> (x)", "unknown-type", "Op <a: ints = [1]> (x)"),
    ("Op <a: «int64[]» = [1]> (x)", "unknown-type", "Op <a: ints = [1]> (x)"),
    ("Op <a: «float[2]» = [1, 2]> (x)", "unknown-type", "Op <a: floats = [1, 2]> (x)"),
    ('Op <a: «List<str>» = ["b"]> (x)', "unknown-type", 'Op <a: strings = ["b"]> (x)'),
    ("Relu («0»)", "unquoted-name", 'Relu ("0")'),
    ("Relu («1x»)", "unquoted-name", 'Relu ("1x")'),
    ("Relu «（»x）", "lookalike-character", "Relu (x)"),
    ("Add (x«，»x)", "lookalike-character", "Add (x,x)"),
    ("Softmax <axis = «−»1> (x)", "lookalike-character", "Softmax <axis = -1> (x)"),
    ("Relu«\xa0»(x)", "lookalike-character", "Relu (x)"),
    ("«\ufeff»Relu (x)", "lookalike-character", "Relu (x)"),
    ("Relu (x«\u200b»)", "lookalike-character", "Relu (x)"),
    ("R«е»lu (х)", "lookalike-character", "Relu (x)"),
    ("Relu («х»)", "lookalike-character", "Relu (x)"),
    ("Cast <to = 1«О»> (x)", "lookalike-character", "Cast <to = 10> (x)"),
    ("Relu («größe»)", "unquoted-name", 'Relu ("größe")'),
    ("Relu («输入»)", "unquoted-name", 'Relu ("输入")'),
    ("Relu («вход»)", "unquoted-name", 'Relu ("вход")'),
    ("Add (x «|» x)", "syntax-error", "Add (x, x)"),
    ("Add (x «and» x)", "syntax-error", "Add (x, x)"),
    ("Add (x«;» x)", "semicolon", "Add (x, x)"),
    ("Op <a = [1, 2 «|» 3]> (x)", "syntax-error", "Op <a = [1, 2, 3]> (x)"),
    ("Op <a = 1«:» b = 2> (x)", "syntax-error", "Op <a = 1, b = 2> (x)"),
    ("Op <a = [1«;» 2; 3]> (x)", "semicolon", "Op <a = [1, 2, 3]> (x)"),
    ('Op <a = ["b"«;» "c"]> (x)', "semicolon", 'Op <a = ["b", "c"]> (x)'),
    ("Op <a «<-» 1> (x)", "wrong-mark", "Op <a = 1> (x)"),
    ("Op <a «a» = 1> (x)", "syntax-error", "Op <a = 1> (x)"),
    ("Relu «Relu» (x)", "syntax-error", "Relu (x)"),
    ("Relu («(»x)", "syntax-error", "Relu (x)"),
    ("Op <a«;» 1> (x)", "semicolon", "Op <a= 1> (x)"),
    ("Op <a«;» int = 1> (x)", "semicolon", "Op <a: int = 1> (x)"),
    ("Op «a = int64(0)» (x)", "missing-bracket", "Op <a = int64(0)> (x)"),
    ("Op «a = int64(0)>» (x)", "missing-bracket", "Op <a = int64(0)> (x)"),
    ("Op <a = «{»1, 2]> (x)", "wrong-mark", "Op <a = [1, 2]> (x)"),
    ("Op <a = «(»1, 2]> (x)", "wrong-mark", "Op <a = [1, 2]> (x)"),
    ("Op «(»a = 1> (x)", "wrong-mark", "Op <a = 1> (x)"),
    ('Op <a = «\'""»\n    b\n    """> (x)', "single-quotes", 'Op <a = """\n    b\n    """> (x)'),
    ("Op <a = [1.« »2.5]> (x)", "syntax-error", "Op <a = [1., 2.5]> (x)"),
    ("Op <a = [1.5.« »2]> (x)", "syntax-error", "Op <a = [1.5, 2]> (x)"),
    ("Op «a = 1» (x)", "missing-bracket", "Op <a = 1> (x)"),
    ("Op «a = [1, 2], b: int = 3» (x)", "missing-bracket", "Op <a = [1, 2], b: int = 3> (x)"),
    ('Pad <mode = "edge«”»> (x)', "smart-quotes", 'Pad <mode = "edge"> (x)'),
]


@pytest.mark.parametrize(("wrong", "code", "right"), NODES, ids=str)
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_foreign_nodes_are_reported_and_fixed(wrong: str, code: str, right: str, end: str) -> None:
    """Both mistakes in two lines are reported, and nothing else."""

    def text_of(first: str, second: str) -> str:
        lines = f"{HEADER}{HEAD}  a = {first}\n  b = Relu (x)\n  y = {second}\n}}\n"
        return lines.replace("\n", end)

    text, spans = unmarked(text_of(wrong, wrong))
    assert [(item.code, item.span) for item in found_in(text)] == [(code, at) for at in spans]
    text, _ = unmarked(text_of(wrong, "Relu (b)"))
    (one,) = found_in(text)
    is_mended(one, text, text_of(right, "Relu (b)"))


STATEMENTS = [
    ("«(a, b)» = Split (x)", "wrong-mark", "a, b = Split (x)"),
    ("b = Op <a = «Float»(0)> (x)", "misspelt-keyword", "b = Op <a = float(0)> (x)"),
    ("b = Op <a = «tensor(int64)» {1}> (x)", "unknown-type", "b = Op <a = int64 {1}> (x)"),
    ("«const float[2] b = {1, 2};»", "misplaced-tensor", None),
    ("b = Relu (x) «: float[N]»", "misplaced-type", None),
    ("b = Op <a = «{» c = Relu (x) }> (x)", "graph-without-inputs", None),
    ("b = Op <a = «1, 2, -1»> (x)", "missing-bracket", "b = Op <a = [1, 2, -1]> (x)"),
    ("«n1:» b = Relu (x)", "missing-bracket", "[n1] b = Relu (x)"),
    ("«float[N] b»", "misplaced-type", None),
    ("«fn» main ()", "foreign-word", None),
    ("b = Abs (x) «(* not (x) *)»", "slash-comment", "b = Abs (x) # not (x)"),
    ("b = Abs (x) «<!-- 50% -->»", "slash-comment", "b = Abs (x) # 50%"),
    ("b = Abs (x) «! 5 times»", "slash-comment", "b = Abs (x) # 5 times"),
    ("b = Abs (x) «%» 2", "not-a-name", None),
    ("b = Abs (x) «%» 3 + 1", "not-a-name", None),
    ("b «<-» Relu (x)", "wrong-mark", "b = Relu (x)"),
    ("b = Relu (x)«,»", "syntax-error", "b = Relu (x)"),
    ("«return» Relu (x)", "foreign-word", None),
    ("b, c = Relu (x), «Neg» (x)", "missing-equals", None),
    ("b = Add (x, «float {1}»)", "not-a-name", None),
    ("b = Add (x, «float[1] {1}»)", "not-a-name", None),
    ("«tensor<Nx3xf32>» b = Relu (x)", "unknown-type", "float[N, 3] b = Relu (x)"),
    ("a«;» b = Split (x)", "semicolon", "a, b = Split (x)"),
    ("float[2 «|» 3] b = Relu (x)", "syntax-error", "float[2, 3] b = Relu (x)"),
    ("«[a, b]» = Split (x)", "wrong-mark", "a, b = Split (x)"),
    ("«auto» b = Relu (x)", "foreign-word", "b = Relu (x)"),
    ("«b: float[N]» = Relu (x)", "misplaced-type", "float[N] b = Relu (x)"),
    ("«float b[3]» = Relu (x)", "misplaced-type", "float[3] b = Relu (x)"),
    ("«tensor<1x3xf32>» b = Relu (x)", "unknown-type", "float[1, 3] b = Relu (x)"),
    ("«tensor(float)[3]» b = Relu (x)", "unknown-type", "float[3] b = Relu (x)"),
    ("«tensor(float)» b = Relu (x)", "unknown-type", "float b = Relu (x)"),
    ("«tensor(float[3])» b = Relu (x)", "unknown-type", "float[3] b = Relu (x)"),
    (
        "b = Constant <value = «tensor(int64[2])» [1, 2]> ()",
        "unknown-type",
        "b = Constant <value = int64[2] [1, 2]> ()",
    ),
    ("«tensor<float, [3]>» b = Relu (x)", "unknown-type", "float[3] b = Relu (x)"),
    ("«b: tensor<3xf32>» = Relu (x)", "misplaced-type", "float[3] b = Relu (x)"),
    ("«np.float32»[3] b = Relu (x)", "unknown-type", "float[3] b = Relu (x)"),
    ("«b: float32[3]» = Relu (x)", "misplaced-type", "float[3] b = Relu (x)"),
    ("b = Add («(»x, x))", "wrong-mark", "b = Add (x, x)"),
    ("b = Add («(»x), x)", "wrong-mark", "b = Add (x, x)"),
    ("b = «(»Relu (x))", "wrong-mark", "b = Relu (x)"),
    ("«%»b = Add (%x, %x)", "wrong-mark", "b = Add (x, x)"),
    ('«%1 = "onnx.Relu"(%0) : (tensor<*xf32>) -> tensor<*xf32>»', "other-format", None),
    ("«return %y : tensor<2xf32>»", "other-format", None),
    ("«return y»", "foreign-word", ""),
    ("«-- a comment»", "slash-comment", "# a comment"),
    ("«; a comment»", "slash-comment", "# a comment"),
    ("«<!-- a comment -->»", "slash-comment", "# a comment"),
    ('«"""Adds."""»', "lone-string", "# Adds."),
    ('«"""\n  Adds.\n  """»', "lone-string", "# Adds."),
    ('«"""\n  Adds.\n  Twice.\n  """»', "lone-string", "# Adds.\n  # Twice."),
    ("b = «await» Relu (x)", "foreign-word", "b = Relu (x)"),
    ("b = «new» Relu (x)", "foreign-word", "b = Relu (x)"),
    ("«await» Relu (x)", "foreign-word", None),
    ("b = x «if» x else x", "foreign-word", None),
    ("b = «lambda» c: Relu (c)", "foreign-word", None),
    ("b = x «and» x", "not-a-name", None),
    ("b = «not» x", "not-a-name", None),
    ("b = x «**» x", "not-a-name", None),
    ("b = x «!=» x", "not-a-name", None),
    ("b = Relu (x) «+» x", "not-a-name", None),
    ("b = «x»", "not-a-name", None),
    ("b = «1»", "not-a-name", None),
    ("«Tensor» b = Relu (x)", "unknown-type", None),
    ("b: «Tensor» = Relu (x)", "unknown-type", None),
    ("«[N, M]» b = Relu (x)", "unknown-type", None),
    ("«Optional[float[2]]» b", "unknown-type", None),
    ("«List[Tensor]» b = Op (x)", "unknown-type", None),
    ("«Optional[float[2]]» b = Op (x)", "unknown-type", None),
    ("b: «Dict[str, List[float]]» = Op (x)", "unknown-type", None),
    ("b = Op <a = «np.array([1])»> (x)", "syntax-error", None),
    ("b = Op <a = «len(x)», c = 2> (x)", "syntax-error", None),
    ("b = Op <a = «1f»> (x)", "number-suffix", "b = Op <a = 1.0> (x)"),
    ("«Relu» (x)", "missing-equals", None),
    ("«Softmax» <axis = 1> (x)", "missing-equals", None),
    ("b = Relu («Neg (x)»)", "not-a-name", None),
    ("b = Add (x, «1.0»)", "not-a-name", None),
    ("b = Reshape (x, «[1, -1]»)", "not-a-name", None),
    ("b = Op <a = «[[1, 2], [3, 4]]»> (x)", "wrong-mark", None),
    ("b = x «+» 1", "not-a-name", None),
    ("b = «-»x", "not-a-name", None),
    ("«float[2] b = {1, 2}»", "misplaced-tensor", None),
    ("«float[2] b = [1, 2]»", "misplaced-tensor", None),
    ("b = Softmax <axis = «None»> (x)", "python-literal", None),
    ("b = Softmax <axis = «null»> (x)", "python-literal", None),
]


@pytest.mark.parametrize(("wrong", "code", "right"), STATEMENTS, ids=str)
def test_foreign_statements_are_reported_and_fixed(
    wrong: str, code: str, right: str | None
) -> None:
    frame = HEADER + HEAD + "  a = Relu (x)\n  HERE\n  y = Relu (a)\n}\n"
    text, spans = unmarked(frame.replace("HERE", wrong))
    (found,) = found_in(text)
    assert (found.code, [found.span]) == (code, spans)
    if right is None:
        assert found.fix is None
        assert found.help
    else:
        is_mended(found, text, frame.replace("HERE", right))


def test_every_missing_comma_is_reported() -> None:
    text = f"{HEADER}{HEAD}  y = Op <a = 1 b = 2 c = 3> (x)\n}}\n"
    assert [(diagnostic.code, place(diagnostic)) for diagnostic in found_in(text)] == [
        ("missing-comma", "b"),
        ("missing-comma", "c"),
    ]


PARAMETERS = [
    ("«x: float[N]»", "misplaced-type", "float[N] x"),
    ("«float x[3]»", "misplaced-type", "float[3] x"),
    ("«const» float[3] x", "foreign-word", "float[3] x"),
    ("float«<3>» x", "wrong-mark", "float[3] x"),
    ("float«(1, 3)» x", "wrong-mark", "float[1, 3] x"),
    ("seq«<float[3]>» x", "wrong-mark", "seq(float[3]) x"),
    ("float[3] «0»", "unquoted-name", 'float[3] "0"'),
    ("«int»[3] x", "unknown-type", "int64[3] x"),
    ("float[«*», 3] x", "wrong-mark", "float[?, 3] x"),
    ("float[«:»] x", "wrong-mark", "float[?] x"),
    ("float[3, «$»] x", "wrong-mark", "float[3, ?] x"),
    ("float[«=», 3] x", "wrong-mark", "float[?, 3] x"),
    ("float[N«][»3] x", "wrong-mark", "float[N, 3] x"),
    ("float[2«][»M] x", "wrong-mark", "float[2, M] x"),
    ("float[«batch size»] x", "syntax-error", 'float["batch size"] x'),
    ("float[«N M»] x", "syntax-error", "float[N, M] x"),
    ("float[«2 3»] x", "syntax-error", "float[2, 3] x"),
    ("float[N,«,» 3] x", "syntax-error", "float[N, 3] x"),
    ("float[«,» 3] x", "syntax-error", "float[ 3] x"),
    ("float[N, «2x3»] x", "syntax-error", "float[N, 2, 3] x"),
    ("float[«2.3»] x", "syntax-error", "float[2, 3] x"),
    ("float[«N + 1», 3] x", "unquoted-name", 'float["N + 1", 3] x'),
    ("float[3, «N+1», M/2] x", "unquoted-name", 'float[3, "N+1", "M/2"] x'),
]


@pytest.mark.parametrize(("wrong", "code", "right"), PARAMETERS, ids=str)
def test_foreign_parameters_are_reported_and_fixed(wrong: str, code: str, right: str) -> None:
    frame = HEADER + "main (float[N] a, {}, float[N] c) => (float[N] y) {{\n  y = Relu (a)\n}}\n"
    text, spans = unmarked(frame.format(wrong))
    (found,) = found_in(text)
    assert (found.code, [found.span]) == (code, spans)
    is_mended(found, text, frame.format(right))


INITIALIZERS = [
    ("float[2] w = [1 2]", "float[2] w = [1, 2]"),
    ("float[2] w = {1 2}", "float[2] w = {1, 2}"),
    ("float[2] w = [ 0. -1e-5 ]", "float[2] w = [ 0., -1e-5 ]"),
    ("float[3] w = [1,, 2, 3]", "float[3] w = [1, 2, 3]"),
    ("float[2] w = [1, 2,,]", "float[2] w = [1, 2,]"),
    ("float[2, 2] w = [[1. 2.] [3. 4.]]", "float[2, 2] w = [[1., 2.], [3., 4.]]"),
    ("float[2, 2] w = [[1, 2][3, 4]]", "float[2, 2] w = [[1, 2],[3, 4]]"),
    ("float[2, 2] w = [[1; 2]; [3; 4]]", "float[2, 2] w = [[1, 2], [3, 4]]"),
    (
        "float[2, 2] w = [\n    [1, 2], # a\n    [3 4]]",
        "float[2, 2] w = [\n    [1, 2], # a\n    [3, 4]]",
    ),
    (
        "float[2, 2] w = [\n    [1, 2] # a\n    [3, 4]]",
        "float[2, 2] w = [\n    [1, 2], # a\n    [3, 4]]",
    ),
    ("float[2] w = [1 # one\n    2]", "float[2] w = [1, # one\n    2]"),
    ("bool[3] w = [true false true]", "bool[3] w = [true, false, true]"),
    ('string[2] w = {"a b" "c"}', 'string[2] w = {"a b", "c"}'),
    ("float[2] w = {{1, 2}", "float[2] w = {1, 2}"),
    ("float[2] w <- [1, 2]", "float[2] w = [1, 2]"),
]


@pytest.mark.parametrize(("wrong", "right"), INITIALIZERS, ids=str)
def test_the_commas_of_a_list_are_corrected(wrong: str, right: str) -> None:
    frame = HEADER + HEAD.replace("{\n", "<\n  {}\n> {{\n") + "  y = Add (x, w)\n}}\n"
    (found,) = found_in(frame.format(wrong))
    is_mended(found, frame.format(wrong), frame.format(right))


@pytest.mark.parametrize("last", ["[21],", '["": 21]', '[21, "m": 1]'])
@pytest.mark.parametrize("deleted", [">\n", ">"])
def test_a_missing_bracket_after_a_header_is_one_error(deleted: str, last: str) -> None:
    text = f"<\n  ir_version: 10,\n  opset_import: {last}\n>\n{HEAD}{BODY}"
    broken = text.replace(deleted, "", 1)
    (found,) = found_in(broken)
    assert found.source is not None
    assert [found.source.position(label.span.start).line for label in found.labels] == [4, 1]
    # After a comma, the statement begins below the blank line, and the fix cannot use that line.
    below = deleted == ">" and last[-1] == ","
    is_mended(found, broken, text.replace("\n>", "\n\n>") if below else text)


def test_commas_that_leave_a_list_invalid_are_no_fix() -> None:
    text = HEADER + HEAD.replace("{\n", "<float[2] w = [1 2 3]> {\n") + "  y = Add (x, w)\n}\n"
    (found,) = found_in(text)
    assert found.fix is None


BODY = "  y = Relu (x)\n}\n"
WHOLE = [
    ('ir_version: 8\nproducer_name: "a"\ngraph {\n  name: "g"\n}\n', "other-format"),
    ('{"irVersion": "8", "graph": {"node": [{"input": ["x"]}]}}\n', "other-format"),
    ("func.func @main(%arg0: tensor<1xf32>) {\n  %0 = a.b(%arg0)\n}\n", "other-format"),
    (f"{HEAD}{BODY}{HEADER}", "misplaced-section"),
    (f'{HEADER}metadata {{\n  node y {{ a: "b" }}\n}}\n{HEAD}{BODY}', "misplaced-section"),
    (f"{HEADER}main {{\n{BODY}", "graph-without-inputs"),
    (
        f'{HEADER}{HEAD}{BODY}weights {{\n  "ab": base64 """\n    AAAA\n    """\n}}\n',
        "syntax-error",
    ),
    (f'{HEADER}{HEAD}{BODY}meta {{\n  node y {{\n    a: "b"\n  }}\n}}\n', "syntax-error"),
    (f"{HEADER}graph {HEAD}{BODY}", "foreign-word"),
    (f"{HEADER}{HEAD}{BODY}def f (a) => (b) {{\n  b = Relu (a)\n}}\n", "foreign-word"),
]


@pytest.mark.parametrize(
    ("text", "wrong", "right"),
    [
        (f"main (float[N] x) = (float[N] y) {{\n{BODY}", ") = (", ") => ("),
        (HEAD.replace("{", "<float[2] w = (1, 2)> {") + BODY, "(1, 2)", "[1, 2]"),
        (HEAD.replace("{", "<w = float[2] {1, 2}> {") + BODY, "w = float[2]", "float[2] w ="),
        (HEAD + BODY + "metadata {\n  graph {\n    a: b\n  }\n}\n", "a: b", 'a: "b"'),
    ],
)
def test_one_mistake_is_fixed(text: str, wrong: str, right: str) -> None:
    (found,) = found_in(HEADER + text)
    is_mended(found, HEADER + text, HEADER + text.replace(wrong, right))


@pytest.mark.parametrize(
    ("text", "wrong", "right"),
    [
        (f"{HEAD}  <!-- a comment -->\n{BODY}", "<!-- a comment -->", "# a comment"),
        (f"g (float[2] x // 2\n) => (float[2] y) {{\n{BODY}", "//", "#"),
        (f"g (float[2] x, // 2\nfloat z) => (float[2] y) {{\n{BODY}", "//", "#"),
    ],
)
def test_the_fix_of_a_comment_that_is_no_value_is_safe(text: str, wrong: str, right: str) -> None:
    (found,) = found_in(HEADER + text)
    is_mended(found, HEADER + text, HEADER + text.replace(wrong, right))
    assert fix_of(found).applicability == "safe"


@pytest.mark.parametrize(("text", "code"), WHOLE)
def test_foreign_texts_have_one_error_with_help(text: str, code: str) -> None:
    (found,) = found_in(text)
    assert found.code == code
    assert found.help


def test_the_unclosed_bracket_is_shown() -> None:
    text = f"{HEADER}{HEAD}  y = Relu (x)\n"
    (found,) = found_in(text)
    assert found.source is not None
    assert found.code == "unclosed-bracket"
    assert [text[label.span.start] for label in found.labels[1:]] == ["{"]
    is_mended(found, text, text + "}\n")
    text = f"{HEADER}main (float[N] x) => (float[N] y) <\n  float[1] w = {{1}}\n{{\n{BODY}"
    (found,) = found_in(text)
    assert [text[label.span.start] for label in found.labels[1:]] == ["<"]


BRANCHES = """\
  y = If (x) <
    then_branch = t () => (float[N] z) {
      z = Relu (x)
    }CLOSE,
    else_branch = e () => (float[N] w) {
      w = Neg (x)
    }
  >
}
"""


def test_unbalanced_brackets_in_branches_are_one_error() -> None:
    text = HEADER + HEAD + BRANCHES.replace("CLOSE", "}")
    (found,) = found_in(text)
    is_mended(found, text, HEADER + HEAD + BRANCHES.replace("CLOSE", ""))
    text = HEADER + HEAD + BRANCHES.replace("}CLOSE", "")
    (found,) = found_in(text)
    assert found.code == "unclosed-bracket"
    assert found.source is not None
    assert found.source.position(found.labels[0].span.start).line == 6


def test_two_errors_in_a_header_are_reported() -> None:
    (one, two) = found_in("<IR_VERSION: 10, opset_imports: [21]>\n" + HEAD + BODY)
    assert (place(one), place(two)) == ("IR_VERSION", "opset_imports")
    (one, two) = found_in('<ir_version: "10", opset_import: 21>\n' + HEAD + BODY)
    assert (place(one), place(two)) == ('"10"', "21")


@pytest.mark.parametrize(
    ("wrong", "right"),
    [("opset-import: [21]", "opset_import: [21]"), ("ir-version: 10", "ir_version: 10"),
     ("ir_version: 10.\n", "ir_version: 10,\n"), ('[""= 21]', '["": 21]'), ("(ir", "<ir"),
     ("21]\n", "21]>\n")],
)  # fmt: skip
def test_marks_in_a_header_are_corrected(wrong: str, right: str) -> None:
    header = HEADER.replace(", ", ",\n").replace("[21]", '["": 21]' if '""' in right else "[21]")
    text = header.replace(right, wrong) + HEAD + BODY
    assert wrong in text
    (found,) = found_in(text)
    is_mended(found, text, header + HEAD + BODY)


@pytest.mark.parametrize(("first", "last"), [('“""', '"""'), ("“““", "”””"), ("„„„", '"""')])
def test_typographic_quotes_of_a_long_string_are_one_error(first: str, last: str) -> None:
    section = "metadata {\n  graph {\n    a: FIRST\n      b\n      LAST\n  }\n}\n"
    text = HEADER + HEAD + BODY + section
    wrong = text.replace("FIRST", first).replace("LAST", last)
    (found,) = found_in(wrong)
    assert found.code == "smart-quotes"
    is_mended(found, wrong, text.replace("FIRST", '"""').replace("LAST", '"""'))


@pytest.mark.parametrize(
    ("wrong", "right"),
    [("main float[N] x =>", "main (float[N] x) =>"), ("=> float[N] y {", "=> (float[N] y) {"),
     ("-> float[N] y {", "=> (float[N] y) {")],
)  # fmt: skip
def test_inputs_and_outputs_need_parentheses(wrong: str, right: str) -> None:
    text = HEADER + HEAD.replace(right, wrong) + BODY
    assert wrong in text
    (found,) = found_in(text)
    assert found.code == "missing-bracket"
    is_mended(found, text, HEADER + HEAD + BODY)


@pytest.mark.parametrize(
    ("wrong", "edits"),
    [("main {float[N] x)", 1), ("main [float[N] x]", 2), ("main {float[N] x}", 2),
     ("main [float[N] x] => [float[N] y]", 4)],
)  # fmt: skip
def test_the_brackets_of_inputs_are_corrected(wrong: str, edits: int) -> None:
    right = wrong.replace("{", "(").replace("}", ")")
    right = right.replace("[float", "(float").replace("x]", "x)").replace("y]", "y)")
    text = HEADER + HEAD.replace(right, wrong) + BODY
    assert wrong in text
    (found,) = found_in(text)
    assert len(fix_of(found).edits) == edits
    is_mended(found, text, HEADER + HEAD + BODY)


@pytest.mark.parametrize("key", ["opset", "opset_imports", "opset_import_"])
def test_an_unknown_key_of_a_header_is_replaced(key: str) -> None:
    (found,) = found_in(f"<ir_version: 10, {key}: [21]>\n" + HEAD + BODY)
    assert fix_of(found).title == "write `opset_import`"


def test_one_error_in_all_entries_of_a_header_is_reported_once() -> None:
    (one,) = found_in("<ir_version = 10, opset_import = [21]>\n" + HEAD + BODY)
    assert one.code == "wrong-mark"


def test_a_repeated_list_of_references_is_an_error() -> None:
    (one,) = found_in(HEADER + HEAD + '  y = Op <a: ints[2] = [@"x", ...]> (x)\n}\n')
    assert one.message == "a list cannot hold references to attribute parameters"


def test_errors_before_a_final_carriage_return_are_shown() -> None:
    text = (HEADER + HEAD + "  a = Relu (x\n  y = Relu (a)\n").replace("\n", "\r\n")[:-1]
    for found in found_in(text):
        assert "never closed" in render(found)


FOREIGN_LINES = [
    'node {\n    op_type: "Relu"\n  }', 'op_type: "Relu"', '{"op_type": "Relu"}',
    '%1 = "onnx.Relu"(%0) : (f32) -> f32',
]  # fmt: skip


@pytest.mark.parametrize("line", FOREIGN_LINES)
@pytest.mark.parametrize("before", ["b = Relu", "b = Relu (x,"])
def test_an_incomplete_node_before_another_format_is_one_error(before: str, line: str) -> None:
    (found,) = found_in(f"{HEADER}{HEAD}  {before}\n  {line}\n  y = Relu (x)\n}}\n")
    assert (found.code, found.position) == ("other-format", (4, 3))
    assert [label.message for label in found.labels[1:]] == ["this statement is incomplete"]


def test_unclosed_nodes_of_protobuf_text_are_one_error() -> None:
    (found,) = found_in(HEADER + HEAD + "node {\n" * 400)
    assert (found.code, found.position) == ("other-format", (3, 1))


def test_an_unclosed_node_of_protobuf_text_ends_before_the_end_of_the_graph() -> None:
    text = f'{HEADER}{HEAD}  y = Relu (x)\n  node {{\n    op_type: "Relu"\n}}\n\nmetadat {{}}\n'
    assert [found.position for found in found_in(text)] == [(4, 3), (8, 1)]


LONG_STRING = 'metadata {\n  value y {\n    k: """\n      a\n    """\n  }\n}\n'


@pytest.mark.parametrize("after", ["", LONG_STRING])
@pytest.mark.parametrize("quotes", ['  """\n  y = Abs (t)\n', '  y = Abs (t)"""\n'])
def test_no_fix_of_stray_quotes_removes_other_text(quotes: str, after: str) -> None:
    text = f"{HEADER}{HEAD}  t = Relu (x)\n{quotes}}}\n\n{after}"
    (found,) = found_in(text)
    if found.fix is not None:
        assert found.fix.apply(text) == text.replace('"""', "", 1)
    assert (found.fix is not None) == (after != "")


def test_the_type_of_an_attribute_is_only_proposed() -> None:
    (found,) = found_in(f"{HEADER}{HEAD}  y = Op <a = torch.int64> (x)\n}}\n")
    assert (fix_of(found).applicability, fix_of(found).edits[0].text) == ("unsafe", "int64")


def test_an_attribute_after_an_unclosed_body_is_not_called_a_value() -> None:
    body = "  y = Scan <\n    body = b (float z) => (float w) {\n      w = Relu (z)\n"
    found = found_in(f"{HEADER}{HEAD}{body}    num_scan_inputs = 1,\n  > (x)\n}}\n")
    assert place(found[0]) == "num_scan_inputs"


def test_a_number_after_a_semicolon_is_no_comment() -> None:
    (error,) = found_in(f"{HEADER}{HEAD}  y = Relu (x); 1\n}}\n")
    assert (error.code, place(error)) == ("semicolon", ";")


@pytest.mark.parametrize(
    "text",
    [
        f"{HEADER}{HEAD}  y = Concat <\n    axis = 8 // 2\n  > (x)\n}}\n",
        f"{HEADER}{HEAD}  y = Op <\n    axes = [6 // 2\n, 4]\n  > (x)\n}}\n",
        f"{HEADER}g () => (float w) <\n  float w = 6 // 2\n> {{}}\n",
        f"{HEADER}g () => (float[2] w) <\n  float[2] w = [6 // 2, 4]\n> {{}}\n",
        f"<ir_version: 20 // 2\n, opset_import: [21]>\n{HEAD}  y = Relu (x)\n}}\n",
        f"{HEADER}{HEAD}  y = Concat <\n    axis = 8 // -1\n  > (x)\n}}\n",
        f"{HEADER}{HEAD}  y = Concat <\n    axis = 8 // 2 # half\n  > (x)\n}}\n",
        f"{HEADER}{HEAD}  y = Op <\n    axes = [2, 4] // 2\n  > (x)\n}}\n",
    ],
)
def test_a_division_is_no_comment(text: str) -> None:
    (error,) = found_in(text)
    assert (error.code, error.message) == ("not-a-name", "a value cannot be an expression")
    assert error.fix is None


@pytest.mark.parametrize(
    ("comment", "applicability"),
    [
        ("// 2 is the batch", "safe"),
        ("// the axis", "safe"),
        ("/* 2 */", "safe"),
        ("// 2024-01-02", "unsafe"),
        ("// 50% of them", "unsafe"),
        ("// 3, 4 or 5", "unsafe"),
        ("// n", "unsafe"),
        ("// (2)", "unsafe"),
        ("// .5", "unsafe"),
        ("// n if n else 2", "unsafe"),
    ],
)
def test_a_comment_after_a_number_is_unsafe_if_it_may_be_an_operand(
    comment: str, applicability: str
) -> None:
    (error,) = found_in(f"{HEADER}{HEAD}  y = Concat <\n    axis = 8 {comment}\n  > (x)\n}}\n")
    assert (error.code, place(error)) == ("slash-comment", comment)
    assert fix_of(error).applicability == applicability


@pytest.mark.parametrize("node", ["y = Neg (x // n\n)", "y = Neg (x // 2\n)", "y = Neg (x) // 2"])
def test_no_safe_fix_drops_the_division_of_a_value(node: str) -> None:
    (error,) = found_in(f"{HEADER}{HEAD}  {node}\n}}\n")
    assert error.code == "slash-comment"
    assert fix_of(error).applicability == "unsafe"


@pytest.mark.parametrize("dims", ["\n 3,\n N // 2\n ", "N // 2\n", "N // 2", "N // k\n"])
def test_no_safe_fix_drops_the_division_of_a_dimension(dims: str) -> None:
    (error,) = found_in(f"{HEADER}g (float[{dims}] x) => (float[2] y) {{\n  y = Relu (x)\n}}\n")
    assert error.fix is None or error.fix.applicability == "unsafe"


def test_no_safe_fix_drops_the_division_of_a_parameter() -> None:
    node = "b = Softmax <\n    axis: int = @n // 2\n  > (a)"
    graph = f"{HEADER}{HEAD}  y = Relu (x)\n}}\n"
    function = f'<domain: "m", opset_import: [21]>\nf <n> (a) => (b) {{\n  {node}\n}}\n'
    (error,) = found_in(graph + function)
    assert error.fix is None


@pytest.mark.parametrize(
    "lines",
    [
        "  <!-- first --> y = Relu (x) <!-- second -->",
        "  y = Op <\n    <!-- first --> axis = 1 <!-- second -->\n  > (x)",
    ],
)
def test_no_safe_fix_drops_what_is_between_comments_of_html(lines: str) -> None:
    error = found_in(f"{HEADER}{HEAD}{lines}\n}}\n")[0]
    assert error.code == "slash-comment"
    assert fix_of(error).applicability == "unsafe"


ONE_LINE = {
    "a function of LLVM": ("define float @f(float %x) {", "expected `(` or `=>`, found `float`"),
    "a graph of TorchScript": ("graph(%x : Float(2, 3)):", "expected a name or `)`, found `%`"),
    "a head with words": ("f in(x) out(y) {", "expected `=>` or `(`, found `in`"),
}


@pytest.mark.parametrize("kind", ONE_LINE)
def test_a_foreign_line_has_one_error_and_no_fix_that_leaves_another(kind: str) -> None:
    head, message = ONE_LINE[kind]
    text = f"<ir_version: 10, opset_import: [21]>\n{head}\n  y = Relu (x)\n}}\n"
    (error,) = parse_partial(Source(text), "model")[1]
    assert (error.message, error.fix) == (message, None)


@pytest.mark.parametrize(
    ("type", "help"), [("Tensor[4, 4]", "`float[N, 3]`"), ("List[float]", "`seq(float[N, 3])`")]
)
def test_the_help_about_a_type_of_python_fits_the_type(type: str, help: str) -> None:
    text = f"<ir_version: 10, opset_import: [21]>\ng ({type} x) => (float y) {{\n  y = Op (x)\n}}\n"
    first = parse_partial(Source(text, "t"), "model")[1][0]
    assert first.message == f"`{type}` is not a type"
    assert help in help_of(first)
