# SPDX-License-Identifier: Apache-2.0
"""Read project settings and schema files; convert their errors to `CommandError`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from onnxtext.cli.command_errors import CommandError, read_errors

if TYPE_CHECKING:
    from onnxtext.checker.context.signatures import OperatorTable
    from onnxtext.checker.engine.project_settings import Settings


def load_project(
    path: Path | None, files: Sequence[str]
) -> tuple[Settings, tuple[OperatorTable, ...]]:
    """Return a project's settings, and the operator tables of its schema files and of onnxtext.

    Args:
        path: a file of the project; None for the project in the current directory.
        files: further schema files, from the command line.

    Raises:
        CommandError: the settings or a schema file cannot be read, or are invalid.
    """
    from onnxtext.checker.engine.project_schemas import tables_of
    from onnxtext.checker.engine.project_settings import SettingsError, find_settings
    from onnxtext.diagnostics import OnnxTextError

    try:
        with read_errors("pyproject.toml"):
            settings = find_settings(Path() if path is None else path.parent)
        with read_errors("a schema file"):
            return settings, tables_of(settings, [Path(name) for name in files])
    except SettingsError as error:
        raise CommandError(error.code, str(error)) from None
    except OnnxTextError as error:
        first, *others = error.diagnostics
        converted = CommandError(first.code, first.message)
        note = f"and {len(others)} more: `onnxtext schemas check` shows all"
        converted.diagnostic = replace(first, notes=(*first.notes, note)) if others else first
        raise converted from None


@contextmanager
def schemas_of_project(path: Path | None, files: Sequence[str] = ()) -> Iterator[Settings]:
    """Let all checks in the `with` block use the schema files of a project; yield its settings.

    The arguments and errors are those of `load_project`.
    """
    from onnxtext.checker.context.operator_tables import use_tables

    settings, tables = load_project(path, files)
    with use_tables(tables):
        yield settings
