# SPDX-License-Identifier: Apache-2.0
"""Convert the strings of the syntax tree to the bytes of `string` and `bytes` fields, and back."""

from __future__ import annotations


def to_bytes(text: str) -> bytes:
    """Encode a string; each surrogate becomes the invalid byte for which it stands.

    Raises:
        UnicodeEncodeError: a surrogate stands for no byte.
    """
    return text.encode("utf-8", "surrogateescape")


def to_text(data: bytes | memoryview) -> str:
    """Decode bytes; each byte that is not UTF-8 becomes a surrogate, as `to_bytes` expects."""
    return str(data, "utf-8", "surrogateescape")


def is_utf8(data: bytes | memoryview) -> bool:
    """Whether bytes are valid UTF-8."""
    try:
        str(data, "utf-8")
    except UnicodeDecodeError:
        return False
    return True
