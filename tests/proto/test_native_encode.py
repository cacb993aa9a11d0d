# SPDX-License-Identifier: Apache-2.0
"""The compiled core encodes any tree to the same bytes, or the same error, as pure Python."""

from __future__ import annotations

import hashlib
import random
from collections import OrderedDict
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest

from onnxtext.ast.model import Annotation, Function, Graph, Model, Node, Presence, ValueInfo
from onnxtext.ast.records import Decorator, Field, Number, Record, Word
from onnxtext.ast.tensors_and_attributes import (
    Attribute,
    AttributeType,
    Blob,
    ExternalData,
    FieldData,
    Float32,
    Floats,
    NoData,
    RawData,
    Reference,
    RepeatedList,
    SparseTensor,
    StringData,
    Tensor,
    TypedBlob,
    TypedData,
)
from onnxtext.ast.types import SequenceType, TensorType
from onnxtext.proto.encode import lower
from onnxtext.proto.encode.collect_errors import find_errors
from onnxtext.proto.encode.lower import (
    LowerError,
    lower_fragment,
    lower_guarded,
    lower_without_weights,
)
from onnxtext.proto.encode.messages import Lowering
from onnxtext.select_core import core
from onnxtext.source import Source
from onnxtext.syntax.parse import parse_fragment, parse_model
from tests.running import using
from tests.seeds import draws, seeded
from tests.syntax.texts import texts

pytestmark = pytest.mark.skipif(core() != "native", reason="the native core does not run")

NAMES = ("", "x", "a b", "\xe9", "\udcff", "n" * 127, "n" * 128, "\u20ac" * 50)
EXPLICIT = (
    "node.name", "node.domain", "node.doc_string", "node.overload", "tensor.name",
    "graph.doc_string", "value_info.doc_string", "attribute.doc_string", "tensor.doc_string",
    "function.doc_string", "operator_set_id.domain", "model.domain", "nothing.at_all",
)  # fmt: skip
EMPTY = hashlib.sha256(b"").hexdigest()[:32]
META = Decorator("meta", (Field("k", b"v"),))
DECORATORS = (
    Decorator("doc", (Field(None, b"why"),)),
    META,
    Decorator("set", (Field("doc_string", b"x"),)),
    Decorator("unset", (Field(None, Word("name")),)),
    Decorator("value_info", (Field(None, Word("initializers")),)),
    Decorator("wrong", ()),
)
WORDS = [Word(part) for part in ("initializers", "inputs", "outputs", "values", "nodes", "wrong")]
FLOATS = TensorType("float", (2,))
TENSORS = (
    Tensor(FLOATS, RawData(b"12345678")),
    Tensor(FLOATS, TypedData(b"12345678"), "t"),
    Tensor(TensorType("int64", (2,)), TypedData(b"\xff" * 8 + b"1" * 8), ""),
    Tensor(TensorType("int32", (2,)), TypedData(b"\xff" * 4 + b"1" * 4)),
    Tensor(TensorType("double", ()), TypedData(b"1" * 8)),
    Tensor(TensorType("uint8", (1,)), TypedData(b"\x05\0\0\0")),
    Tensor(TensorType("string", (1,)), StringData((b"\xff",))),
    Tensor(FLOATS, RawData(memoryview(b"12345678"))),
    Tensor(TensorType("float", (5000,)), RawData(bytes(20_000))),
    Tensor(FLOATS, NoData()),
    Tensor(FLOATS, TypedData(b"")),
    Tensor(FLOATS, ExternalData((("location", "f"),))),
    Tensor(FLOATS, FieldData((("raw_data", b"1"), ("float_data", b"1234")))),
    Tensor(FLOATS, RawData(b"12345678"), None, (META,)),
    Tensor(FLOATS, Blob("0" * 32)),
)
INNER = Graph("inner", nodes=[Node("Relu", ("x",), ("y",))])
VALUES: tuple[tuple[AttributeType | None, Any], ...] = (
    (AttributeType.INT, -1), (AttributeType.INT, 1 << 63), (AttributeType.FLOAT, Float32(7)),
    (AttributeType.STRING, b"\xff" * 130), (AttributeType.STRING, Blob("1" * 32)),
    (AttributeType.INTS, (0, -5, 1 << 62)), (AttributeType.INTS, (1 << 64,)),
    (AttributeType.FLOATS, Floats(b"12345678")), (AttributeType.STRINGS, (b"", b"a")),
    (AttributeType.GRAPH, INNER), (AttributeType.GRAPHS, (INNER, INNER)),
    (AttributeType.GRAPH, replace(INNER, decorators=(META,))),
    (AttributeType.FLOAT, Reference("alpha")), (None, Reference("alpha")),
    (AttributeType.INT, None), (None, Record(())), (None, Record((Field("i", Number("3")),))),
    (AttributeType.TYPE_PROTO, SequenceType(FLOATS)), (AttributeType.INT, b"no integer"),
    (AttributeType.INTS, (1, b"no integer")), (AttributeType.INT, True),
    (AttributeType.SPARSE_TENSOR, SparseTensor((4,), TENSORS[0], TENSORS[2])),
    (AttributeType.SPARSE_TENSORS, 2 * (SparseTensor((4,), TENSORS[0], TENSORS[2]),)),
    (AttributeType.TYPE_PROTOS, (FLOATS, SequenceType(FLOATS))), (AttributeType.TENSOR, TENSORS),
    (AttributeType.TENSORS, (TENSORS[0], INNER)), (AttributeType.GRAPHS, (INNER, b"none")),
    (AttributeType.TENSORS, TENSORS[0]), (AttributeType.TYPE_PROTOS, FLOATS),
    *((AttributeType.TENSOR, tensor) for tensor in TENSORS), (AttributeType.TENSORS, TENSORS[:3]),
)  # fmt: skip


