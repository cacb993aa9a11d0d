# SPDX-License-Identifier: Apache-2.0
"""The compiled core gives the same tokens, trees, offsets, diagnostics and bytes as Python."""

from __future__ import annotations

import gc
import random
import sys
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
import pytest

import onnxtext
from onnxtext.ast.tensors_and_attributes import AttributeType
from onnxtext.ast.types import TensorType
from onnxtext.proto.descriptors import message_spec
from onnxtext.proto.encode.lower import lower_model
from onnxtext.proto.encode.messages import Lowering
from onnxtext.proto.presence_defaults import PresenceDefaults
from onnxtext.select_core import core
from onnxtext.source import Source
from onnxtext.syntax.grammar.table_cache import load_tables
from onnxtext.syntax.parse import parse_model
from onnxtext.syntax.parser.parser import Parser
from onnxtext.tensor.element_types import ELEMENTS
from onnxtext.tensor.errors import LiteralError
from onnxtext.tensor.parse_literals import parse_typed
from tests.running import in_two_threads, interrupt
from tests.seeds import draws, sampled, seeded
from tests.syntax.cores import assert_same_in_both
from tests.syntax.test_dfa import PIECES, expected
from tests.syntax.texts import official_texts, texts
from tests.tensor.raw import parse_raw

pytestmark = pytest.mark.skipif(core() != "native", reason="the native core does not run")


def test_each_core_parses_with_its_own_class(monkeypatch: pytest.MonkeyPatch) -> None:
    from onnxtext.syntax.parser.native import CoreParser

    made: list[type] = []
    start = Parser.__init__

    def record(self: Parser, text: str, rule: str) -> None:
        made.append(type(self))
        start(self, text, rule)

    monkeypatch.setattr(Parser, "__init__", record)
    assert_same_in_both("g () => () {}")
    assert made == [Parser, CoreParser]


@pytest.mark.parametrize("wide", ["", "\xe9", "\u4e2d", "\U0001f600"])
def test_types_are_parsed_in_texts_of_any_character_width(wide: str) -> None:
    head = f'# {wide}\ng (float[N, 3, ?] a, float["{wide}x", 2] b, seq(int8[M]) c) => ()'
    text = f'{head} {{ y = F <t: type_proto = int8[N, "{wide}y"], v = float[2] {{1, 2}}> () }}'
    model, _, diagnostics = assert_same_in_both(text)
    assert not diagnostics
    assert model.graph.inputs[0].type.shape == ("N", 3, None)


@pytest.mark.parametrize("name", ["plain_step", "label_step"])
def test_tuples_of_the_core_have_the_hashes_of_python(name: str) -> None:
    """CPython 3.14 caches the hash in each tuple; the core must mark it as not yet computed."""
    from onnxtext._core.syntax import metadata_section

    step = getattr(metadata_section, name)("x")
    assert hash(step) == hash(type(step)(*step))


# ---- Tokens -----------------------------------------------------------------------------------


@cache
def terminals_and_scanner() -> tuple[list[str], Any]:
    from onnxtext.syntax.parser.native import _scanner, number_terminals

    terminals = number_terminals(load_tables())
    return list(terminals), _scanner(load_tables(), terminals)


def check_tokens(text: str) -> None:
    """Compare the tokens up to the first bad one."""
    from onnxtext._core.syntax.scanner import SPECIAL_KINDS

    names, scanner = terminals_and_scanner()
    found, _ = scanner.tokens(text)
    wanted = expected(text)
    assert [(names[kind], start, end) for kind, start, end in found] == wanted[: len(found)]
    assert len(found) == len(wanted) or wanted[len(found)][0] == "BAD"
    assert SPECIAL_KINDS["BAD"] < 0


def test_noise_gives_the_same_tokens() -> None:
    chance = seeded()
    for _ in range(3000):
        text = "".join(chance.choices(PIECES, k=chance.randint(1, 12)))
        for last in ("", "# \xe9", "# \u20ac", "# \U0001f600"):
            check_tokens(f"{text}\n{last}")


@pytest.mark.data
def test_official_texts_give_the_same_tokens() -> None:
    for text, _ in official_texts():
        check_tokens(text)


# ---- Literals ---------------------------------------------------------------------------------


def literal(chance: random.Random, dims: list[int], item: Any) -> str:
    """Return a literal of these dims, with all kinds of blanks."""
    if not dims:
        return str(item())
    blank = chance.choice(["", " ", "\n  ", "\t"])
    parts = [literal(chance, dims[1:], item) for _ in range(dims[0])]
    comma = chance.choice(["", "", ","])
    return f"[{blank}{(',' + blank).join(parts)}{comma}{blank}]"


