# SPDX-License-Identifier: Apache-2.0
"""Look up operators in the schema files of a project, and select the tables of operators to use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from onnxtext.checker.context.onnxruntime_operators import bundled_table
from onnxtext.checker.context.schema_signatures import imports_of, signature_of
from onnxtext.checker.context.signatures import OperatorTable, Signature

if TYPE_CHECKING:
    from onnxtext.ast.schemas import OperatorSchema, SchemaFile


class FileTable:
    """The operators of a parsed schema file.

    Attributes:
        origin: the name of the schema file in messages.
        tentative: always False. The schema files of a project are authoritative, so findings that
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


_IN_USE: ContextVar[tuple[OperatorTable, ...] | None] = ContextVar("tables in use", default=None)


def default_tables() -> tuple[OperatorTable, ...]:
    """Return the tables that the enclosing `use_tables` sets; by default the bundled table."""
    used = _IN_USE.get()
    return (bundled_table(),) if used is None else used


@contextmanager
def use_tables(tables: tuple[OperatorTable, ...]) -> Iterator[None]:
    """Look up operators in `tables` in all checks inside the `with` statement.

    So functions that check models as a part of their work, such as edits and merges, need no
    parameter for the tables.
    """
    token = _IN_USE.set(tables)
    try:
        yield
    finally:
        _IN_USE.reset(token)
