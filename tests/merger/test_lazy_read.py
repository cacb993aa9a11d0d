# SPDX-License-Identifier: Apache-2.0
"""Statements that are tokenized late give the same tree as statements tokenized at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import onnxtext
from onnxtext import OnnxTextError
from onnxtext.format.concrete_syntax_tree import Tree
from onnxtext.format.tokens_with_comments import CommentedToken
from onnxtext.merger.texts import lazy_read
from onnxtext.merger.texts.text_parts import ListItems, TextPart
from tests.corpus import EXAMPLES, SHARED, index
from tests.seeds import sampled


def shape(source: str, tree: Tree | CommentedToken) -> Any:
    """Return a tree with all its tokens, for comparisons."""
    part = TextPart.of(source, tree)
    if part is None:
        return (tree.origin,) if isinstance(tree, Tree) else None
    tree = part.tree
    if isinstance(tree, CommentedToken):
        return tree.at, tree.text, tree.terminal
    return tree.origin, tree.alias, [shape(source, child) for child in tree.parts]


def listed(source: str, items: ListItems) -> Any:
    return items.suffix, [
        (shape(source, item.part.tree), item.lead, item.tail, item.comma) for item in items.items
    ]


def compare_readers(text: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """Compare both ways of reading; return the number of statements not tokenized at first."""
    model = onnxtext.parse(text)
    short = listed(text, lazy_read.read_model(text, model))
    cuts = len(list(lazy_read.lazy_statements(text, model.graph.nodes, "node")))
    with monkeypatch.context() as context:
        context.setattr(lazy_read, "lazy_statements", lambda *_: iter(()))
        assert short == listed(text, lazy_read.read_model(text, model))
    return cuts


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_examples_give_the_same_tree(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compare_readers(file.read_text(encoding="utf-8"), monkeypatch)


@pytest.mark.thorough
@pytest.mark.data
def test_official_texts_give_the_same_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    assert SHARED is not None
    texts = cuts = 0
    for entry in sampled(index("official_texts"), 3):
        file = SHARED / "official_texts" / entry["file"]
        try:
            text = file.read_bytes().decode()
            onnxtext.parse(text)
        except (OnnxTextError, UnicodeDecodeError):
            continue
        cuts += compare_readers(text, monkeypatch)
        texts += 1
    assert texts > 100
    assert cuts > 30
