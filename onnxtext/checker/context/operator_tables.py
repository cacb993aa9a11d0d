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
    from onnxtext.ast.schemas import OperatorSchema, SchemaFile


BUNDLED = Path(__file__).resolve().parent.parent.parent / "schemas" / "onnxruntime.onnxschema"


class FileTable:
    """The operators of a parsed schema file; messages call the file `origin`.

    The table is not `tentative`: the schema files of a project are authoritative, so findings that
    follow from them keep their severity.
    """

    tentative = False

    def __init__(self, file: SchemaFile, origin: str) -> None:
        self.origin = origin
        self._imports = imports_of(file)
        self._versions: dict[tuple[str, str], list[OperatorSchema]] = {}
        for schema in sorted(file.schemas, key=lambda item: item.since):
            self._versions.setdefault((schema.domain, schema.name), []).append(schema)
        self._histories = {
            key: [schema.since for schema in schemas] for key, schemas in self._versions.items()
        }

    def find(self, domain: str, name: str, version: int) -> Signature | None:
        """Return the `Signature` of an operator in an operator set version; None if unknown."""
        fitting = [s for s in self._versions.get((domain, name), ()) if s.since <= version]
        return signature_of(fitting[-1], self.origin, self._imports) if fitting else None

    def operators(self) -> dict[tuple[str, str], list[int]]:
        """Map (domain, name) of each operator to the sorted versions that added or changed it."""
        return self._histories


class BundledTable:
    """The operators of onnxruntime, from the bundled schema file.

    The table is `tentative`: a model may be made for another version of onnxruntime, so findings
    that follow from this file become warnings (see `finding.with_schema_origin`). `find` parses and
    caches only the schema that it returns. Blank lines separate the schemas, so `find` can skip the
    other schemas without parsing them.
    """

    tentative = True

    def __init__(self) -> None:
        self._found: dict[tuple[int, int], Signature] = {}

    @cached_property
    def _text(self) -> str:
        return BUNDLED.read_text(encoding="utf-8")

    @cached_property
    def origin(self) -> str:
        """The name and version of the package that defines the operators: `onnxruntime 1.20.0`."""
        return " ".join(_PRODUCER.findall(self._text[:_HEADER])) or "onnxruntime"

    @cached_property
    def _imports(self) -> tuple[OpsetImport, ...]:
        head = self._text[: self._text.index("\n\n")]
        return tuple(read_schemas(Source(head, BUNDLED.name)).opset_imports)

    @cached_property
    def _places(self) -> dict[tuple[str, str], list[tuple[int, int, int]]]:
        """Maps (domain, name) of each operator to its schemas: sorted (version, start, end).

        `start` and `end` are the offsets of the schema in the text of the file.
        """
        result: dict[tuple[str, str], list[tuple[int, int, int]]] = {}
        for match in _BLOCK.finditer(self._text):
            domain, _, name = match["name"].rpartition(".")
            since = int(match["since"] or 1)
            result.setdefault((domain, name), []).append((since, match.start(), match.end()))
        for versions in result.values():
            versions.sort()
        return result

    def find(self, domain: str, name: str, version: int) -> Signature | None:
        """Return the `Signature` of an operator in an operator set version; None if unknown."""
        fitting = [item for item in self._places.get((domain, name), ()) if item[0] <= version]
        if not fitting:
            return None
        _, start, end = fitting[-1]
        cached = self._found.get((start, end))
        if cached is None:
            file = read_schemas(Source(self._text[start:end], BUNDLED.name))
            cached = signature_of(file.schemas[0], self.origin, self._imports, tentative=True)
            self._found[start, end] = cached
        return cached

    def operators(self) -> dict[tuple[str, str], list[int]]:
        """Map (domain, name) of each operator to the sorted versions that added or changed it."""
        return self._histories

    @cached_property
    def _histories(self) -> dict[tuple[str, str], list[int]]:
        return {key: [since for since, *_ in items] for key, items in self._places.items()}


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