def outcome(lowering: Callable[[], Any]) -> Any:
    try:
        return lowering()
    except LowerError as error:
        return error.message, error.at, error.code
    except (ValueError, KeyError, TypeError, OverflowError) as error:
        return type(error)


def assert_same_bytes(model: Model) -> None:
    def whole() -> Any:
        pieces, depth, _ = lower_guarded(model)
        return b"".join(pieces), depth

    tasks = (whole, lambda: lower_without_weights(model))
    native = [outcome(task) for task in tasks]
    with using("python", lower):
        assert [outcome(task) for task in tasks] == native


@pytest.mark.parametrize("entries", [{}, {"y": (("k", "v"),)}])
def test_metadata_of_values_can_be_any_mapping(entries: dict[str, Any]) -> None:
    model = parse_model(Source("g () => () { float y = F () }"))
    model.graph.value_metadata = OrderedDict(entries)
    assert_same_bytes(model)
    model.graph.value_metadata = entries
    assert_same_bytes(model)


def test_each_core_encodes_with_its_own_class(monkeypatch: pytest.MonkeyPatch) -> None:
    from onnxtext.proto.encode.native import CoreLowering

    made: list[type] = []
    start = Lowering.__init__

    def record(self: Lowering, *args: Any, **options: Any) -> None:
        made.append(type(self))
        start(self, *args, **options)

    monkeypatch.setattr(Lowering, "__init__", record)
    assert_same_bytes(parse_model(Source('@unset(name) "" () => () {}')))
    assert made == [CoreLowering, CoreLowering, Lowering, Lowering]


def statements(owner: Graph | Function) -> Iterator[Any]:
    yield owner
    yield from owner.nodes
    yield from (*owner.inputs, *owner.outputs, *owner.values)


