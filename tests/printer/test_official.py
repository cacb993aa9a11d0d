# SPDX-License-Identifier: Apache-2.0
"""`--dialect onnx`: the official parser reads every text, and exactly the losses are listed.

The comparison is independent of the printer: it walks two messages by their descriptors, treats
absent fields as empty where both mean the same, and ignores exactly the listed losses.
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
from onnxtext.proto.official.losses import Loss, group_losses
from tests.corpus import (
    backend_cases,
    index,
    onnx_directory,
    shared_model,
    shared_models,
    wheel_models,
)
from tests.seeds import draws
from tests.strategies import models

pytestmark = pytest.mark.filterwarnings("ignore")  # about suspicious models, and numpy's

quick = settings(max_examples=draws(60), deadline=None, suppress_health_check=list(HealthCheck))

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
"""4- and 2-bit types: the official parser stores one number per entry, onnxtext packs them."""


# ---- Comparing ------------------------------------------------------------------------------


def differences(wanted: Any, found: Any, lost: set[str], path: str = "") -> Iterator[str]:
    """Return the paths of differences between two messages, except the listed losses."""
    if wanted.DESCRIPTOR.name == "TensorProto":
        yield from data_differences(wanted, found, lost, path)
    unknown_fields: Any = UnknownFieldSet(wanted)
    for item in unknown_fields:
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
    """Compare lists of messages without lost items."""
    named = {key(item, path, index): item for index, item in enumerate(wanted)}
    assume(len(named) == len(wanted))  # two attributes of the same name have the same path
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
    """Compare the elements of two tensors, in any field."""
    gone = {name for name in DATA if f"{path}.{name}" in lost}
    own = {"raw_data", own_field(wanted.data_type)}
    if gone & own:
        # Without typed elements, those of `raw_data` are read into the typed field.
        typed = "raw_data" in gone and any(getattr(wanted, name) for name in own - gone if name)
        rest = DATA - gone if typed else DATA - gone - own
        is_lost = wanted.raw_data and "raw_data" not in gone
        is_lost = is_lost and not (
            any(getattr(found, name) for name in own if name) and is_raw_readable(wanted)
        )
        if is_lost or any(
            [*map(scalar, getattr(wanted, name))] != [*map(scalar, getattr(found, name))]
            for name in rest
        ):
            yield f"{path}:data"
        return
    one, other = type(wanted)(), type(found)()
    one.CopyFrom(wanted)
    other.CopyFrom(found)
    for tensor in (one, other):
        for name in (*gone, "data_location", "external_data", "segment"):
            tensor.ClearField(name)
    if not one.raw_data:
        one.ClearField("raw_data")
    same = all(
        [*map(scalar, getattr(one, name))] == [*map(scalar, getattr(other, name))]
        for name in DATA - {"raw_data"}
    )
    if same and one.raw_data == other.raw_data:
        return
    if not one.raw_data or any(getattr(one, name) for name in DATA - {"raw_data"}):
        yield f"{path}:data"
        return
    try:
        arrays = [onnx.numpy_helper.to_array(tensor).tobytes() for tensor in (one, other)]
    except (ValueError, TypeError, KeyError):
        yield f"{path}:data"
        return
    if arrays[0] != arrays[1]:
        yield f"{path}:data"


def is_raw_readable(tensor: Any) -> bool:
    """Whether `raw_data` has the size that the type and the dims require."""
    copy = onnx.TensorProto(data_type=tensor.data_type, dims=tensor.dims, raw_data=tensor.raw_data)
    try:
        onnx.numpy_helper.to_array(copy)
    except (ValueError, TypeError, KeyError):
        return False
    return True


def own_field(data_type: int) -> str:
    """Return the typed field of an element type."""
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


def losses_of(data: bytes) -> list[Loss]:
    """Check the laws for one model; return its losses."""
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


def check_layout(data: bytes) -> None:
    """Check that formatting official text only adds the trailing commas of lists."""
    text = to_official(data)[0]
    if "opaque(" not in text:  # the official syntax cannot quote their names, onnxtext must
        assert onnxtext.format_text(text).replace(",\n", "\n") == text.replace(",\n", "\n")


def is_official(model: onnx.ModelProto) -> bool:
    """Whether the official printer keeps the whole model."""
    try:
        found = onnx.parser.parse_model(onnx.printer.to_text(model))
    except Exception:
        return False
    return not list(differences(model, found, set()))


def check_each_loss(data: bytes) -> None:
    """Every listed loss is real: the models differ there."""
    text, losses = to_official(data)
    wanted, found = onnx.ModelProto.FromString(data), onnx.parser.parse_model(text)
    lost = paths(losses)
    for path in sorted(lost)[:: 1 + len(lost) // 10]:
        inside_another = any(path.startswith((f"{other}.", f"{other}[")) for other in lost)
        # A message may contain only stored zeros, which compare equal.
        is_message = path.rpartition(".")[2] in ("t", "g", "tp", "sparse_tensor", "segment")
        if not inside_another and not is_message:
            assert list(differences(wanted, found, lost - {path})), path


# ---- Real models ----------------------------------------------------------------------------


@pytest.mark.parametrize("file", wheel_models())
def test_wheel_model(file: str) -> None:
    data = (onnx_directory() / file).read_bytes()
    losses_of(data)
    check_layout(data)


SAMPLE = [entry["file"] for entry in index("models") if entry["bytes"] < 200_000][::3]


@pytest.mark.data
@pytest.mark.parametrize("file", SAMPLE)
def test_shared_model(file: str) -> None:
    losses_of(shared_model(file))
    check_layout(shared_model(file))


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("file", shared_models())
def test_every_shared_model(file: str) -> None:
    losses_of(shared_model(file))


@pytest.mark.thorough
def test_backend_cases_lose_only_listed_fields() -> None:
    cases = backend_cases()[::10]
    assert len(cases) > 100
    for name, data in cases:
        try:
            losses_of(data)
        except AssertionError as error:
            raise AssertionError(name) from error


# ---- Loss by loss -------------------------------------------------------------------------


def official(text: str) -> tuple[onnx.ModelProto, dict[str, str]]:
    """Convert a model to official text and back; return it with its losses."""
    data = onnxtext.to_binary(f"<onnxtext: 1> {text}")
    losses = losses_of(data)
    check_each_loss(data)
    found = onnx.parser.parse_model(to_official(data)[0])
    return found, {loss.path: loss.message for loss in losses if not loss.harmless}


LOSSES = [
    # Fields that the official syntax does not have
    ('@doc("d") g () => () {}', "graph.doc_string", "is not part of"),
    ('g () => () { @meta("k": "v") y = A () }', "graph.node[0].metadata_props", "is not part of"),
    ('g (@doc("d") x) => () {}', "graph.input[0].doc_string", "is not part of"),
    ('g (@type.denotation("I") float x) => () {}', "graph.input[0].type.denotation", "is not part"),
    (
        'g (float[@denotation("N") 2] x) => () {}',
        "graph.input[0].type.tensor_type.shape.dim[0].denotation",
        "is not part of",
    ),
    (
        "g () => () <sparse_tensor(float[3]) s = sparse(float[1] [7], int64[1] [2])> {}",
        "graph.sparse_initializer",
        "is not part of",
    ),
    ("g () => () <@segment(begin: 0, end: 1) float[1] w = {1}> {}", "graph.initializer[0].segment",
     "is not part of"),
    ("@set(999: 7) g () => () {}", "graph.999", "does not know"),
    # Names that would need quotes
    ('g () => () { y = "odd op" () }', "graph.node[0].op_type", "the name of an operator"),
    ('g () => () { y = "my-co.x".Op () }', "graph.node[0].domain", "a domain must"),
    ('g () => () { y = Op:"o v" () }', "graph.node[0].overload", "the name of an overload"),
    ('g () => () { y = A <"a b" = 1> () }', 'graph.node[0].attribute["a b"].name', "an attribute"),
    ('g () => () { y = A <a = float[1] "a/b" {1}> () }', 'graph.node[0].attribute["a"].t.name',
     "a tensor in an attribute"),
    ('g () => () { y = A <a = "g/1" () => () {}> () }', 'graph.node[0].attribute["a"].g.name',
     "not a type or number"),
    ('g () => () { y = A <a = "float" () => () {}> () }', 'graph.node[0].attribute["a"].g.name',
     "not a type or number"),
    ('g () => () { y = A <a = "nan_x" () => () {}> () }', 'graph.node[0].attribute["a"].g.name',
     "not a type or number"),
    # Strings
    (r'b"g\x00" () => () {}', "graph.name", "NUL"),
    (r'g () => () { b"\xff" = A () }', "graph.node[0].output[0]", "invalid UTF-8"),
    (r'g () => () { y = A <a = b"\xff"> () }', 'graph.node[0].attribute["a"]', "left out"),
    (r'g () => () <string[1] w = {b"\x00"}> {}', "graph.initializer[0].string_data", "left out"),
    # Tensors
    ("g () => () <float[1] w = [nan(0x7f800001)]> {}", "graph.initializer[0].raw_data", "payload"),
    ("g () => () <double[1] w = {nan(0x7ff8000000000001)}> {}",
     "graph.initializer[0].double_data", "payload"),
    (r'g () => () <float[2] w = raw_data(b"\x01")> {}', "graph.initializer[0].raw_data", "size"),
    ("g () => () <float[1] w = int32_data{1}> {}", "graph.initializer[0].int32_data",
     "the field of its element type"),
    # Attributes
    ("g () => () { y = A <a = [float[1] {1}]> () }", 'graph.node[0].attribute["a"].tensors',
     "drops"),
    ("g () => () { y = A <a = {type: INT, i: 3, f: 1.0}> () }", 'graph.node[0].attribute["a"].f',
     "only a value of its own type"),
    ("g () => () { y = A <a = {i: 3}> () }", 'graph.node[0].attribute["a"].type',
     "requires a type"),
    ("g () => () { y = A <a = {}> () }", 'graph.node[0].attribute["a"]', "left out"),
    ("g () => () { y = A <a = nan(0x7f800001)> () }", 'graph.node[0].attribute["a"].f', "payload"),
    (
        "g () => () { y = A <a = sparse_tensor(float[4]) sparse(float[1] [7], int64[1] [2])> () }",
        'graph.node[0].attribute["a"]',
        "sparse",
    ),
    # Types
    ("g (undefined[2] x) => () {}", "graph.input[0].type", "cannot be written"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "path", "message"), LOSSES)
def test_each_loss_is_listed(text: str, path: str, message: str) -> None:
    _, losses = official(text)
    assert list(losses) == [path]
    assert message in losses[path]


NO_LOSSES = [
    'g () => () { [] y = A () [""] z = a.b.C:ov (y, "", "odd name") }',
    'g (float[N, "M+1", ?, -1, 3] x, float[] "float", "seq") => (map(int64, seq(float)) m) {}',
    "g (opaque(a.b, C) x, opaque(a.b) y, opaque() z, optional(seq(float[2])) w) => () {}",
    "g (sparse_tensor(float[2]) x, sparse_tensor(float[]) y) => () {}",
    'g () => () <float[2] w = ["location": "w.bin", "offset": "4"], float[2] v => {}',
    'g () => () { y = A <a = float t = ["location": "w.bin"], b = float[1] inf {1}> () }',
    "g () => () { y = A <a = float, b = seq(float[2]), c: tensors = [], d: floats = []> () }",
    "g () => () { y = A <a = [nan, -inf, -0.0, 1e-45], b = -nan, c = [-1, 0], e = 1.0> () }",
    r'g () => () { y = A <s = b"\"\\ \n\r\t é", t = [b"a\nb", ""]> () }',
    "g () => () { y = A <a = nan1 () => () { z = B () }, b = true () => () {}> () }",
    "@value_info(initializers) g (float[1] x = {1}) => () <float[1] w = [2]> "
    "{ float[1] y = A (x, w) float z = B () }",
    'g () => () {} <domain: "d", opset_import: ["": 1]> f <a, "b c", d = 1, e: tensor, '
    "h: int = @r> (float[N] x, y) => (z) <float t> { float[1] u = A <k = @a, l: int = @b> (x) }",
    "g () => () <int4[3] a = [-8, 7, 1], uint2[5] b = [3, 2, 1, 0, 3], float4e2m1[3] c = "
    "[1.0, -6.0, 0.5], float6e2m3[3] d = [1.0, -7.5, 0.125], int4[1] e = {-3}> {}",
    "g () => () <float16[2] a = [1.0, 0x7e01], bfloat16[1] b = {-2.5}, float8e4m3fn[1] c = [448.0],"
    " bool[2] d = [true, false], bool[2] e = {true, false}, complex64[2] f = [1.0+2.0j, -1.5-0.0j],"
    " complex128[1] h = {1.0+2.0j}, uint64[1] i = [18446744073709551615], int8[2] j = [-128, 127],"
    " uint32[1] k = [4294967295], int64[1] l = [-9223372036854775808], uint16[1] m = [65535]> {}",
    "g () => () <float[0] a = [], float[2, 0] b = {}, string[0] c = {}, float d = 1.5> {}",
]


@pytest.mark.parametrize("text", NO_LOSSES)
def test_texts_without_losses_list_none(text: str) -> None:
    _, losses = official(text)
    assert not losses


def test_only_the_listed_losses_are_missing() -> None:
    found, losses = official(
        r'g () => () { y = A <a = 1, b = b"\xff", c: ints = [], "d-e" = 2.5> () '
        r"z = B <a = sparse_tensor(float[4]) sparse(float[1] [7], int64[1] [2])> (y) }"
    )
    assert [item.name for item in found.graph.node[0].attribute] == ["a", "c", "d_e"]
    assert not found.graph.node[1].attribute
    assert len(losses) == 3


def test_renamed_names_stay_unique() -> None:
    found, _ = official(r'g () => () { b"\xff" = A () b"\xfe" = A (b"\xff") }')
    assert [*found.graph.node[0].output, *found.graph.node[1].output] == [r"\xff", r"\xfe"]
    assert found.graph.node[1].input == [r"\xff"]


def test_many_losses_of_one_kind_are_one_group() -> None:
    nodes = '@meta("k": "v", "l": "w") y = A () ' * 50
    losses = to_official(onnxtext.to_binary(f"<onnxtext: 1> g () => () {{ {nodes} }}"))[1]
    groups = group_losses(losses)
    assert [len(places) for places in groups.values()] == [50]
    assert [loss.harmless for loss in losses] == [False] * 50 + [True]
    assert "50 `NodeProto.domain`" in losses[-1].message


LAYOUT = """\
<
  ir_version: 10,
  opset_import: ["": 21]
>
g (
  float[N] x,
  float[2] w = {1, 2}
) => (float[N] y) <
  float[2, 10] big = {
    0.5, 100000, 2e20, 3.25, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 191.125, 20, 21,
    22, 23
  },
  float[N] t
> {
  [n] t = Add (x, w)
  y = Conv (t, big) <
    auto_pad = "NOTSET",
    dilations = [1, 1],
    group = 1,
    kernel_shape = [3, 3],
    pads = [1, 1, 1, 1]
  >
}

<
  domain: "d",
  doc_string: "a
b",
  opset_import: ["": 21]
>
f <a, b = 1.0> (x) => (y) {
  y = d.Op <k: int = @a> (x)
}
"""


def test_the_layout_is_that_of_the_official_printer() -> None:
    data = onnx.parser.parse_model(LAYOUT).SerializeToString()
    assert to_official(data)[0] == LAYOUT


# ---- Any model ------------------------------------------------------------------------------


@pytest.mark.thorough
@quick
@given(models())
def test_any_model_loses_only_listed_fields(data: bytes) -> None:
    losses_of(data)
    check_each_loss(data)
