# SPDX-License-Identifier: Apache-2.0
"""Keeps imports out of what is measured, and nothing else."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import sys
from collections.abc import Callable


def preload(rehearse: Callable[[], object]) -> None:
    """Import what a conversion imports when it runs, and leave its caches cold.

    We import many modules at their first use, and the start-up rows measure that. A fork of this
    process tries the conversion and tells which modules it then had; here they are only imported.
    """
    source, sink = os.pipe()
    child = os.fork()
    if child == 0:
        _tell(rehearse, sink)
    os.close(sink)
    with os.fdopen(source, encoding="utf-8") as told:
        names: list[str] = json.loads(told.read() or "[]")
    os.waitpid(child, 0)
    for name in names:
        if name not in sys.modules:
            importlib.import_module(name)


def _tell(rehearse: Callable[[], object], sink: int) -> None:
    """In the fork: it ends here, and what was to run at the end of the process does not."""
    try:
        with contextlib.suppress(
            Exception
        ):  # what fails here fails when it is measured, and is told
            rehearse()
        with os.fdopen(sink, "w", encoding="utf-8") as told:
            # Compiled modules make some that cannot be imported: those have no spec.
            names = [name for name, module in sys.modules.items() if getattr(module, "__spec__", 0)]
            json.dump(names, told)
    finally:
        os._exit(0)
