# SPDX-License-Identifier: Apache-2.0
"""Look up operators in schema files: the files of a project, and the bundled file.

The bundled file, `onnxtext/schemas/onnxruntime.onnxschema`, has the operators of onnxruntime.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from onnxtext.ast.model import OpsetImport
from onnxtext.checker.context.schema_signatures import imports_of, signature_of
from onnxtext.checker.context.signatures import OperatorTable, Signature
from onnxtext.schemas.reading import read_schemas
from onnxtext.source import Source

if TYPE_CHECKING:
    from onnxtext.ast.schemas import SchemaFile


BUNDLED = Path(__file__).resolve().parent.parent.parent / "schemas" / "onnxruntime.onnxschema"


class FileTable(OperatorTable):
    """The operators of a parsed schema file; messages call the file `origin`.

    The table is not `tentative`: the schema files of a project are authoritative, so findings that
    follow from them keep their severity.
    """

    def __init__(self, file: SchemaFile, origin: str) -> None:
        self.origin = origin
        self.imports = imports_of(file)
        schemas = sorted(file.schemas, key=lambda item: item.since)
        self._schemas = {(item.domain, item.name, item.since): item for item in schemas}

    def _signature(self, domain: str, name: str, since: int) -> Signature:
        return signature_of(self._schemas[domain, name, since], self)


class BundledTable(OperatorTable):
    """The operators of onnxruntime, from the bundled schema file.

    The table is `tentative`: a model may be made for another version of onnxruntime, so findings
    that follow from this file become warnings (see `finding.with_schema_origin`). `find` parses and
    caches only the schema that it returns. Blank lines separate the schemas, so `find` can skip the
    other schemas without parsing them.
    """

    tentative = True

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, int], Signature] = {}

    @cached_property
    def _text(self) -> str:
        return BUNDLED.read_text(encoding="utf-8")

    @cached_property
    def origin(self) -> str:  # type: ignore[override]
        """The name and version of the package that defines the operators: `onnxruntime 1.20.0`."""
        return " ".join(_PRODUCER.findall(self._text[:_HEADER])) or "onnxruntime"

    @cached_property
    def imports(self) -> tuple[OpsetImport, ...]:  # type: ignore[override]
        """The opset imports in the header of the bundled file."""
        head = self._text[: self._text.index("\n\n")]
        return tuple(read_schemas(Source(head, BUNDLED.name)).opset_imports)

    @cached_property
    def _schemas(self) -> dict[tuple[str, str, int], re.Match[str]]:  # type: ignore[override]
        """Maps (domain, name, version) of each schema to its place in the text of the file."""
        result = {}
        for match in _BLOCK.finditer(self._text):
            domain, _, name = match["name"].rpartition(".")
            result[domain, name, int(match["since"] or 1)] = match
        return result

    def _signature(self, domain: str, name: str, since: int) -> Signature:
        key = domain, name, since
        if key not in self._found:
            file = read_schemas(Source(self._schemas[key][0], BUNDLED.name))
            self._found[key] = signature_of(file.schemas[0], self)
        return self._found[key]


_HEADER = 600
"""The number of characters at the file's start that contain the producer's name and version."""
_PRODUCER = re.compile(r'producer_(?:name|version): "([^"]*)"')
_BLOCK = re.compile(
    r"\n\n(?:@(?:since\((?P<since>\d+)\)|doc|deprecated)[^\n]*\n)*"
    r"(?P<name>[A-Za-z_][\w.]*) [^\n]*(?:\n[^\n]+)*"
)
"""Matches a blank line and the schema after it; each decorator of the schema is one line."""


@cache
def bundled_table() -> BundledTable:
    """Return the bundled table of onnxruntime's operators."""
    return BundledTable()


_IN_USE: ContextVar[tuple[OperatorTable, ...] | None] = ContextVar("tables in use", default=None)


def default_tables() -> tuple[OperatorTable, ...]:
    """Return the tables that the enclosing `use_tables` sets; by default the bundled table."""
    used = _IN_USE.get()
    return (bundled_table(),) if used is None else used


@contextmanager
def use_tables(tables: tuple[OperatorTable, ...]) -> Iterator[None]:
    """Look up operators in `tables` in all checks inside the `with` statement.

    Some functions check models as a part of their work, such as edits and merges. This context
    manager sets the tables for these checks, so these functions need no parameter for the tables.
    """
    token = _IN_USE.set(tables)
    try:
        yield
    finally:
        _IN_USE.reset(token)