def change(model: Model, chance: random.Random) -> None:
    """Apply a random change to a tree; the result may be invalid."""
    owner: Any = chance.choice([model.graph, *model.functions])
    item = chance.choice(list(statements(owner)))
    match chance.randrange(9):
        case 0:
            names = tuple(chance.sample(EXPLICIT[:-1], chance.randint(0, 3)))
            model.presence = Presence(chance.choice([None, 1]), names)
        case 1:
            item.decorators = (*item.decorators, chance.choice(DECORATORS))
        case 2:
            item.metadata = ((chance.choice(NAMES), chance.choice(NAMES)),)
        case 3:
            item.name = chance.choice(NAMES)
        case 4 if owner.nodes:
            node = chance.choice(owner.nodes)
            kind, value = chance.choice(VALUES)
            decorators = chance.choice([(), (), (META,)])
            result = Attribute(chance.choice(NAMES), kind, value, decorators)
            node.attributes = (*node.attributes, result)
        case 5 if owner.nodes:
            node = chance.choice(owner.nodes)
            node.domain, node.overload = (
                chance.choice([None, *NAMES]),
                chance.choice([None, "", "o"]),
            )
            node.output_types = tuple(chance.choice([None, FLOATS]) for _ in node.outputs)
            if node.output_types and chance.random() < 0.3:
                owner.value_metadata[node.outputs[0]] = (("a", "b"),)
        case 6 if isinstance(owner, Graph):
            tensor = chance.choice(TENSORS)
            data: Any = chance.choice([tensor.data, SparseTensor((4,), TENSORS[0], TENSORS[2])])
            value = ValueInfo(chance.choice(NAMES), tensor.type, data, at=chance.randrange(9))
            chance.choice([owner.values, owner.inputs]).append(value)
        case 7 if isinstance(owner, Graph):
            owner.quantization.append(Annotation("x", (("SCALE_TENSOR", "s"),)))
        case 8 if isinstance(owner, Graph):
            own = [value.name for value in (*owner.inputs, *owner.outputs, *owner.values)]
            listed = [name.encode("utf-8", "surrogateescape") for name in (*own, *NAMES)]
            items: list[Any] = chance.choice([WORDS, WORDS, listed, [*WORDS, *listed]])
            chosen = chance.sample(items, chance.randint(0, min(len(items), 3)))
            order = Decorator("value_info", tuple(Field(None, item) for item in chosen))
            owner.decorators = (*owner.decorators, order)
            if chance.random() < 0.5:
                owner.value_metadata[chance.choice([*own, *NAMES])] = (("a", "b"),)


def test_changed_trees_give_the_same_bytes() -> None:
    chance = seeded()
    small = [text for text in texts() if len(text) < 5000]
    for _ in range(draws(750)):
        model = deepcopy(parse_model(Source(chance.choice(small))))
        for _ in range(chance.randint(1, 5)):
            change(model, chance)
        assert_same_bytes(model)


@pytest.mark.parametrize(("kind", "value"), VALUES)
def test_any_attribute_value_gives_the_same_bytes(kind: AttributeType | None, value: Any) -> None:
    node = Node("Op", (), ("y",), (Attribute("a", kind, value),), at=3)
    assert_same_bytes(Model(Graph("g", nodes=[node, node])))
    function = Function("f", attributes=("p", Attribute("a", kind, value)), nodes=[node], at=7)
    assert_same_bytes(Model(Graph("g"), [function]))


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (AttributeType.TYPE_PROTO, TENSORS[0]),
        (AttributeType.TYPE_PROTO, INNER),
        (AttributeType.TYPE_PROTO, b"no type"),
        (AttributeType.TYPE_PROTO, RepeatedList((1,), 3)),
        (AttributeType.TYPE_PROTO, Blob(EMPTY)),
        (AttributeType.TYPE_PROTOS, (Blob(EMPTY),)),
        (AttributeType.TYPE_PROTOS, (FLOATS, TENSORS[0])),
        (AttributeType.TYPE_PROTOS, RepeatedList((1,), 3)),
        (AttributeType.TENSOR, Blob(EMPTY)),
        (AttributeType.STRINGS, Blob(EMPTY)),
    ],
)
def test_a_value_of_another_type_is_an_error(kind: AttributeType, value: Any) -> None:
    node = Node("Op", (), ("y",), (Attribute("a", kind, value),), at=3)
    model = Model(Graph("g", nodes=[node]), resources={EMPTY: b""})
    assert_same_bytes(model)
    with pytest.raises(LowerError, match="match") as raised:
        lower_guarded(model)
    assert raised.value.at == 3


