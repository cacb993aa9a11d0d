# SPDX-License-Identifier: Apache-2.0
"""The grammar is LALR(1) without conflicts, and its tables survive the cache."""

from __future__ import annotations

import logging
import re
import zlib
from pathlib import Path
from typing import Any

import lark
import pytest

from onnxtext.ast.compact_form.list_order import ORDERS
from onnxtext.lsp.features import completion
from onnxtext.lsp.index.keyword_documentation import SECTION_EXPLANATIONS, WORDS
from onnxtext.proto.encode.decorators import FIELDS
from onnxtext.source import SECTIONS
from onnxtext.syntax.actions import registry
from onnxtext.syntax.grammar import table_cache
from onnxtext.syntax.grammar.lexer import load_lexer
from onnxtext.syntax.grammar.table_cache import cache_path, cached_tables, load_tables
from onnxtext.syntax.grammar.tables import STARTS, ParserTables, build_tables, grammar_path
from onnxtext.syntax.heuristics.constructs import decorator_errors
from onnxtext.syntax.parser.lalr import load_automaton
from onnxtext.tensor.element_types import ELEMENTS
from tests.syntax import sentences

GRAMMAR = grammar_path().read_text(encoding="utf-8")


def test_the_grammar_has_no_conflicts(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger=lark.logger.name):
        lark.Lark(
            GRAMMAR, parser="lalr", lexer="basic", start=list(STARTS), debug=True,
            maybe_placeholders=True,
        )  # fmt: skip
    conflicts = [r.getMessage() for r in caplog.records if "onflict" in r.getMessage()]
    assert not conflicts


def test_all_lists_of_sections_are_those_of_the_grammar() -> None:
    (words,) = re.findall(r"^section_word: (.*) \| WHERE$", GRAMMAR, re.MULTILINE)
    sections = words.lower().split(" | ")
    assert sections == list(SECTIONS)
    assert sections == list(SECTION_EXPLANATIONS)
    emacs = Path(__file__).parents[2] / "editors" / "emacs" / "onnxtext-mode.el"
    assert "\\\\|".join(sections) in emacs.read_text(encoding="utf-8")


def test_all_lists_of_decorators_are_the_same() -> None:
    expected = {*FIELDS, *ORDERS, "set", "unset"}
    lists = {
        "_NAMES in heuristics/constructs/decorator_errors.py": {*decorator_errors._NAMES},
        "_DECORATORS in lsp/features/completion.py": {*completion._DECORATORS},
        "WORDS in lsp/index/keyword_documentation.py": expected & {*WORDS},
        "_DECORATORS in tests/syntax/sentences.py": {*sentences._DECORATORS} - {"foo"},
    }
    assert {place: names ^ expected for place, names in lists.items() if names != expected} == {}


def test_conflicts_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    ambiguous = 'model: "if" model | "if" model "else" model | "x"\n'
    with caplog.at_level(logging.DEBUG, logger=lark.logger.name):
        lark.Lark(ambiguous, parser="lalr", lexer="basic", start="model", debug=True)
    assert any("onflict" in record.getMessage() for record in caplog.records)


def test_every_action_belongs_to_a_rule_and_every_rule_has_one() -> None:
    load_automaton()  # raises for a rule without an action
    names = {rule.action for rule in load_tables().rules}
    assert not set(registry.ACTIONS) - names


def test_a_state_that_can_only_rename_its_symbol_allows_every_later_token() -> None:
    # Both parsers skip such reductions, or do them before they have read the next token.
    tables, reductions = load_tables(), load_automaton().reductions
    rows = tables.action_matrix.rows
    origins: dict[int, str] = {}
    for state, row in enumerate(rows):
        targets = set(row.values())
        if len(targets) == 1 and (target := targets.pop()) < 0 and reductions[~target].size == 1:
            origins[state] = reductions[~target].origin
    assert len(origins) > 100
    for row, gotos in zip(rows, tables.goto_matrix.rows, strict=True):
        for state in {*row.values(), *gotos.values()} & origins.keys():
            following = gotos[origins[state]]
            assert rows[following].keys() <= rows[state].keys()


