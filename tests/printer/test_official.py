# SPDX-License-Identifier: Apache-2.0
"""`--dialect onnx`: the official parser reads every text, and every loss is listed, and is one.

The comparison here knows nothing of the printer: it walks two messages by their descriptors, treats
what is absent as empty where that means the same, and passes over exactly what the losses name.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import onnx
import onnx.numpy_helper
import pytest
from google.protobuf.unknown_fields import UnknownFieldSet
from hypothesis import HealthCheck, assume, given, settings

import onnxtext
from onnxtext.api import to_official
from onnxtext.proto.losses import Loss
from tests.corpus import index, onnx_directory, shared_model, shared_models, wheel_models
from tests.laws.test_models import backend_cases
from tests.strategies import models

pytestmark = pytest.mark.filterwarnings("ignore")  # of files that are hardly models, and numpy's

quick = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
long = settings(max_examples=20_000, deadline=None, suppress_health_check=list(HealthCheck))

DATA = {
    "float_data",
    "int32_data",
    "string_data",
    "int64_data",
    "raw_data",
    "double_data",
    "uint64_data",
}
NARROW = {21, 22, 23, 25, 26}
"""4- and 2-bit types: the official parser stores one entry a number, ours packs them."""


# ---- Comparing ------------------------------------------------------------------------------


def differences(wanted: Any, found: Any, lost: set[str], path: str = "") -> Iterator[str]:
    """The paths of what differs between two messages and is not lost."""
    if wanted.DESCRIPTOR.name == "TensorProto":
        yield from data_differences(wanted, found, lost, path)
    strangers: Any = UnknownFieldSet(wanted)
    for item in strangers:
        yield from listed(f"{item.field_number}", lost, path)
    for oneof in wanted.DESCRIPTOR.oneofs:
        kinds = wanted.WhichOneof(oneof.name), found.WhichOneof(oneof.name)
        if kinds[0] != kinds[1]:
            yield f"{path}:{oneof.name}"
    for field in wanted.DESCRIPTOR.fields:
        here = f"{path}.{field.name}" if path else field.name
        if here in lost or (wanted.DESCRIPTOR.name == "TensorProto" and field.name in DATA):
            continue
        one, other = getattr(wanted, field.name), getattr(found, field.name)
        if field.name == "shape" and wanted.HasField("shape") != found.HasField("shape"):
            yield here
        elif field.is_repeated and field.message_type is not None:
            yield from list_differences(one, other, lost, here)
        elif field.is_repeated:
            if len(one) != len(other):
                yield here
            for index, (a, b) in enumerate(zip(one, other, strict=False)):
                if scalar(a) != scalar(b) and f"{here}[{index}]" not in lost:
                    yield f"{here}[{index}]"
        elif field.message_type is not None:
            if wanted.HasField(field.name) or found.HasField(field.name):
                yield from differences(one, other, lost, here)
        elif scalar(one) != scalar(other):
            yield here


def listed(name: str, lost: set[str], path: str) -> Iterator[str]:
    here = f"{path}.{name}" if path else name
    if here not in lost:
        yield here


def list_differences(wanted: Any, found: Any, lost: set[str], path: str) -> Iterator[str]:
    """Of lists of messages; an item that is lost is left out."""
    named = {key(item, path, number): item for number, item in enumerate(wanted)}
    assume(len(named) == len(wanted))  # two attributes of one name have one path
    kept = {name: item for name, item in named.items() if name not in lost}
    if len(kept) != len(found):
        yield path
    for (name, one), other in zip(kept.items(), found, strict=False):
        yield from differences(one, other, lost, name)


def key(item: Any, path: str, number: int) -> str:
    if item.DESCRIPTOR.name != "AttributeProto" or not item.name:
        return f"{path}[{number}]"
    name = item.name
    if isinstance(name, bytes):
        name = name.decode("utf-8", "backslashreplace")
    return f'{path}["{name}"]'


def scalar(value: Any) -> Any:
    return struct.pack("<d", value) if isinstance(value, float) else value


def data_differences(wanted: Any, found: Any, lost: set[str], path: str) -> Iterator[str]:
    """Of the elements of two tensors, in whatever field they are stored."""
    gone = {name for name in DATA if f"{path}.{name}" in lost}
    own = {"raw_data", own_field(wanted.data_type)}
    if gone & own:
        if any([*getattr(wanted, name)] != [*getattr(found, name)] for name in DATA - own - gone):
            yield f"{path}:data"
        return
    one, other = type(wanted)(), type(found)()
    one.CopyFrom(wanted)
    other.CopyFrom(found)
    for tensor in (one, other):
        for name in (*gone, "data_location", "external_data"):
            tensor.ClearField(name)
    if not one.raw_data:
        one.ClearField("raw_data")
    same = all(
        [*map(scalar, getattr(one, name))] == [*map(scalar, getattr(other, name))]
        for name in DATA - {"raw_data"}
    )
    if same and one.raw_data == other.raw_data:
        return
    try:
        arrays = [onnx.numpy_helper.to_array(tensor).tobytes() for tensor in (one, other)]
    except (ValueError, TypeError):
        yield f"{path}:data"
        return
    if arrays[0] != arrays[1] or not one.raw_data:
        yield f"{path}:data"


def own_field(data_type: int) -> str:
    """The typed field of a type's elements."""
    known = data_type in onnx.TensorProto.DataType.values() and data_type
    return str(onnx.helper.tensor_dtype_to_field(data_type)) if known else ""


