# SPDX-License-Identifier: Apache-2.0
"""Make and apply byte patches, which turn the canonical encoding of a model into its file's bytes.

The section `encoding` (SPEC 13.5) of a text holds a patch; `proto/decode/lift.py` makes it. A
patch is a sequence of instructions. The first varint of an instruction gives its kind and length:

- `length << 1`, then the varint `offset`: copy `length` bytes of the canonical encoding from
  `offset`;
- `length << 1 | 1`, then `length` bytes: insert these bytes.
"""

from __future__ import annotations

import io
from collections.abc import Iterator

from onnxtext.wire.reader import WireError, read_varint
from onnxtext.wire.writer import MAX_MESSAGE_BYTES, varint

_BLOCK = 16
"""Number of bytes in a block; blocks of the canonical encoding are indexed to find copies."""

MAX_BLOCKS = 1 << 18
"""Maximum number of indexed blocks; the index then takes about 50 MB.

A copy is found only if it contains an indexed block or continues after the previous copy. In data
of more than 4 MiB, the indexed blocks are not adjacent.
"""

_MIN_COPY = 8
"""Minimum length of a match to copy; shorter matches are inserted."""


def make_patch(canonical: bytes, original: bytes) -> bytes:
    """Return a patch that turns `canonical` into `original`; takes linear time."""
    step = max(_BLOCK, -(-len(canonical) // MAX_BLOCKS))
    offsets = range(0, len(canonical) - _BLOCK + 1, step)
    # In reverse, so that the first of several equal blocks counts.
    blocks = {canonical[offset : offset + _BLOCK]: offset for offset in reversed(offsets)}
    out: list[bytes] = []
    inserted = 0  # the instructions in `out` produce `original[:inserted]`
    offset = 0
    expected = 0  # offset in `canonical` after the last copy
    while offset < len(original):
        source = expected
        if canonical[source : source + _MIN_COPY] != original[offset : offset + _MIN_COPY]:
            source = blocks.get(original[offset : offset + _BLOCK], -1)
        size = _common_length(canonical, source, original, offset) if source >= 0 else 0
        if size < _MIN_COPY:
            offset += 1
            continue
        while offset > inserted and source and canonical[source - 1] == original[offset - 1]:
            offset, source, size = offset - 1, source - 1, size + 1
        out.append(_insertion(original[inserted:offset]))
        out.append(varint(size << 1) + varint(source))
        offset += size
        inserted = offset
        expected = source + size
    out.append(_insertion(original[inserted:]))
    return b"".join(out)


def _insertion(data: bytes) -> bytes:
    return varint(len(data) << 1 | 1) + data if data else b""


def _common_length(left: bytes, left_at: int, right: bytes, right_at: int) -> int:
    """Return the length of the common prefix of `left[left_at:]` and `right[right_at:]`."""
    limit = min(len(left) - left_at, len(right) - right_at)
    size = 0
    step = 64
    while size < limit:
        step = min(step, limit - size)
        a = left[left_at + size : left_at + size + step]
        b = right[right_at + size : right_at + size + step]
        if a != b:
            if step == 1:
                break
            step //= 2
            continue
        size += step
        step *= 2
    return size


def apply_patch(canonical: bytes, patch: bytes) -> bytes:
    """Return the bytes that a patch makes from the canonical encoding.

    Raises:
        WireError: the patch is invalid, or the result would have more than `MAX_MESSAGE_BYTES`
            bytes; this is found before memory for the result is allocated.
    """
    size = 0
    for offset, _, start, end in _instructions(canonical, patch):
        size += end - start
        if size > MAX_MESSAGE_BYTES:
            raise WireError("the result of the patch is larger than 2 GiB", offset)
    out = io.BytesIO()
    sources = (memoryview(canonical), memoryview(patch))
    for _, inserts, start, end in _instructions(canonical, patch):
        out.write(sources[inserts][start:end])
    return out.getvalue()


def _instructions(canonical: bytes, patch: bytes) -> Iterator[tuple[int, bool, int, int]]:
    """Yield (offset in the patch, whether it inserts, start, end) for each instruction of a patch.

    `start` and `end` are offsets in the patch if the instruction inserts, otherwise in `canonical`.

    Raises:
        WireError: a varint is invalid, or an instruction refers to bytes beyond the end of
            `canonical` or of the patch.
    """
    offset = 0
    while offset < len(patch):
        begin = offset
        head, offset = read_varint(patch, offset, len(patch))
        size = head >> 1
        if head & 1:
            start, limit = offset, len(patch)
            offset += size
        else:
            start, offset = read_varint(patch, offset, len(patch))
            limit = len(canonical)
        if start + size > limit:
            raise WireError("the patch refers to bytes beyond the end of the data", begin)
        yield begin, bool(head & 1), start, start + size
