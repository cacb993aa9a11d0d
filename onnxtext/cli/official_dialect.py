# SPDX-License-Identifier: Apache-2.0
"""`onnxtext from-binary --dialect onnx`: convert to the official syntax and report losses."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING

from onnxtext.cli.report import DiagnosticWarning
from onnxtext.diagnostics import Diagnostic, OnnxTextError

if TYPE_CHECKING:
    from onnxtext.diagnostics import Severity
    from onnxtext.proto.official.losses import Loss

SHOWN_PLACES = 3
"""Maximum number of locations to name per kind of loss."""


def convert_official(data: bytes, name: str, *, allow_loss: bool) -> bytes:
    """Convert a binary model to the official syntax; warn about losses and changed encodings.

    Args:
        data: the binary model.
        name: its name in messages.
        allow_loss: whether to warn about losses, instead of raising an error.

    Raises:
        OnnxTextError: the bytes are not a model, or there are losses and `allow_loss` is False.
    """
    from onnxtext.api import to_official

    text, losses = to_official(data, name=name)
    lost = list(_lost(losses, name, "warning" if allow_loss else "error"))
    notes = [
        Diagnostic("stored-otherwise", loss.message, "note", path="model", file=name)
        for loss in losses
        if loss.harmless
    ]
    if lost and not allow_loss:
        raise OnnxTextError(*lost, *notes, _not_written(name))
    for diagnostic in [*lost, *notes]:
        warnings.warn(DiagnosticWarning(diagnostic), stacklevel=2)
    return text.encode("utf-8")


def _lost(losses: list[Loss], name: str, severity: Severity) -> Iterator[Diagnostic]:
    """Yield one diagnostic per kind of loss."""
    from onnxtext.proto.official.losses import group_losses

    for loss, places in group_losses(losses).items():
        count = len(places)
        message = loss if count == 1 else f"{loss} ({count} places)"
        also = ", ".join(places[1:SHOWN_PLACES])
        if count > SHOWN_PLACES:
            also += f" and {count - SHOWN_PLACES} more"
        notes = (f"also at {also}",) if also else ()
        yield Diagnostic("not-official", message, severity, path=places[0], notes=notes, file=name)


def _not_written(name: str) -> Diagnostic:
    return Diagnostic(
        "loss-not-allowed",
        f"{name} was not written: the official syntax cannot represent the parts reported above",
        help="`--allow-loss` writes the text without these parts; "
        "`--dialect onnxtext` loses nothing",
    )
