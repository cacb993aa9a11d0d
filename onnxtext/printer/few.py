# SPDX-License-Identifier: Apache-2.0
"""Small tensors of one graph, printed together: numpy and orjson take long to start."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from onnxtext.ast.model import ValueInfo
from onnxtext.ast.types import TensorType
from onnxtext.ast.values import RawData
from onnxtext.tensor.elements import ELEMENTS
from onnxtext.tensor.format import format_rows

_MOST = 64
"""Tensors with more elements than this are printed one by one."""

_ELEMENTS = {"float": 4, "double": 8, "int64": 8, "int32": 4}
"""The element types that are worth it, and the bytes of an element."""


class FewNumbers:
    """The texts of flat lists of a few numbers.

    Kept by the identity of the data, which lives as long as the model that is printed.
    """

    def __init__(self) -> None:
        self._texts: dict[int, str] = {}

    def gather(self, values: Sequence[ValueInfo]) -> None:
        """Print the small vectors among some values."""
        found: dict[str, list[RawData]] = {}
        for value in values:
            data = value.data
            if type(data) is RawData:
                element = _vector(value)
                if element is not None:
                    found.setdefault(element, []).append(data)
        for element, tensors in found.items():
            if len(tensors) > 1:
                self._print(element, tensors)

    def _print(self, element: str, tensors: list[RawData]) -> None:
        size = _ELEMENTS[element]
        joined = b"".join([tensor.data for tensor in tensors])
        if not joined:
            return
        numbers = format_rows(ELEMENTS[element], joined, len(joined) // size)[0].split(", ")
        at = 0
        for tensor in tensors:
            data = bytes(tensor.data)
            count = len(data) // size
            if count and (count < 3 or data[:size] * count != data):  # else it is [x, ...]
                self._texts[id(tensor)] = f"[{', '.join(numbers[at : at + count])}]"
            at += count

    def text(self, data: Any, budget: int) -> str | None:
        """The literal of some data, if it was gathered and fits on its line."""
        text = self._texts.get(id(data))
        return text if text is not None and len(text) <= budget else None


def _vector(value: ValueInfo) -> str | None:
    """The element type of a small tensor that prints as a flat list of bytes in memory."""
    kind, data = value.type, value.data
    assert isinstance(data, RawData)
    if not isinstance(kind, TensorType) or kind.element not in _ELEMENTS:
        return None
    if type(data.data) is not bytes or len(data.data) > _MOST * _ELEMENTS[kind.element]:
        return None
    shape = [dim for dim in kind.shape or () if dim != 1]
    return kind.element if kind.shape and len(shape) < 2 else None
