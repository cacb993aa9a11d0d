# SPDX-License-Identifier: Apache-2.0
"""Distinguish texts from binary models by name or content, and decode texts."""

from __future__ import annotations

import re
from pathlib import Path

from onnxtext.diagnostics import Diagnostic, Label, OnnxTextError
from onnxtext.source import Source, Span

TEXT_SUFFIXES = (".onnxtxt", ".onnxtext")
"""The suffixes of texts; commands that name a text use the first."""

BINARY_SUFFIX = ".onnx"
MODEL_SUFFIXES = (*TEXT_SUFFIXES, BINARY_SUFFIX)

HEAD = 4096
"""Number of bytes at the beginning of a file that are inspected to determine its type."""

_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_COMMENT = re.compile(rb"#[^\n]*")


def is_binary(data: bytes, name: str) -> bool:
    """Whether a file is a binary model: the suffix decides or, if it is unknown, the content."""
    suffix = Path(name).suffix.lower()
    return suffix == BINARY_SUFFIX or (suffix not in TEXT_SUFFIXES and looks_binary(data))


def looks_binary(data: bytes) -> bool:
    """Whether content looks like a binary model: a fast check, which may miss unusual models.

    Valid texts, and texts with ordinary syntax errors, do not look like a binary model.
    """
    head = data[:HEAD]
    if b"\0" in head:
        return True
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as error:
        # Ignore an error in the last 3 bytes: it may be a character that is cut off at `HEAD`. An
        # error in the first byte always counts.
        return error.start < max(len(head) - 3, 1)
    # A model usually begins with the key of one of these fields; no text begins with these bytes.
    return head[:1] in (b"\x08", b"\x12", b"\x1a", b"\x3a")


def has_binary_content(data: bytes) -> bool:
    """Whether content is a binary model rather than a valid text, regardless of the file's name.

    For example, git stores texts in files named `.onnx`. Nearly every binary model has control
    characters; a valid text has them only in comments.
    """
    return looks_binary(data) or bool(_CONTROLS.search(_COMMENT.sub(b"", data[:HEAD])))


def decode_text(data: bytes, name: str) -> str:
    """Decode the bytes of a text.

    Raises:
        OnnxTextError: the bytes are not UTF-8.
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        raise OnnxTextError(
            Diagnostic(
                "invalid-utf8",
                f"the text is not UTF-8: byte {data[error.start]:#04x} begins no character",
                source=Source(before, name),
                labels=(Label(Span(len(before), len(before))),),
                offset=error.start,
                help="if this is a binary model, use `onnxtext from-binary`",
            )
        ) from None
