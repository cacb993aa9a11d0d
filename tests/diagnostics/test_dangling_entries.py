# SPDX-License-Identifier: Apache-2.0
"""If an error leaves entries of sections without their target, only the error is reported."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import onnxtext
from onnxtext.checker.engine.dangling_entries import join_findings
from onnxtext.lsp.server.check_document import analyze
from onnxtext.source import Source
from onnxtext.syntax.parse import parse_partial
from tests.cli.command import run
from tests.diagnostics.found import errors

H = "<ir_version: 10, opset_import: [21]>\n"
G = "g (float[2] x) => (float[2] y) {\n"
IF = "g (bool c, float[2] x) => (float[2] y) {\n  y = If (c) <\n"
BRANCH = "    else_branch = b () => (q) {\n      q = Neg (x)\n    },\n  >\n}\n"
VALUE_INFO = "g (float[2] x) => (float[2] y) <float[2] w = [1, 2]> {\n  y = Add (x, w)\n}\n"


def metadata(*paths: str) -> str:
    """Return a section with one entry for each path, such as `node y`."""
    return "metadata {\n" + "".join(f'  {path} {{ k: "v" }}\n' for path in paths) + "}\n"


EXPLAINED = {
    "a misspelled attribute": (
        f"{H}{IF}    then_brnach = a () => (p) {{\n      p = Abs (x)\n    }},\n{BRANCH}"
        + metadata("node y.then_branch.p"),
        (4, 5), "attribute-unknown",
    ),
    "a missing attribute name": (
        f"{H}{IF}    a () => (p) {{\n      p = Abs (x)\n    }},\n{BRANCH}"
        + metadata("node y.then_branch.p"),
        (4, 7), "syntax-error",
    ),
    "a misspelled output": (
        f"{H}{G}  tt = Abs (x)\n  y = Relu (t)\n}}\n" + metadata("node t"),
        (4, 13), "value-undefined",
    ),
    "a misspelled input of the graph": (
        f"{H}{G.replace('x', 'xx')}  [n] t = Abs (x)\n  y = Relu (t)\n}}\n"
        + metadata("node [n]", "value x"),
        (3, 16), "value-undefined",
    ),
    "a deleted node": (
        f"{H}{G}  y = Relu (t)\n}}\n" + metadata("node [node_abs]", "value t"),
        (3, 13), "value-undefined",
    ),
    "a deleted node with an output whose name is like another": (
        f"{H}{G}  [node_z] val_1 = Neg (x)\n  y = Add (val_15, val_1)\n}}\n"
        + metadata("node [node_NonZero_15]"),
        (4, 12), "value-undefined",
    ),
    "a deleted node with a label like another": (
        f"{H}{G}  [node_gt_2] u = Neg (x)\n  y = Add (gt, u)\n}}\n" + metadata("node [node_gt]"),
        (4, 12), "value-undefined",
    ),
    "a misspelled word of a decorator": (
        f"{H}@value_info(initializer)\n{VALUE_INFO}" + metadata("value w"),
        (2, 1), "invalid-record",
    ),
    "a misspelled decorator": (
        f"{H}@value_infos(initializers)\n{VALUE_INFO}" + metadata("value w"),
        (2, 1), "invalid-record",
    ),
}  # fmt: skip


@pytest.mark.parametrize("mistake", EXPLAINED)
def test_the_cause_is_reported(mistake: str) -> None:
    text, where, code = EXPLAINED[mistake]
    (error,) = errors(text)
    assert (error.code, error.position) == (code, where)
    assert error.fix is None or error.fix.applicability == "unsafe"


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        (f"{H}{G}  y = Relu (x)\n}}\n" + metadata("node z"), ["metadata-dangling"]),
        (f"{H}{G}  [one] y = Relu (x)\n}}\n" + metadata("node [oen]"), ["metadata-dangling"]),
        (
            f"{H}{G}  [conv_one] y = Relu (z)\n}}\n" + metadata("node [conv_oen]"),
            ["value-undefined", "metadata-dangling"],
        ),
        (
            f"{H}{G}  t = Abs (x\n  [conv_one] y = Relu (t)\n}}\n" + metadata("node [conv_oen]"),
            ["unclosed-bracket", "metadata-dangling"],
        ),
        (  # the error quotes the name of an operator, not of a value
            f"{H}{G}  y = Abs (x, x)\n}}\n" + metadata("value Abs"),
            ["input-count", "metadata-dangling"],
        ),
        (
            f"{H}{G}  y = Softmax <axes = 1> (x)\n}}\n" + metadata("value axes"),
            ["attribute-unknown", "metadata-dangling"],
        ),
        (  # the error mentions the field `value_info`, not the decorator
            f'{H}@set(doc_sting: "d")\n{G}  y = Abs (x)\n}}\n' + metadata("value t"),
            ["invalid-record", "metadata-dangling"],
        ),
        (  # the error mentions the graph `t`, not a value
            f"{H}{G.replace('g', 't', 1)}  y = Abs (x)\n}}\n".replace(
                "=> (float[2] y", "=> (float[2] z"
            )
            + metadata("value t"),
            ["graph-output-undefined", "metadata-dangling"],
        ),
        (  # the value is misspelled, so no node is lost
            f"{H}{G}  hidden = Abs (x)\n  y = Relu (hiden)\n}}\n" + metadata("node [removed]"),
            ["value-undefined", "metadata-dangling"],
        ),
        (  # more entries than the maximum number of errors follow from the misspelled attribute
            f"{H}{IF}    then_brnach = a () => (p) {{\n      p = Abs (x)\n    }},\n{BRANCH}"
            + metadata(*[f"node y.then_branch.p{number}" for number in range(120)], "value z"),
            ["attribute-unknown", "metadata-dangling"],
        ),
    ],
)
def test_other_entries_are_reported(text: str, codes: list[str]) -> None:
    assert [error.code for error in errors(text)] == codes


def test_warnings_are_reported_beside_dangling_entries() -> None:
    section = 'metadata {\n  node z { k: "v" }\n  graph { a: "v"\n a: "v" }\n}\n'
    text = f"{H}{G}  y = Relu (x)\n}}\n{section}"
    codes = [finding.code for finding in onnxtext.check(text)]
    assert sorted(codes) == ["metadata-dangling", "metadata-key-duplicate"]


@pytest.mark.parametrize("mistake", EXPLAINED)
def test_the_words_of_messages_do_not_matter(mistake: str) -> None:
    text = EXPLAINED[mistake][0]
    _, syntax = parse_partial(Source(text, "t"), "model")
    findings = analyze(text, "t", None).diagnostics
    reworded = [
        [replace(item, message="text", help="text") for item in items]
        for items in (syntax, findings)
    ]
    expected = [(item.code, item.subject) for item in join_findings(syntax, findings)]
    assert [(item.code, item.subject) for item in join_findings(*reworded)] == expected


@pytest.mark.parametrize("mistake", EXPLAINED)
def test_to_binary_refuses_with_the_same_error(mistake: str, tmp_path: Path) -> None:
    text, (line, column), code = EXPLAINED[mistake]
    path = tmp_path / "m.onnxtxt"
    path.write_text(text, encoding="utf-8")
    result = run("to-binary", path)
    assert result.status == 1
    output = result.err
    assert f"error[{code}]" in output
    assert output.count("error[") == 1
    assert f"m.onnxtxt:{line}:{column}" in output
    assert not path.with_suffix(".onnx").exists()


@pytest.mark.parametrize("mistake", EXPLAINED)
def test_editors_show_the_same_error(mistake: str) -> None:
    text, _, code = EXPLAINED[mistake]
    _, syntax = parse_partial(Source(text, "t"), "model")
    found = join_findings(syntax, analyze(text, "t", None).diagnostics)
    if code != "invalid-record":  # the analysis for editors does not lower decorators
        assert [item.code for item in found if item.severity == "error"] == [code]


@pytest.mark.parametrize(
    "section", ["", metadata("value nothing")], ids=["alone", "with a dangling entry"]
)
@pytest.mark.parametrize("attribute", ["a = [, ]", "a = 1+ 2]"])
def test_a_fix_that_leaves_its_error_is_not_offered(attribute: str, section: str) -> None:
    text = f"{H}{G}  y = Op <{attribute}, b = 1> (x)\n}}\n{section}"
    error, *others = parse_partial(Source(text, "t"), "model")[1]
    assert (error.span is not None, error.fix) == (True, None)
    assert [item.code for item in others] == (["metadata-dangling"] if section else [])
