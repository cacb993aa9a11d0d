# SPDX-License-Identifier: Apache-2.0
"""Every extension has its documented meaning, and the official parser rejects it.

So every text that the official parser accepts has the same meaning in onnxtext.
"""

from __future__ import annotations

import onnx
import onnx.numpy_helper
import pytest

import onnxtext
from onnxtext.diagnostics import OnnxTextError


def graph(values: str = "", body: str = "") -> str:
    return f"g () => () <{values}> {{ {body} }}" if values else f"g () => () {{ {body} }}"


HEADER = "<onnxtext: 1> "

REJECTED_OFFICIALLY = [
    # Strings
    graph(body=r'y = A <s = b"a\tb\xff\u{202e}"> (x)'),
    graph(body='y = A <s = """\n  text\n  """> (x)'),
    graph(body=r'b"\xff" = A (x)'),
    # Tensors
    graph("float[2, 2] w = [[1, 2], [3, 4]]"),
    graph("float[4] w = [0, ...]"),
    graph("float eps = 1e-05"),
    graph("float16[1] w = [1.0]"),
    graph("float16[1] w = {1.0}"),
    graph("float16[1] w = {0x3c00}"),
    graph("bool[2] w = [true, false]"),
    graph("complex64[1] w = [1.0+2.0j]"),
    graph("float[1] w = [nan(0x7f800001)]"),
    graph("float[1] w = {0x1p3}"),
    graph(r'float[2] w = raw_data(b"\x00")'),
    graph("float[2] w = float_data{1}"),
    graph("sparse_tensor(float[3]) s = sparse(float[1] [7], int64[1] [2])"),
    graph(body="y = C <v = float(1e-05)> ()"),
    graph(body='y = C <v = float[1] "" {1}> ()'),
    graph(body="y = C <v = float e = 1> ()"),
    # Decorators and records
    graph(body='@doc("d") y = A (x)'),
    graph(body="y = A <a = {type: INT, i: 3}> (x)"),
    graph("undefined[2] x"),
    graph('@type.denotation("IMAGE") float[2] x'),
    graph('float[@denotation("N") 2] x'),
    # Presence
    "<opset_import: [21]> " + graph(),
    '<onnxtext: 1, explicit: [node.domain]> g () => () {}',
    graph(body='y = Op:"" (x)'),
    # Quoted operators, domains, overloads, attributes, graphs in attributes
    graph(body='y = "a.b"."odd op":"o v" (x)'),
    graph(body='y = A <"odd attr" = 1> (x)'),
    graph(body='y = A <g = "odd graph" () => () {}> (x)'),
    # The version, typed outputs
    HEADER + graph(),
    graph(body="float[2] y = A (x)"),
    # The order of value infos, final commas
    "@value_info(initializers) " + graph("float[1] w = {1}"),
    graph("float[2] w = {1, 2,}"),
    graph(body="y = A <a = 1,> (x)"),
    graph(body="y = A <a = [1, 2,]> (x)"),
]  # fmt: skip


@pytest.mark.parametrize("text", REJECTED_OFFICIALLY)
def test_only_the_official_parser_rejects_extensions(text: str) -> None:
    with pytest.raises(onnx.parser.ParseError):
        onnx.parser.parse_model(text)
    data = onnxtext.to_binary(text)
    # The canonical text has the same meaning.
    assert onnxtext.to_binary(onnxtext.from_binary(data)) == data


def node(body: str, header: str = HEADER) -> onnx.NodeProto:
    return onnxtext.loads(header + graph(body=body)).graph.node[0]


def initializer(value: str) -> onnx.TensorProto:
    return onnxtext.loads(HEADER + graph(value)).graph.initializer[0]


