# SPDX-License-Identifier: Apache-2.0
"""Which core runs: the compiled one (`onnxtext._core`), or Python alone, which does the same.

`ONNXTEXT_CORE` is `native` or `python`; without it the compiled core runs where it is installed.
"""

from __future__ import annotations

import math
import os
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

Core = Literal["native", "python"]


class CoreError(ImportError):
    """The core that `ONNXTEXT_CORE` names cannot run."""


@cache
def core() -> Core:
    """The core that runs, chosen once a process.

    Raises:
        CoreError: `ONNXTEXT_CORE` names none, or the compiled core, which is not there.
    """
    wanted = os.environ.get("ONNXTEXT_CORE", "")
    if wanted not in ("", "native", "python"):
        raise CoreError(f"ONNXTEXT_CORE is `native` or `python`, not `{wanted}`")
    if wanted == "python":
        return "python"
    # What it writes is little-endian.
    missing = "is not installed" if sys.byteorder == "little" else "is for little-endian machines"
    found = find_spec("onnxtext._core.parser") if sys.byteorder == "little" else None
    if found is not None and found.origin is not None:
        if _is_current(Path(found.origin).parent):
            return "native"
        missing = "is older than its sources: install onnxtext again"
    if wanted == "native":
        raise CoreError(f"ONNXTEXT_CORE is `native`, and the native core {missing}")
    return "python"


def _is_current(directory: Path) -> bool:
    """Whether no source was changed since its module was compiled; in wheels there are none."""
    sources: dict[str, float] = {}
    modules: dict[str, float] = {}
    for file in os.scandir(directory):
        stem, _, suffix = file.name.partition(".")
        if suffix in ("pyx", "pxd"):
            sources[stem] = max(sources.get(stem, 0), file.stat().st_mtime)
        elif suffix.endswith(("so", "pyd")):
            modules[stem] = min(modules.get(stem, math.inf), file.stat().st_mtime)
    return all(modules.get(stem, math.inf) >= changed for stem, changed in sources.items())
