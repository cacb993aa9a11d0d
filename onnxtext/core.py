# SPDX-License-Identifier: Apache-2.0
"""Which core runs: the compiled one (`onnxtext._core`), or Python alone, which does the same.

`ONNXTEXT_CORE` is `native` or `python`; without it the compiled core runs where it is installed.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from importlib.util import find_spec
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
    if sys.byteorder == "little" and find_spec("onnxtext._core.parser") is not None:
        return "native"
    if wanted == "native":
        raise CoreError("ONNXTEXT_CORE is `native`, and the native core is not installed")
    return "python"
