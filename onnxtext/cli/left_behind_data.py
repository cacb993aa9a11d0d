# SPDX-License-Identifier: Apache-2.0
"""Warn if a model is written to a directory that lacks its external data."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from onnxtext.cli.report import DiagnosticWarning
from onnxtext.diagnostics import Diagnostic, OnnxTextError
from onnxtext.plurals import count_noun

if TYPE_CHECKING:
    from onnxtext.ast.model import Model

_SHOWN = 3
"""Maximum number of files that are named."""


def warn_if_left_behind(
    content: str | bytes | Model, sources: tuple[Path, ...], target: Path | None
) -> None:
    """Warn if external data is beside a model that was read, but not beside the one to write.

    Args:
        content: the model to write: its text, its bytes, or its syntax tree.
        sources: the directories of the models that were read.
        target: the file to write; None for standard output, which has no directory.
    """
    if target is None:
        return
    there = os.path.realpath(target.parent)
    others = {os.path.realpath(source): source for source in sources}
    others.pop(there, None)
    model = _read(content) if others else None
    if model is None:
        return
    from onnxtext.weights.external_data import external_files

    for real, source in others.items():
        names = [os.path.relpath(path, real) for path in external_files(model, source)]
        names = [name for name in names if Path(real, name).is_file()]
        names = [name for name in names if not Path(there, name).is_file()]
        if names:
            warnings.warn(DiagnosticWarning(_left_behind(names, source, target)), stacklevel=2)


def _read(content: str | bytes | Model) -> Model | None:
    """Return the syntax tree; None if the content is not valid or cannot have external data."""
    try:
        if isinstance(content, str):
            from onnxtext.source import Source
            from onnxtext.syntax.parse import parse_model

            may_refer = "external" in content or "location" in content
            return parse_model(Source(content, "")) if may_refer else None
        if isinstance(content, bytes):
            from onnxtext.conversion_errors import lift_binary

            return lift_binary(content, "") if b"location" in content else None
    except OnnxTextError:
        return None
    return content


def _left_behind(names: list[str], source: Path, target: Path) -> Diagnostic:
    shown = ", ".join(f"`{name}`" for name in names[:_SHOWN])
    if len(names) > _SHOWN:
        shown += f" and {count_noun(len(names) - _SHOWN, 'more file')}"
    return Diagnostic(
        "external-file-missing",
        f"{target} refers to external data that is not in its directory: {shown}",
        "warning",
        file=str(target),
        help=f"copy the data from the directory `{source}`, or write the model there",
    )
