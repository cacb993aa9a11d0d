# SPDX-License-Identifier: Apache-2.0
"""Print the schema file of a package: `python -m onnxtext.schemas.child_main PACKAGE`.

This module runs in a child process, so that the package's code cannot harm the parent process.
The schemas come from the first of these sources:

1. For onnxruntime, from its list of schemas, without those of onnx and deprecated ones.
2. From the package's entry point in the group `onnxtext.schemas`: a function without arguments that
   returns schemas (of `onnx.defs.OpSchema`), or the text of a schema file.
3. From the schemas that the package registers by `onnx.defs.register_schema` when it is imported.

Exit status: 0 on success, 3 if the package is missing, 4 if it offers no schemas; otherwise 1, with
the reason on standard error.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import os
import sys
from typing import Any

from onnxtext.ast.schemas import SchemaFile
from onnxtext.printer.schemas import print_schemas
from onnxtext.schemas.convert_schemas import schema_file
from onnxtext.schemas.reading import read_schemas
from onnxtext.source import Source

GROUP = "onnxtext.schemas"
"""The group of entry points by which packages offer schemas."""
MISSING = 3
NONE = 4
_COPIES = ("com.ms.internal.nhwc",)
"""Domains of onnxruntime that repeat operators of onnx for another tensor layout."""


def main() -> int:
    """Print the schema file; return the exit status."""
    package = sys.argv[1]
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output of the package must not mix with the schemas
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    result = schema_file_of(package)
    if isinstance(result, int):
        return result
    out.write(print_schemas(result).encode("utf-8", "surrogateescape"))
    out.close()
    return 0


def schema_file_of(package: str) -> SchemaFile | int:
    """Return the schema file of a package, or an exit status.

    The status is `MISSING` if the package is not installed, `NONE` if it offers no schemas.
    """
    if package == "onnxruntime":
        return _onnxruntime()
    for point in importlib.metadata.entry_points(group=GROUP):
        if point.name == package or (point.dist is not None and point.dist.name == package):
            version = point.dist.version if point.dist is not None else ""
            provided = point.load()()
            if isinstance(provided, str):
                return read_schemas(Source(provided, f"<{package}>"))
            return schema_file(provided, package, version)
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        spec = None
    if spec is None:
        return MISSING
    before = _registered_schemas()
    importlib.import_module(package)
    new = [schema for key, schema in _registered_schemas().items() if key not in before]
    return schema_file(new, package, _version(package)) if new else NONE


def _registered_schemas() -> dict[tuple[str, str, int], Any]:
    """Return the schemas in the registry of onnx, by (domain, name, version)."""
    import onnx.defs

    schemas = onnx.defs.get_all_schemas_with_history()
    return {(item.domain, item.name, item.since_version): item for item in schemas}


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _onnxruntime() -> SchemaFile | int:
    """Return the schemas of onnxruntime's own operators, without deprecated operators.

    Return `MISSING` if onnxruntime is not installed.
    """
    if importlib.util.find_spec("onnxruntime") is None:
        return MISSING
    import onnxruntime
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    registered = _registered_schemas()
    schemas = state.get_all_operator_schema()
    removed = {(schema.domain, schema.name) for schema in schemas if schema.deprecated}
    own_schemas = [
        schema
        for schema in schemas
        if schema.domain not in _COPIES
        and (schema.domain, schema.name) not in removed
        and (schema.domain, schema.name, schema.since_version) not in registered
    ]
    return schema_file(own_schemas, "onnxruntime", onnxruntime.__version__)


if __name__ == "__main__":
    sys.exit(main())
