# SPDX-License-Identifier: Apache-2.0
"""Read project settings and schema files; convert their errors to `CommandError`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from onnxtext.cli.command_errors import CommandError, read_error

if TYPE_CHECKING:
    from onnxtext.checker.context.signatures import OperatorTable
    from onnxtext.checker.engine.project_settings import Settings


def read_settings(path: Path | None) -> Settings:
    """Return the project settings for a file; if `path` is None, for the current directory.

    Raises:
        CommandError: the settings cannot be read or are invalid.
    """
    from onnxtext.checker.engine.project_settings import SettingsError, find_settings

    try:
        return find_settings(Path() if path is None else path.parent)
    except SettingsError as error:
        raise CommandError(error.code, str(error)) from None
    except OSError as error:
        raise read_error(error, "pyproject.toml") from None


def read_schema_tables(settings: Settings, files: Sequence[str]) -> tuple[OperatorTable, ...]:
    """Return the operator tables for a check: from schema files, and the bundled table.

    Args:
        settings: the settings of the project, which can name schema files.
        files: further schema files, from the command line.

    Raises:
        CommandError: a schema file cannot be read, or has errors.
    """
    from onnxtext.checker.engine.project_schemas import tables_of
    from onnxtext.checker.engine.project_settings import SettingsError
    from onnxtext.diagnostics import OnnxTextError

    try:
        return tables_of(settings, [Path(name) for name in files])
    except SettingsError as error:
        raise CommandError(error.code, str(error)) from None
    except OSError as error:
        raise read_error(error, "a schema file") from None
    except OnnxTextError as error:
        first, *others = error.diagnostics
        converted = CommandError(first.code, first.message)
        note = f"and {len(others)} more: `onnxtext schemas check` shows all"
        converted.diagnostic = replace(first, notes=(*first.notes, note)) if others else first
        raise converted from None


@contextmanager
def schemas_of_project(path: Path | None, files: Sequence[str] = ()) -> Iterator[Settings]:
    """Let all checks in the `with` block use the schema files of a project, and `files`.

    Args:
        path: a file of the project; None for the project in the current directory.
        files: further schema files.

    Yields:
        The settings of the project.

    Raises:
        CommandError: the settings or a schema file cannot be read, or are invalid.
    """
    from onnxtext.checker.context.operator_tables import use_tables

    settings = read_settings(path)
    with use_tables(read_schema_tables(settings, files)):
        yield settings