# ---- The laws of the dialect ----------------------------------------------------------------


def paths(losses: list[Loss]) -> set[str]:
    return {loss.path for loss in losses if not loss.harmless}


def tensors(message: Any) -> Iterator[onnx.TensorProto]:
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        for item in value if field.is_repeated else [value]:
            if isinstance(item, onnx.TensorProto):
                yield item
            yield from tensors(item)


def check(data: bytes) -> list[Loss]:
    """State the laws for one model; its losses."""
    text, losses = to_official(data)
    wanted = onnx.ModelProto.FromString(data)
    found = onnx.parser.parse_model(text)
    assert not list(differences(wanted, found, paths(losses)))
    if not any(tensor.data_type in NARROW for tensor in tensors(found)):
        assert onnxtext.to_binary(text) == found.SerializeToString()
    assert all(not loss.harmless for loss in losses[:-1])
    if not losses:
        assert found == wanted
    if paths(losses):
        assert not is_official(wanted)
    return losses


def is_official(model: onnx.ModelProto) -> bool:
    """Whether the official printer loses nothing."""
    try:
        found = onnx.parser.parse_model(onnx.printer.to_text(model))
    except Exception:
        return False
    return not list(differences(model, found, set()))


def check_each_loss(data: bytes) -> None:
    """No loss is one in name only: the models differ where it says so."""
    text, losses = to_official(data)
    wanted, found = onnx.ModelProto.FromString(data), onnx.parser.parse_model(text)
    lost = paths(losses)
    for path in lost:
        inside_another = any(path.startswith((f"{other}.", f"{other}[")) for other in lost)
        if not inside_another:
            assert list(differences(wanted, found, lost - {path})), path


# ---- Real models ----------------------------------------------------------------------------


@pytest.mark.parametrize("file", wheel_models())
def test_wheel_model(file: str) -> None:
    check((onnx_directory() / file).read_bytes())


SAMPLE = [entry["file"] for entry in index("models") if entry["bytes"] < 200_000][::3]


@pytest.mark.data
@pytest.mark.parametrize("file", SAMPLE)
def test_shared_model(file: str) -> None:
    check(shared_model(file))


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("file", shared_models())
def test_every_shared_model(file: str) -> None:
    check(shared_model(file))


def test_backend_cases() -> None:
    cases = backend_cases()[::5]
    assert len(cases) > 200
    for name, data in cases:
        try:
            check(data)
        except AssertionError as error:
            raise AssertionError(name) from error


# ---- Any model ------------------------------------------------------------------------------


@quick
@given(models())
def test_any_model(data: bytes) -> None:
    check(data)
    check_each_loss(data)


@pytest.mark.slow
@long
@given(models())
def test_any_model_at_length(data: bytes) -> None:
    check(data)
    check_each_loss(data)
