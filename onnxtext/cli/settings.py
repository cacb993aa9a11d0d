# SPDX-License-Identifier: Apache-2.0
"""Read the project settings for a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from onnxtext.cli.report import CommandError
from onnxtext.files import name_of

if TYPE_CHECKING:
    from onnxtext.checker.engine.config import Settings


def read_settings(path: Path | None) -> Settings:
    """Return the settings for a file; for standard input those of the current directory.

    Raises:
        CommandError: they cannot be read, or are invalid.
    """
    from onnxtext.checker.engine.config import SettingsError, find_settings

    try:
        return find_settings(Path() if path is None else path.parent)
    except SettingsError as error:
        raise CommandError("invalid-settings", str(error)) from None
    except OSError as error:
        what = name_of(error, "pyproject.toml")
        raise CommandError(
            "cannot-read", f"cannot read {what}: {error.strerror or error}"
        ) from None