@pytest.mark.thorough
def test_children_are_the_symbols_that_lark_keeps() -> None:
    # The text of every rule's kept symbols, against Lark's own tree.
    result = lark.Lark(
        GRAMMAR, parser="lalr", lexer="basic", start=list(STARTS), maybe_placeholders=True
    )
    rules: list[Any] = result.rules
    for rule, ours in zip(rules, build_tables(GRAMMAR).rules, strict=True):
        kept = [s.name for s in rule.expansion if not (s.is_term and s.filter_out)]
        assert [ours.symbols[index] for index in ours.take if index >= 0] == kept
        assert len(ours.take) == len(kept) + sum(rule.options.empty_indices or ())


@pytest.mark.parametrize("name", sorted(ELEMENTS))
def test_element_types_have_their_own_token_kind(name: str) -> None:
    lexer = load_lexer()
    assert lexer.kind(name) == "PRIM"
    assert lexer.kind(f"{name}[N, 3]") == "TYPE"
    assert lexer.kind(name + "x") == "WORD"


@pytest.mark.thorough
def test_cached_tables_are_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONNXTEXT_CACHE", str(tmp_path))
    result = cached_tables(GRAMMAR)
    (file,) = tmp_path.iterdir()
    before = file.stat().st_mtime_ns
    assert cached_tables(GRAMMAR) == result
    assert file.stat().st_mtime_ns == before


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """An empty cache, and the grammars whose tables are built: Lark takes a second for ours."""
    monkeypatch.setenv("ONNXTEXT_CACHE", str(tmp_path))
    tables, grammars = load_tables(), list[str]()

    def build(grammar: str) -> ParserTables:
        grammars.append(grammar)
        return tables

    monkeypatch.setattr(table_cache, "build_tables", build)
    return grammars


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"terminals": []}', b"\xff", b"null"])
def test_damaged_tables_are_built_again(damage: bytes, built: list[str]) -> None:
    file = cache_path(GRAMMAR)
    assert file is not None
    file.write_bytes(damage)
    cached_tables(GRAMMAR)
    assert built == [GRAMMAR]
    assert cached_tables(GRAMMAR).rules == load_tables().rules
    assert built == [GRAMMAR]  # the file holds them again


@pytest.mark.parametrize("cut", ["names", "cells", "shape"])
def test_tables_of_another_shape_are_built_again(
    cut: str, tmp_path: Path, built: list[str]
) -> None:
    cached_tables(GRAMMAR)
    (file,) = tmp_path.iterdir()
    header, _, cells = file.read_bytes().split(b"\n", 1)[1].partition(b"\n")
    damaged = {
        "names": header.replace(b'"gotos":["', b'"gotos":["x","') + b"\n" + cells,
        "cells": header + b"\n" + cells[:-1],
        "shape": b"[]\n" + cells,
    }[cut]
    file.write_bytes(b"%08x\n" % zlib.crc32(damaged) + damaged)
    cached_tables(GRAMMAR)
    assert built == [GRAMMAR] * 2


def test_tables_are_built_without_a_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, built: list[str]
) -> None:
    monkeypatch.setenv("ONNXTEXT_CACHE", "")
    assert cache_path(GRAMMAR) is None
    assert cached_tables(GRAMMAR).rules
    monkeypatch.setenv("ONNXTEXT_CACHE", str(tmp_path / "file"))
    (tmp_path / "file").write_text("no directory")
    assert cached_tables(GRAMMAR).rules
    assert built == [GRAMMAR] * 2


def test_another_grammar_has_other_tables() -> None:
    assert cache_path(GRAMMAR) != cache_path(GRAMMAR + "\n")
