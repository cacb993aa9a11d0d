# SPDX-License-Identifier: Apache-2.0
"""Find real models and texts: in the shared data, and in the onnx package."""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parent.parent
EXAMPLES = sorted((REPOSITORY / "examples").glob("*.onnxtxt"))


def _find_shared() -> Path | None:
    candidates = [REPOSITORY.parent / "shared" / "data"]
    if "ONNXTEXT_DATA" in os.environ:
        candidates.insert(0, Path(os.environ["ONNXTEXT_DATA"]))
    return next((path for path in candidates if (path / "models" / "index.json").is_file()), None)


SHARED = _find_shared()
"""The directory of the shared data; None in a clone without it."""


@cache
def index(part: str) -> list[dict[str, Any]]:
    """Return the index of `models` or `official_texts`; empty without the shared data."""
    if SHARED is None:
        return []
    entries: list[dict[str, Any]] = json.loads((SHARED / part / "index.json").read_text())
    return entries


def shared_models() -> list[str]:
    """Return the shared models, as paths below the shared data."""
    return [entry["file"] for entry in index("models")]


def shared_model(file: str) -> bytes:
    """Return the bytes of a shared model."""
    assert SHARED is not None
    return (SHARED / file).read_bytes()


def exports() -> list[Path]:
    """Return the models that current exporters, optimizers and quantizers wrote."""
    return [] if SHARED is None else sorted((SHARED / "exports").glob("*.onnx"))


@cache
def onnx_directory() -> Path:
    """Return the directory of the onnx package."""
    import onnx

    return Path(onnx.__file__).parent


def wheel_models() -> list[str]:
    """Return the models in the onnx wheel, as paths below the package."""
    root = onnx_directory()
    return sorted(str(path.relative_to(root)) for path in root.rglob("*.onnx"))
