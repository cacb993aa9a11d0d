# SPDX-License-Identifier: Apache-2.0
"""Warn if a model is written to a directory that lacks its external data or weights."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from mmap import mmap
from pathlib import Path
from typing import TYPE_CHECKING

from onnxtext.cli.report import DiagnosticWarning
from onnxtext.diagnostics import Diagnostic, OnnxTextError
from onnxtext.io.files import is_stream
from onnxtext.io.memory import paused_collector
from onnxtext.plurals import count_noun

if TYPE_CHECKING:
    from onnxtext.ast.model import Model

_SHOWN = 3
"""Maximum number of files that are named."""


def warn_if_left_behind(
    content: str | bytes | Model,
    sources: tuple[Path, ...],
    target: Path | None,
    *,
    weights: bool = False,
) -> None:
    """Warn if external data is beside a model that was read, but not beside the one to write.

    With `weights`, also warn about the stores, blobs, safetensors files and data files of a text.
    """
    warn_of_left_behind(find_left_behind(content, sources, target, weights=weights))


def warn_of_left_behind(found: Sequence[Diagnostic]) -> None:
    """Issue the warnings that `find_left_behind` returned, after the model was written."""
    for diagnostic in found:
        warnings.warn(DiagnosticWarning(diagnostic), stacklevel=2)


def find_left_behind(
    content: str | bytes | Model,
    sources: tuple[Path, ...],
    target: Path | None,
    *,
    weights: bool = False,
) -> list[Diagnostic]:
    """Return a warning for each directory whose external data the model to write will lack.

    `content` is its text, its bytes (perhaps mapped), or its syntax tree. `sources` are the
    directories of the models that were read. With `weights`, look for the stores, blobs,
    safetensors and data files of a text, too. Standard output (None as `target`) has no directory.
    """
    if target is None or is_stream(target):
        return []
    there = os.path.realpath(target.parent)
    others = {os.path.realpath(source): source for source in sources}
    others.pop(there, None)
    model = _read(content, weights) if others else None
    if model is None:
        return []
    from onnxtext.weights.external_data import external_locations, stores_of_blobs, weight_locations

    exists = os.path.exists  # `Path.exists` raises an OSError for long names
    kinds = [("external data that is", "external-file-missing", external_locations)]
    if weights:
        kinds.append(("weights that are", "weights-missing", weight_locations))
    found = []
    named: set[str] = set()
    blobs = stores_of_blobs(model, Path(there)) if weights else {}
    for source in others.values():
        for what, code, locations in kinds:
            names = [
                name
                for name, path in locations(model, source).items()
                if name not in named and exists(path) and not exists(Path(there, name))
            ]
            if locations is weight_locations:  # do not name blobs of a store that is missing
                missing = {*names, *named}
                lacking = [
                    f"{store}/{blob}"
                    for blob, store in stores_of_blobs(model, source).items()
                    if blob not in blobs and store not in missing
                ]
                names += [name for name in lacking if name not in named]
            if names:
                found.append(_left_behind(what, code, names, source, target))
                named.update(names)
    return found


def _read(content: str | bytes | Model, weights: bool) -> Model | None:
    """Return the syntax tree; None if the content is invalid or cannot refer to such data."""
    if not isinstance(content, str | bytes | mmap):
        return content
    try:
        with paused_collector(len(content)):
            if isinstance(content, str):
                from onnxtext.source import Source
                from onnxtext.syntax.parse import parse_model

                may_refer = weights or "external" in content or "location" in content
                return parse_model(Source(content, "")) if may_refer else None
            from onnxtext.conversion_errors import lift_binary

            return None if content.find(b"location") < 0 else lift_binary(content, "")
    except OnnxTextError:
        return None


def _left_behind(what: str, code: str, names: list[str], source: Path, target: Path) -> Diagnostic:
    shown = ", ".join(f"`{name}`" for name in names[:_SHOWN])
    if len(names) > _SHOWN:
        shown += f" and {count_noun(len(names) - _SHOWN, 'more file')}"
    return Diagnostic(
        code,
        f"{target} refers to {what} not in its directory: {shown}",
        "warning",
        file=str(target),
        help=f"copy the data from the directory `{source}`, or write the model there",
    )
