# SPDX-License-Identifier: Apache-2.0
"""Find the ends of long number literals quickly, a block of characters at a time.

This matches the grammar's NUMBERS, NESTED and BRACES; a regular expression would inspect each
character of a literal of many megabytes. The expression reads literals with words such as ``nan``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_PAIR = 0xF9
"""The bits that an opening bracket shares with its closing bracket."""

_LEAST = 8000
"""The number of characters below which the regular expression is faster."""

UNCLOSED = -1

_DEEPEST = 100
"""The deepest nesting to read: no tensor is deeper, and the search could take long."""

_BLOCK = 1 << 18
_BLANK = r"[ \t\n\v\f\r]*"
_BEGIN = re.compile(
    rf"{{{_BLANK}(?=[-+0-9][-+0-9.eE, \t\n\v\f\r]{{{_LEAST}}})"
    rf"|\[{_BLANK}(?=[-+0-9][-+0-9.eE, \t\n\v\f\r]{{{_LEAST}}})"
    rf"|(?!(?:\[{_BLANK}){{100}})\[{_BLANK}\[(?=[-+0-9.eE, \t\n\v\f\r\[\]]{{{_LEAST}}})"
)


def literal_end(text: str, at: int) -> tuple[int, bool]:
    """Return where a long number literal ends.

    Args:
        text: the text.
        at: the offset of its first bracket.

    Returns:
        The offset after its last bracket; `UNCLOSED` if nothing closes the first bracket, which is
        then a token alone; 0 if unknown. Also, whether the literal is a `PlainText`.
    """
    begin = _BEGIN.match(text, at)
    if begin is None:
        return 0, False
    from onnxtext.tensor.bulk_numbers import sparse_places
    from onnxtext.tensor.lazy_numpy import np

    opening, closing = b"{}" if text[at] == "{" else b"[]"
    is_nested = begin.end() - 1 > at and text[begin.end() - 1] == "["
    depth, start, size = 0, at, 1 << 14
    is_plain = True
    while start < len(text):
        part = text[start : start + size]
        if not part.isascii():
            return 0, False
        part += " " * (-len(part) % 8)
        codes = np.frombuffer(part.encode("ascii"), np.uint8)
        places = sparse_places((codes & _PAIR) == (opening & _PAIR))
        ups = codes[places] == opening
        depths = depth + np.cumsum(np.where(ups, 1, -1))
        ends = np.flatnonzero(depths == 0)
        if ends.size:
            places, ups = places[: ends[0] + 1], ups[: ends[0] + 1]
            codes = codes[: places[-1] + 1]
        elif (deep := np.flatnonzero(depths > _DEEPEST)).size:
            places, ups = places[: deep[0] + 1], ups[: deep[0] + 1]
            codes = codes[: places[-1] + 1]
        elif depths.size:
            depth = int(depths[-1])
        others = np.count_nonzero(codes[places] != np.where(ups, opening, closing))
        inner = np.count_nonzero(ups) - (start == at)
        if others or (inner and not is_nested):
            return 0, False
        missing = codes.size - places.size - _count_plain(codes)
        if missing:
            is_plain = False
            if missing != np.count_nonzero(codes | 0x20 == ord("e")) + np.count_nonzero(
                codes == ord("+")
            ):
                return 0, False
        if ends.size:
            return start + codes.size, is_plain
        if codes.size < len(part):
            return UNCLOSED, False
        start += size
        size = min(size * 4, _BLOCK)
    return UNCLOSED, False


def _count_plain(codes: NDArray[np.uint8]) -> int:
    """Count digits, points, minus signs, commas and blanks."""
    from onnxtext.tensor.lazy_numpy import np

    count = np.count_nonzero(codes - np.uint8(ord(",")) <= ord("9") - ord(","))
    count -= np.count_nonzero(codes == ord("/"))
    count += np.count_nonzero(codes == ord(" "))
    count += np.count_nonzero(codes - np.uint8(ord("\t")) <= ord("\r") - ord("\t"))
    return int(count)
