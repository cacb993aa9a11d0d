# SPDX-License-Identifier: Apache-2.0
"""Short texts of huge data are rejected before it is allocated, or the data stays compact."""

from __future__ import annotations

import base64
import copy
import hashlib
import pickle
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import onnx
import pytest

import onnxtext
from onnxtext.ast import ValueInfo
from onnxtext.ast.tensors_and_attributes import RawData, SplatData
from onnxtext.diagnostics import OnnxTextError
from onnxtext.differ.model_side import ModelSide
from onnxtext.printer import print_model
from onnxtext.proto.encode.lower import lower_guarded, lower_without_weights
from onnxtext.proto.encode.messages import Lowering
from onnxtext.proto.presence_defaults import PresenceDefaults
from onnxtext.source import Source
from onnxtext.syntax.parse import parse_model
from onnxtext.tensor.element_types import ELEMENTS, raw_size
from onnxtext.text_to_binary import encode
from onnxtext.weights.external_data import ExternalFile
from tests.seeds import sampled

SPLAT = "float[400000000]"
BLOB = b"x" * (1 << 20)
DIGEST = hashlib.sha256(BLOB).hexdigest()[:32]
RESOURCES = f'resources {{ "{DIGEST}": base64 """\n{base64.b64encode(BLOB).decode()}\n""" }}'
NODES = "\n".join(f"x{i} = Op <a = {SPLAT} [0, ...]> ()" for i in range(20))
TENSORS = ", ".join(f"{SPLAT} x{i} = [0, ...]" for i in range(20))

BOMBS = {
    "initializers": f"g () => () <{TENSORS}> {{}}",
    "inputs": f"g ({TENSORS}) => () {{}}",
    "attributes": f"g () => () {{ {NODES} }}",
    "functions": f"g () => () {{}} f (x) => (y) {{ {NODES} }}",
    "parameters": f"g () => () {{}} f <a = {SPLAT} [0, ...], b = {SPLAT} [1, ...]> (x) => (y) {{}}",
    "nested": f"g () => () {{ y = If <b = t () => () <{TENSORS}> {{}}> () }}",
    "lists": f"g () => () {{ y = Op <a = [{SPLAT} [0, ...], {SPLAT} [0, ...]]> () }}",
    "sparse": "g () => () <sparse_tensor(float[4]) s = "
    f"sparse({SPLAT} [0, ...], int64[200000000] [0, ...])> {{}}",
    "training": f"g () => () {{}} training {{ algorithm: t () => () <{TENSORS}> {{}} }}",
    "blobs": "g () => () <" + f'uint8[1048576] w = blob"{DIGEST}", ' * 2100 + f"> {{}} {RESOURCES}",
    "strings": "g () => () {"
    + f'y = Op <s = blob"{DIGEST}", t = [blob"{DIGEST}", blob"{DIGEST}"]> () ' * 700
    + f"}} {RESOURCES}",
    "repeated": "g () => () { y = Op <a: floats[2147483647] = [0, ...]> () }",
    "packed": "g () => () <"
    + ", ".join(f"int4[4000000000] x{i} = [7, ...]" for i in range(2))
    + "> {}",
}


@pytest.fixture
def memory() -> Iterator[Callable[[], int]]:
    tracemalloc.start()
    yield lambda: tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()


@pytest.mark.thorough
@pytest.mark.parametrize("name", sampled(BOMBS, 3))
def test_too_large_data_is_rejected_before_allocation(name: str, memory: Callable[[], int]) -> None:
    text = BOMBS[name]
    for read in (onnxtext.to_binary, onnxtext.loads, ModelSide.of_text):
        with pytest.raises(OnnxTextError) as caught:
            read(text)
        (diagnostic,) = caught.value.diagnostics
        assert diagnostic.code == "model-too-large"
        assert diagnostic.span is not None
        assert diagnostic.span.start > 0
    assert [item.code for item in onnxtext.check(text)] == ["model-too-large"]
    onnxtext.format_text(text)
    assert memory() < 60_000_000


