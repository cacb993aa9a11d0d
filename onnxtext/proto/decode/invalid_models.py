# SPDX-License-Identifier: Apache-2.0
"""Diagnose invalid or suspicious models."""

from __future__ import annotations

from onnxtext.diagnostics import Diagnostic
from onnxtext.plurals import with_article
from onnxtext.proto.decode.message_sniffing import (
    find_other_message_type,
    has_usual_fields,
    matches_model,
)
from onnxtext.proto.decode.wire_diagnostics import Corruption, find_corruption
from onnxtext.wire.foreign_formats import recognize

_CODES = {"deep": "too-deep", "cut": "truncated-model", "wrong": "corrupt-model"}
_COPY_AGAIN = "download or copy the file again"
_REPLACED = "\ufffd".encode()


def diagnose_invalid(data: bytes, name: str) -> Diagnostic | None:
    """Return the diagnostic for bytes that are not a model; None if they are a valid model."""
    corruption = find_corruption(data)
    if corruption is None:
        return None
    other_kind = recognize(data)
    if other_kind is not None:
        return Diagnostic(
            other_kind.code,
            f"this is not a binary model but {other_kind.what}",
            offset=0,
            file=name,
            help=other_kind.help,
        )
    other = find_other_message_type(data)
    if other is not None:
        message, help = other
        return Diagnostic(
            "not-a-model",
            f"this is not a ModelProto but {with_article(message)}",
            offset=corruption.offset,
            file=name,
            help=help,
        )
    return _corrupt(data, corruption, name)


def _corrupt(data: bytes, corruption: Corruption, name: str) -> Diagnostic:
    code, message, help = _CODES[corruption.kind], corruption.message, None
    if _is_foreign(corruption):
        code, message = "not-a-model", f"these bytes are not a ModelProto: {message}"
    elif code == "truncated-model":
        help = _COPY_AGAIN
    notes = []
    if corruption.inside not in ("", corruption.path):
        notes.append(f"the data ends inside {corruption.inside}")
    if code != "too-deep" and data.count(_REPLACED) > len(data) // 1000 + 3:
        notes.append("a program treated this file as text: bytes that are not UTF-8 became U+FFFD")
    return Diagnostic(
        code,
        message,
        path=corruption.path or None,
        offset=None if name == "<message>" else corruption.offset,  # a message has no bytes
        file=name,
        notes=tuple(notes),
        help=help,
    )


def _is_foreign(corruption: Corruption) -> bool:
    """Whether the file is probably not a model: no valid model field precedes the error.

    A file that is nested too deeply, or that ends inside a known field, may be a model.
    """
    if corruption.known_fields or corruption.kind == "deep":
        return False
    return corruption.kind == "wrong" or not corruption.path


def warn_suspicious(data: bytes, name: str) -> str | None:
    """Return a warning if a valid model looks like another onnx message; otherwise None."""
    if has_usual_fields(data):
        return None
    other = find_other_message_type(data)
    if other is None or matches_model(data):
        return None
    message, help = other
    return f"{name}: this looks like {with_article(message)} that was saved as a model" + (
        f"; {help}" if help else ""
    )