def test_the_version_key_decides_field_presence() -> None:
    assert not node("y = Add (a, b)").HasField("domain")
    assert node("y = .Add (a, b)").HasField("domain")
    assert node("y = Add (a, b)", header="").HasField("domain")
    explicit = "<onnxtext: 1, explicit: [node.domain]> "
    assert node("y = Add (a, b)", explicit).HasField("domain")
    assert not node("@unset(domain) y = Add (a, b)", explicit).HasField("domain")
    assert not node("y = Add (a, b)").HasField("name")
    assert node("[] y = Add (a, b)").HasField("name")
    assert node('y = Op:"" (x)').HasField("overload")
    tensor = "y = C <value = float[1] {1}> ()"
    assert not node(tensor).attribute[0].t.HasField("name")
    assert node(tensor, "").attribute[0].t.HasField("name")
    assert node('y = C <value = float[1] "" {1}> ()').attribute[0].t.HasField("name")


@pytest.mark.parametrize(
    "type", ["undefined", "undefined[]", "undefined[3]", "sparse_tensor(undefined[3])"]
)
@pytest.mark.parametrize("value", ["{}", "[{}]", "[{0}, {0}]"])
def test_types_without_an_element_type_are_written_as_types(type: str, value: str) -> None:
    body = f"y = A <t = {value.format(type)}> (x)"
    data = onnxtext.to_binary(HEADER + graph(body=body))
    text = onnxtext.from_binary(data)
    assert body in text
    assert onnxtext.to_binary(text) == data


def test_empty_opset_domains_can_be_present() -> None:
    model = onnxtext.loads('<opset_import: [21, "": 20, "ai.onnx.ml": 5]> g () => () {}')
    opsets = [(o.HasField("domain"), o.domain, o.version) for o in model.opset_import]
    assert opsets == [(False, "", 21), (True, "", 20), (True, "ai.onnx.ml", 5)]


def test_escapes_and_text_blocks_are_read() -> None:
    result = node(r'y = A <a = "\n\"", b = b"a\tb\xff\u{202e}é", c = "é"> (x)')
    assert [a.s for a in result.attribute] == [
        b'n"', b"a\tb\xff\xe2\x80\xae\xc3\xa9", "é".encode(),
    ]  # fmt: skip
    result = node('y = A <s = """\n    one\n      two\n\n    three\\u{20}\n    """> (x)')
    assert result.attribute[0].s == b"one\n  two\n\nthree "


@pytest.mark.parametrize(
    "text", [r'b"\q"', r'b"\x4"', r'b"\u{110000}"', r'b"\u{d800}"', '"""a\n"""', '"""\n x\n  """']
)
def test_bad_strings_are_errors(text: str) -> None:
    with pytest.raises(OnnxTextError):
        node(f"y = A <s = {text}> (x)")


def test_brackets_give_raw_and_braces_typed_data() -> None:
    raw = initializer("float[2, 1, 2] w = [[1, 2], [3, 4]]")
    assert raw.raw_data
    assert onnx.numpy_helper.to_array(raw).tolist() == [[[1, 2]], [[3, 4]]]
    assert initializer("float[2, 1, 2] w = [[[1, 2]], [[3, 4]]]") == raw
    assert initializer("float[2, 1, 2] w = [1, 2, 3, 4]") == raw
    typed = initializer("float[2, 1, 2] w = {1, 2, 3, 4}")
    assert list(typed.float_data) == [1, 2, 3, 4]
    assert initializer("float e = 1.5").raw_data == b"\x00\x00\xc0\x3f"
    assert initializer("int64[3] w = [7, ...]").raw_data == b"\x07\0\0\0\0\0\0\0" * 3
    both = initializer(r'float[1] w = raw_data(b"\x00\x01") float_data{1}')
    assert both.raw_data == b"\x00\x01"
    assert list(both.float_data) == [1]


def test_official_quirks_keep_their_meaning() -> None:
    # An empty tensor that is *named* `true` or `nan`, not a value.
    for name in ("true", "nan"):
        result = node(f"y = C <value = float {name}> ()").attribute[0]
        official = onnx.parser.parse_node(f"y = C <value = float {name}> ()").attribute[0]
        assert result == official
        assert result.t.name == name


