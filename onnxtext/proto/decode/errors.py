# SPDX-License-Identifier: Apache-2.0
"""What is said of bytes that are no model, or hardly one."""

from __future__ import annotations

from onnxtext.diagnostics import Diagnostic
from onnxtext.proto.decode.message_sniffing import is_odd, looks_like
from onnxtext.proto.decode.wire_diagnostics import Corruption, find_corruption
from onnxtext.wire.file_kinds import recognize

_CODES = {"deep": "too-deep", "cut": "truncated-model", "wrong": "corrupt-model"}
_AGAIN = "download or copy the file again"
_REPLACED = "\ufffd".encode()


def refusal(data: bytes, name: str) -> Diagnostic | None:
    """Why bytes are no model; None if they are one.

    Args:
        data: what could not be read.
        name: what to call the data.
    """
    corruption = find_corruption(data)
    if corruption is None:
        return None
    mistake = recognize(data)
    if mistake is not None:
        return Diagnostic(
            mistake.code,
            f"this is no binary model but {mistake.what}",
            offset=0,
            file=name,
            help=mistake.help,
        )
    other = looks_like(data)
    if other is not None:
        message, help = other
        return Diagnostic(
            "not-a-model",
            f"this is no ModelProto but a {message}",
            offset=corruption.offset,
            file=name,
            help=help,
        )
    return _corrupt(data, corruption, name)


def _corrupt(data: bytes, corruption: Corruption, name: str) -> Diagnostic:
    code, message, help = _CODES[corruption.kind], corruption.message, None
    if _is_alien(corruption):
        code, message = "not-a-model", f"these bytes are no ModelProto: {message}"
    elif code == "truncated-model":
        help = _AGAIN
    notes = []
    if corruption.inside not in ("", corruption.path):
        notes.append(f"what is there ends in {corruption.inside}")
    if code != "too-deep" and data.count(_REPLACED) > len(data) // 1000 + 3:
        notes.append("a program took this file for text: bytes that are no UTF-8 became U+FFFD")
    return Diagnostic(
        code,
        message,
        path=corruption.path or None,
        offset=corruption.offset,
        file=name,
        notes=tuple(notes),
        help=help,
    )


def _is_alien(corruption: Corruption) -> bool:
    """Whether nothing speaks for a model: no field of one is there, nor the beginning of one."""
    if corruption.known or corruption.kind == "deep":
        return False
    return corruption.kind == "wrong" or not corruption.path


def advice(data: bytes, name: str) -> str | None:
    """A warning about a model that its owner should know to be none; nothing is wrong with it."""
    if not is_odd(data):
        return None
    other = looks_like(data)
    if other is None:
        return None
    message, help = other
    return f"{name}: this looks like a {message} that was saved as a model" + (
        f"; {help}" if help else ""
    )