def test_nodes_with_too_large_data_are_rejected_before_allocation(
    memory: Callable[[], int],
) -> None:
    assert [item.code for item in onnxtext.check(NODES)] == ["model-too-large"]
    assert memory() < 60_000_000


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("a: floats[2147483647] = [0, ...]", onnx.AttributeProto),
        (f"a = [{SPLAT} [0, ...], {SPLAT} [0, ...]]", onnx.AttributeProto),
        ('y = Op <a: strings[2147483647] = ["", ...]> ()', onnx.NodeProto),
        (f"g () => () <{TENSORS}> {{}}", onnx.GraphProto),
        (f"f () => () {{ {NODES} }}", onnx.FunctionProto),
    ],
)
def test_messages_with_too_large_data_are_rejected_before_allocation(
    text: str, kind: type[Any], memory: Callable[[], int]
) -> None:
    with pytest.raises(OnnxTextError) as caught:
        onnxtext.loads(text, kind)
    assert [item.code for item in caught.value.diagnostics] == ["model-too-large"]
    assert memory() < 60_000_000


@pytest.mark.parametrize(("kind", "item"), [("ints", "300"), ("floats", "1.5"), ("strings", '"a"')])
def test_repeated_items_are_encoded_without_a_list(
    kind: str, item: str, memory: Callable[[], int]
) -> None:
    text = f"g () => () {{ y = Op <a: {kind}[1000000] = [{item}, {item}, ...]> () }}"
    size = len(onnxtext.to_binary(text))
    assert memory() < 4 * size + 1_000_000


def test_allowed_splats_take_no_memory(memory: Callable[[], int]) -> None:
    text = "<onnxtext: 1>\ng () => () <int4[4000000000] x = [7, ...]> {}\n"
    model = onnxtext.parse(text)
    assert onnxtext.parse(onnxtext.format_text(text)) == model
    assert memory() < 10_000_000


def test_external_data_may_be_larger(memory: Callable[[], int]) -> None:
    source = Source(BOMBS["initializers"])
    external = ExternalFile("m.data")
    pieces = encode(parse_model(source), source, external=external)
    assert external.size >= 20 * 1_600_000_000
    assert external.size == external.parts[-1][0] + len(external.parts[-1][1])
    assert sum(map(len, pieces)) < 5000
    assert memory() < 60_000_000


def test_inline_data_is_rejected_too() -> None:
    source = Source(BOMBS["sparse"])  # sparse tensors are never external
    with pytest.raises(OnnxTextError, match="model-too-large"):
        encode(parse_model(source), source, external=ExternalFile("m.data"))


def test_repetitions_can_be_externalized() -> None:
    text = (
        "g () => () <" + ", ".join(f"uint8[70001] x{i} = [9, {i}, ...]" for i in range(3)) + "> {}"
    )
    external = ExternalFile("m.data")
    pieces = encode(parse_model(Source(text)), Source(text), external=external)
    model = onnx.ModelProto.FromString(b"".join(pieces))
    data = b"".join(external.pieces())
    for index, tensor in enumerate(model.graph.initializer):
        offset = int({item.key: item.value for item in tensor.external_data}["offset"])
        assert data[offset : offset + 70_001] == b"\x09" + bytes((index,)) * 70_000


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "count"),
    sampled(
        [
            (element.name, 262_149 + more)
            for element in ELEMENTS.values()
            for more in range(4 if 0 < element.bits < 8 else element.bits > 0)
        ],
        3,
    ),
)
@pytest.mark.parametrize("start", ["y", "xy", "yyyyy"])
def test_repetition_equals_its_expansion(name: str, count: int, start: str) -> None:
    element = ELEMENTS[name]
    zero, one = {"bool": ("false", "true"), "float": ("2.0", "1.0")}.get(element.kind, ("0", "1"))
    if element.name == "float8e8m0":
        zero = "4.0"
    written = "".join([f"{zero if letter == 'x' else one}, " for letter in start])
    text = f"<onnxtext: 1> g () => () <{name}[{count}] x = [{written}...]> {{}}"
    short, long = (onnxtext.parse(item).graph.values[0].data for item in (text, text))
    assert isinstance(short, SplatData) or raw_size(element, count) <= 1 << 16
    assert isinstance(short, RawData)
    assert len(short.data) == raw_size(element, count)
    whole = RawData(short.data)
    assert short == whole
    assert whole == short
    assert hash(short) == hash(whole)
    assert short == long
    assert pickle.loads(pickle.dumps(short)) == copy.deepcopy(short) == whole
    changed = RawData(bytes(short.data[:-1]) + bytes((short.data[-1] ^ 1,)))
    assert short != changed
    data = onnxtext.to_binary(text)
    assert short.data in data
    assert onnxtext.to_binary(onnxtext.from_binary(data)) == data


