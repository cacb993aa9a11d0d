# SPDX-License-Identifier: Apache-2.0
"""After edits, the published findings equal those of a fresh check of the same text."""

from __future__ import annotations

import asyncio
import random
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as t
from pytest_lsp import LanguageClient

import onnxtext
from benchmarks.check_models import VARIANTS
from benchmarks.transformer import transformer
from onnxtext.diagnostics import Diagnostic
from onnxtext.lsp.features.diagnostics import to_lsp_diagnostics
from onnxtext.lsp.index.positions import LineIndex
from onnxtext.lsp.server.check_document import MAX_FINDINGS, analyze
from onnxtext.source import Source
from onnxtext.syntax.parse import parse_partial
from tests.lsp.documents import EXAMPLES
from tests.lsp.session import Session
from tests.seeds import draws, sampled, seeded

EDITS = draws(10)
NODES = 220
"""Larger than the size up to which inference distinguishes nodes."""
OPERATORS = ("Relu", "Add", "MatMul", "Softmax", "Reshape", "Concat", "Cast", "Transpose", "Exppp")
TYPED = ("\n", " ", "x", "(", ")", ",", '"', "=", "#", "[1]", "{", "y = Relu (x)\n", "é😀#", '"😀"')
WORD = re.compile(r'"[^"\n]*"|[A-Za-z_]\w*|\d+')


@cache
def texts() -> list[tuple[Path | None, str]]:
    """Return the examples with their directory, and models of a few hundred nodes."""
    found: list[tuple[Path | None, str]] = [
        (EXAMPLES, path.read_text("utf-8")) for path in sorted(EXAMPLES.glob("*.onnxtxt"))
    ]
    found += [(None, onnxtext.from_binary(make(NODES))) for make in VARIANTS.values()]
    return [*found, (None, onnxtext.from_binary(next(transformer(NODES))))]


def edit(text: str, choose: random.Random) -> tuple[int, int, str]:
    """Return a random change of a text: start, end and replacement."""
    words = list(WORD.finditer(text))
    at = choose.randrange(len(text) + 1)
    if not words or choose.random() < 0.2:
        return at, min(len(text), at + choose.choice((0, 0, 1, 30))), choose.choice(TYPED)
    word = choose.choice(words)
    match choose.choice(("size", "operator", "number", "name", "copy", "line", "blank")):
        case "operator":
            nodes = list(re.finditer(r"= (\w+) [(<]", text))
            if nodes:
                node = choose.choice(nodes)
                return node.start(1), node.end(1), choose.choice(OPERATORS)
        case "size":  # in the whole text: types change, nodes do not
            sizes = re.findall(r"(?<=[\[ ])\w+(?=[\],])", text)
            if sizes:
                size, new = choose.choice(sizes), str(choose.choice((2, 8, 63)))
                return 0, len(text), re.sub(rf"(?<=[\[ ]){size}(?=[\],])", new, text)
        case "number":
            numbers = [m for m in words if m.group().isdigit()]
            if numbers:
                number = choose.choice(numbers)
                return number.start(), number.end(), str(choose.choice((0, 1, 2, 8, 63, 64)))
        case "name":
            return word.start(), word.end(), choose.choice(words).group()
        case "copy":
            start = text.rfind("\n", 0, at) + 1
            end = text.find("\n", at) + 1 or len(text)
            return start, start, text[start:end]
        case "line":
            return text.rfind("\n", 0, at) + 1, text.find("\n", at) + 1 or len(text), ""
    return word.start(), word.start(), " "


def said(found: list[Diagnostic]) -> set[Any]:
    """Return a finding in a form for comparisons, without its source."""
    return {
        (item.code, item.severity, item.message, item.labels, item.notes, item.help, repr(item.fix))
        for item in found
    }


def has_mistakes(text: str) -> bool:
    return bool(parse_partial(Source(text, "x"), "model")[1])


@pytest.mark.thorough
@pytest.mark.parametrize("number", sampled(range(len(texts())), 3))
def test_cached_inference_does_not_change_results(number: int) -> None:
    choose = seeded()
    directory, text = texts()[number]
    answers: Any = {}
    analyze(text, "x", directory, answers)
    for _ in range(EDITS):
        start, end, new = edit(text, choose)
        changed = text[:start] + new + text[end:]
        published: list[list[Diagnostic]] = []
        result = analyze(changed, "x", directory, answers, published.append)
        assert published in ([result.diagnostics], [])
        fresh = analyze(changed, "x", directory)
        assert result == fresh
        if has_mistakes(changed):
            text = changed if choose.random() < 0.2 else text
            continue
        text = changed
        found = onnxtext.check(changed, base_dir=directory)
        if len(found) <= MAX_FINDINGS:
            assert said(result.diagnostics) == said(found)


def shown(found: list[t.Diagnostic]) -> list[str]:
    """Sort diagnostics, with lists of the protocol as tuples."""
    return sorted(
        repr(
            (
                item.code,
                item.severity,
                item.range,
                item.message,
                item.tags and list(item.tags),
                list(item.related_information or ()),
            )
        )
        for item in found
    )


@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.parametrize("new", ["(x x)", "(x, x)"])
async def test_actions_that_need_no_check_are_offered_at_once(
    client: LanguageClient, tmp_path: Path, new: str
) -> None:
    text = "<ir_version: 10>\ng (float x) => (float y) { y = Op (x) }\n"
    session = Session(client, tmp_path / "m.onnxtxt", text)
    await session.diagnostics()
    session.replace("(x)", new)
    place = t.Range(session.at("Op"), session.at(") }"))
    edited = await session.actions(t.Diagnostic(place, ""))
    fresh = await Session(client, tmp_path / "n.onnxtxt", session.text).actions(
        t.Diagnostic(place, "")
    )
    wanted = "Remove one" if new == "(x x)" else "Write the inferred types of this node"
    titles = [
        [action.title for action in found if action.title != "Apply all safe fixes"]
        for found in (edited, fresh)
    ]  # that action is offered once the check has ended, which may be before the request
    assert wanted in titles[0]
    assert titles[0] == titles[1]


@pytest.mark.asyncio(loop_scope="session")
async def test_a_version_number_may_be_used_again(client: LanguageClient, tmp_path: Path) -> None:
    text = "<ir_version: 10, opset_import: [21]>\ng (float x) => (float y) { y = Relu (x) }\n"
    session = Session(client, tmp_path / "m.onnxtxt", text)
    await session.diagnostics()
    for old, new, wanted in (("Relu", "Reluu", ["op-unknown"]), ("Reluu", "Relu", [])):
        session.number = -2
        session.replace(old, new)
        assert [item.code for item in await session.diagnostics()] == wanted


@pytest.mark.thorough
@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.parametrize("number", sampled(range(len(texts())), 6))
async def test_the_server_publishes_what_a_check_finds(
    client: LanguageClient, tmp_path: Path, number: int
) -> None:
    choose = seeded()
    _, text = texts()[number]
    session = Session(client, tmp_path / "m.onnxtxt", text)
    for _ in range(3):
        for _ in range(choose.randint(1, 4)):
            start, end, new = edit(session.text, choose)
            after = session.text[:start] + new + session.text[end:]
            if not has_mistakes(after):
                session.edit(start, end, new)
                await asyncio.sleep(choose.choice((0, 0.05, 0.3)))
        published = await session.diagnostics()
        found = onnxtext.check(session.text, base_dir=tmp_path)
        wanted = to_lsp_diagnostics(found, LineIndex(session.text, "utf-16"), session.uri)
        if len(wanted) <= MAX_FINDINGS:
            assert shown(published) == shown(wanted)
