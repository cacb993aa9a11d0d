# SPDX-License-Identifier: Apache-2.0
"""Texts to parse: real models, official texts and mutations."""

from __future__ import annotations

import random
from functools import cache

import onnxtext
from tests.corpus import SHARED, index, onnx_directory, shared_model, shared_models, wheel_models


@cache
def texts() -> list[str]:
    """Return texts of real models."""
    found = []
    for file in wheel_models()[::3]:
        found.append(onnxtext.from_binary((onnx_directory() / file).read_bytes()))
    for file in shared_models()[::2]:
        text = onnxtext.from_binary(shared_model(file))
        if len(text) < 300_000:
            found.append(text)
    return found


def official_texts() -> list[tuple[str, str]]:
    """Return the official texts, each with its start rule."""
    starts = {"nodelist": "nodes"}
    found = []
    for entry in index("official_texts"):
        assert SHARED is not None
        text = (SHARED / "official_texts" / entry["file"]).read_bytes().decode()
        kind = entry["kind"]
        start = "model" if kind == "model" else f"{starts.get(kind, kind)}_fragment"
        found.append((text, start))
    return found


def mutate(text: str, rng: random.Random) -> str:
    """Return a text with one random change, which may be valid."""
    at = rng.randrange(len(text))
    end = min(len(text), at + rng.choice([1, 1, 2, 5, 20]))
    match rng.randrange(6):
        case 0:
            return text[:at] + text[end:]
        case 1:
            return text[:end] + text[at:]
        case 2:
            return text[:at] + rng.choice('"(){}[]<>,=:@#\n\\ bx1.-') + text[at:]
        case 3:
            return text[:at] + rng.choice(["\n", " # comment\n", "\r\n"]) + text[at:]
        case 4:
            lines = text.split("\n")
            line = rng.randrange(len(lines))
            del lines[line : line + rng.choice([1, 2])]
            return "\n".join(lines)
    return text[:at]
