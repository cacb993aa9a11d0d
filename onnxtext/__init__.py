# SPDX-License-Identifier: Apache-2.0
"""Convert ONNX models to readable text for editors and git, and back, without any loss.

    >>> import onnxtext
    >>> text = onnxtext.from_binary(open("model.onnx", "rb").read())
    >>> assert onnxtext.to_binary(text) == open("model.onnx", "rb").read()

Names are imported on first use, so that importing the package is cheap.
"""

from __future__ import annotations

__version__ = "0.1.0"

# Type checkers treat this variable as true. `typing` is not imported, because that takes 10 to
# 20 ms, during which Ctrl-C would show a traceback.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from onnxtext import ast
    from onnxtext.api import (
        check,
        dump,
        dumps,
        format_text,
        from_binary,
        load,
        loads,
        parse,
        to_binary,
    )
    from onnxtext.api_diff_merge import diff, merge, rewrite, verify
    from onnxtext.api_show import Shown, show
    from onnxtext.diagnostics import Diagnostic, OnnxTextError, OnnxTextWarning
    from onnxtext.onnx_serializer import register
    from onnxtext.viewer import view

__all__ = [
    "Diagnostic", "OnnxTextError", "OnnxTextWarning", "Shown", "__version__", "ast", "check",
    "diff", "dump", "dumps", "format_text", "from_binary", "load", "loads", "merge", "parse",
    "register", "rewrite", "show", "to_binary", "verify", "view",
]  # fmt: skip

_MODULES = {
    "Diagnostic": "diagnostics", "OnnxTextError": "diagnostics", "OnnxTextWarning": "diagnostics",
    "diff": "api_diff_merge", "merge": "api_diff_merge", "rewrite": "api_diff_merge",
    "verify": "api_diff_merge", "Shown": "api_show", "register": "onnx_serializer",
    "show": "api_show", "view": "viewer",
}  # fmt: skip
"""Maps exported names to their modules. All other exported functions are in `api`."""


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    if name == "ast":
        return importlib.import_module("onnxtext.ast")
    module = _MODULES.get(name, "api")
    value = getattr(importlib.import_module(f"onnxtext.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
