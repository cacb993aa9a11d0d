# SPDX-License-Identifier: Apache-2.0
"""`onnxtext from-binary --dialect onnx`: official text, and what it cannot carry."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING

from onnxtext.cli.report import Finding

if TYPE_CHECKING:
    from onnxtext.diagnostics import Diagnostic
    from onnxtext.diagnostics.model import Severity
    from onnxtext.proto.losses import Loss

SHOWN_PLACES = 3
"""How many places of one kind of loss are named."""


def convert_official(data: bytes, name: str, *, allow_loss: bool) -> bytes:
    """A binary model as official text; what is lost or stored otherwise is reported.

    Args:
        data: the binary model.
        name: what to call it.
        allow_loss: whether a text that lacks something is a result.

    Raises:
        OnnxTextError: the bytes are no model, or something would be lost that may not be.
    """
    from onnxtext.api import to_official
    from onnxtext.diagnostics import OnnxTextError

    text, losses = to_official(data, name=name)
    lost = list(_lost(losses, name, "warning" if allow_loss else "error"))
    notes = [_note(loss, name) for loss in losses if loss.harmless]
    if lost and not allow_loss:
        raise OnnxTextError(*lost, *notes, _refusal(name))
    for diagnostic in [*lost, *notes]:
        warnings.warn(Finding(diagnostic), stacklevel=2)
    return text.encode("utf-8")


def _lost(losses: list[Loss], name: str, severity: Severity) -> Iterator[Diagnostic]:
    """One finding for each kind of loss."""
    from onnxtext.diagnostics import Diagnostic
    from onnxtext.proto.losses import group_losses

    for message, places in group_losses(losses).items():
        count = len(places)
        said = message if count == 1 else f"{message} ({count} places)"
        also = ", ".join(places[1:SHOWN_PLACES])
        if count > SHOWN_PLACES:
            also += f" and {count - SHOWN_PLACES} more"
        notes = (f"also at {also}",) if also else ()
        yield Diagnostic("not-official", said, severity, path=places[0], notes=notes, file=name)


def _note(loss: Loss, name: str) -> Diagnostic:
    from onnxtext.diagnostics import Diagnostic

    return Diagnostic("stored-otherwise", loss.message, "note", path="model", file=name)


def _refusal(name: str) -> Diagnostic:
    from onnxtext.diagnostics import Diagnostic

    return Diagnostic(
        "loss-not-allowed",
        f"{name} is not written, because the official syntax cannot carry all of it",
        help="--allow-loss writes the text without what is listed; "
        "`--dialect onnxtext` loses nothing",
    )
