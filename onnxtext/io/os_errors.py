# SPDX-License-Identifier: Apache-2.0
"""Describe an `OSError`: its file and its reason."""

from __future__ import annotations

import errno
import os
from pathlib import Path


def name_of(error: OSError, default: str | Path) -> str:
    """Return the name of the file that caused an error.

    Args:
        error: the error.
        default: the name to return if the error has none, or only a descriptor.
    """
    name = error.filename
    return os.fsdecode(name) if isinstance(name, (str, bytes, os.PathLike)) else str(default)


def reason_of(error: OSError) -> str:
    """Return the message of an error, without the name of the file."""
    if lacks_current_directory(error):
        return "the current directory does not exist"
    if error.errno == errno.EFAULT:  # the input is a file that was mapped into memory
        return "an input was truncated while it was being read"
    return error.strerror or str(error)


def lacks_current_directory(error: OSError) -> bool:
    """Whether a path could not be resolved because the current directory was deleted."""
    return isinstance(error, FileNotFoundError) and error.filename is None
