# SPDX-License-Identifier: Apache-2.0
"""Import the operator schemas of a package in a child process."""

from __future__ import annotations

import subprocess
import sys

from onnxtext.ast.schemas import SchemaFile
from onnxtext.diagnostics import OnnxTextError
from onnxtext.schemas.child_main import GROUP, MISSING, NONE
from onnxtext.schemas.reading import MAX_SCHEMA_BYTES, read_schemas
from onnxtext.source import Source

TIMEOUT_SECONDS = 300.0
"""Time limit of an import, in seconds."""
_MAX_LINE_LENGTH = 300


class SchemaImportError(Exception):
    """Raised if a package has no usable schemas; `help` is advice for the user."""

    def __init__(self, message: str, help: str) -> None:
        super().__init__(message)
        self.message = message
        self.help = help


def import_schemas(package: str) -> SchemaFile:
    """Import a package in a child process and return its schemas.

    Raises:
        SchemaImportError: the import fails, takes too long, or yields no usable schemas.
    """
    command = [sys.executable, "-m", "onnxtext.schemas.child_main", package]
    try:
        done = subprocess.run(command, capture_output=True, timeout=TIMEOUT_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise SchemaImportError(
            f"importing `{package}` took more than {TIMEOUT_SECONDS:.0f} seconds",
            "import a submodule of the package instead",
        ) from None
    except ValueError as error:  # the name has a null character or a lone surrogate
        raise SchemaImportError(
            f"`{package}` cannot be the name of a package: {error}", "check the name of the package"
        ) from None
    except OSError as error:
        raise SchemaImportError(
            f"cannot start a Python process for `{package}`: {error}",
            f"check that {sys.executable} can be run",
        ) from None
    if done.returncode == MISSING:
        raise SchemaImportError(
            f"there is no installed package `{package}`",
            f"install it for this Python, {sys.executable}",
        )
    if done.returncode == NONE:
        raise SchemaImportError(
            f"the package `{package}` offers no operator schemas",
            f"a package offers schemas by an entry point in the group `{GROUP}`, or registers them "
            "with onnx.defs.register_schema on import",
        )
    if done.returncode:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        last = lines[-1][:_MAX_LINE_LENGTH] if lines else f"exit status {done.returncode}"
        raise SchemaImportError(
            f"importing the schemas of `{package}` failed: {last}",
            f"{sys.executable} -m onnxtext.schemas.child_main {package} shows the whole error",
        )
    if len(done.stdout) > MAX_SCHEMA_BYTES:
        raise SchemaImportError(
            f"the schemas of `{package}` are too large", "import a submodule of the package instead"
        )
    try:
        return read_schemas(Source(done.stdout.decode("utf-8", "replace"), f"<{package}>"))
    except OnnxTextError as error:
        raise SchemaImportError(
            f"the schemas of `{package}` cannot be written in a schema file: "
            f"{error.diagnostics[0].message}",
            f"{sys.executable} -m onnxtext.schemas.child_main {package} shows them",
        ) from None


def with_bodies(new: SchemaFile, old: SchemaFile) -> SchemaFile:
    """Copy bodies from `old` to the operators of `new` that have no body; return `new`.

    Schemas that are converted from `OpSchema` have no bodies: users write bodies by hand.
    """
    bodies = {(s.domain, s.name, s.since): s.body for s in old.schemas if s.body is not None}
    for schema in new.schemas:
        if schema.body is None:
            schema.body = bodies.get((schema.domain, schema.name, schema.since))
    return new