def near_halfway(chance: random.Random) -> str:
    """Return a decimal halfway between two float32 values, or close to it."""
    bits = chance.choice([chance.randint(0, 40), chance.randint(0, 0x7F7FFFFF), 0x7FFFFF, 0x800000])
    low, high = (float(np.uint32(one).view(np.float32)) for one in (bits, bits + 1))
    middle = (low + high) / 2
    nearby = chance.choice([middle, np.nextafter(middle, 1e300), np.nextafter(middle, -1e300)])
    return chance.choice([f"{nearby}", f"-{nearby}", f"{nearby:.60e}", f"{low}", f"{middle:.150f}"])


def numbers(chance: random.Random) -> tuple[Callable[[], Any], ...]:
    """Return functions that draw numbers and words of one kind each."""
    return (
        lambda: chance.randint(-130, 300),
        lambda: chance.choice([0, 1, -1, 127, 128, 255, 256, 2**31, 2**32 - 1, -(2**63), 2**64]),
        lambda: round(chance.uniform(-10, 10), chance.randint(0, 9)),
        lambda: float(np.float32(np.ldexp(chance.random(), chance.randint(-150, 128)))),
        lambda: chance.choice(["1e400", "-0.0", "5.", "nan", "0x10", "3e-46", "1.17549431e-38"]),
        lambda: "1.00000017881393432617187499",
        lambda: near_halfway(chance),
        lambda: f"{chance.randint(0, 4096) / 2048:.{chance.randint(1, 12)}f}",  # ties of float16
        lambda: chance.choice(["65519.9", "65520.0", "6.2e-5", "6.0e-5", "3.4e38", "1.2e-38"]),
        lambda: chance.choice(["true", "false", "1", "truth"]),
    )


@pytest.mark.thorough
@pytest.mark.parametrize("name", sampled(sorted(ELEMENTS), 3))
def test_literals_give_the_same_data(name: str) -> None:
    chance = seeded()
    items = numbers(chance)
    for _ in range(draws(30)):
        dims = [chance.randint(1, 4) for _ in range(chance.randint(1, 3))]
        text = literal(chance, chance.choice([dims, [int(np.prod(dims))]]), chance.choice(items))
        few = ", ".join(str(chance.choice(items)()) for _ in range(chance.randint(1, 4)))
        for one in (f"{dims} w = [{few}, ...]", f" w = {few}", f"[2] w = [{few} , ... , ]"):
            assert_same_in_both(f"g () => () <{name}{one}> {{}}")
        for one in (few, chance.choice(items)()):
            assert_same_in_both(f"g () => () {{ y = C <v = {name}({one})> () }}")
        braces = "{" + text.replace("[", "").replace("]", "") + "}"
        raw: Any = partial(parse_raw, ELEMENTS[name], dims=dims)
        typed: Any = partial(parse_typed, ELEMENTS[name])
        for one, read in ((text, raw), (braces, typed)):
            source = f"g () => () <{name}{dims} w = {one}> {{}}"
            try:
                wanted = read(text=one)
            except (LiteralError, ValueError):
                wanted = None
            result, _, diagnostics = assert_same_in_both(source)
            assert (wanted is None) == bool(diagnostics)
            if wanted is not None and result.graph.values[0].type == TensorType(name, tuple(dims)):
                data = result.graph.values[0].data
                assert bytes(getattr(data, "data", getattr(data, "entries", wanted))) == wanted


@pytest.mark.thorough
def test_attributes_and_operators_give_the_same_tree() -> None:
    chance = seeded()
    kinds = ["", "", "", *[f": {kind.name.lower()}" for kind in AttributeType]]
    others = [
        '"s"',
        '"\u20ac"',
        'b"x\\xff"',
        "float {1}",
        "int64[2] t = [1, 2]",
        "h () => () {}",
        "@p",
        "float[2]",
        "float(0.5)",
        'blob"9f2c"',
    ]
    operators = ["A", "a.b.A", '"".A', '"".b.A', '"a.b"."A c"', "A:o", 'a.b.A:"o p"', '"".""."A"']

    def value() -> str:
        readers: list[Callable[[], Any]] = [*numbers(chance), lambda: chance.choice(others)]
        items = chance.choice(readers)
        blank = chance.choice(["", "", " ", "\n"])
        result = [f"{items()}" for _ in range(chance.choice([0, 1, 1, 2, 3, 40]))]
        if chance.random() < 0.1:
            result.append(chance.choice(["...", "", "1.5", "1", "# \u20ac\n2", *others]))
        whole = f"[{blank}{(',' + blank).join(result)}{blank}]"
        return whole if len(result) != 1 or chance.random() < 0.5 else result[0]

    for _ in range(draws(800)):
        names = chance.choice(["x", "x", '"a b"', "float", '"\u20ac"'])
        attributes = f"{names}{chance.choice(kinds)} = {value()}"
        text = f"g () => () {{ y = {chance.choice(operators)} <{attributes}> () # \u00e4\n }}"
        assert_same_in_both(text)


