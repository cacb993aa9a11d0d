# SPDX-License-Identifier: Apache-2.0
"""The comment at the beginning of each text that the filter stores.

A clone without the filter has texts in files named `.onnx`. A runtime cannot parse these files. The
comment explains the content, and what to do, to everybody who opens such a file.

The comment is not part of the model: `smudge` drops it like every comment, and merges remove it
before they compare versions. The comment must never change: every stored text would then differ.
"""

from __future__ import annotations

NOTE = b"""\
# Git stores this ONNX model as text. In a clone with the filter, this file is the binary model.
# A runtime that reports "Protobuf parsing failed" has read this text. To set up a clone, install
# the Python package onnxtext, and run:
#   onnxtext git install --mode filter
#   onnxtext git checkout
"""


def without_note(data: bytes) -> bytes:
    """Remove the comment `NOTE`, with LF or CRLF line ends, from the start of a stored text."""
    for note in (NOTE, NOTE.replace(b"\n", b"\r\n")):
        if data.startswith(note):
            return data[len(note) :]
    return data


def has_note(data: bytes) -> bool:
    """Whether a stored text begins with the comment `NOTE`."""
    return len(without_note(data)) < len(data)


def with_stored_line_ends(data: bytes) -> bytes:
    """Return a stored text with LF at the ends of lines, as the filter has written it.

    A checkout without the filter ends all lines with CRLF if `core.autocrlf` is set. The filter
    prints no CR, so each CR of a stored text is part of a line end. Other data is unchanged.
    """
    if not data.startswith(NOTE.replace(b"\n", b"\r\n")) or b"\n" in data.replace(b"\r\n", b""):
        return data
    return data.replace(b"\r\n", b"\n")
