# SPDX-License-Identifier: Apache-2.0
"""Load the schema files that the user or the settings of a project specify.

A project may be hostile, so its settings can name only regular files of limited size below their
own directory.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from onnxtext.ast.model import Fragment
from onnxtext.checker.context.operator_tables import FileTable, bundled_table, use_tables
from onnxtext.checker.context.schema_signatures import imports_of, rule_of
from onnxtext.checker.context.signatures import OperatorTable
from onnxtext.checker.engine.check_tree import check_tree, in_text_order
from onnxtext.checker.engine.project_settings import Settings, SettingsError
from onnxtext.diagnostics import Diagnostic, OnnxTextError
from onnxtext.io.text_or_binary import decode_text
from onnxtext.schemas.reading import SUFFIX, parse_schema_file, read_bytes, read_schemas
from onnxtext.source import Source

BUNDLED = "onnxruntime"
"""The name of the bundled table of operators in the setting `schemas`."""


def tables_of(settings: Settings, files: Sequence[Path] = ()) -> tuple[OperatorTable, ...]:
    """Return the operator tables for a check, in the order in which they are searched.

    The schema files of the user (`files`) come first, then those of the settings. The bundled table
    comes last, unless the settings name it at another position.

    Raises:
        SettingsError: the settings name a file that does not exist or is not allowed.
        OnnxTextError: a schema file has errors.
        OSError: a file cannot be read, or is too large.
    """
    tables: list[OperatorTable] = [_table(read_bytes(path), str(path)) for path in files]
    for name in settings.schemas:
        if name == BUNDLED:
            tables.append(bundled_table())
        else:
            tables.append(_table(read_bytes(_path_inside(settings, name)), name))
    if BUNDLED not in settings.schemas:
        tables.append(bundled_table())
    return tuple(tables)


def _path_inside(settings: Settings, name: str) -> Path:
    """Return the path of a schema file that is listed in the settings of a project.

    Raises:
        SettingsError: the path is invalid, or leads to no regular file in the directory of the
            settings.
    """
    assert settings.file is not None, "the default settings list no schemas"
    setting = f"{settings.file}: [tool.onnxtext] schemas: `{name}`"
    root = settings.file.parent.resolve()
    try:
        path = (root / name).resolve()
        is_file = path.is_file()
    except (OSError, ValueError, RuntimeError):  # a path with a NUL, too long, or a loop of links
        raise SettingsError(f"{setting} is not a valid path") from None
    if not path.is_relative_to(root):
        raise SettingsError(f"{setting} is outside of {root}; `--schemas` can name any file")
    if not is_file:
        hint = "" if name.endswith(SUFFIX) else f": name a file *{SUFFIX}, or `{BUNDLED}`"
        raise SettingsError(f"{setting} is not a file{hint}")
    return path


@lru_cache(maxsize=16)
def _table(data: bytes, name: str) -> FileTable:
    """Parse the content of a schema file, which is called `name` in messages.

    The result is cached, because the language server asks repeatedly.
    """
    return FileTable(parse_schema_file(data, name), name)


def check_schemas(data: bytes, name: str) -> list[Diagnostic]:
    """Check the content of a schema file: its syntax and the bodies of its operators."""
    try:
        source = Source(decode_text(data, name), name)
        file = read_schemas(source)
    except OnnxTextError as error:
        return list(error.diagnostics)
    except RecursionError:
        return [Diagnostic("too-deep", "the schema file is nested too deeply", file=name)]
    diagnostics: list[Diagnostic] = []
    with use_tables((FileTable(file, name), bundled_table())):
        for schema in file.schemas:
            if schema.body is not None:
                rule = rule_of(schema, imports_of(file))
                diagnostics += check_tree(Fragment(rule), source=source, ignore=_IGNORED)
    return in_text_order(diagnostics)


_IGNORED = ("function-unused", "function-shadows-operator")
"""Rules about functions that do not apply to the bodies of schemas."""