def test_repetitions_round_trip() -> None:
    value = onnxtext.parse("g () => () <float[100000] x = [0.5, 0.5, ...]> {}").graph.values[0]
    assert isinstance(value, ValueInfo)
    model = onnxtext.parse("g () => () <float[100000] x = [0.5, 0.5, ...]> {}")
    assert "x = [0.5, ...]" in print_model(model)


REPEATED = """<ir_version: 8, opset_import: ["": 17]>
g () => (int64[N] y) { y = Constant <value_ints: ints[100000000] = [1, 0, ...]> () }
"""


def test_check_and_diff_do_not_write_out_repetitions(memory: Callable[[], int]) -> None:
    assert onnxtext.check(REPEATED) == []
    for item in ("100000001", "99999999"):
        (change,) = onnxtext.diff(REPEATED, REPEATED.replace("100000000", item)).items
        assert change.kind == "node"
    assert not onnxtext.diff(REPEATED, REPEATED.replace("[1, 0, ...]", "[1, 0, 0, 0, ...]")).items
    assert memory() < 1 << 25


def test_check_counts_the_bytes_of_repetitions_that_it_does_not_write_out(
    memory: Callable[[], int],
) -> None:
    text = REPEATED.replace("100000000", "300000000").replace("0, ...", "-1, ...")
    (finding,) = onnxtext.check(text)  # each item takes 11 bytes
    assert finding.code == "model-too-large"
    assert memory() < 1 << 25


@pytest.mark.parametrize("presence", ["", ", explicit: [node.doc_string, attribute.doc_string]"])
def test_check_counts_the_repetitions_of_equal_attributes(
    presence: str, memory: Callable[[], int]
) -> None:
    node = "Constant <value_ints: ints[150000000] = [1, -1, ...]> ()"
    text = f"""<onnxtext: 1, ir_version: 8, opset_import: ["": 17]{presence}>
g () => (int64[N] y, int64[N] z) {{
  y = {node}
  z = {node}
}}
"""
    (finding,) = onnxtext.check(text)  # the native parser shares the equal attributes
    assert finding.code == "model-too-large"
    model = parse_model(Source(text))
    first, second = model.graph.nodes
    second.attributes = (*first.attributes,)  # another tuple with the same attribute
    omitted = 2 * 11 * 149_999_998
    assert lower_guarded(model, omit_repetitions=True)[2] == omitted
    lowering = Lowering(PresenceDefaults(model.presence))
    lowering.many_repetitions = "omit"
    lowering.model(model)
    assert lowering.omitted == omitted
    assert memory() < 1 << 25


def test_the_repetitions_of_equal_lists_of_nested_nodes_are_counted() -> None:
    node = '@meta("a": "b") q = Constant <value_ints: ints[2000000] = [1, -1, ...]> ()'
    text = f"""<onnxtext: 1, ir_version: 8, opset_import: ["": 17]>
g (bool c) => () {{
  y = If <then_branch = t () => (q) {{ {node} }}, else_branch = e () => (c) {{}}> (c)
  z = If (c)
}}
"""
    model = parse_model(Source(text))
    first, second = model.graph.nodes
    second.attributes = first.attributes
    lowering = Lowering(PresenceDefaults(model.presence))
    lowering.many_repetitions = "omit"
    lowering.model(model)
    assert lowering.omitted > 40_000_000
    assert lower_guarded(model, omit_repetitions=True)[2] == lowering.omitted


def test_a_model_with_many_repetitions_can_be_edited(memory: Callable[[], int]) -> None:
    text = REPEATED.replace("100000000", "50000000")
    model = onnxtext.parse(text)
    model.graph.name = "h"
    model.graph.nodes[0].output_types = (None,)  # means the same as no types
    edited = onnxtext.parse(onnxtext.rewrite(text, model))
    assert edited.graph.name == "h"
    assert lower_without_weights(edited) is None  # more than 1 MiB of repetitions
    assert memory() < 1 << 25


def test_a_repetition_is_equal_to_the_same_list_in_full() -> None:
    short = REPEATED.replace("100000000", "9000")
    for items in ("[1, 0, ...]", "[0.5, 1.0, ...]", '["a", "", ...]'):
        text = short.replace("[1, 0, ...]", items)
        kind = {"[0": "floats", '["': "strings"}.get(items[:2], "ints")
        text = text.replace("value_ints: ints", f"value_{kind}: {kind}")
        assert not onnxtext.diff(text, onnxtext.to_binary(text)).items
