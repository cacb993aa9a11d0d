# SPDX-License-Identifier: Apache-2.0
"""The compiled part of onnx: operator schemas and shape inference.

The Python package around it takes twenty times as long to import (0.1 s and more: numpy, protobuf),
and a check needs nothing of it. So our own processes (the command line, and the child that runs
inference) load the compiled part alone. Other processes import onnx as usual.
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
_OWN = ("onnxtext.cli.main", "onnxtext.checker.isolation.worker")
"""Modules that are loaded in our own processes only."""


def native() -> Any:
    """The module `onnx.onnx_cpp2py_export`."""
    with _LOADING:
        known = sys.modules.get(_NAME)
        if known is not None:
            return known
        if "onnx" not in sys.modules and any(name in sys.modules for name in _OWN):
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