def test_typed_outputs_and_value_infos_merge_in_order() -> None:
    text = (
        "<onnxtext: 1> @value_info(initializers) g (float[2] x) => (float[2] y) "
        "<float[2] b = {1, 2}, float[3] other> "
        "{ float[2] t = Add (x, b)  int64 s, y = F (t) }"
    )
    infos = onnxtext.loads(text).graph.value_info
    assert [info.name for info in infos] == ["b", "other", "t", "s"]
    assert onnxtext.from_binary(onnxtext.to_binary(text)).count("@value_info(initializers)") == 1


def test_records_set_any_field() -> None:
    result = node("y = A <a = {type: INT, i: 3, t: {dims: [2], data_type: 1}, 999: 5i32}> (x)")
    attribute = result.attribute[0]
    assert attribute.type == onnx.AttributeProto.INT
    assert attribute.i == 3
    assert list(attribute.t.dims) == [2]
    assert attribute.SerializeToString().endswith(b"\xbd\x3e\x05\0\0\0")
    result = node('@meta("k": "v") @set(doc_string: "", 998: b"x") @unset(op_type) y = A (x)')
    assert result.HasField("doc_string")
    assert not result.HasField("op_type")
    assert result.metadata_props[0].key == "k"


@pytest.mark.parametrize(
    "text",
    [
        "@set(nonsense: 1) y = A (x)",
        "@set(input: 1) y = A (x)",
        '@set(doc_string: {a: 1}) y = A (x)',
        "@unset(nonsense) y = A (x)",
        "@nonsense y = A (x)",
        "@nonsense() y = A (x)",
        "@doc() y = A (x)",
        "@segment(begin: 1) y = A (x)",
        "y = A <a = {type: NONSENSE}> (x)",
        "y = A <a = {i: 99999999999999999999}> (x)",
        "y = A <a = {i: 1.5}> (x)",
        # Words with a minus sign are numbers, not names.
        "y = A (x, -inf)",
        "y, -NaN = A (x)",
        "y = A <-inf = 1> (x)",
        "y = A <a = @-nan> (x)",
        "y = A <a = float[1] -inf {1}> (x)",
        "y = A <a = opaque(-Infinity)> (x)",
    ],
)  # fmt: skip
def test_invalid_text_is_a_located_error(text: str) -> None:
    with pytest.raises(OnnxTextError) as caught:
        node(text)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.source is not None
    assert diagnostic.labels[0].span.start > 0


def test_newer_versions_are_rejected() -> None:
    with pytest.raises(OnnxTextError, match="version 2") as caught:
        onnxtext.parse("<onnxtext: 2> g () => () {}")
    assert caught.value.diagnostics[0].code == "language-version-unknown"


def test_byte_order_mark_and_line_ends() -> None:
    text = 'g () => () {\n  y = A <s = """\n    a\n    b\n    """> (x)\n}'
    data = onnxtext.to_binary(text)
    assert onnxtext.to_binary("\ufeff" + text) == data
    assert onnxtext.to_binary(text.replace("\n", "\r\n")) == data
    assert onnxtext.to_binary(text + "\n# end") == data


DEEP = [("seq(", "float", ")", 5000), ("optional(", "float", ")", 60), ("[", "1", "]", 5000)]


@pytest.mark.parametrize(("opening", "middle", "closing", "depth"), DEEP)
def test_deep_texts_are_errors(opening: str, middle: str, closing: str, depth: int) -> None:
    inside = opening * depth + middle + closing * depth
    text = graph(f"{inside} x") if middle == "float" else graph(f"float[1] x = {inside}")
    with pytest.raises(OnnxTextError):
        onnxtext.to_binary(text)


@pytest.mark.parametrize(("depth", "fine"), [(20, True), (33, True), (34, False), (200, False)])
def test_depth_limit_of_graphs_is_that_of_protobuf(depth: int, fine: bool) -> None:
    text = "y = A (x)"
    for _ in range(depth):
        text = f"y = A <g = h () => () {{ {text} }}> ()"
    if depth == 33:
        text = text.replace("y = A (x)", "")
    if fine:
        assert onnxtext.loads(graph(body=text)).graph.node
    else:
        with pytest.raises(OnnxTextError) as caught:
            onnxtext.to_binary(graph(body=text))
        assert caught.value.diagnostics[0].code == "too-deep"
