# SPDX-License-Identifier: Apache-2.0
"""Byte patches: what turns the canonical encoding of a model into its file's own bytes.

A patch is a sequence of instructions, each a varint whose lowest bit tells the kind:

- `length << 1`, `offset`: copy `length` bytes of the canonical encoding from `offset`;
- `length << 1 | 1`, then `length` bytes: insert these.
"""

from __future__ import annotations

import io
from collections.abc import Iterator

from onnxtext.wire.reader import WireError, read_varint
from onnxtext.wire.writer import varint

MAX_RESULT = (1 << 31) - 1
"""So many bytes a patch may make: more than protobuf would read of them."""

_BLOCK = 16
"""Copies are found by blocks of this size."""

_MOST_BLOCKS = 1 << 18
"""So many blocks are remembered, about 50 MB. In more than 4 MiB they do not touch: what is copied
from elsewhere is found by one of them only if it is long enough to hold one."""

_WORTH = 8
"""What is shorter is inserted rather than copied."""


def make_patch(canonical: bytes, wanted: bytes) -> bytes:
    """The patch that turns one byte string into another; linear in their lengths."""
    blocks: dict[bytes, int] = {}
    step = max(_BLOCK, -(-len(canonical) // _MOST_BLOCKS))
    for at in range(0, len(canonical) - _BLOCK + 1, step):
        blocks.setdefault(canonical[at : at + _BLOCK], at)
    out: list[bytes] = []
    inserted = 0  # start of the bytes of `wanted` that no instruction covers yet
    at = 0
    expected = 0  # where in `canonical` the copying would go on
    while at < len(wanted):
        source = expected
        if canonical[source : source + _WORTH] != wanted[at : at + _WORTH]:
            source = blocks.get(wanted[at : at + _BLOCK], -1)
        size = _common(canonical, source, wanted, at) if source >= 0 else 0
        if size < _WORTH:
            at += 1
            continue
        while at > inserted and source and canonical[source - 1] == wanted[at - 1]:
            at, source, size = at - 1, source - 1, size + 1
        out.append(_insertion(wanted[inserted:at]))
        out.append(varint(size << 1) + varint(source))
        at += size
        inserted = at
        expected = source + size
    out.append(_insertion(wanted[inserted:]))
    return b"".join(out)


def _insertion(data: bytes) -> bytes:
    return varint(len(data) << 1 | 1) + data if data else b""


def _common(left: bytes, left_at: int, right: bytes, right_at: int) -> int:
    """How many bytes are the same from two places on."""
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
    """The bytes that a patch makes of the canonical encoding.

    Raises:
        WireError: the patch does not belong to this encoding, or makes more than `MAX_RESULT`
            bytes. Nothing is made before this is known.
    """
    made = 0
    for at, _, start, end in _instructions(canonical, patch):
        made += end - start
        if made > MAX_RESULT:
            raise WireError("the patch makes more than 2 GiB", at)
    out = io.BytesIO()
    sources = (memoryview(canonical), memoryview(patch))
    for _, inserts, start, end in _instructions(canonical, patch):
        out.write(sources[inserts][start:end])
    return out.getvalue()


def _instructions(canonical: bytes, patch: bytes) -> Iterator[tuple[int, bool, int, int]]:
    """The instructions of a patch: offset, whether it inserts, and which bytes it takes.

    Raises:
        WireError: an instruction takes bytes that are not there.
    """
    at = 0
    while at < len(patch):
        begin = at
        head, at = read_varint(patch, at, len(patch))
        size = head >> 1
        if head & 1:
            start, limit = at, len(patch)
            at += size
        else:
            start, at = read_varint(patch, at, len(patch))
            limit = len(canonical)
        if start + size > limit:
            raise WireError("the patch reaches beyond the data", begin)
        yield begin, bool(head & 1), start, start + size
