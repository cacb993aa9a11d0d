# SPDX-License-Identifier: Apache-2.0
"""Hostile files: time is linear in the size of a file, and memory is bounded."""

from __future__ import annotations

import subprocess
import sys
import time
import tracemalloc
from pathlib import Path

import onnx
import pytest

import onnxtext
from onnxtext.proto.decode.lift import lift_model
from onnxtext.proto.encode.lower import lower_model
from onnxtext.select_core import core
from onnxtext.wire.writer import delimited
from tests.running import count_calls, grows_at_most, limited

MEGABYTE = 1 << 20
SCRIPT = """\
import sys
if sys.platform == "linux":  # Windows has no such limits, and macOS none of the memory
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[3]),) * 2)
    resource.setrlimit(resource.RLIMIT_CPU, (int(sys.argv[2]),) * 2)
import onnxtext
data = open(sys.argv[1], "rb").read()
text = onnxtext.from_binary(data)
assert onnxtext.to_binary(text) == data
"""


def convert(data: bytes, path: Path, *, memory: int) -> None:
    """Convert to text and back in a process with limited time and memory."""
    path.write_bytes(data)
    arguments = [str(path), "30", str(memory)]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])


def nested(depth: int, inside: bytes, op_type: bytes | None = None) -> bytes:
    """Return a model with nested graphs; the innermost has the given fields."""
    graph = inside
    for _ in range(depth):
        attribute = delimited(b"\x0a", b"b") + delimited(b"\x32", graph) + b"\xa0\x01\x05"
        named = b"" if op_type is None else delimited(b"\x22", op_type)
        node = named + delimited(b"\x2a", attribute)
        graph = delimited(b"\x0a", node) + delimited(b"\x12", b"g")
    return b"\x08\x0a" + delimited(b"\x3a", graph)


@pytest.mark.thorough
def test_a_long_string_in_deep_graphs_is_converted_fast(tmp_path: Path) -> None:
    node = delimited(b"\x0a", delimited(b"\x32", b"a" * (8 * MEGABYTE)))
    convert(nested(30, node), tmp_path / "m.onnx", memory=1200 * MEGABYTE)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "field",
    [
        b"\x2a\x00",
        b"\xb8\x3e\x05",
        b"\xbb\x3e\x08\x01\xbc\x3e",
        b"\xb8\x3e\x81\x80\x80\x80\x80\x00",
    ],
    ids=["empty initializers", "numbers", "groups", "long varints"],
)
def test_many_odd_fields_in_deep_graphs_are_converted_fast(field: bytes) -> None:

    def seconds(depth: int) -> float:
        data = nested(depth, field * 10_000, op_type=b"If")
        before = time.process_time()
        onnxtext.from_binary(data)
        return time.process_time() - before

    # A pass over the fields for each graph would take 30 times as long. The text of deep
    # graphs is longer (indentation): 3 times.
    assert grows_at_most(seconds, 1, 30, factor=9)


HUGE = f"[{', '.join(['9223372036854775807'] * 300)}]"
TENSORS = [
    f"g () => () <float{HUGE} w = {{1}}> {{ }}",
    f"g () => () <int4{HUGE} w = {{1}}> {{ }}",
    f"g () => () <string{HUGE} w = {{}}> {{ }}",
    f"g (int64[1] s) => (y) {{ y = ConstantOfShape <value = float{HUGE} {{1}}> (s) }}",
    f"g (float{HUGE} s, q, x) => (y) {{ y = com.microsoft.MatMulNBits <K = 16, N = 16, "
    "bits = 4, block_size = 16> (x, q, s) }",
]
"""Models whose numbers of elements have too many digits for Python to print."""


@pytest.mark.parametrize("graph", TENSORS, ids=lambda graph: graph[:24] + graph[-24:])
def test_tensors_with_many_large_dimensions_are_checked(graph: str) -> None:
    header = '<ir_version: 10, opset_import: ["": 21, "com.microsoft": 1]>'
    text = f"{header} {graph}"
    assert "internal-error" not in {item.code for item in onnxtext.check(text)}
    try:
        data = onnxtext.to_binary(text)
    except onnxtext.OnnxTextError:
        return
    assert onnxtext.to_binary(onnxtext.from_binary(data)) == data


def test_varints_that_are_too_long_are_kept_in_their_own_graph() -> None:
    long = nested(3, b"\xb8\x3e\x81\x80\x00\xbb\x3e\x08\x81\x00\xbc\x3e")
    text = onnxtext.from_binary(long)
    assert "@set(999: 1, 999: {1: 1})" in text
    assert "@set(node" not in text
    assert onnxtext.to_binary(text) == long


def test_names_after_nested_graphs_are_converted_fast(tmp_path: Path) -> None:
    graph = b""
    for _ in range(30):
        attribute = delimited(b"\x0a", b"b") + delimited(b"\x32", graph) + b"\xa0\x01\x05"
        node = delimited(b"\x2a", attribute) + delimited(b"\x1a", b"n") + delimited(b"\x0a", b"x")
        graph = delimited(b"\x0a", node) + delimited(b"\x12", b"g")
    data = b"\x08\x0a" + delimited(b"\x3a", graph)
    convert(data, tmp_path / "m.onnx", memory=1200 * MEGABYTE)


def test_many_nodes_in_a_decorated_graph_are_converted_fast(tmp_path: Path) -> None:
    nodes = [
        onnx.helper.make_node("Relu", [f"v{index}"], [f"v{index + 1}"]) for index in range(20_000)
    ]
    graph = onnx.helper.make_graph(nodes, "g", [], [], doc_string="decorated")
    graph.node[7].metadata_props.add(key="k", value="v")
    graph.initializer.add(name="w", data_type=1, dims=[MEGABYTE], raw_data=bytes(4 * MEGABYTE))
    data = onnx.helper.make_model(graph).SerializeToString()
    convert(data, tmp_path / "m.onnx", memory=1200 * MEGABYTE)


