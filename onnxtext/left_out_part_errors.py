# SPDX-License-Identifier: Apache-2.0
"""Create the errors for a text that was printed without its metadata or its weights."""

from __future__ import annotations

from onnxtext.ast.model import Model
from onnxtext.diagnostics import Diagnostic, Label
from onnxtext.source import Source, Span

_MAX_SHOWN = 20
"""Maximum number of missing blobs that an error names."""


def left_out_errors(model: Model, source: Source) -> list[Diagnostic]:
    """Return the errors for a text that was printed without its metadata or its weights."""
    result: list[Diagnostic] = []
    if model.metadata_left_out:
        help = "print it again without --metadata none; or remove this line, for a model without "
        result.append(_error("metadata-left-out", "metadata none", source, help=f"{help}metadata"))
    if model.resources_left_out:
        from onnxtext.weights.blob_owners import blob_owners

        owners = blob_owners(model)
        ending = f" and {len(owners) - _MAX_SHOWN} more" if len(owners) > _MAX_SHOWN else ""
        notes = (f"missing: {', '.join(owners[:_MAX_SHOWN])}{ending}",) if owners else ()
        help = "print it again without --weights none"
        result.append(_error("weights-left-out", "resources none", source, help=help, notes=notes))
    return result


def _error(
    code: str, statement: str, source: Source, *, help: str, notes: tuple[str, ...] = ()
) -> Diagnostic:
    """Create the error for a text with the statement `metadata none` or `resources none`."""
    offset = source.text.rfind(f"\n{statement}") + 1
    part = code.partition("-")[0]
    message = f"this text was printed without its {part} and cannot be converted to a model"
    labels = (Label(Span(offset, offset + len(statement))),)
    return Diagnostic(code, message, source=source, labels=labels, notes=notes, help=help)