def test_presence_defaults_give_the_same_bytes() -> None:
    for name in EXPLICIT:
        text = (
            "g (float x) => (float y) <float[2] w = [1, 2]> { y = A <b = g () => () {}> () }\n"
            "<opset_import: [3]> f (a) => (b) { b = C <t = float[1] {1}> (a) }"
        )
        model = parse_model(Source(text))
        model.presence = Presence(1, (name,))
        assert_same_bytes(model)


def test_lowering_returns_the_depth_of_graphs() -> None:
    for depth in range(5):
        graph = Graph("g")
        for _ in range(depth):
            graph = Graph("g", nodes=[Node("If", (), (), (_holding(graph),))])
        assert lower_guarded(Model(graph))[1] == 3 * (depth + 1)


def test_too_deep_graphs_are_rejected() -> None:
    graph = Graph("g")
    for _ in range(5000):
        graph = Graph("g", nodes=[Node("If", (), (), (_holding(graph),))])
    with pytest.raises(RecursionError):
        lower_guarded(Model(graph))


def _holding(graph: Graph) -> Attribute:
    return Attribute("b", AttributeType.GRAPH, graph)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("attribute", 'a: graph = g () => () { @set("A": 1) x = Abs (y) @set("B": 1) z = Abs () }'),
        ("attribute", 'a: tensors = [@set("A": 1) float {1}, @set("B": 1) float {1}]'),
        ("attribute", 'a: type_protos = [float[@set("A": 1) N], float[@set("B": 1) N]]'),
        ("value_info", '@set("B": 1) float[@set("A": 1) N] x'),
        ("type", 'float[@set("A": 1) N]'),
        ("tensor", '@set("A": 1) float {1}'),
    ],
)
def test_every_error_of_a_fragment_is_found(kind: str, text: str) -> None:
    fragment = parse_fragment(Source(text, "<fragment>"), kind)
    with pytest.raises(LowerError) as first:
        lower_fragment(fragment)
    found = [error.message for error in find_errors(fragment)]
    assert first.value.message in found
    assert [message.split("`")[1] for message in found] == ["A", "B"][: text.count("@set")]


@pytest.mark.parametrize("data", [b"", b"\x01\x02\x03\x04", b"\x07" * 7, b"\xff" * 8, b"a" * 4100])
@pytest.mark.parametrize("is_missing", [False, True])
def test_stored_data_gives_the_same_bytes_and_errors(data: bytes, is_missing: bool) -> None:
    digest = hashlib.sha256(b"other" if is_missing else data).hexdigest()[:32]
    resources: dict[str, bytes | memoryview] = {digest: memoryview(data)}
    blobs = (Blob(digest), TypedBlob(digest))
    values: list[Any] = [*blobs, *[Tensor(TensorType("float", (1,)), blob) for blob in blobs]]
    repeated: list[Any] = [(1,), (b"s",), (Float32(1),)]
    values += [RepeatedList(items, len(data) or 1) for items in repeated]
    kinds = ("STRING", "FLOATS", "INTS", "STRINGS", "TENSOR", "GRAPHS", "SPARSE_TENSOR")
    for kind in map(AttributeType.__getitem__, kinds):
        for value in values:
            node = Node("Op", (), ("y",), (Attribute("a", kind, value),), at=5)
            assert_same_bytes(Model(Graph("g", nodes=[node]), resources=resources))
    for element in ("float", "int4", "uint8", "int64", "string"):
        for dims in ((), (1,), (7,), (14,), (len(data),), (1,) * 20, (1 << 40, 1 << 40)):
            for blob in blobs:
                initializer = ValueInfo("w", TensorType(element, dims), blob, at=3)
                assert_same_bytes(Model(Graph("g", values=[initializer]), resources=resources))
