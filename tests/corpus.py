# SPDX-License-Identifier: Apache-2.0
"""Find real models and texts: in the shared data, and in the onnx package."""

from __future__ import annotations

import json
import os
import pickle
import warnings
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchmarks.opsets import Case

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


def backend_cases() -> list[tuple[str, bytes]]:
    """Return the names and models of onnx's backend tests."""
    return [(case.name, case.model) for case in backend_runs()]


@cache
def backend_runs() -> list[Case]:
    """Return onnx's backend tests, each with its first data set.

    When onnx collects them, it computes the results of all tests, which takes 10 s. So a file keeps
    them for other processes.
    """
    import onnx

    file = REPOSITORY / ".pytest_cache" / f"backend-runs-{onnx.__version__}.pickle"
    if file.exists():
        kept: list[Case] = pickle.loads(file.read_bytes())
        return kept
    from benchmarks.opsets import backend_cases

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numpy's, about overflow
        found = list(backend_cases())
    file.parent.mkdir(exist_ok=True)
    part = file.with_suffix(f".{os.getpid()}")
    part.write_bytes(pickle.dumps(found))
    part.replace(file)  # another process sees all of it or nothing
    return found
