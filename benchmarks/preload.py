# SPDX-License-Identifier: Apache-2.0
"""Import modules before a measurement, without warming caches."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import sys
from collections.abc import Callable


def preload(rehearse: Callable[[], object]) -> None:
    """Import the modules that a conversion imports when it runs, and leave its caches cold.

    We import many modules on first use, which the start-up rows measure. A fork of this process
    runs the conversion and reports its imported modules; here they are only imported.
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
    """Run in the fork, and exit without exit handlers."""
    try:
        with contextlib.suppress(
            Exception
        ):  # what fails here fails when it is measured, and is told
            rehearse()
        with os.fdopen(sink, "w", encoding="utf-8") as told:
            # Compiled modules create some without a spec, which cannot be imported.
            names = [name for name, module in sys.modules.items() if getattr(module, "__spec__", 0)]
            json.dump(names, told)
    finally:
        os._exit(0)
