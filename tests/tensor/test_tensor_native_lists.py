# SPDX-License-Identifier: Apache-2.0
"""The compiled core joins, splits and encodes lists like Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest import mock

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import onnxtext
from onnxtext.select_core import core
from onnxtext.syntax.actions import tensors
from onnxtext.tensor import strings, varints
from onnxtext.tensor.float_formats import FORMATS, value_of
from onnxtext.tensor.shortest_decimals import narrow_text
from tests.running import using

pytestmark = pytest.mark.skipif(core() != "native", reason="the native core does not run")

KEY = b"\x40"


def outcome(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return the result, or the type of the error."""
    try:
        return function(*arguments)
    except Exception as error:
        return type(error)


def by_python(function: Callable[..., Any], *arguments: Any) -> Any:
    with using("python", strings, varints):
        return outcome(function, *arguments)


@given(st.lists(st.binary(max_size=200), max_size=20))
def test_strings_are_joined_and_split_the_same(values: list[bytes]) -> None:
    joined = strings.join_strings(values)
    assert joined == by_python(strings.join_strings, values)
    assert strings.split_strings(joined) == tuple(values)
    fields = strings.fields_of_strings(b"\x4a", joined)
    assert fields == by_python(strings.fields_of_strings, b"\x4a", joined)


@given(st.lists(st.sampled_from([0, 1, 2, 5, 0x7F, 0x80, 0x81, 0xFF]), max_size=14).map(bytes))
@example(b"\x80\x00")  # a length that is too long
@example(b"\x80\x80\x80\x80\x80\x00")
@example(b"\x81\x80\x80\x80\x00x")
@example(b"\x82\x00ab")
@example(b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")
@example(b"\x05ab")
def test_damaged_strings_are_split_the_same(data: bytes) -> None:
    wanted = by_python(strings.split_strings, data)
    assert strings.split_strings(data) == wanted
    assert strings.split_strings(memoryview(data)) == wanted
    fields = by_python(strings.fields_of_strings, b"\x4a", data)
    assert strings.fields_of_strings(b"\x4a", data) == fields


@given(st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-300, 300), max_size=40).map(tuple))
@example((2**63,))
@example((-(2**63) - 1,))
@example((True, 1))
@example((1.0,))
def test_integers_are_packed_the_same(values: tuple[int, ...]) -> None:
    wanted = by_python(varints.pack_integers, values)
    assert outcome(varints.pack_integers, values) == wanted
    if isinstance(wanted, bytes):
        fields = by_python(varints.int_fields, KEY, values)
        assert varints.fields_of_packed(KEY, wanted) == fields


@given(st.lists(st.sampled_from([0, 1, 0x7F, 0x80, 0xFF]), max_size=24).map(bytes))
@example(b"\xff" * 9 + b"\x7f")
def test_damaged_integers_are_unpacked_the_same(data: bytes) -> None:
    wanted = by_python(varints.unpack_entries, "int64_data", data)
    fields = varints.fields_of_packed(KEY, data)
    if isinstance(wanted, bytes):
        assert fields == by_python(varints.int_fields, KEY, wanted)
    else:
        assert fields is None


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float8e4m3fn", "float8e5m2"])
def test_the_core_reads_all_narrow_floats(name: str) -> None:
    """The core reads subnormal numbers, too, and never calls the reader in Python."""
    form = FORMATS[name]
    values = [value_of(form, code) for code in range(1 << form.bits)]
    codes = [code for code, value in enumerate(values) if abs(value) < 2.0 ** (form.bias + 1)]
    literal = ", ".join(repr(values[code]) for code in codes)
    text = f"g () => () <{name}[{len(codes)}] w = [{literal}]> {{}}"
    with mock.patch.object(tensors, "read_raw", side_effect=AssertionError("read in Python")):
        model = onnxtext.loads(text)
    width = form.bits // 8
    expected = b"".join(code.to_bytes(width, "little") for code in codes)
    assert model.graph.initializer[0].raw_data == expected


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float8e4m3fn", "float8e8m0"])
def test_the_core_prints_all_narrow_floats(name: str) -> None:
    """Its table has room for the longest texts, of up to 19 characters."""
    codes = range(1 << FORMATS[name].bits)
    literal = ", ".join(map(hex, codes))
    data = onnxtext.to_binary(f"g () => () <{name}[{len(codes)}] w = [{literal}]> {{}}")
    for _ in range(2):  # the second time, all texts are in the table
        printed = onnxtext.from_binary(data, weights="inline")
        texts = printed.partition("w = [")[2].partition("]")[0].split(",")[: len(codes)]
        assert [text.strip() for text in texts] == [narrow_text(name, code) for code in codes]
