# SPDX-License-Identifier: Apache-2.0
"""Find the ends of long number literals fast: numpy inspects a block of characters at a time.

The literals are tokens of the terminals NUMBERS, NESTED and BRACES. The lexer's regular expression
would be slow for a literal of many megabytes. The expression still reads literals with words such
as `nan`.
"""

from __future__ import annotations

import re

from onnxtext.tensor.lazy_numpy import np

_PAIR = 0xF9
"""A mask of the bits that are equal in an opening bracket and its closing bracket."""

_LEAST = 8000
"""Minimum length of a literal, in characters; the regular expression reads shorter literals."""

UNCLOSED = -1
"""The result of `literal_end` if the first bracket is never closed or the nesting is too deep."""

_DEEPEST = 100
"""Maximum depth of nested brackets, to limit the search time; tensors have fewer dimensions."""

_ALLOWED = b"0123456789.eE+-, \t\n\v\f\r"
"""The characters in and between numbers. A literal also contains its own kind of brackets."""

BLOCK = 1 << 18
_BLANK = r"[ \t\n\v\f\r]*"
_BEGIN = re.compile(
    rf"{{{_BLANK}(?=[-+0-9][-+0-9.eE, \t\n\v\f\r]{{{_LEAST}}})"
    rf"|\[{_BLANK}(?=[-+0-9][-+0-9.eE, \t\n\v\f\r]{{{_LEAST}}})"
    rf"|(?!(?:\[{_BLANK}){{100}})\[{_BLANK}\[(?=[-+0-9.eE, \t\n\v\f\r\[\]]{{{_LEAST}}})"
)


def literal_end(text: str, offset: int) -> int:
    """Find the end of a number literal of at least `_LEAST` characters; it begins at `offset`.

    Returns:
        The offset after the bracket that closes the first one. 0 if the regular expression must
        read the literal, for example because it is shorter. `UNCLOSED` if the first bracket is
        never closed or the nesting is too deep; then this bracket alone is a token.
    """
    begin = _BEGIN.match(text, offset)
    if begin is None:
        return 0
    own_brackets = b"{}" if text[offset] == "{" else b"[]"
    opening, closing = own_brackets
    allowed = _ALLOWED + own_brackets
    is_nested = begin.end() - 1 > offset and text[begin.end() - 1] == "["
    depth, start, size = 0, offset, 1 << 14
    while start < len(text):
        part = text[start : start + size]
        if not part.isascii():
            return 0
        data = part.encode("ascii")
        codes = np.frombuffer(data, np.uint8)
        brackets = np.flatnonzero((codes & _PAIR) == (opening & _PAIR))
        is_opening = codes[brackets] == opening
        depths = depth + np.cumsum(np.where(is_opening, 1, -1))
        ends = np.flatnonzero(depths == 0)
        if ends.size:
            brackets, is_opening = brackets[: ends[0] + 1], is_opening[: ends[0] + 1]
            codes = codes[: brackets[-1] + 1]
        elif (too_deep := np.flatnonzero(depths > _DEEPEST)).size:
            brackets, is_opening = brackets[: too_deep[0] + 1], is_opening[: too_deep[0] + 1]
            codes = codes[: brackets[-1] + 1]
        elif depths.size:
            depth = int(depths[-1])
        mismatched = np.count_nonzero(codes[brackets] != np.where(is_opening, opening, closing))
        inner_openings = np.count_nonzero(is_opening) - (start == offset)
        if mismatched or (inner_openings and not is_nested):
            return 0
        if data[: codes.size].translate(None, allowed):
            return 0
        if ends.size:
            return start + codes.size
        if codes.size < len(part):
            return UNCLOSED
        start += size
        size = min(size * 4, BLOCK)
    return UNCLOSED
