# SPDX-License-Identifier: Apache-2.0
"""The diagnostic model, and its machine-readable renderings."""

from __future__ import annotations

import json
from dataclasses import replace

from onnxtext.diagnostics import Diagnostic, Edit, Fix, Label, concise, github, sarif
from onnxtext.diagnostics import json as json_renderer
from onnxtext.diagnostics.code_pages import page_summary
from onnxtext.source import Source, Span
from tests.diagnostics.found import fix_of

IN_TEXT = Diagnostic(
    "some-code",
    "a\nmessage",
    source=Source("ab\n日本 x\ny\n", "m.onnxtxt"),
    labels=(Label(Span(6, 9), "label"),),
    notes=("a note",),
    help="a help",
)
IN_BINARY = Diagnostic("some-code", "m", "warning", path="graph.node[1]", offset=16, file="m.onnx")
NOWHERE = Diagnostic("some-code", "m", "note")


def test_where_returns_file_and_position() -> None:
    assert IN_TEXT.where() == "m.onnxtxt:2:4"
    assert IN_BINARY.where() == "m.onnx: graph.node[1] at byte 0x10"
    assert Diagnostic("c", "m", file="m.onnx").where() == "m.onnx"
    assert Diagnostic("c", "m", path="graph").where() == "graph"
    assert NOWHERE.where() == ""


def test_concise_renders_one_line() -> None:
    assert concise.render(IN_TEXT) == "m.onnxtxt:2:4: error: a␊message [some-code]"
    assert concise.render(IN_BINARY) == (
        "m.onnx: graph.node[1] at byte 0x10: warning: m [some-code]"
    )
    assert concise.render(NOWHERE) == "note: m [some-code]"


def test_json_renders_every_field() -> None:
    shown = json_renderer.render([IN_TEXT, IN_BINARY, NOWHERE])
    assert shown.isascii()
    assert json.loads(shown) == [
        {
            "file": "m.onnxtxt",
            "code": "some-code",
            "severity": "error",
            "message": "a\nmessage",
            "line": 2,
            "column": 4,
            "end_line": 3,
            "end_column": 2,
            "path": None,
            "offset": None,
            "notes": ["a note"],
            "help": "a help",
            "fix": None,
        },
        {
            "file": "m.onnx",
            "code": "some-code",
            "severity": "warning",
            "message": "m",
            "line": None,
            "column": None,
            "end_line": None,
            "end_column": None,
            "path": "graph.node[1]",
            "offset": 16,
            "notes": [],
            "help": None,
            "fix": None,
        },
        {**json_renderer.to_object(NOWHERE), "file": None, "line": None},
    ]


def test_json_without_findings_is_an_empty_list() -> None:
    assert json.loads(json_renderer.render([])) == []


FIXED = replace(IN_TEXT, fix=Fix("swap", (Edit(Span(3, 5), "x"), Edit(Span(6, 7), "日本"))))


def test_a_fix_changes_the_text() -> None:
    assert FIXED.source is not None
    assert fix_of(FIXED).apply(FIXED.source.text) == "ab\nx 日本\ny\n"


def test_json_lists_the_edits_of_a_fix() -> None:
    assert json_renderer.to_object(FIXED)["fix"] == {
        "title": "swap",
        "applicability": "safe",
        "edits": [
            {"line": 2, "column": 1, "end_line": 2, "end_column": 3, "text": "x"},
            {"line": 2, "column": 4, "end_line": 2, "end_column": 5, "text": "日本"},
        ],
    }


def test_github_renders_escaped_commands() -> None:
    assert github.render(IN_TEXT) == (
        "::error title=onnxtext (some-code),file=m.onnxtxt,line=2,col=4,endLine=3,endColumn=2"
        "::m.onnxtxt:2:4: a␊message%0Anote: a note%0Ahelp: a help"
    )
    assert github.render(NOWHERE) == "::notice title=onnxtext (some-code)::m"
    odd = Diagnostic("c", "100%\n::set-output::", "warning", file="a,b:c%\n.onnx")
    assert github.render(odd) == (
        "::warning title=onnxtext (c),file=a%2Cb%3Ac%25␊.onnx"
        "::a,b:c%25␊.onnx: 100%25␊::set-output::"
    )


def test_sarif_renders_locations_and_fixes() -> None:
    log = json.loads(sarif.render([FIXED, IN_BINARY, NOWHERE], version="1.2"))
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    assert run["tool"]["driver"]["rules"] == [{"id": "some-code"}]
    text, binary, nowhere = run["results"]
    region = {"startLine": 2, "startColumn": 4, "endLine": 3, "endColumn": 2}
    assert text["locations"] == [
        {"physicalLocation": {"artifactLocation": {"uri": "m.onnxtxt"}, "region": region}}
    ]
    (fix,) = text["fixes"]
    (change,) = fix["artifactChanges"]
    assert [item["insertedContent"]["text"] for item in change["replacements"]] == ["x", "日本"]
    assert text["message"]["text"] == "a\nmessage\nnote: a note\nhelp: a help"
    (place,) = binary["locations"]
    assert place["physicalLocation"]["region"] == {"byteOffset": 16}
    assert place["logicalLocations"] == [{"fullyQualifiedName": "graph.node[1]"}]
    assert (binary["level"], nowhere["level"]) == ("warning", "note")
    assert "locations" not in nowhere


def test_braces_in_sarif_are_no_placeholders() -> None:
    log = json.loads(sarif.render([Diagnostic("c", "expected `{`, found `{0}`")], version="1.2"))
    (result,) = log["runs"][0]["results"]
    assert result["message"]["text"] == "expected `{{`, found `{{0}}`"


def test_sarif_has_rules_and_related_locations() -> None:
    labels = (Label(Span(0, 1)), Label(Span(3, 5), "defined here"))
    found = Diagnostic(
        "value-undefined", "m", source=Source("ab\n日本\n", "a <b>.onnxtxt"), labels=labels
    )
    (run,) = json.loads(sarif.render([found], version="1.2"))["runs"]
    (rule,) = run["tool"]["driver"]["rules"]
    assert rule["shortDescription"]["text"] == page_summary("value-undefined")
    (result,) = run["results"]
    (related,) = result["relatedLocations"]
    assert related["message"] == {"text": "defined here"}
    assert related["physicalLocation"] == {
        "artifactLocation": {"uri": "a%20%3Cb%3E.onnxtxt"},
        "region": {"startLine": 2, "startColumn": 1, "endLine": 2, "endColumn": 3},
    }
