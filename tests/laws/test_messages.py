# SPDX-License-Identifier: Apache-2.0
"""L1 and L3 for every message of the schema on its own: `loads(dumps(m), type(m)) == m`."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import HealthCheck, given, seed, settings
from onnx import helper, numpy_helper, onnx_data_pb2, onnx_ml_pb2, onnx_operators_ml_pb2

import onnxtext
from onnxtext.api import FRAGMENTS
from onnxtext.proto.decode.lift import LiftError, lift_fragment
from onnxtext.proto.descriptors import message_spec, spelled_messages
from onnxtext.proto.encode.lower import lower_fragment
from onnxtext.syntax.parser.parser import Parser
from onnxtext.wire.writer import END_GROUP, GROUP, tag
from tests.seeds import draws, fresh_seed
from tests.strategies import message

MODULES = (onnx_ml_pb2, onnx_data_pb2, onnx_operators_ml_pb2)
INSTALLED = {name for module in MODULES for name in module.DESCRIPTOR.message_types_by_name}
MESSAGES = sorted(
    INSTALLED | {n for n in spelled_messages().values() if n.partition(".")[0] in INSTALLED}
)
HARD = settings(max_examples=draws(25), suppress_health_check=list(HealthCheck), derandomize=False)


def kind_of(name: str) -> Any:
    outer = name.partition(".")[0]
    return attrgetter(name)(next(module for module in MODULES if hasattr(module, outer)))


def round_trip(result: Any) -> str:
    """Check the laws for a message, and return its text."""
    text = onnxtext.dumps(result)
    again = onnxtext.loads(text, type(result))
    assert type(again) is type(result)
    assert again.SerializeToString() == result.SerializeToString()
    assert onnxtext.dumps(again) == text
    return text


@pytest.mark.filterwarnings("ignore:.*this looks like:onnxtext.OnnxTextWarning")
@pytest.mark.parametrize("name", MESSAGES)
def test_any_message_round_trips(name: str) -> None:
    @seed(fresh_seed())
    @HARD
    @given(message(message_spec(name), 3))
    def run(data: bytes) -> None:
        round_trip(kind_of(name).FromString(data))

    run()
    round_trip(kind_of(name)())


@pytest.mark.parametrize("name", MESSAGES)
def test_limit_of_depth(name: str) -> None:
    """A message of any type can be decoded as a fragment if protobuf can read it."""
    for depth in (99, 100, 101, 150):
        data = tag(99, GROUP) * depth + tag(99, END_GROUP) * depth
        if depth <= 100:
            result = kind_of(name).FromString(data)
            assert onnxtext.loads(onnxtext.dumps(result), type(result)) == result
        elif name != "ModelProto":
            with pytest.raises(LiftError, match="protobuf cannot read"):
                lift_fragment(data, name)


@pytest.mark.parametrize("name", MESSAGES)
def test_longer_varints_of_unknown_fields_are_read(name: str) -> None:
    """Protobuf copies them; the text has only their values."""
    data = b"\xa0\x06\x81\x80\x00\xa2\x06\x81\x00A\xa3\x06\x08\x81\x00\xa4\x06"
    result = kind_of(name).FromString(data)
    assert onnxtext.loads(onnxtext.dumps(result), type(result)) == result


def test_shallow_messages_are_not_parsed_by_protobuf(monkeypatch: pytest.MonkeyPatch) -> None:
    """Decoding a fragment makes no copies of its weights, and needs no classes of protobuf."""
    monkeypatch.setattr("onnxtext.proto.decode.lift.canonical_message", None)
    data = WEIGHT.SerializeToString()
    assert lower_fragment(lift_fragment(data, "TensorProto")) == data


WEIGHT = numpy_helper.from_array(np.arange(3, dtype=np.float32), "w")
SPARSE = helper.make_sparse_tensor(
    WEIGHT, numpy_helper.from_array(np.array([1, 2, 4]), "indices"), [6]
)
TEXTS = {
    "float[3] w [0, 1, 2]": WEIGHT,
    "sparse_tensor(float[6]) sparse(float[3] w [0, 1, 2], int64[3] indices [1, 2, 4])": SPARSE,
    "float[N, 3] x": helper.make_tensor_value_info("x", 1, ["N", 3]),
    "seq(float[N])": helper.make_sequence_type_proto(helper.make_tensor_type_proto(1, ["N"])),
    "axes = [0, 1]": helper.make_attribute("axes", [0, 1]),
    '"source": "torch"': onnx.StringStringEntryProto(key="source", value="torch"),
    '{domain: "", version: 21}': helper.make_opsetid("", 21),
    '{key: "source"}': onnx.StringStringEntryProto(key="source"),  # no value is stored
    '@doc("what") float[] x': helper.make_tensor_value_info("x", 1, None, "what"),
}


@pytest.mark.parametrize("text", TEXTS)
def test_each_message_has_its_text(text: str) -> None:
    assert round_trip(TEXTS[text]).rstrip() == text


def test_metadata_of_several_lines_round_trips() -> None:
    assert round_trip(onnx.StringStringEntryProto(key="a\nb", value='c\n"""\nd')).count("\n") > 3


def test_every_message_with_its_own_syntax_is_listed() -> None:
    assert set(FRAGMENTS) <= set(MESSAGES)


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        ("float[3] w [0, 1, 2]", onnx.SparseTensorProto, "is of type `TensorProto`, not `Sparse"),
        ("float[1] w = {1}", onnx.ValueInfoProto, "is of type `TensorProto`, not `ValueInfo"),
        ("{dims: [1], dims_: 2}", onnx.TensorProto, "TensorProto has no field `dims_`"),
        ("{elem_type: 1}", onnx.TensorProto, "TensorProto has no field `elem_type`"),
        ("float[3", onnx.TypeProto, "unclosed|expected"),
        ("a = 1, b = 2", onnx.AttributeProto, "expected|unexpected"),
        ("", onnx.TensorProto, "empty|end"),
    ],
)
def test_texts_of_other_messages_are_errors(text: str, kind: type[Any], said: str) -> None:
    with pytest.raises(onnxtext.OnnxTextError, match=said) as caught:
        onnxtext.loads(text, kind, name="here")
    assert caught.value.diagnostics[0].where().startswith("here:1:")


def test_other_types_are_type_errors() -> None:
    with pytest.raises(TypeError, match="str is not a message type of the onnx package"):
        onnxtext.loads("a", str)  # type: ignore[type-var]
    with pytest.raises(
        TypeError,
        match="expected a message of onnx, or an object of onnx_ir or onnxscript, not str",
    ):
        onnxtext.dumps("a = 1")


@pytest.mark.parametrize("text", ["y = Op <t = float => (x)", "y = Op <t = float[1] {1}> (x)"])
def test_types_are_plain_strings(text: str) -> None:
    """A token in the tree stays in the printer's cache of types, and the core refuses it."""
    fragment = Parser(text, "node_fragment").parse()
    value = fragment.item.attributes[0].value
    assert type(value.type.element) is str
