# SPDX-License-Identifier: Apache-2.0
"""The compiled core decodes any bytes to the same tree, or the same error, as pure Python."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import onnxtext
from onnxtext.ast import (
    Attribute,
    AttributeType,
    Float32,
    Floats,
    Graph,
    Model,
    Node,
    RawData,
    Reference,
    RepeatedList,
    SparseTensor,
    Tensor,
    visit,
)  # fmt: skip
from onnxtext.ast.compact_form import output_types
from onnxtext.ast.types import TensorType
from onnxtext.binary_to_text import lift_placed
from onnxtext.checker.inference.kind_facts import MAX_COMPARED_INTEGERS, ValueFact, kind_key
from onnxtext.proto import presence_defaults
from onnxtext.proto.decode import lift
from onnxtext.proto.decode import messages as lifter
from onnxtext.proto.decode.lift import LiftError
from onnxtext.proto.encode import lower
from onnxtext.select_core import core, core_module
from onnxtext.wire.writer import delimited, varint
from tests.corpus import onnx_directory, shared_model, shared_models, wheel_models
from tests.running import using
from tests.seeds import draws, seeded

pytestmark = pytest.mark.skipif(core() != "native", reason="the native core does not run")


METADATA = onnxtext.to_binary("""
<ir_version: 10, opset_import: ["": 20]>
@value_info(initializers, values)
g (@meta("a": "1") float[2] x) => (@meta("a": "2", "b": "") float[N] y) <
  @meta("c": "3") float[2] w = [1, 2],
  @meta("d": "é") seq(float[N]) v,
  int64[3] t = {1, -2, 3},
> {
  [n] y = Add <k = @meta("e": "4") float[2] u = [1, 2]> (x, w)
}
""")

TENSORS = onnxtext.to_binary("""
<ir_version: 10, opset_import: ["": 20]>
g () => () <
  string[2] s = {"a", ""},
  @meta("a": "1") string[0, 3] none,
  float[2, 0] e = [],
  int64[0] t = {},
  float[3, 4] x = external("w.data", 0, 48),
  int4[2] n = external("w.data"),
> {
  y = A <t = string[1] u = {"b"}, e = float[0] = [], x = float[2] v = external("w", 1)> ()
  z = A <
    a = [int64[1] u = [1], float = 2], b = [float {}, @doc("c") int8[1] [1]],
    c = [@set(data_location: DEFAULT) float[1] [1]], d: tensors = [],
  > ()
}
""")

SPARSE = onnxtext.to_binary("""
<ir_version: 10, opset_import: ["": 20]>
g (float[2] i) => () <
  sparse_tensor(float[4]) s = sparse(float[2] [1, 2], int64[2] i = [0, 3]),
  sparse_tensor(float[4, 4]) t = sparse(float[1] {1.5}, int64[1, 2] i = [[0, 3]]),
  sparse_tensor(string[4]) u = sparse(string[1] {"a"}, int64[1] [3]),
  sparse_tensor(int64[9]) long = sparse(int64[3] [1, 2, 3], int64[3] {0, 3, 4}),
  sparse_tensor(float[2]) i = sparse(float[0] [], int64[0] []),
  sparse_tensor(float[2]) d = sparse(@doc("e") float[1] [1], int64[1] [1]),
  float[1] w = [1],
> {
  y = A <
    t = sparse_tensor(float[4]) sparse(float[1] v = [7], int64[1] [2]),
    u = [
      sparse_tensor(float[4]) sparse(float[1] v = [7], int64[1] [2]),
      sparse_tensor(float[4]) sparse(float[1] [8], @doc("d") int64[1] [3]),
    ],
  > ()
}
""")

DECORATED = onnxtext.to_binary("""
<onnxtext: 1, ir_version: 10, opset_import: ["": 20]>
@doc("g")
g (@doc("x") float[2] x, @set(type: {}) u) => (@type.denotation("I") @meta("a": "2") float[N] y) <
  @doc("w") @meta("c": "3") @set(data_location: DEFAULT) float[2] w = [1, 2],
  @set(data_location: DEFAULT) int64[3] t = {1, -2, 3},
  @doc("v") @meta("d": "é") seq(float[N]) v,
  @set(data_location: DEFAULT) string[1] s = {"a"},
