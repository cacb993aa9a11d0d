# SPDX-License-Identifier: Apache-2.0
"""The compiled core prints the same text as Python."""

from __future__ import annotations

import random
import struct
from math import prod
from typing import Any

import numpy as np
import pytest

import onnxtext
from onnxtext.ast.model import (
    Annotation,
    EncodingHabit,
    Function,
    Graph,
    Model,
    Node,
    OpsetImport,
    Presence,
    ValueInfo,
)
from onnxtext.ast.records import Decorator, Field, Record, Word
from onnxtext.ast.section_paths import Named, PathStep
from onnxtext.ast.tensors_and_attributes import (
    Attribute,
    AttributeType,
    Float32,
    Floats,
    RawData,
    Reference,
    SparseTensor,
    Tensor,
    TypedData,
)
from onnxtext.ast.types import SequenceType, SparseTensorType, TensorType
from onnxtext.binary_to_text import lift_placed
from onnxtext.printer import print_model, sections
from onnxtext.printer.graphs_and_nodes import GraphPrinter
from onnxtext.proto.decode.lift import LiftError
from onnxtext.recursion_limit import room_for_nesting
from onnxtext.select_core import core
from onnxtext.tensor.element_types import ELEMENTS
from onnxtext.tensor.format_elements import format_floats, format_rows
from tests.corpus import onnx_directory, shared_model, shared_models, wheel_models
from tests.running import in_two_threads, interrupt
from tests.seeds import draws, seeded

pytestmark = pytest.mark.skipif(core() != "native", reason="the native core does not run")
CorePrinter = pytest.importorskip("onnxtext.printer.native").CorePrinter

A = AttributeType


def assert_same_text(model: Model) -> None:
    try:
        wanted = print_model(model, GraphPrinter())
    except ValueError as error:  # data that does not match its type
        with pytest.raises(type(error)):
            print_model(model)
        return
    assert print_model(model) == wanted


def test_real_models_print_the_same() -> None:
    found = [(onnx_directory() / file).read_bytes() for file in wheel_models()[::10]]
    found += [data for file in shared_models()[::12] if len(data := shared_model(file)) < 60_000]
    for data in found:
        for weights, metadata, limit in (("section", "auto", 64), ("inline", "inline", 64)):
            try:
                model = lift_placed(data, weights=weights, metadata=metadata, inline_limit=limit)
            except (LiftError, ValueError):
                continue
            assert_same_text(model)


@pytest.mark.parametrize(
    "dims", [(4095,), (4097,), (1, 9001), (4000, 3), (3, 4097), (2, 3, 2000), (7, 1, 5, 300)]
)
def test_large_tensors_print_the_same(dims: tuple[int, ...]) -> None:
    """Large tensors are printed in blocks; the lines of the last rows are longer."""
    chance = seeded()
    count = prod(dims)
    narrow = np.full(count, 7, "<i8")
    late = narrow.copy()
    late[-1] = -(1 << 62)
    floats = np.ldexp(np.array([chance.random() for _ in range(count)]), chance.randint(-60, 40))
    for element, data in (
        ("int64", narrow.tobytes()[:-8] + bytes(8)),
        ("int64", late.tobytes()),
        ("uint64", chance.randbytes(8 * count)),
        ("float", floats.astype("<f4").tobytes()),
        ("double", floats.tobytes()),
        ("bool", bytes(chance.choices([0, 1], k=count))),
        ("bfloat16", chance.randbytes(2 * count)),
    ):
        type = TensorType(element, dims)
        held: list[RawData | TypedData] = [RawData(data), RawData(memoryview(data))]
        if element == "int64":
            held.append(TypedData(data))
        values = [ValueInfo(f"v{index}", type, one) for index, one in enumerate(held)]
        node = Node("A", (), ("y",), (Attribute("a", A.TENSOR, Tensor(type, held[0])),))
        assert_same_text(Model(Graph("g", values=values, nodes=[node])))


NAMES = (
    "x",
    "a_b",
    "float",
    "Inf",
    "",
    "a.b",
    'q"',
    "\\",
    "é",
    "\u200b",
    "\udc80",
    "b c",
    "l" * 30,
)
STRINGS = ("", "a", 'say "x"', "\\", "a\nb", "\t\n ", '"""\n', "é\n\u200b", "\x00", "w" * 90)