def test_types_give_the_same_tree() -> None:
    chance = seeded()
    parts = [*"N3?,,, \t-_0zZ", "x1", "a_b", "9" * 11, "007"]
    for _ in range(300):
        types = ["".join(chance.choices(parts, k=chance.randint(0, 7))) for _ in range(3)]
        values = ", ".join(f"{chance.choice(['float', 'int64'])}[{dims}] x" for dims in types)
        assert_same_in_both(f"g ({values}) => () {{}}")


# ---- Bytes ------------------------------------------------------------------------------------


def test_both_cores_lower_to_the_same_bytes() -> None:
    for text in texts():
        model = parse_model(Source(text))
        plain = Lowering(PresenceDefaults(model.presence), model.resources)
        if not (model.encoding_habits or model.places):
            assert onnxtext.to_binary(text) is not None
            from onnxtext.proto.encode.native import CoreLowering

            lowered = CoreLowering(PresenceDefaults(model.presence), model.resources)
            assert b"".join(lowered.model(model)) == b"".join(plain.model(model))


def test_the_keys_are_those_of_the_schema() -> None:
    from onnxtext._core.proto.field_keys import Key

    messages = {
        "NODE": "NodeProto",
        "ATTRIBUTE": "AttributeProto",
        "GRAPH": "GraphProto",
        "FUNCTION": "FunctionProto",
        "VALUE_INFO": "ValueInfoProto",
        "TYPE": "TypeProto",
        "TENSOR_TYPE": "TypeProto.Tensor",
        "SEQUENCE": "TypeProto.Sequence",
        "MAP": "TypeProto.Map",
        "ANNOTATION": "TensorAnnotation",
        "SPARSE_TENSOR": "SparseTensorProto",
        "SHAPE": "TensorShapeProto",
        "DIM": "TensorShapeProto.Dimension",
        "TENSOR": "TensorProto",
        "STRING_STRING_ENTRY": "StringStringEntryProto",
        "OPERATOR_SET_ID": "OperatorSetIdProto",
        "MODEL": "ModelProto",
    }
    assert len(Key.__members__) > 40
    for name, key in Key.__members__.items():
        prefix = max((message for message in messages if name.startswith(f"{message}_")), key=len)
        specs = message_spec(messages[prefix]).by_name
        spec = specs[name.removeprefix(f"{prefix}_").lower()]
        assert key == spec.number << 3 | (2 if spec.packed else spec.wire_type), name


@pytest.mark.parametrize("wrong", [None, 5, b"x", ["x"]])
def test_other_types_than_text_are_rejected(wrong: Any) -> None:
    for change in ("inputs", "outputs"):
        model = onnxtext.parse("g (float[1] x) => (float[1] y) { [n] y = Relu (x) }")
        setattr(model.graph.nodes[0], change, (wrong,))
        with pytest.raises(onnxtext.OnnxTextError, match=rf"{change}\[0\] is .+, not a str"):
            lower_model(model)


# ---- Safety -----------------------------------------------------------------------------------

TEXTS = (
    'g (float[N] x) => (float[N] y) <float[2] w = [1, 2]> { ["n"] y = Relu <a = 1> (x) }',
    "g () => () { x = If <b = h () => () { y = A () }> () }",
    "g () => () { x = = A () } # wrong",
    "g () => () <float[2] w = {1, x}, int8[1] v = [300]> {}",
    '\u20ac "g" () => () {}',
)


@pytest.mark.thorough
def test_conversions_leak_no_memory() -> None:
    def convert() -> None:
        for text in TEXTS:
            try:
                data = onnxtext.to_binary(text)
            except onnxtext.OnnxTextError:
                continue
            onnxtext.from_binary(data)

    for _ in range(50):
        convert()
    gc.collect()
    blocks = sys.getallocatedblocks()
    for _ in range(100):
        convert()
    gc.collect()
    assert sys.getallocatedblocks() < blocks + 100


def test_two_threads_convert_the_same() -> None:
    chosen = [text for text in texts() if len(text) < 8000][:20]
    wanted = [onnxtext.to_binary(text) for text in chosen]
    found = in_two_threads(lambda: [onnxtext.to_binary(text) for text in chosen])
    assert found == [wanted, wanted]


def test_interrupt_ends_a_long_conversion() -> None:
    text = "g () => () {" + 'x = A ("y") ' * 600_000 + "}"
    assert interrupt(lambda: parse_model(Source(text)), after=0.3) < 20


@pytest.mark.parametrize("damage", range(200))
def test_damaged_tables_are_rejected_or_harmless(damage: int) -> None:
    from onnxtext._core.syntax.scanner import Scanner

    chance = random.Random(damage)
    states, width = chance.randint(1, 5), chance.randint(1, 4)
    classes = [chance.randint(0, width - 1) for _ in range(129)]
    classes[0] = width - 1
    moves = b"".join(
        chance.randint(-2, states).to_bytes(2, "little", signed=True)
        for _ in range(states * width - (damage % 7 == 0))
    )
    try:
        scanner = Scanner(classes, moves, [chance.randint(-4, 9) for _ in range(states)], 1)
    except ValueError:
        return
    scanner.tokens("[a]")
