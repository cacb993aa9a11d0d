# SPDX-License-Identifier: Apache-2.0
"""Read and parse schema files: the operators of a package or a project (SPEC 19)."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from onnxtext.io.text_or_binary import decode_text
from onnxtext.source import Source

if TYPE_CHECKING:
    from onnxtext.ast.schemas import SchemaFile

SUFFIX = ".onnxschema"
MAX_SCHEMA_BYTES = 16 << 20
"""Maximum size of a schema file, in bytes."""


def read_bytes(path: Path) -> bytes:
    """Return the content of a schema file.

    Raises:
        OSError: the file cannot be read, is not a regular file, or is too large.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with open(os.open(path, flags), "rb") as file:  # noqa: PTH123 (a descriptor)
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError(0, "not a regular file", str(path))
        if status.st_size > MAX_SCHEMA_BYTES:
            raise OSError(0, f"larger than {MAX_SCHEMA_BYTES >> 20} MiB", str(path))
        return file.read(MAX_SCHEMA_BYTES + 1)


def parse_schema_file(data: bytes, name: str) -> SchemaFile:
    """Parse the content of a schema file.

    Raises:
        OnnxTextError: the file has errors.
    """
    return read_schemas(Source(decode_text(data, name), name))


def read_schemas(source: Source) -> SchemaFile:
    """Parse a schema file.

    Raises:
        OnnxTextError: the text has errors.
    """
    from onnxtext.syntax.parse import parse_start

    result: SchemaFile = parse_start(source, "schema_fragment")
    return result
