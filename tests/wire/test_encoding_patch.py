# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import random
import tracemalloc
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onnxtext.wire.encoding_patch import apply_patch, make_patch
from onnxtext.wire.reader import WireError
from onnxtext.wire.writer import MAX_MESSAGE_BYTES, varint
from tests.running import limited
from tests.seeds import draws, sampled

# Long enough, and similar enough, for instructions that copy.
chunks = st.sampled_from([b"a" * 16, b"b" * 40, bytes(range(64)), b"\0" * 100, b"x", b"ab", b""])
mixed = st.lists(st.one_of(chunks, st.binary(max_size=24)), max_size=12).map(b"".join)


@settings(max_examples=draws(400), deadline=None)
@given(mixed, mixed)
def test_a_patch_gives_the_wanted_bytes(canonical: bytes, wanted: bytes) -> None:
    assert apply_patch(canonical, make_patch(canonical, wanted)) == wanted


@settings(max_examples=draws(400), deadline=None)
@given(mixed, st.binary(max_size=40))
def test_any_patch_is_applied_or_refused(canonical: bytes, patch: bytes) -> None:
    offset = 0
    try:
        apply_patch(canonical, patch)
    except WireError as error:
        offset = error.offset
    assert 0 <= offset <= len(patch)


def test_moved_data_is_copied() -> None:
    data = random.Random(1).randbytes(1000)
    assert make_patch(data, data) == varint(1000 << 1) + varint(0)
    assert len(make_patch(data, data[500:] + data[:500])) < 20
    assert len(make_patch(data, data[:500] + b"new" + data[500:])) < 20
    assert len(make_patch(data, data * 10)) < 100
    assert make_patch(data, b"") == b""
    assert make_patch(b"", b"new") == b"\x07new"


ADVERSARIES: dict[str, Callable[[bytes], tuple[bytes, bytes]]] = {
    "random": lambda noise: (noise, noise[::-1]),
    "zeros against noise": lambda noise: (bytes(len(noise)), noise),
    "nearly worth a copy": lambda noise: (
        b"".join([noise[index : index + 7] + b"\1" for index in range(0, len(noise), 7)]),
        noise,
    ),
    "a block but for its last byte": lambda noise: (
        bytes(len(noise)),
        (b"\0" * 15 + b"\1") * (len(noise) // 16),
    ),
    "the same block everywhere": lambda noise: (b"ab" * (len(noise) // 2), b"ba" * len(noise)),
    "a byte dropped now and then": lambda noise: (
        noise,
        b"".join([noise[index : index + 20] for index in range(0, len(noise), 21)]),
    ),
}


@pytest.mark.thorough
@pytest.mark.parametrize("kind", sampled(ADVERSARIES, 3))
def test_a_patch_of_a_random_megabyte_is_fast(kind: str) -> None:
    canonical, wanted = ADVERSARIES[kind](random.Random(1).randbytes(1 << 20))
    with limited(10):  # some 0.5 s on a machine of 2020
        patch = make_patch(canonical, wanted)
        assert apply_patch(canonical, patch) == wanted


def test_large_data_takes_a_small_multiple_of_its_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small file with few blocks stands for a file of many GB with one odd byte."""
    monkeypatch.setattr("onnxtext.wire.encoding_patch.MAX_BLOCKS", 1 << 10)
    data = random.Random(1).randbytes(1 << 20)
    wanted = data[:9] + b"odd" + data[10 : 1 << 19] + data[(1 << 19) + 999 :] + data[:4000]
    tracemalloc.start()
    patch = make_patch(data, wanted)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 << 20
    assert len(patch) < 50
    assert apply_patch(data, patch) == wanted


def refused(canonical: bytes, patch: bytes) -> WireError:
    with pytest.raises(WireError) as caught:
        apply_patch(canonical, patch)
    return caught.value


@pytest.mark.parametrize(
    "patch",
    [
        varint(4 << 1) + varint(0),  # copies more bytes than the data has
        varint(1 << 1) + varint(3),  # copies from an offset after its end
        varint(2 << 1) + varint((1 << 64) - 1),
        varint(((1 << 63) - 1) << 1) + varint(0),
        varint(9 << 1 | 1) + b"short",
        varint(((1 << 63) - 1) << 1 | 1),
        b"\xff" * 11,
        b"\x80",
    ],
)
def test_a_patch_beyond_the_end_is_rejected(patch: bytes) -> None:
    assert refused(b"abc", b"\x03x" + patch).offset == 2


def test_a_truncated_patch_is_rejected() -> None:
    assert refused(b"abc", b"\x03x\x02").offset == 3


def test_a_patch_is_bounded() -> None:
    canonical = bytes(1 << 20)
    copy = varint(len(canonical) << 1) + varint(0)
    enough = (MAX_MESSAGE_BYTES >> 20) + 1
    tracemalloc.start()
    with limited(2):
        refused(canonical, copy * enough)
        refused(canonical, copy * 100_000)  # a hundred gigabytes from 600 kB
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 21
