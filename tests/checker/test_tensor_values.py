# SPDX-License-Identifier: Apache-2.0
"""Entries of typed fields are in the range of their elements (TensorProto)."""

from __future__ import annotations

import base64
import hashlib

import pytest
from onnx import TensorProto, checker, helper

import onnxtext
from onnxtext.tensor.element_types import ELEMENTS
from tests.checker.models import codes, text

ENTRIES: dict[str, tuple[str, int, int, int]] = {
    "int2": ("int32_data", 4, -128, 255),
    "uint2": ("int32_data", 4, 0, 255),
    "int4": ("int32_data", 2, -128, 255),
    "uint4": ("int32_data", 2, 0, 255),
    "float4e2m1": ("int32_data", 2, 0, 255),
    "bool": ("int32_data", 1, 0, 1),
    "int8": ("int32_data", 1, -128, 127),
    "uint8": ("int32_data", 1, 0, 255),
    "int16": ("int32_data", 1, -(1 << 15), (1 << 15) - 1),
    "uint16": ("int32_data", 1, 0, (1 << 16) - 1),
    "int32": ("int32_data", 1, -(1 << 31), (1 << 31) - 1),
    "float16": ("int32_data", 1, 0, (1 << 16) - 1),
    "bfloat16": ("int32_data", 1, 0, (1 << 16) - 1),
    "float8e4m3fn": ("int32_data", 1, 0, 255),
    "float8e4m3fnuz": ("int32_data", 1, 0, 255),
    "float8e5m2": ("int32_data", 1, 0, 255),
    "float8e5m2fnuz": ("int32_data", 1, 0, 255),
    "float8e8m0": ("int32_data", 1, 0, 255),
    "uint32": ("uint64_data", 1, 0, (1 << 32) - 1),
    "uint64": ("uint64_data", 1, 0, (1 << 64) - 1),
    "int64": ("int64_data", 1, -(1 << 63), (1 << 63) - 1),
}
"""The field of each type, how many elements an entry has, the least and the greatest entry.

An entry of a signed packed type may be written with its sign extended.
"""
RANGES = {
    "int32_data": (-(1 << 31), (1 << 31) - 1),
    "uint64_data": (0, (1 << 64) - 1),
    "int64_data": (-(1 << 63), (1 << 63) - 1),
}
NEAR = sorted(
    {bound + d for _, _, *bounds in ENTRIES.values() for bound in bounds for d in (-1, 0, 1)}
    | {497, 4096, 0, 1, 2}
)


SLUGS = {"tensor-value-range", "tensor-data-size", "tensor-data-field"}


def found(data_type: str, field: str, entry: int, count: int, place: str) -> set[str]:
    held = f"{data_type}[{count}] w = {field}{{{entry}}}"
    if place == "initializer":
        source = text("y = Relu (x)", values=f"{held},", ir_version=14, opsets="21")
    else:
        tensor = TensorProto(data_type=ELEMENTS[data_type].number, dims=[count])
        getattr(tensor, field).append(entry)
        return codes(helper.make_node("Constant", [], ["z"], value=tensor)) & SLUGS
    return codes(source) & SLUGS


@pytest.mark.parametrize("place", ["initializer", "attribute"])
@pytest.mark.parametrize("data_type", ENTRIES)
def test_entries_outside_the_bounds_are_found(data_type: str, place: str) -> None:
    field, elements, low, high = ENTRIES[data_type]
    for entry in NEAR:
        if RANGES[field][0] <= entry <= RANGES[field][1]:
            wanted = set() if low <= entry <= high else {"tensor-value-range"}
            assert found(data_type, field, entry, elements, place) == wanted, entry


@pytest.mark.parametrize("data_type", [name for name, entry in ENTRIES.items() if entry[1] > 1])
def test_an_entry_has_no_more_elements_than_a_byte(data_type: str) -> None:
    field, elements, *_ = ENTRIES[data_type]
    for count in range(1, 4 * elements + 1):
        wanted = set() if count <= elements else {"tensor-data-size"}
        assert found(data_type, field, 1, count, "initializer") == wanted


def large_tensor(data_type: str) -> tuple[TensorProto, str]:
    """Return a tensor with one wrong entry among 40, and the rule that it breaks."""
    tensor = TensorProto(name="w", data_type=ELEMENTS[data_type].number)
    if data_type == "string":
        tensor.dims.append(40)
        tensor.string_data.extend([b"a"] * 39 + [b"\xff"])
        return tensor, "tensor-string-utf8"
    field, _, _, high = ENTRIES[data_type]
    tensor.dims.append(40)
    getattr(tensor, field).extend([1] * 39 + [high + 1])
    return tensor, "tensor-value-range"


