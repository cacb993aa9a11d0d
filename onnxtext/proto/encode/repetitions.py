# SPDX-License-Identifier: Apache-2.0
"""Encode the repetitions of lists that repeat their last item (see `RepeatedList`)."""

from __future__ import annotations

from typing import Literal

from onnxtext.proto.encode.lower_error import LowerError


class RepetitionLowering:
    """The part of an encoder that repeats items; a few bytes of text can stand for gigabytes.

    Attributes:
        many_repetitions: what happens to repetitions after the first 1 MiB of a model: they are
            encoded, left out, or rejected.
        omitted: the number of bytes of repetitions that were left out.
    """

    many_repetitions: Literal["write", "omit", "reject"] = "write"
    omitted = 0
    _unrepeated = 1 << 20

    def repeat(self, field: bytes, times: int) -> bytes:
        """Return the encoded field of an item, repeated `times` times; b"" if it is left out.

        Raises:
            LowerError: there are too many repetitions, and `many_repetitions` is `reject`.
        """
        size = len(field) * times
        self._unrepeated -= size
        if self._unrepeated < 0 and self.many_repetitions != "write":
            if self.many_repetitions == "reject":
                raise LowerError("the repetitions in lists take more than 1 MiB", -1)
            self.omitted += size
            return b""
        return field * times
