# SPDX-License-Identifier: Apache-2.0
"""Read the settings of a project: the table `[tool.onnxtext]` of its `pyproject.toml`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, NamedTuple

from onnxtext.checker.context.registry import profiles
from onnxtext.checker.engine.select_rules import is_known

FILE = "pyproject.toml"
_KEYS = frozenset(("select", "ignore", "profile", "strict", "max-findings", "schemas"))
_MAX_SCHEMAS = 100


class SettingsError(ValueError):
    """Raised for invalid settings; the message names the file and the reason.

    Attributes:
        code: the code of the diagnostic that reports the error.
    """

    code = "invalid-settings"


class Settings(NamedTuple):
    """The settings of a project.

    Attributes:
        select: rules and profiles to enable; `all` is every rule that belongs to no profile.
        ignore: rules and profiles to disable.
        strict: whether a check fails if there are warnings.
        max_findings: the maximum number of findings to show for one file; 0 means all; None means
            that the settings have no such key.
        schemas: schema files, relative to the directory of `file`; `onnxruntime` is the bundled
            table.
        file: the file that contains these settings; None for the defaults.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    strict: bool = False
    max_findings: int | None = None
    schemas: tuple[str, ...] = ()
    file: Path | None = None


def find_settings(directory: Path) -> Settings:
    """Return the settings in the nearest `pyproject.toml` that has a table `[tool.onnxtext]`.

    Search the directory and all its parents. If there is no such file, return the defaults.

    Raises:
        SettingsError: the settings are invalid, or a `pyproject.toml` cannot be parsed.
        OSError: a `pyproject.toml` cannot be read.
    """
    directory = directory.resolve()
    for parent in (directory, *directory.parents):
        path = parent / FILE
        if path.is_file():
            table = _table(path)
            if table is not None:
                return _settings(path, table)
    return Settings()


def _table(path: Path) -> dict[str, Any] | None:
    if sys.version_info >= (3, 11):
        import tomllib
    else:  # pragma: no cover
        import tomli as tomllib

    try:
        document = tomllib.loads(path.read_text("utf-8"))
    except ValueError as error:  # invalid TOML or UTF-8, or a number with thousands of digits
        raise SettingsError(f"{path}: {str(error)[:200]}") from None
    except RecursionError:
        raise SettingsError(f"{path}: the file is nested too deeply") from None
    tool = document.get("tool")
    table = tool.get("onnxtext") if isinstance(tool, dict) else None
    return table if isinstance(table, dict) else None


def _settings(path: Path, table: dict[str, Any]) -> Settings:
    table_name = f"{path}: [tool.onnxtext]"

    def require(is_valid: bool, problem: str) -> None:
        if not is_valid:
            raise SettingsError(f"{table_name} {problem}")

    for key in sorted(table):
        require(key in _KEYS, f"unknown setting `{key}`")

    def strings(key: str, form: str) -> list[str]:
        """Return a setting that is a list of strings; [] if its key is missing.

        Raise `SettingsError` for another value. `form` describes the required value in this error,
        such as "a list of rules".
        """
        value = table.get(key, [])
        is_list = isinstance(value, list) and all(isinstance(item, str) for item in value)
        require(is_list, f"{key} must be {form}")
        return list(value)

    for key in ("select", "ignore"):
        for code in strings(key, "a list of rules"):
            require(is_known(code), f"{key}: unknown rule `{code}`")
    if isinstance(table.get("profile"), str):
        table = {**table, "profile": [table["profile"]]}
    profile = strings("profile", "the name of a profile, or a list of names")
    for name in profile:
        problem = f"unknown profile `{name}`; the profiles are {', '.join(profiles())}"
        require(name in profiles(), f"profile: {problem}")
    strict = table.get("strict", False)
    require(isinstance(strict, bool), "strict must be true or false")
    max_findings = table.get("max-findings")
    if max_findings is not None:
        is_count = type(max_findings) is int and max_findings >= 0
        require(is_count, "max-findings must be an integer of at least 0; 0 shows all findings")
    schemas = strings("schemas", "a list of schema files")
    require(len(schemas) <= _MAX_SCHEMAS, f"schemas: more than {_MAX_SCHEMAS} files")
    select = (*table.get("select", ()), *profile)
    ignore = tuple(table.get("ignore", ()))
    return Settings(select, ignore, strict, max_findings, tuple(schemas), path)