LIMITED = [
    name
    for name, (field, elements, _, high) in ENTRIES.items()
    if elements == 1 and high < RANGES[field][1]
]
"""The types whose field has wider entries. Wrong entries of packed types stay in the literal."""


@pytest.mark.parametrize("data_type", [*LIMITED, "string"])
def test_wrong_entries_are_found_in_blobs(data_type: str) -> None:
    """A text has the findings of its binary model, also about data that it stores in blobs."""
    tensor, rule = large_tensor(data_type)
    node = helper.make_node("Constant", [], ["z"], value=tensor)
    for graph in (
        helper.make_graph([node], "g", [], []),
        helper.make_graph([], "g", [], [], [tensor]),
    ):
        data = helper.make_model(graph).SerializeToString()
        written = onnxtext.from_binary(data)
        assert '{blob"' in written
        for source in (data, onnxtext.from_binary(data, weights="inline"), written):
            found = [item.message for item in onnxtext.check(source) if item.code == rule]
            assert len(found) == 1, source
        # Blobs that are missing are errors of the encoder.
        assert rule not in codes(written.partition("\nresources")[0])


def test_wrong_bits_are_found_in_blobs() -> None:
    data = bytes([1] * 39 + [2])
    digest = hashlib.sha256(data).hexdigest()[:32]
    written = text("y = Relu (x)", values=f'bool[40] w = blob"{digest}",')
    written += f'resources {{\n  "{digest}": base64 "{base64.b64encode(data).decode()}"\n}}\n'
    assert "tensor-value-range" in codes(written)


def test_tensors_made_by_onnx_have_no_findings() -> None:
    for name in ENTRIES:
        number = getattr(TensorProto, name.upper(), None)
        if number is None:
            continue
        values = [0, 1, 1] if name == "bool" else [1, 1, 0]
        tensor = helper.make_tensor("w", number, [3], values)
        graph = helper.make_graph([], "g", [], [], [tensor])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])
        model.ir_version = 14
        assert not {item.code for item in onnxtext.check(model) if item.severity == "error"}, name


@pytest.mark.parametrize("value", ["bool true", "float16 nan", "float8e5m2 inf"])
def test_a_value_that_is_a_name_is_explained(value: str) -> None:
    """`bool true` is a tensor that is named `true`, also in the official syntax."""
    (finding,) = sizes_of(text(f"z = Constant <value = {value}> ()\ny = Relu (x)", opsets="25"))
    type, name = value.split()
    assert finding.help == f"write `{type}({name})` for the value: `{name}` is now the name"


@pytest.mark.parametrize("value", ["int64 true", "string true", "bool nan", "float8e4m3fn inf"])
def test_a_name_that_is_no_value_of_the_type_is_not_explained(value: str) -> None:
    (finding,) = sizes_of(text(f"z = Constant <value = {value}> ()\ny = Relu (x)", opsets="25"))
    assert finding.help == "correct the dimensions or the data"


def test_the_name_of_an_initializer_is_not_its_value() -> None:
    (finding,) = sizes_of(text("y = Relu (x)", values="float nan =,"))
    assert finding.help == "correct the dimensions or the data"


def sizes_of(source: str) -> list[onnxtext.Diagnostic]:
    return [item for item in onnxtext.check(source) if item.code == "tensor-data-size"]


def test_external_data_without_its_location_flag_is_ignored() -> None:
    held = '@set(external_data: [{key: "location", value: "a"}]) float[1] w =,'
    assert codes(text("y = Relu (x)", values=held)) == {"tensor-data-size"}


@pytest.mark.parametrize("held", ["bool[1] w = int32_data{1}", 'string[1] w = string_data{"a"}'])
def test_an_empty_field_of_bytes_hides_the_data(held: str) -> None:
    """onnxruntime rejects the model, and the checker of onnx does not."""
    source = text("y = Relu (x)", values=f'{held} raw_data(""),')
    (finding,) = [item for item in onnxtext.check(source) if item.code in SLUGS]
    assert "has an empty `raw_data`" in finding.message
    assert finding.severity == "warning"
    checker.check_model(onnxtext.to_binary(source))