> {
  @doc("n")
  [n] y = Add <
    k = {t: {dims: [1], data_type: 1, raw_data: b"abcd", data_location: DEFAULT}, type: TENSOR},
  > (x, w)
  @set(77: 1) z = B ()
}
""")

TYPES = onnxtext.to_binary("""
<onnxtext: 1, ir_version: 10, opset_import: ["": 20]>
g (seq(float[N]) x, @type.denotation("I") seq(float) s) => (optional(seq(int64[?])) y) <
  map(int64, seq(float[2])) m, sparse_tensor(float[2]) t, opaque(a, b) o, undefined[] u,
  @type.denotation("I") optional(float) p, seq(@denotation("D") float) q,
> {
  a = A <
    x = float[N, 2], y = seq(map(string, float[])), z = optional(float), t = sparse_tensor(float),
    l = [float[1], seq(float)], m = [seq(float), opaque(a)],
    o: type_proto = opaque(a), d = @denotation("I") float[1],
  > ()
  b = If <then_branch = g () => (z) { z = A () }, else_branch = @unset(name) "" () => (z) {}> (x)
  d = B <g = [h () => () {}, i () => (z) { z = A () }, @doc("j") j () => () {}]> ()
  c = Loop <body = h (float i, int64 j) => (@doc("d") k) <float w = 1, float k> {
    float[2] k, float u = If <e = f (float[1] v = [1]) => () <float[1] w = [2]> {}> (i)
  }> ()
}
""")


def outcome(data: bytes) -> Any:
    """Return the model or the error; small tensors too are moved to blobs."""
    try:
        return lift_placed(data, inline_limit=2)
    except LiftError as error:
        return error.message, error.offset
    except ValueError as error:  # numpy's, for corrupt lists
        return type(error), str(error)


def assert_same_tree(data: bytes) -> None:
    native = outcome(data)
    with using("python", lift, lifter, lower, output_types):
        assert outcome(data) == native


def models() -> list[bytes]:
    found = [(onnx_directory() / file).read_bytes() for file in wheel_models()[::20]]
    files = [*shared_models()[::40], *[file for file in shared_models() if "dynamo" in str(file)]]
    return [
        METADATA,
        TENSORS,
        SPARSE,
        DECORATED,
        TYPES,
        *found,
        *[data for file in files if len(data := shared_model(file)) < 9000],
    ]


def test_models_give_the_same_tree() -> None:
    for data in models():
        assert_same_tree(data)


TWICE = 'float[1] "" = float_data{1} raw_data(b"")'
"""A tensor that the native core leaves to Python: its name and `raw_data` are stored empty."""


@pytest.mark.parametrize(
    "text",
    [
        f"g () => () {{ y = C <v = {TWICE}> () }}",
        'g () => () { @set(999: 1) y = C <v = float[1] "" {1}> () }',
        f"g () => () {{}} f <v: tensor = {TWICE}> () => () {{}}",
    ],
)
def test_empty_names_of_rare_tensors_give_the_same_tree(text: str) -> None:
    data = onnxtext.to_binary(f"<onnxtext: 1, ir_version: 10> {text}")
    assert lift_placed(data).presence.explicit == ("tensor.name",)
    assert_same_tree(data)


INTS = [b"\x40\x01", b"\x40\x80\x01", b"\x40" + varint(-3), b"\xc0\x00\x01", b"\x40\x81\x00"]
"""Fields of `ints` in an attribute: three canonical ones, a padded key, a padded value."""


@pytest.mark.parametrize("fields", [b"".join(some) for some in product(INTS, repeat=3)])
def test_lists_of_ints_that_become_blobs_give_the_same_tree(fields: bytes) -> None:
    attribute = delimited(b"\x0a", b"a") + fields + b"\xa0\x01\x07"
    node = delimited(b"\x22", b"A") + delimited(b"\x2a", attribute)
    graph = delimited(b"\x0a", node) + delimited(b"\x12", b"g")
    function = delimited(b"\x0a", b"f") + delimited(b"\x5a", attribute)
    assert_same_tree(b"\x08\x0a" + delimited(b"\x3a", graph) + b"\x42\x02\x10\x15")
    assert_same_tree(b"\x08\x0a" + delimited(b"\xca\x01", function))


def test_mutated_models_give_the_same_tree() -> None:
    chance = seeded()
    small = [data for data in models() if len(data) < 1500]
    for _ in range(draws(1000)):
        data = bytearray(chance.choice(small))
        for _ in range(chance.choice([1, 1, 2, 4])):
            at = chance.randrange(len(data))
            match chance.randrange(4):
                case 0:
                    data[at] = chance.choice([0, 1, 2, 0x0A, 0x12, 0x1A, 0x7F, 0x80, 0xFF])
                case 1:
                    data[at] = chance.randrange(256)
                case 2:
                    del data[at : at + chance.randint(1, 3)]
                case 3:
                    data[at:at] = data[at : at + chance.randint(1, 9)]
            if not data:
                break
        assert_same_tree(bytes(data))


NAME = st.binary(max_size=3) | st.just(b"a" * 127) | st.just(b"b" * 128)
FIELD = st.tuples(st.sampled_from([b"\x0a", b"\x12", b"\x1a", b"\x22", b"\x32", b"\x3a"]), NAME)


@given(st.lists(st.lists(FIELD, max_size=6), max_size=5), st.binary(max_size=3))
def test_nodes_of_any_fields_give_the_same_tree(
    nodes: list[list[tuple[bytes, bytes]]], rest: bytes
) -> None:
    result = [b"".join(delimited(key, data) for key, data in fields) for fields in nodes]
    graph = b"".join(delimited(b"\x0a", node) for node in result)
    infos = b"".join(delimited(b"\x6a", delimited(b"\x0a", rest) * count) for count in range(3))
    typed = delimited(b"\x6a", delimited(b"\x0a", rest) + b"\x12\x04\x0a\x02\x08\x01")
    assert_same_tree(delimited(b"\x3a", graph + infos + typed + typed))
    assert_same_tree(delimited(b"\x3a", graph + rest))
    body = b"".join(delimited(b"\x3a", node) for node in result)
    assert_same_tree(delimited(b"\xca\x01", body + b"\x62" + typed[1:] + rest))


NAMES = st.lists(st.sampled_from("abcdef"), max_size=3)
KINDS = st.sampled_from(
    [
        "float[2] ",
        "int64[N] ",
        "",
        "seq(float) ",
        '@doc("") float ',
        '@type.denotation("I") float[] ',
    ]
)


@given(
    st.lists(NAMES, max_size=4), st.lists(st.tuples(KINDS, st.sampled_from("abcdefx"))), st.data()
)
def test_types_of_outputs_give_the_same_tree(
    outputs: list[list[str]], infos: list[tuple[str, str]], data: st.DataObject
) -> None:
    """`value_info` has mostly one entry for each output, in any order, and a few odd entries."""
    entries = [(data.draw(KINDS), name) for names in outputs for name in names]
    entries += infos if data.draw(st.booleans()) else []
    if data.draw(st.booleans()):
        entries = data.draw(st.permutations(entries))
    nodes = "".join(f"{', '.join(names)} = A()\n" for names in outputs)
    values = "".join(f"{kind}{name}, " for kind, name in entries)
    interface = data.draw(st.sampled_from(["() => ()", "(float[2] x) => ()", "() => (a, float b)"]))
    text = f"<onnxtext: 1> g {interface} <{values}> {{ {nodes} }}"
    assert_same_tree(onnxtext.to_binary(text))


@pytest.mark.parametrize("name", shared_models()[::7])
def test_both_cores_find_the_same_attributes(name: str) -> None:
    model = lift.lift_model(shared_model(name))
    nodes = list(visit.walk_nodes(model))
    small, large = [
        Tensor(TensorType("float", (size,)), RawData(bytes(4 * size))) for size in (1, 33)
    ]
    sparse = SparseTensor((9,), small, Tensor(TensorType("int64", (1,)), RawData(bytes(8))))
    values: tuple[Any, ...] = (
        1, b"s", b"s" * 5000, (1, 2), (b"s",), (b"s" * 5000,), Float32(0), Reference("r"), None,
        Floats(bytes(8)), RepeatedList((1,), 99), small, large, sparse, (small, large),
        (sparse, small),
    )  # fmt: skip
    odd = [
        Node("A", attributes=(Attribute(name, kind, value),))
        for name in ("a", "")
        for kind in (None, AttributeType.INT)
        for value in values
    ]
    functions: list[Callable[[list[Node]], Sequence[tuple[Attribute, ...]]]] = [
        partial(visit.large_lists, max_elements=size)
        for size in (-1, 0, 1, 2, 32, 5000, sys.maxsize)
    ]
    for listed in [*functions, visit.rich_lists, visit.non_numeric_lists]:
        found = list(listed([*nodes, *odd]))
        with using("python", visit):
            assert list(map(id, found)) == list(map(id, listed([*nodes, *odd])))
    tensors = presence_defaults.find_tensors(Model(Graph("g")), odd)
    assert {id(small), id(large), id(sparse.indices)} == set(map(id, tensors))
    # With a type and a name, numbers are numeric: 1, (1, 2), Float32(0) and Floats.
    numeric = 4
    assert len(visit.non_numeric_lists(odd)) == len(odd) - numeric


@pytest.mark.parametrize("name", shared_models()[::7])
def test_both_cores_make_the_same_keys_of_nodes(name: str) -> None:
    model = lift.lift_model(shared_model(name))
    values = (1, b"s", (1, 2), (1,) * 40, (b"s",), (), Float32(0), Reference("f"), Reference("i"),
              Reference("other"), None)  # fmt: skip
    nodes = list(visit.walk_nodes(model))
    nodes += [Node("A", attributes=(Attribute("a", None, value),)) for value in values]
    parameters = {"f": Attribute("f", None, Float32(1)), "i": Attribute("i", None, 2)}
    names = {name for node in nodes for name in (*node.inputs, *node.outputs)}
    types = {name: ValueFact(TensorType("float"), None, is_small=False) for name in names}
    for node in nodes:
        given = node, None, types, (), parameters, MAX_COMPARED_INTEGERS
        assert core_module("ast.visit").kind_key(*given) == kind_key(*given)


def test_the_key_of_a_node_needs_all_types() -> None:
    for make in (kind_key, core_module("ast.visit").kind_key):
        with pytest.raises(KeyError):
            make(Node("A", inputs=("x",)), None, {}, (), {}, MAX_COMPARED_INTEGERS)


@pytest.mark.parametrize("names", [*product(("", None, "a"), repeat=3)])
def test_names_of_tensors_are_settled_the_same(
    names: Sequence[str | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    def settled() -> tuple[bool, list[Attribute]]:
        tensors = [Tensor(TensorType("float", (0,)), RawData(b""), name) for name in names]
        values = [Attribute("value", AttributeType.TENSOR, tensor) for tensor in tensors]
        return presence_defaults.settle_tensor_names(tensors), values

    native = settled()
    monkeypatch.setattr(presence_defaults, "core", lambda: "python")
    assert native == settled()
