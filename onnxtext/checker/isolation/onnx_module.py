# SPDX-License-Identifier: Apache-2.0
"""Load the compiled part of onnx: operator schemas and shape inference.

The Python package `onnx` takes twenty times longer to import than its compiled part (0.1 s or more,
for numpy and protobuf), and the checker needs only the compiled part. Therefore, the command
`onnxtext` loads only this part. Other programs load the package, because their own code may use it.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from threading import Lock
from typing import Any

from onnxtext.checker.isolation.child_main import NATIVE

_LOADING = Lock()


def onnx_native_module() -> Any:
    """Return the module `onnx.onnx_cpp2py_export`; load it at the first call."""
    with _LOADING:
        loaded = sys.modules.get(NATIVE)
        if loaded is not None:
            return loaded
        if "onnx" not in sys.modules and "onnxtext.cli.main" in sys.modules:
            module = _load_without_package()
            if module is not None:
                return module
        return import_module(NATIVE)


def _load_without_package() -> Any:
    """Load `onnx.onnx_cpp2py_export` without the package `onnx`; return None if that fails."""
    package = find_spec("onnx")
    places = package.submodule_search_locations if package is not None else None
    spec = PathFinder.find_spec(NATIVE, places)
    if spec is None or spec.loader is None:
        return None
    # The module cannot be loaded twice: a later import of `onnx` must find it in `sys.modules`.
    module = sys.modules[NATIVE] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except ImportError:  # the module may need the package to be imported first
        del sys.modules[NATIVE]
        return None
    return module