class Maker:
    """Creates random printable models."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.types = [self.type() for _ in range(6)]

    def name(self) -> str:
        return self.chance.choice(NAMES)

    def type(self) -> TensorType:
        element = self.chance.choice([*ELEMENTS, "float", "int64"])
        sizes = [0, 1, 1, 2, 3, 5, 17] if self.chance.random() < 0.95 else [30, 40]
        dims = tuple([self.chance.choice(sizes) for _ in range(self.chance.randint(0, 4))])
        return TensorType(element, dims)

    def data(self, type: TensorType) -> RawData | TypedData:
        chance = self.chance
        element = ELEMENTS[type.element]
        count = prod(dim for dim in type.shape or () if isinstance(dim, int))
        if chance.random() < 0.2 and element.bits >= 8 and element.kind != "complex":
            width = 4 if element.field in ("int32_data", "float_data") else 8
            some = [
                chance.choice([0, 1, 7, 200, 65535, 65536, -1]) for _ in range(chance.randint(0, 9))
            ]
            plain = b"".join([number.to_bytes(width, "little", signed=True) for number in some])
            return TypedData(chance.choice([plain, chance.randbytes(width * len(some) * 4)]))
        size = (count * element.bits + 7) // 8 + chance.choice([0] * 20 + [1])
        if element.kind == "bool":
            return RawData(bytes(chance.choices([0, 1], k=size)))
        if element.kind == "float" and element.bits == 32 and chance.random() < 0.5:
            values = np.array([chance.choice([0, 1, 0.5, 1e9, -2.5]) for _ in range(count)], "<f4")
            return RawData(values.tobytes())
        one = chance.choice([b"\0", b"\1", chance.randbytes(8)])
        return RawData(chance.choice([chance.randbytes(size), (one * (size + 1))[:size]]))

    def attribute(self, depth: int) -> Attribute:
        chance = self.chance
        kind = chance.choice([A.FLOAT, A.INT, A.STRING, A.TENSOR, A.FLOATS, A.INTS, A.STRINGS])
        if depth and chance.random() < 0.2:
            return Attribute(self.name(), A.GRAPH, self.graph(depth - 1))
        if chance.random() < 0.2:
            return self.list_attribute(depth)
        if chance.random() < 0.1:
            return Attribute(self.name(), chance.choice([None, A.INTS]), Reference(self.name()))
        count = chance.choice([0, 1, 3, 20, 200])
        match kind:
            case A.FLOAT:
                return Attribute(self.name(), kind, Float32(chance.getrandbits(32)))
            case A.INT:
                return Attribute(self.name(), kind, chance.randint(-(1 << 63), (1 << 63) - 1))
            case A.STRING:
                return Attribute(self.name(), kind, self.string())
            case A.FLOATS:
                return Attribute(self.name(), kind, Floats(chance.randbytes(4 * count)))
            case A.INTS:
                numbers = [chance.randint(-9, 1 << chance.randint(0, 40)) for _ in range(count)]
                return Attribute(self.name(), kind, tuple(numbers))
            case A.STRINGS:
                return Attribute(self.name(), kind, tuple([self.string() for _ in range(count)]))
        return Attribute(self.name(), A.TENSOR, self.tensor())

    def list_attribute(self, depth: int) -> Attribute:
        """Return a list of tensors, types or graphs; only short lists fit on a line."""
        chance = self.chance
        kind = chance.choice([A.TENSORS, A.SPARSE_TENSORS, A.TYPE_PROTOS, A.GRAPHS])
        items: list[Any] = []
        for _ in range(chance.choice([1, 1, 2, 3, 9])):
            match kind:
                case A.TENSORS:
                    items.append(self.tensor())
                case A.SPARSE_TENSORS:
                    items.append(SparseTensor((4,), self.tensor(), self.tensor()))
                case A.TYPE_PROTOS:
                    types = (self.type(), SequenceType(self.type()), SparseTensorType("float", ()))
                    items.append(chance.choice(types))
                case _:
                    items.append(self.graph(depth - 1) if depth else Graph(self.name()))
        return Attribute(self.name(), kind, tuple(items))

    def tensor(self) -> Tensor:
        chance = self.chance
        type = chance.choice(self.types)
        while type.element == "string":
            type = self.type()
        decorators = () if chance.random() < 0.9 else (Decorator("doc", (Field(None, b"d"),)),)
        return Tensor(type, self.data(type), chance.choice([None, self.name()]), decorators)

    def string(self) -> bytes:
        return self.chance.choice(STRINGS).encode("utf-8", "surrogateescape")

    def value(self) -> ValueInfo:
        type = self.chance.choice([None, *self.types, self.type()])
        if type is None or type.element == "string" or self.chance.random() < 0.3:
            return ValueInfo(self.name(), type)
        return ValueInfo(self.name(), type, self.data(type))

    def values(self) -> list[ValueInfo]:
        return [self.value() for _ in range(self.chance.choice([0, 1, 1, 3]))]

    def node(self, depth: int) -> Node:
        chance = self.chance
        result = Node(
            chance.choice(["Add", "Add", "b c", ""]),
            tuple([self.name() for _ in range(chance.randint(0, 3))]),
            tuple([self.name() for _ in range(chance.choice([0, 1, 1, 1, 2]))]),
            tuple([self.attribute(depth) for _ in range(chance.choice([0, 0, 1, 1, 3]))]),
            chance.choice([None, None, self.name()]),
            chance.choice([None, None, "", "ai.onnx.ml", "a-b"]),
            chance.choice([None, None, None, "o"]),
            metadata=chance.choice([(), (), ((self.name(), chance.choice(STRINGS)),)]),
        )
        if chance.random() < 0.4:
            result.output_types = tuple(
                [chance.choice([None, *self.types]) for _ in range(len(result.outputs))]
            )
        return result

    def graph(self, depth: int) -> Graph:
        nodes = [self.node(depth) for _ in range(self.chance.choice([0, 1, 4]))]
        return Graph(self.name(), self.values(), self.values(), self.values(), nodes)

    def functions(self) -> list[Function]:
        """Return functions whose parameters have defaults, partly equal ones."""
        values = (Float32(1 << 31), Float32(0))
        parameters: list[tuple[Attribute | str, ...]] = [
            ("a", Attribute("b", A.FLOAT, value)) for value in values
        ]
        parameters.append(self.node(1).attributes)
        return [Function("f", attributes=items) for items in parameters * 2]


def test_any_models_print_the_same() -> None:
    chance = seeded()
    for _ in range(60):
        graph = Maker(chance).graph(2)
        assert_same_text(Model(graph, presence=Presence(1), opset_imports=[OpsetImport("", 20)]))


@pytest.mark.parametrize("several", [1, 2])
def test_heads_of_any_width_print_the_same(several: int) -> None:
    """The lists of inputs and outputs break at the same widths, the longer list first."""
    for width in range(1, 110, 3):
        for other in (1, 40, 90):
            inputs = [ValueInfo(f"{'i' * width}{index}") for index in range(several)]
            outputs = [ValueInfo("é" * other, TensorType("float", (2,)))]
            inner = Graph("inner", inputs, outputs)
            node = Node("If", (), ("y",), (Attribute("then_branch", A.GRAPH, inner),))
            function = Function("f", list(inputs), [ValueInfo("o" * other)])
            function.attributes = ("a", Attribute("b", A.INT, 1)) if width % 2 else ()
            graph = Graph("g", inputs, outputs, nodes=[node])
            assert_same_text(Model(graph, [function], presence=Presence(1)))


@pytest.mark.slow
def test_many_models_print_the_same() -> None:
    chance = seeded()
    for _ in range(3000):
        assert_same_text(Model(Maker(chance).graph(3), presence=Presence(1)))


def test_graphs_beyond_the_depth_limit_print_the_same() -> None:
    graph = Graph("g", nodes=[Node("B", (), ("x",), metadata=(("key", "value"),))])
    for _ in range(120):
        node = Node("If", (), ("y",), (Attribute("then_branch", A.GRAPH, graph),))
        graph = Graph("g", nodes=[node, Node("A", (), ("z",))])
    with room_for_nesting():
        assert_same_text(Model(graph))


def test_subclasses_of_graphs_print_the_same() -> None:
    class Subclass(Graph):
        """A subclass, which the native core does not know."""

    graph = Subclass("g", quantization=[Annotation("x", (("SCALE_TENSOR", "scale"),))])
    assert_same_text(Model(graph))
    assert "SCALE_TENSOR" in print_model(Model(graph))


# ---- Numbers and strings ----------------------------------------------------------------------


def texts(data: bytes, width: int, *, point: bool) -> list[str]:
    from onnxtext._core.tensor import decimals

    return decimals.texts(data, width, point)


def float32_samples(chance: random.Random, count: int) -> bytes:
    bits = np.frombuffer(chance.randbytes(4 * count), "<u4")
    powers = np.arange(512, dtype="<u4")[:, None] << 23
    edges = powers | np.array([0, 1, 2, (1 << 22) + 1, (1 << 23) - 1], "<u4")
    near = np.arange(2000, dtype="<u4")
    decimals = np.array([float(f"{m}e{e}") for m in (1, 5, 9, 11, 99) for e in range(-45, 36)])
    round_ones = np.concatenate([np.arange(-300, 300), np.arange(900) / 100, decimals])
    parts = (bits, edges.ravel(), near, round_ones.astype("<f4").view("<u4"))
    return np.concatenate(parts).astype("<u4").tobytes()


def check_float32(data: bytes) -> None:
    assert texts(data, 4, point=False) == format_rows(ELEMENTS["float"], data, 1)
    assert texts(data, 4, point=True) == format_floats(data).split(", ")


def test_float32_prints_the_same() -> None:
    check_float32(float32_samples(seeded(), draws(50_000)))


def test_float64_prints_the_same() -> None:
    chance = seeded()
    found = [struct.pack("<d", 2.0**e) for e in range(-1074, 1024)]
    found += [struct.pack("<d", float(f"{m}e{e}")) for m in (1, 15, 123) for e in range(-310, 300)]
    found += [struct.pack("<d", x) for x in (0.0, -0.0, 5e-324, float("inf"), -float("inf"))]
    # The neighbors of a power of two are at different distances.
    ends = (1, 2, (1 << 51) + 1, (1 << 52) - 1)
    found += [struct.pack("<Q", (e << 52) + end) for e in range(2047) for end in ends]
    data = b"".join([*found, chance.randbytes(8 * draws(25_000))])
    assert texts(data, 8, point=False) == format_rows(ELEMENTS["double"], data, 1)


CHARACTERS = ("a", " ", "\n", "\n", '"', '"', "\\", "\t", "\r", "\0", "\x7f", "é", "\u200b", "€")


@pytest.mark.thorough
def test_metadata_prints_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    from onnxtext._core.printer.metadata import metadata_blocks

    chance = seeded()
    for some in (CHARACTERS[:11], CHARACTERS, (*CHARACTERS, "\U0001f600", "\udc80")):
        for _ in range(draws(3000)):
            key = "".join(chance.choices(some, k=chance.randint(0, 5)))
            value = "".join(chance.choices(some, k=chance.choice([0, 5, 12, 39, 40, 60])))
            path = (
                PathStep(key, None, chance.random() < 0.5),
                PathStep("b", chance.choice([None, 3])),
            )
            named = []
            for _ in range(chance.randint(1, 4)):
                entries = chance.choices(
                    [(key, value), ("k", value), (key, "v\nw")], k=chance.choice([2, 2, 20])
                )
                kind = chance.choice(["node", "node", "node", "function"])
                named.append(Named(kind, path, Node("A", metadata=tuple(entries)), True))
            blocks: list[tuple[str, Named | str]] = [("  ", block) for block in named]
            blocks.insert(chance.randint(0, 5), ("    ", "}"))
            with monkeypatch.context() as patch:
                patch.setattr(sections, "core", lambda: "python")
                wanted = "".join(sections.blocks_text(blocks))
            assert "".join(metadata_blocks(blocks)) == wanted


@pytest.mark.thorough
def test_annotations_print_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = seeded()

    def text() -> str:
        some = chance.choice((CHARACTERS[:11], CHARACTERS, (*CHARACTERS, "\U0001f600", "\udc80")))
        return "".join(chance.choices(some, k=chance.choice([0, 1, 5, 12, 40])))

    for _ in range(2000):
        graphs = []
        for _ in range(chance.randint(1, 2)):
            pairs = [tuple([(text(), text()) for _ in range(chance.choice([0, 1, 2]))])] * 2
            quantization = [Annotation(text(), entries) for entries in pairs]
            path = [PathStep(text()), PathStep("b", chance.choice([None, 3]))]
            graphs.append((path[: chance.choice([0, 2])], Graph("g", quantization=quantization)))
        with monkeypatch.context() as patch:
            patch.setattr(sections, "core", lambda: "python")
            wanted = "".join(sections.annotation_lines(graphs))
        assert "".join(sections.annotation_lines(graphs)) == wanted


# ---- Safety -----------------------------------------------------------------------------------


def test_two_threads_print_the_same() -> None:
    result = [
        Model(Maker(random.Random(index)).graph(2), presence=Presence(1)) for index in range(30)
    ]
    wanted, chosen = [], []
    for model in result:
        try:
            wanted.append(print_model(model))
        except ValueError:
            continue
        chosen.append(model)
    found = in_two_threads(lambda: [print_model(model) for model in chosen])
    assert found == [wanted, wanted]


def test_control_c_interrupts_a_long_conversion() -> None:
    data = onnxtext.to_binary("g () => () {" + 'x = A ("y") ' * 300_000 + "}")
    interrupt(lambda: onnxtext.from_binary(data), after=0.1)


def test_headers_print_the_same() -> None:
    chance = seeded()
    texts = (None, "a\nb", "\t", "c\n ", *NAMES)
    numbers = (None, 0, -1, 1 << 63)
    for _ in range(200):
        opsets = [
            OpsetImport(chance.choice(texts), chance.randint(-1, 99))
            for _ in range(chance.choice((0, 1, 2, 9)))
        ]
        presence = Presence(chance.choice((None, 1, 1, 1)), chance.choice(((), (), ("node.name",))))
        graph = Graph("g", decorators=(Decorator("initializers", ()),))
        model = Model(graph, [], presence, chance.choice(numbers), opsets)
        model.producer_name, model.producer_version = chance.choices(texts, k=2)
        model.domain, model.doc_string = chance.choices(texts, k=2)
        model.model_version = chance.choice(numbers)
        model.metadata = chance.choice(([], [], [("k", "v")]))
        model.has_order = chance.random() < 0.2
        habit = EncodingHabit("order", ("node", *range(9, chance.randint(0, 60))))
        model.encoding_habits = chance.choice(((), (), (habit,), (habit, habit)))
        word = (Field(None, Word("domain")),)
        model.decorators = chance.choice(((), (Decorator("unset", word), Decorator("doc", ()))))
        model.decorators = model.decorators[: chance.randint(0, 2)]
        function = Function(chance.choice(NAMES), nodes=[Node("Relu", ("a",), ("b",))])
        function.domain, function.overload, function.doc_string = chance.choices(texts, k=3)
        function.opset_imports = chance.choice((opsets, opsets[:1]))
        function.attributes = chance.choice(((), ("alpha", "a b")))
        model.functions = [function, *Maker(chance).functions()]
        assert_same_text(model)
        model.opset_imports, function.opset_imports = (), tuple(opsets)  # type: ignore[assignment]
        assert_same_text(model)


@pytest.mark.parametrize("decorator", ["set", "unset", "doc"])
@pytest.mark.parametrize("indent", range(0, 60, 4))
def test_decorators_in_an_empty_buffer_print_the_same(decorator: str, indent: int) -> None:
    """Regression: the core read before its buffer if the text was shorter than the indentation."""
    arguments = (Field(None, Word("type")),) if decorator == "unset" else ()
    if decorator == "set":
        arguments = (Field("type", Record(())),)
    if decorator == "doc":
        arguments = (Field(None, b"why"),)
    decorators = (Decorator(decorator, arguments),)
    for size in range(1, 100):
        value = ValueInfo("/" * size, decorators=decorators)
        node = Node("Op", (), ("/" * size,), decorators=decorators)
        margin = " " * indent
        core, python = CorePrinter(), GraphPrinter()
        assert "".join(core.value_parts(value, margin)) == python.value_text(value, margin)
        graph = Graph("g", [], [], [], [node])
        assert core.graph_value(graph, margin, 0) == python.graph_value(graph, margin, 0)


LONG = "[" + ", ".join(["12345.5"] * 9 + ["1"]) + "]"
SPARSE = f"""
<ir_version: 10, opset_import: ["": 20]>
g () => () <
  sparse_tensor(float[4]) s = sparse(float[2] [1, 2], int64[2] i = [0, 3]),
  sparse_tensor(float[40]) b = sparse(float[10] {LONG}, int64[10] i = {LONG.replace(".5", "")}),
  sparse_tensor(float[4, 4]) t = sparse(float[20] [{"12345678, " * 19} 1], int64[1, 2] [[0, 3]]),
  sparse_tensor(string[4]) u = sparse(string[1] {{"a\\n"}}, int64[1] [3]),
  sparse_tensor(float[2]) "{"long" * 30}" = sparse(float[0] [], int64[0] []),
  sparse_tensor(float[2]) d = sparse(@doc("e") float[1] [1], int64[1] [1]),
> {{
  y = A <t = sparse_tensor(float[4]) sparse(float[1] v = [7], int64[1] [2])> ()
  z = A <
    t = sparse_tensor(float[40]) sparse(float[10] {LONG}, int64[10] {LONG.replace(".5", "")}),
    ints = [{"1, 2, " * 30}],
    strings = [{'"a", "b", ' * 30}],
  > ()
}}
"""


@pytest.mark.parametrize("limit", [2, 64])
def test_sparse_tensors_and_moved_lists_print_the_same(limit: int) -> None:
    data = onnxtext.to_binary(SPARSE)
    model = lift_placed(data, inline_limit=limit)
    assert_same_text(model)
    assert onnxtext.to_binary(print_model(model)) == data
