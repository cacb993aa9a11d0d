# SPDX-License-Identifier: Apache-2.0
"""The compiled part of onnx: operator schemas and shape inference.

The Python package around it takes twenty times as long to import (0.1 s and more: numpy, protobuf),
and a check needs nothing of it. So the command line, whose process is its own, loads the compiled
part alone. In the processes of others onnx is imported as always: there it stays as they know it.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from threading import Lock
from typing import Any

_NAME = "onnx.onnx_cpp2py_export"
_LOADING = Lock()


def native() -> Any:
    """The module `onnx.onnx_cpp2py_export`."""
    with _LOADING:
        known = sys.modules.get(_NAME)
        if known is not None:
            return known
        if "onnx" not in sys.modules and "onnxtext.cli.main" in sys.modules:
            alone = _alone()
            if alone is not None:
                return alone
        return import_module(_NAME)


def _alone() -> Any:
    """The module without its package; None if it cannot be had so."""
    package = find_spec("onnx")
    places = package.submodule_search_locations if package is not None else None
    spec = PathFinder.find_spec(_NAME, places)
    if spec is None or spec.loader is None:
        return None
    # The package finds it there if it is imported after all: the module cannot be loaded twice.
    module = sys.modules[_NAME] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except ImportError:  # it may need what the package does first
        del sys.modules[_NAME]
        return None
    return module
