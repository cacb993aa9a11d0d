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

    onnxtext imports many modules on first use; `benchmarks.startup` measures that. A fork of this
    process runs the conversion and reports its imported modules, and this process imports them.
    """
    source, sink = os.pipe()
    child = os.fork()
    if child == 0:
        _report_modules(rehearse, sink)
    os.close(sink)
    with os.fdopen(source, encoding="utf-8") as pipe:
        names: list[str] = json.loads(pipe.read() or "[]")
    os.waitpid(child, 0)
    for name in names:
        if name not in sys.modules:
            importlib.import_module(name)


def _report_modules(rehearse: Callable[[], object], sink: int) -> None:
    """Run the conversion in the fork, write the names of modules, and exit the process."""
    try:
        with contextlib.suppress(Exception):  # the measurement fails too, and reports it
            rehearse()
        with os.fdopen(sink, "w", encoding="utf-8") as pipe:
            # Compiled modules create some without a spec, which cannot be imported.
            names = [name for name, module in sys.modules.items() if getattr(module, "__spec__", 0)]
            json.dump(names, pipe)
    finally:
        os._exit(0)
