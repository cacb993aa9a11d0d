# SPDX-License-Identifier: Apache-2.0
"""The model, and the renderings for programs."""

from __future__ import annotations

import json

from onnxtext.diagnostics import Diagnostic, Label, concise
from onnxtext.diagnostics import json as json_renderer
from onnxtext.source import Source, Span

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


def test_where() -> None:
    assert IN_TEXT.where() == "m.onnxtxt:2:4"
    assert IN_BINARY.where() == "m.onnx: graph.node[1] at byte 0x10"
    assert Diagnostic("c", "m", file="m.onnx").where() == "m.onnx"
    assert Diagnostic("c", "m", path="graph").where() == "graph"
    assert NOWHERE.where() == ""


def test_concise() -> None:
    assert concise.render(IN_TEXT) == "m.onnxtxt:2:4: error: a␊message [some-code]"
    assert concise.render(IN_BINARY) == (
        "m.onnx: graph.node[1] at byte 0x10: warning: m [some-code]"
    )
    assert concise.render(NOWHERE) == "note: m [some-code]"


def test_json() -> None:
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
        },
        {**json_renderer.to_object(NOWHERE), "file": None, "line": None},
    ]


def test_json_of_nothing() -> None:
    assert json.loads(json_renderer.render([])) == []
