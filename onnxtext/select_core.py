# SPDX-License-Identifier: Apache-2.0
"""Choose the core (the hot loops): native (`onnxtext._core`) or equivalent pure Python.

`ONNXTEXT_CORE` is `native` or `python`; by default the native core runs if possible.
"""

from __future__ import annotations

import math
import os
import sys
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

Core = Literal["native", "python"]


class CoreError(ImportError):
    """`ONNXTEXT_CORE` is invalid, or the core that it chooses cannot run."""


@cache
def core() -> Core:
    """Return the core in use, `native` or `python`. The choice is made once per process.

    Raises:
        CoreError: `ONNXTEXT_CORE` is invalid, or is `native` and the native core cannot run.
    """
    choice = os.environ.get("ONNXTEXT_CORE", "")
    if choice not in ("", "native", "python"):
        raise CoreError(f"ONNXTEXT_CORE must be `native` or `python`, not `{choice}`")
    if choice == "python":
        return "python"
    # The native core writes little-endian only.
    missing = "is not installed" if sys.byteorder == "little" else "is for little-endian machines"
    spec = find_spec("onnxtext._core.syntax.parser") if sys.byteorder == "little" else None
    if spec is not None and spec.origin is not None:
        if _is_current(Path(spec.origin).parent.parent):
            return "native"
        missing = "is older than its sources: install onnxtext again"
    if choice == "native":
        raise CoreError(f"ONNXTEXT_CORE is `native`, and the native core {missing}")
    return "python"


@cache
def cached_module(name: str) -> Any:
    """Return a module of onnxtext; the cache makes this faster than an import statement."""
    return import_module(f"onnxtext.{name}")


@cache
def core_module(name: str) -> Any:
    """Return a module of the native core, faster than an import statement.

    Raises:
        ImportError: the native core is not installed.
    """
    return import_module(f"onnxtext._core.{name}")


def _is_current(directory: Path) -> bool:
    """Whether no compiled module is older than its sources; True for wheels (without sources)."""
    for package in [*os.scandir(directory)]:  # a list, because an unfinished iterator warns
        if not package.is_dir():
            continue
        sources: dict[str, float] = {}
        modules: dict[str, float] = {}
        for file in os.scandir(package):
            stem, _, suffix = file.name.partition(".")
            if suffix in ("pyx", "pxd"):
                sources[stem] = max(sources.get(stem, 0), file.stat().st_mtime)
            elif suffix.endswith(("so", "pyd")):
                modules[stem] = min(modules.get(stem, math.inf), file.stat().st_mtime)
        if any(modules.get(stem, math.inf) < changed for stem, changed in sources.items()):
            return False
    return True
