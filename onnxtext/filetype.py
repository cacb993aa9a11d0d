# SPDX-License-Identifier: Apache-2.0
"""Which files are texts, and which are binary models."""

from __future__ import annotations

from pathlib import Path

from onnxtext.files import looks_binary

TEXT_SUFFIXES = (".onnxtxt", ".onnxtext")
BINARY_SUFFIX = ".onnx"


def is_binary(data: bytes, name: str) -> bool:
    """Whether a file is a binary model by its name, else by its content; else it is a text."""
    suffix = Path(name).suffix.lower()
    return suffix == BINARY_SUFFIX or (suffix not in TEXT_SUFFIXES and looks_binary(data))
