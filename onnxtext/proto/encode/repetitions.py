# SPDX-License-Identifier: Apache-2.0
"""Encode the repetitions of lists that repeat their last item (see `RepeatedList`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from onnxtext.proto.encode.lower_error import LowerError


@dataclass(slots=True)
class Repetitions:
    """Repeats items; a few bytes of text can stand for gigabytes.

    Attributes:
        beyond: what happens to repetitions after the first 1 MiB of a model: they are encoded,
            left out, or rejected.
        omitted: the number of bytes of repetitions that were left out.
    """

    beyond: Literal["write", "omit", "reject"] = "write"
    omitted: int = 0
    _left: int = 1 << 20

    def repeat(self, field: bytes, times: int) -> bytes:
        """Return the encoded field of an item, repeated `times` times.

        Raises:
            LowerError: there are too many repetitions, and `beyond` rejects them.
        """
        size = len(field) * times
        self._left -= size
        if self._left < 0 and self.beyond != "write":
            if self.beyond == "reject":
                raise LowerError("the repetitions in lists take more than 1 MiB", -1)
            self.omitted += size
            return b""
        return field * times
