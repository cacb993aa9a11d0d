# SPDX-License-Identifier: Apache-2.0
"""Create the exceptions that edits raise, and check new names and numbers."""

from __future__ import annotations

from collections.abc import Iterable

from onnxtext.ast.byte_strings import to_bytes
from onnxtext.diagnostics import Diagnostic, OnnxTextError
from onnxtext.suggestions import suggest_name
from onnxtext.syntax.actions.integers import INT64_MAX, INT64_MIN


def unknown_name_error(kind: str, name: str, candidates: Iterable[str]) -> OnnxTextError:
    """Create the error for a name that does not exist in the model; its help suggests names."""
    help = suggest_name(name, filter(None, candidates))
    return OnnxTextError(Diagnostic("edit-unknown-name", f"there is no {kind} `{name}`", help=help))


def quoted_names(names: Iterable[str]) -> str:
    """Return names in backticks, separated by commas."""
    return ", ".join([f"`{name}`" for name in names])


def refused_edit_error(message: str, help: str | None = None) -> OnnxTextError:
    """Create the error for an edit that is not possible."""
    return OnnxTextError(Diagnostic("edit-refused", message, help=help))


def check_name(name: str) -> None:
    """Check that a new name can be encoded.

    Raises:
        OnnxTextError: the name has a surrogate that stands for no byte.
    """
    try:
        to_bytes(name)
    except UnicodeEncodeError:
        raise refused_edit_error(f"{name!a} has a lone surrogate, so it cannot be a name") from None


def check_integer(number: int) -> None:
    """Check that a new number can be encoded.

    Raises:
        OnnxTextError: the number does not fit in 64 bits.
    """
    if not INT64_MIN <= number <= INT64_MAX:
        raise refused_edit_error(f"{number} does not fit in 64 bits")
