# SPDX-License-Identifier: Apache-2.0
"""Convert with onnxtext."""

from __future__ import annotations

from typing import Literal, cast

import onnxtext


def to_text(data: bytes, weights: str) -> str:
    return onnxtext.from_binary(data, weights=cast(Literal["section", "inline"], weights))


def to_binary(text: str) -> bytes:
    return onnxtext.to_binary(text)
