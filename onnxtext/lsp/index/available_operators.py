# SPDX-License-Identifier: Apache-2.0
"""Find the operators that a document may use: from onnx, the project and onnxtext's table.

A table contains the operators of one schema file. The bundled table has onnxruntime's operators.
"""

from __future__ import annotations

import contextlib
from functools import lru_cache
from pathlib import Path

from onnxtext.checker.context.operator_tables import bundled_table
from onnxtext.checker.context.signatures import OperatorTable, Schemas
from onnxtext.checker.engine.project_schemas import tables_of
from onnxtext.checker.engine.project_settings import SettingsError, find_settings
from onnxtext.diagnostics import OnnxTextError


def schemas_of(directory: Path | None) -> Schemas:
    """Return the operators that documents in a directory may use.

    These are the operators of onnx, of the project's schema files, and of the bundled table. If the
    settings or a schema file have errors or cannot be read, the project's operators are left out.
    The checker reports these errors.
    """
    return _schemas(tables_for(directory))


def tables_for(directory: Path | None) -> tuple[OperatorTable, ...]:
    """Return the operator tables of the project around a directory, and the bundled table.

    If the settings or a schema file have errors or cannot be read, return only the bundled table.
    """
    if directory is not None:
        with contextlib.suppress(SettingsError, OSError, OnnxTextError):
            return tables_of(find_settings(directory))
    return (bundled_table(),)


@lru_cache(maxsize=8)
def _schemas(tables: tuple[OperatorTable, ...]) -> Schemas:
    """Return the operators in tables; equal tables get the same object, with cached signatures."""
    return Schemas(tables)
