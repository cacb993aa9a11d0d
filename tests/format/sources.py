# SPDX-License-Identifier: Apache-2.0
"""Texts to edit: examples, language reference, official texts, and models printed in all forms."""

from __future__ import annotations

import random
import warnings
from functools import cache
from pathlib import Path
from typing import Literal, get_args

import onnxtext
from onnxtext.api import to_official
from onnxtext.binary_to_text import print_binary
from tests.corpus import EXAMPLES, index, onnx_directory, shared_model, shared_models, wheel_models
from tests.format.edits import is_text, sentence
from tests.format.test_comments import official_models

WRAPPERS = {
    "model": "{}",
    "graph": "{}",
    "function": "g () => () {{}}\n{}",
    "node": "g () => () {{\n{}\n}}",
    "nodes": "g () => () {{\n{}\n}}",
    "value_info": "g ({}) => () <{}> {{}}",
    "attribute": "g () => () {{ y = Op <{}> () }}",
    "tensor": "g () => () {{ y = Op <t = {}> () }}",
    "type": "g ({} x) => () {{}}",
    "entry": "<metadata_props: [{}]> g () => () {{}}",
    "record": "g () => () {{ y = Op <a = {}> () }}",
    "section": "g () => () {{}}\n{}",
    "decorator": "g () => () {{ {} y = Op () }}",
}
"""Templates that make the text of a whole model from that of a part, by the kind of part."""

LARGEST = 30_000
"""The longest text, in characters, that is edited."""

Weights = Literal["section", "store", "safetensors", "inline", "none"]
Metadata = Literal["auto", "inline", "section", "none"]


def wrapped(kind: str, text: str) -> str:
    """Return a model that contains a part of a model."""
    return WRAPPERS[kind].format(*[text] * WRAPPERS[kind].count("{}"))


@cache
def written_texts() -> list[str]:
    """Return texts that people have written."""
    from tests.test_spec import TEXTS, Block  # reads the document when it is imported

    def whole(block: Block) -> str:
        return wrapped(block.kind, block.text)

    texts = [path.read_text("utf-8") for path in EXAMPLES]
    # Leave out messages that are written as records, which only lists of nodes can contain, and
    # schemas, which are no part of a model.
    texts += [
        whole(b) for b in TEXTS
        if b.kind in ("model", "nodes") or (b.kind != "schema" and not b.text.startswith("{"))
    ]  # fmt: skip
    if index("official_texts"):
        texts += official_models()
    return [text for text in texts if len(text) <= LARGEST and is_text(text)]


@cache
def small_models(largest: int = 20_000) -> list[bytes]:
    """Return the small models of the onnx wheel and of the shared data."""
    files = [onnx_directory() / name for name in wheel_models()]
    found = [path.read_bytes() for path in files if path.stat().st_size <= largest]
    shared = map(shared_model, shared_models())
    return found + [data for data in shared if len(data) <= largest]


def model_text(rng: random.Random, data: bytes) -> str:
    """Return a model as text, printed with random options."""
    if rng.random() < 0.15:
        return to_official(data)[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", onnxtext.OnnxTextWarning)
        text, _ = print_binary(
            data,
            Path("m.onnxtxt"),
            weights=rng.choice(get_args(Weights)),
            inline_limit=rng.choice((0, 64, 1000)),
            metadata=rng.choice(get_args(Metadata)),
            location=rng.choice((None, "w", "a b/c")),
            stats=rng.random() < 0.3,
        )
    return text


def drawn_sentence(rng: random.Random) -> str | None:
    """Return a model made of a random sentence of the grammar; None if the model is invalid."""
    kind = rng.choice([*WRAPPERS])
    rule = {"model": "graph", "nodes": "node", "entry": "pair"}.get(kind, kind)
    text = wrapped(kind, sentence(rng, rule, rng.choice((6, 8, 12, 16, 24))))
    return text if is_text(text) else None


def drawn_text(rng: random.Random) -> str | None:
    """Return a text from a random source; None if the source gives no valid text."""
    kind = rng.random()
    if kind < 0.45:
        return rng.choice(written_texts())
    if kind < 0.75:
        text = model_text(rng, rng.choice(small_models()))
        return text if len(text) <= LARGEST and is_text(text) else None
    return drawn_sentence(rng)
