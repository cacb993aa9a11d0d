# SPDX-License-Identifier: Apache-2.0
"""The diff compares every field of every message of the installed onnx."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import onnxtext
from onnxtext.differ import ModelDiff, ModelSide, compare
from onnxtext.proto.decode.lift import canonical_encoding
from onnxtext.proto.descriptors import message_spec
from onnxtext.wire.writer import LENGTH, delimited, tag
from tests.differ.graphs import diff_of
from tests.laws.test_every_field import FIELDS, PATHS, model_with
from tests.seeds import draws
from tests.strategies import models

pytestmark = pytest.mark.thorough

IDENTITIES = {
    ("AttributeProto", "name"),
    ("DeviceConfigurationProto", "name"),
    ("FunctionProto", "input"),
    ("NodeDeviceConfigurationProto", "configuration_id"),
    ("NodeProto", "op_type"),
    ("NodeProto", "domain"),
    ("OperatorSetIdProto", "domain"),
    ("StringStringEntryProto", "key"),
    ("TensorAnnotation", "tensor_name"),
    ("TensorProto", "name"),
    ("ValueInfoProto", "name"),
}
"""Fields that identify items."""


def model_without(message: str) -> bytes:
    """Return a model with an empty message of a type."""
    data = b""
    for step in reversed(PATHS[message]):
        data = delimited(tag(step.number, LENGTH), data)
    return data


def named(result: ModelDiff) -> str:
    """Return all paths in a diff."""
    parts = []
    for item in result.items:
        for place in (item.old, item.new):
            parts += [place.path] if place is not None else []
            parts += [f"{place.path}.{change.path}" for change in item.fields if place]
        parts += [item.old_text or "", item.new_text or ""]
    parts += [f"{r.path} {r.kind} name" for r in result.renames]
    parts += [f"{s.path} {s.what}" for s in result.stored]
    return "\n".join(parts)


@pytest.mark.parametrize(("message", "name"), FIELDS)
def test_added_and_removed_fields_are_found(message: str, name: str) -> None:
    for empty in (False, True):
        new = model_with(message, name, empty=empty)
        old = model_without(message)
        for result in (diff_of(old, new), diff_of(new, old)):
            assert result.verdict != "same"
            assert not any(f.new == "something that this diff has no name for"
                           for i in result.items for f in i.fields)  # fmt: skip
        assert diff_of(new, new).verdict == "same"


@pytest.mark.parametrize(("message", "name"), FIELDS)
def test_changed_values_are_found(message: str, name: str) -> None:
    field = message_spec(message).by_name[name]
    if field.kind == "message":
        return
    old, new = (model_with(message, name, empty=empty) for empty in (True, False))
    result = diff_of(old, new)
    assert result.verdict != "same"
    # Identifying fields are part of the path, or visible in the statements of both items.
    key = (message, name) in IDENTITIES
    assert key or f".{name}" in named(result)


@pytest.mark.filterwarnings("ignore::onnxtext.OnnxTextWarning")
@settings(deadline=None, max_examples=draws(60), suppress_health_check=list(HealthCheck))
@given(models())
def test_a_model_equals_itself(data: bytes) -> None:
    assert diff_of(data, data).verdict == "same"
    assert diff_of(data, canonical_encoding(data)).verdict in ("same", "stored-differently")


@pytest.mark.filterwarnings("ignore::onnxtext.OnnxTextWarning")
@settings(deadline=None, max_examples=draws(60), suppress_health_check=list(HealthCheck))
@given(models(), models())
def test_different_models_differ(old: bytes, new: bytes) -> None:
    same = canonical_encoding(old) == canonical_encoding(new)
    result = diff_of(old, new)
    if not same:
        assert result.differs


@pytest.mark.filterwarnings("ignore::onnxtext.OnnxTextWarning")
@settings(deadline=None, max_examples=draws(60), suppress_health_check=list(HealthCheck))
@given(models(), st.sampled_from(["auto", "inline", "section"]), st.sampled_from([0, 64]))
def test_a_text_equals_its_model(data: bytes, metadata: str, limit: int) -> None:
    text = onnxtext.from_binary(data, metadata=metadata, inline_limit=limit)  # type: ignore[arg-type]
    assert compare(ModelSide.of_binary(data), ModelSide.of_text(text)).verdict == "same"
