# SPDX-License-Identifier: Apache-2.0
"""Load the compiled part of onnx: operator schemas and shape inference.

The checker needs only the compiled part. Importing the whole package takes twenty times as long:
0.1 s or more, for numpy and protobuf. Therefore, the command `onnxtext` loads only the compiled
part. Other programs load the package, because their own code may use it.
"""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder
from importlib.util import find_spec
from threading import Lock
from typing import Any

from onnxtext.checker.isolation.child_main import NATIVE, load_native

_LOADING = Lock()


def onnx_native_module() -> Any:
    """Return the module `onnx.onnx_cpp2py_export`; load it at the first call."""
    with _LOADING:
        loaded = sys.modules.get(NATIVE)
        if loaded is not None:
            return loaded
        path = ""
        if "onnx" not in sys.modules and "onnxtext.cli.main" in sys.modules:
            package = find_spec("onnx")
            places = package.submodule_search_locations if package is not None else None
            spec = PathFinder.find_spec(NATIVE, places)
            path = (spec.origin if spec is not None else None) or ""
        return load_native(path)
