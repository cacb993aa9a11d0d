# SPDX-License-Identifier: Apache-2.0
"""Which files are texts, and which are binary models."""

from __future__ import annotations

from pathlib import Path

TEXT_SUFFIXES = (".onnxtxt", ".onnxtext")
BINARY_SUFFIX = ".onnx"


def is_binary(data: bytes, name: str) -> bool:
    """Whether a file is a binary model by its name, else by its content; else it is a text."""
    suffix = Path(name).suffix.lower()
    return suffix == BINARY_SUFFIX or (suffix not in TEXT_SUFFIXES and looks_binary(data))


def looks_binary(data: bytes) -> bool:
    """Whether the content of a file is that of a binary model rather than a text."""
    if b"\0" in data[:4096]:
        return True
    try:
        data[:4096].decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start < min(len(data), 4096) - 3
    # A model's first byte is the key of a field; of these only a tab or a line end begins a text.
    return data[:1] in (b"\x08", b"\x12", b"\x1a", b"\x3a")
