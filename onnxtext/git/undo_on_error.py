# SPDX-License-Identifier: Apache-2.0
"""Undo the changes of settings and attributes files if an installation fails."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from onnxtext.diagnostics import OnnxTextError
from onnxtext.git.gitattributes import read_attributes, write_attributes
from onnxtext.git.repository import Scope, git_error, read_config, remove_setting, run_git


@contextlib.contextmanager
def undo_on_error(scope: Scope, names: str, files: Iterable[Path]) -> Iterator[None]:
    """Restore settings and attributes files if the `with` block raises an exception.

    Args:
        scope: the configuration that the block changes.
        names: a regular expression that matches the settings (see `read_config`).
        files: the attributes files that the block changes.

    Raises:
        OnnxTextError: the block has failed, and its changes cannot be undone; or the settings or
            files cannot be read before the block.
    """
    settings = read_config(scope, names)
    contents = {path: read_attributes(path).content for path in files}
    try:
        yield
    except BaseException as error:
        try:
            _restore_settings(scope, settings, read_config(scope, names))
            for path, content in contents.items():
                if read_attributes(path).content != content:
                    write_attributes(path, content)
        except (OnnxTextError, OSError) as second:
            raise git_error(
                f"{_reason(error)}; undoing the changes has failed, too: {_reason(second)}",
                help="`onnxtext git status` shows what is configured now",
            ) from error
        raise


def _reason(error: BaseException) -> str:
    return error.diagnostics[0].message if isinstance(error, OnnxTextError) else str(error)


def _restore_settings(
    scope: Scope, old: dict[str, list[str]], current: dict[str, list[str]]
) -> None:
    """Restore the `old` values of settings; `old` and `current` map names to values."""
    for name in old.keys() | current.keys():
        if old.get(name) == current.get(name):
            continue
        if name in current:
            remove_setting(scope, name)
        for value in old.get(name, []):
            run_git("config", f"--{scope}", "--add", name, value)
