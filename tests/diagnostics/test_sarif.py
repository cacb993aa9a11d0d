# SPDX-License-Identifier: Apache-2.0
"""SARIF output satisfies the official schema for every code, every command and any finding."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onnxtext.diagnostics import Diagnostic, Edit, Fix, Label, sarif
from onnxtext.diagnostics.code_pages import documented_codes
from onnxtext.source import Source, Span
from tests.cli.command import BAD_TEXT, NO_MODEL, TEXT, binary, run
from tests.diagnostics.test_messages import RULES, TEXTS, of_rule, of_text
from tests.diagnostics.test_pages import WITH_EXAMPLE, blocks
from tests.sarif_schema import assert_valid


def results(log: str) -> list[dict[str, object]]:
    """The findings of a valid log."""
    assert log.isascii()
    (one,) = json.loads(log)["runs"]
    assert_valid(json.loads(log))
    found: list[dict[str, object]] = one["results"]
    rules = [rule["id"] for rule in one["tool"]["driver"]["rules"]]
    assert rules == sorted({str(result["ruleId"]) for result in found})
    return found


@pytest.mark.parametrize("code", WITH_EXAMPLE)
def test_syntax_errors_give_valid_sarif(code: str) -> None:
    found = of_text(blocks(code)["Example"], f"{code}.onnxtxt")
    assert code in [result["ruleId"] for result in results(sarif.render(found, version="1"))]


@pytest.mark.parametrize("code", RULES)
def test_rules_give_valid_sarif(code: str, tmp_path: Path) -> None:
    found = of_rule(code, tmp_path)
    assert code in [result["ruleId"] for result in results(sarif.render(found, version="1"))]


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_golden_texts_give_valid_sarif(path: Path) -> None:
    found = of_text(path.read_text("utf-8"), path.name)
    assert len(results(sarif.render(found, version="1"))) == len(found)


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("check bad.onnxtxt good.onnxtxt lints.onnxtxt bad.onnx missing.onnx", 2),
        ("check good.onnxtxt", 0),
        ("to-binary bad.onnxtxt good.onnxtxt -o .", 1),
        ("from-binary bad.onnx good.onnx -o .", 1),
        ("fmt --check bad.onnxtxt good.onnxtxt loose.onnxtxt", 1),
        ("verify bad.onnxtxt good.onnxtxt bad.onnx good.onnx", 1),
    ],
)
def test_commands_give_valid_sarif(words: str, status: int, tmp_path: Path) -> None:
    (tmp_path / "bad.onnxtxt").write_text(BAD_TEXT)
    (tmp_path / "good.onnxtxt").write_text(TEXT)
    (tmp_path / "loose.onnxtxt").write_text(TEXT.replace("Relu (x)", "Relu( x )"))
    (tmp_path / "lints.onnxtxt").write_text(TEXT.replace("  y", "  z = Neg (nothing)\n  y"))
    (tmp_path / "bad.onnx").write_bytes(NO_MODEL)
    (tmp_path / "good.onnx").write_bytes(binary())
    verb, *files = words.split()
    done = run(verb, "--output-format", "sarif", *files, cwd=tmp_path)
    assert done.status == status, done.err
    assert bool(results(done.err)) == (status > 0)


@pytest.mark.skipif(os.name != "posix", reason="file names are Unicode there")
def test_file_names_that_are_not_unicode_are_escaped(tmp_path: Path) -> None:
    name = os.fsdecode(b"a \xff.onnxtxt")
    try:
        (tmp_path / name).write_text(BAD_TEXT)
    except OSError:  # macOS has no such file names
        return
    (found,) = results(run("check", "--output-format", "sarif", name, cwd=tmp_path).err)
    assert "a%20%FF.onnxtxt" in json.dumps(found)


def test_an_absolute_path_is_a_file_uri(tmp_path: Path) -> None:
    (tmp_path / "a b.onnxtxt").write_text(BAD_TEXT)
    (found,) = results(run("check", "--output-format", "sarif", tmp_path / "a b.onnxtxt").err)
    assert (tmp_path / "a b.onnxtxt").as_uri() in json.dumps(found)


TEXT_OF = st.text(st.characters(exclude_categories=()), max_size=8)
SPANS = st.tuples(st.integers(0, 8), st.integers(0, 8)).map(sorted).map(lambda ends: Span(*ends))
LABELS = st.lists(st.builds(Label, SPANS, TEXT_OF), max_size=3).map(tuple)
FINDINGS = st.builds(
    Diagnostic,
    st.sampled_from(documented_codes()) | st.just("of-nobody"),
    TEXT_OF,
    st.sampled_from(["error", "warning", "note", "info", "hint"]),
    st.none() | st.builds(Source, st.just("a\nb\r\n日本 🙂x"), TEXT_OF),
    LABELS,
    path=st.none() | TEXT_OF,
    offset=st.none() | st.integers(0),
    notes=st.lists(TEXT_OF, max_size=2).map(tuple),
    help=st.none() | TEXT_OF,
    file=st.none() | TEXT_OF,
    fix=st.none()
    | st.builds(Fix, TEXT_OF, st.lists(st.builds(Edit, SPANS, TEXT_OF), min_size=1).map(tuple)),
)


@pytest.mark.parametrize("name", ["\ud800", "/a \ud800", "a\udcff\ud800"])
def test_names_with_lone_surrogates_give_valid_sarif(name: str) -> None:
    found = [Diagnostic("syntax-error", "wrong", path="x", file=name)]
    assert len(results(sarif.render(found, version="1"))) == 1


@given(st.lists(FINDINGS, max_size=3))
def test_any_finding_gives_valid_sarif(found: list[Diagnostic]) -> None:
    assert len(results(sarif.render(found, version="1"))) == len(found)