@pytest.mark.thorough
def test_metadata_of_many_nodes_is_converted_fast(tmp_path: Path) -> None:
    nodes = [
        onnx.helper.make_node("Relu", [f"v{index}"], [f"v{index + 1}"]) for index in range(20_000)
    ]
    for node in nodes:
        node.metadata_props.add(key="trace", value="line 1\nline 2")
    graph = onnx.helper.make_graph(nodes, "g", [], [])
    data = onnx.helper.make_model(graph).SerializeToString()
    convert(data, tmp_path / "m.onnx", memory=1200 * MEGABYTE)


@pytest.mark.parametrize(
    "data",
    [
        b"\x3a\xff\xff\xff\xff\x07",  # a graph of 2 GB in six bytes
        b"\x08\x0a\x3a\x0a\x2a\x08\x4a\xff\xff\xff\xff\x0f",
        nested(60, b""),
        b"\x3b" * 100_000,  # nested groups
        b"\xff" * 1_000_000,
    ],
    ids=["gigabytes", "lying", "deep", "groups", "varint"],
)
def test_invalid_models_are_rejected_quickly(data: bytes) -> None:
    with limited(1), pytest.raises(onnxtext.OnnxTextError):
        onnxtext.from_binary(data)
    tracemalloc.start()
    try:
        with pytest.raises(onnxtext.OnnxTextError):
            onnxtext.from_binary(data)
        assert tracemalloc.get_traced_memory()[1] < 64 * MEGABYTE
    finally:
        tracemalloc.stop()


NAME = delimited(b"\x12", b"g")
EMPTY_ITEMS = {
    "attributes": (b"\x2a\0", 80),
    "nodes": (b"\x0a\0", 75),
    "initializers": (b"\x2a\0", 150),
    "outputs": (b"\x62\0", 65),
}
"""Maps a list to an empty item, and to the permitted number of calls for each of many items."""


def with_items(kind: str, count: int) -> bytes:
    """Return a model with many equal items."""
    items = EMPTY_ITEMS[kind][0] * count
    if kind == "attributes":
        items = delimited(b"\x0a", delimited(b"\x22", b"Relu") + items)
    graph = items + NAME if kind in ("attributes", "nodes") else NAME + items
    return b"\x08\x08" + delimited(b"\x3a", graph) + delimited(b"\x42", b"\x10\x11")


@pytest.mark.skipif(core() != "native", reason="the native core does not run")
@pytest.mark.parametrize("kind", EMPTY_ITEMS)
def test_empty_items_take_few_calls(kind: str) -> None:
    few, many = (with_items(kind, count) for count in (100, 200))
    assert onnxtext.to_binary(onnxtext.from_binary(many)) == many
    calls = [count_calls(lambda data=data: onnxtext.from_binary(data)) for data in (few, many)]  # type: ignore[misc]
    assert calls[1] - calls[0] < 100 * EMPTY_ITEMS[kind][1]


EMPTY_OUTPUT = b"\x62\0"
"""An empty output, which only residual fields can express."""


def nested_graphs(levels: int, odd: tuple[int, ...], size: int) -> bytes:
    """Return a model with a tensor of `size` bytes in the innermost of nested graphs.

    The graphs at the levels `odd` (0 for the innermost) have residual fields.
    """
    tensor = b"\x08\x01\x10\x02" + delimited(b"\x42", b"w") + delimited(b"\x4a", bytes(size))
    graph = NAME + delimited(b"\x2a", tensor)
    for level in range(levels):
        if level:
            attribute = delimited(b"\x0a", b"b") + delimited(b"\x32", graph) + b"\xa0\x01\x05"
            node = delimited(b"\x22", b"Loop") + delimited(b"\x2a", attribute)
            graph = delimited(b"\x0a", node) + NAME
        if level in odd:
            graph += EMPTY_OUTPUT
    return b"\x08\x08" + delimited(b"\x3a", graph) + delimited(b"\x42", b"\x10\x11")


@pytest.mark.parametrize(
    ("levels", "odd", "size", "copies"),
    [(29, (0,), MEGABYTE, 8), (2, (1,), MEGABYTE, 6), (2, (1,), 17 * MEGABYTE, 6)],
)
def test_residual_fields_take_few_copies_of_the_weights(
    levels: int, odd: tuple[int, ...], size: int, copies: int
) -> None:
    lift_model(nested_graphs(1, (0,), 4))  # import all modules
    data = nested_graphs(levels, odd, size)
    tracemalloc.start()
    model = lift_model(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < copies * size
    assert lower_model(model) == data


@pytest.mark.skipif(core() != "native", reason="the native core does not run")
def test_a_training_graph_is_fast_beside_a_graph_with_residual_fields() -> None:
    def model(count: int) -> bytes:
        items = b"".join(
            [delimited(b"\x0a", delimited(b"\x22", b"Op%d" % i)) for i in range(count)]
        )
        return (
            b"\x08\x08"
            + delimited(b"\x3a", NAME + EMPTY_OUTPUT)
            + delimited(b"\x42", b"\x10\x11")
            + delimited(b"\xa2\x01", delimited(b"\x12", items + NAME))
        )

    few, many = model(100), model(200)
    calls = [count_calls(lambda data=data: lift_model(data)) for data in (few, many)]  # type: ignore[misc]
    assert calls[1] - calls[0] < 100 * 16
    assert lower_model(lift_model(many)) == many
