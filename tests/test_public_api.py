# SPDX-License-Identifier: Apache-2.0
"""The public API, frozen in public_api.txt: a change also requires a line in the changelog."""

from __future__ import annotations

import dataclasses
import inspect
import json
import os
import re
import subprocess
import sys
from ctypes import create_string_buffer
from functools import partial
from pathlib import Path
from typing import Any, cast, get_args

import numpy as np
import onnx
import pytest

import onnxtext
import onnxtext.ast
from onnxtext import Diagnostic, OnnxTextError, OnnxTextWarning, editing
from onnxtext.weights.write_resources import Weights

FROZEN = Path(__file__).with_name("public_api.txt")

GRAPH = "g (float[N] x) => (float[N] y) { y = Relu (x) }"
TEXTS: dict[type[Any], str] = {
    onnx.ModelProto: f"<onnxtext: 1, ir_version: 10, opset_import: [21]> {GRAPH}",
    onnx.GraphProto: GRAPH,
    onnx.FunctionProto: '<domain: "d", opset_import: ["": 21]> f (x) => (y) { y = Relu (x) }',
    onnx.NodeProto: "[n] y = Relu <a = 1> (x)",
}
MODEL = TEXTS[onnx.ModelProto]


def public_api() -> list[str]:
    """Return a line for each public name, field of a diagnostic and name of the AST."""
    lines = []
    for name in sorted(onnxtext.__all__):
        item, signature = getattr(onnxtext, name), ""
        if inspect.isfunction(item):
            assert item.__doc__
            assert item.__name__ == name
            # `inspect` writes quotes around some annotations.
            signature = re.sub("[\"']", "", str(inspect.signature(item)))
        lines.append(name + signature)
    lines += [f"Diagnostic.{field.name}: {field.type}" for field in dataclasses.fields(Diagnostic)]
    for name in sorted(onnxtext.ast.__all__):
        assert getattr(onnxtext.ast, name) is not None
        lines.append(f"ast.{name}")
    return lines


def test_the_public_api_is_frozen() -> None:
    found = "\n".join(public_api()) + "\n"
    if os.environ.get("ONNXTEXT_BLESS"):
        FROZEN.write_text(found, encoding="utf-8")
    assert found == FROZEN.read_text(encoding="utf-8")
    assert sorted(dir(onnxtext)) == sorted(onnxtext.__all__)
    with pytest.raises(AttributeError, match="'onnxtext' has no attribute 'nothing'"):
        _ = onnxtext.nothing


def test_diagnostics_are_frozen() -> None:
    required = [f.name for f in dataclasses.fields(Diagnostic) if f.default is dataclasses.MISSING]
    assert required == ["code", "message"]
    assert Diagnostic("a-code", "a message").where() == ""
    assert str(Diagnostic("a-code", "a message", help="do it")) == (
        "error: a message [a-code]\n  help: do it"
    )
    with pytest.raises(dataclasses.FrozenInstanceError):
        Diagnostic("a-code", "a message").code = "other"  # type: ignore[misc]


def test_errors_carry_their_diagnostics() -> None:
    assert issubclass(OnnxTextError, ValueError)
    assert issubclass(OnnxTextWarning, UserWarning)
    finding = Diagnostic("a-code", "a message")
    error = OnnxTextError(finding, finding)
    assert error.diagnostics == (finding, finding)
    assert str(error) == f"{finding}\n{finding}"


def test_import_is_cheap() -> None:
    script = "import json, sys, onnxtext; print(json.dumps([onnxtext.__version__, *sys.modules]))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    version, *modules = json.loads(done.stdout)
    assert version == onnxtext.__version__
    # No other module of onnxtext, and so none of its dependencies.
    assert [name for name in modules if name.split(".")[0] == "onnxtext"] == ["onnxtext"]
    assert not {"onnx", "google", "numpy", "lark", "click", "rich"} & set(modules)


def test_the_protobuf_schema_is_read_without_importing_onnx() -> None:
    # The fields of the model and of its graph are not in the order of their numbers.
    script = """
import json, sys, onnxtext
binary = bytes.fromhex(sys.argv[1])
assert onnxtext.to_binary(onnxtext.from_binary(binary)) == binary
imported = [name for name in ("google.protobuf", "onnx", "numpy") if name in sys.modules]
import onnx
from onnxtext.proto.descriptors import message_classes
assert message_classes().GraphProto is onnx.GraphProto
model = onnxtext.loads("<onnxtext: 1> g () => () {}", onnx.ModelProto)
assert type(model.graph) is onnx.GraphProto
print(json.dumps(imported))
"""
    binary = b"\x3a\x03\x12\x01g\x08\x08"
    done = subprocess.run(
        [sys.executable, "-c", script, binary.hex()], capture_output=True, check=True, text=True
    )
    assert json.loads(done.stdout) == ["google.protobuf"]


def test_the_parser_is_not_imported_to_print_a_model() -> None:
    script = """
import sys, onnxtext
text = onnxtext.from_binary(bytes.fromhex(sys.argv[1]))
assert "@value_info" in text
print("onnxtext.syntax" in sys.modules)
"""
    model = onnxtext.loads(MODEL)
    model.graph.value_info.append(model.graph.input[0])
    binary = model.SerializeToString().hex()
    command = [sys.executable, "-c", script, binary]
    done = subprocess.run(command, capture_output=True, check=True, text=True)
    assert done.stdout == "False\n"


def test_threads_get_the_same_message_classes() -> None:
    """Protobuf's implementation in Python creates classes twice if two threads do so at once."""
    script = """
import sys, threading
from concurrent.futures import ThreadPoolExecutor
from google.protobuf import descriptor_pool, reflection
from onnxtext.proto.descriptors import message_classes
sys.setswitchinterval(1e-6)
start = threading.Barrier(2)
with ThreadPoolExecutor(2) as pool:
    modules = list(pool.map(lambda _: (start.wait(), message_classes())[1], range(2)))
import onnx
for name in onnx.onnx_ml_pb2.DESCRIPTOR.message_types_by_name:
    assert all(getattr(module, name) is getattr(onnx, name) for module in modules)
"""
    env = {**os.environ, "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "python"}
    subprocess.run([sys.executable, "-c", script], check=True, env=env)


@pytest.mark.parametrize("message_type", TEXTS, ids=lambda kind: kind.__name__)
def test_loads_and_dumps_round_trip(message_type: type[Any]) -> None:
    result = onnxtext.loads(TEXTS[message_type], message_type)
    assert type(result) is message_type
    node = result if message_type is onnx.NodeProto else getattr(result, "graph", result).node[0]
    assert (node.op_type, node.input, node.output) == ("Relu", ["x"], ["y"])
    text = onnxtext.dumps(result)
    assert onnxtext.loads(text, message_type) == result
    assert onnxtext.dumps(onnxtext.loads(text, message_type)) == text


def test_models_are_the_default() -> None:
    model = onnxtext.loads(MODEL)
    assert model == onnxtext.loads(MODEL, onnx.ModelProto)
    assert onnxtext.to_binary(MODEL) == model.SerializeToString()
    assert onnxtext.from_binary(onnxtext.to_binary(MODEL)) == onnxtext.dumps(model)


def test_parse_returns_a_model() -> None:
    model = onnxtext.parse(MODEL)
    assert isinstance(model, onnxtext.ast.Model)
    assert model == onnxtext.parse(onnxtext.dumps(onnxtext.loads(MODEL)))


@pytest.mark.parametrize("as_text", [False, True])
def test_load_and_dump_round_trip(tmp_path: Path, as_text: bool) -> None:
    path = tmp_path / "modèle.onnxtxt"
    place = str(path) if as_text else path
    model = onnxtext.loads(MODEL)
    onnxtext.dump(model, place)
    assert path.read_bytes() == onnxtext.dumps(model).encode()
    assert onnxtext.load(place) == model
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert onnxtext.load(place) == model


def test_dump_does_not_write_a_text_over_a_binary_model(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(onnxtext.to_binary(MODEL))
    for place in (path, tmp_path / "new.ONNX"):
        with pytest.raises(ValueError, match="has the suffix of binary models"):
            onnxtext.dump(onnxtext.loads(MODEL), place)
    assert path.read_bytes() == onnxtext.to_binary(MODEL)
    assert list(tmp_path.iterdir()) == [path]


def test_a_failing_dump_keeps_the_file(tmp_path: Path) -> None:
    path = tmp_path / "model.onnxtxt"
    path.write_text("before")
    with pytest.raises(TypeError):
        onnxtext.dump(onnx.GraphProto(), path)  # type: ignore[arg-type]
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(FileNotFoundError):
        onnxtext.dump(onnx.ModelProto(), tmp_path / "nowhere" / "model.onnxtxt")
    with pytest.raises(FileNotFoundError):
        onnxtext.load(tmp_path / "nothing.onnxtxt")


def test_names_appear_in_errors(tmp_path: Path) -> None:
    wrong = "g () => () { y = Relu (x }"
    place = "mine.onnxtxt:1:26: error: "
    for function in (onnxtext.parse, onnxtext.to_binary, onnxtext.loads):
        with pytest.raises(OnnxTextError) as caught:
            function(wrong, name="mine.onnxtxt")
        assert str(caught.value).startswith(place)
        with pytest.raises(OnnxTextError) as caught:
            function(wrong, name=cast("str", Path("mine.onnxtxt")))
        assert str(caught.value).startswith(place)
        with pytest.raises(OnnxTextError) as caught:
            function(wrong)
        assert str(caught.value).startswith("<string>:1:26: ")
    with pytest.raises(OnnxTextError) as caught:
        onnxtext.from_binary(b"\x0b", name="mine.onnx")
    assert str(caught.value).startswith("mine.onnx: ")
    path = tmp_path / "wrong.onnxtxt"
    path.write_text(wrong)
    with pytest.raises(OnnxTextError) as caught:
        onnxtext.load(path)
    assert str(caught.value).startswith(f"{path}:1:26: ")
    path.write_bytes(b"g () => () {\n  \xff")
    with pytest.raises(OnnxTextError) as caught:
        onnxtext.load(path)
    assert str(caught.value).startswith(f"{path}:2:3 at byte 0xf: ")
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.code, diagnostic.severity) == ("invalid-utf8", "error")


def test_arguments_that_are_not_texts_are_named() -> None:
    functions: list[Any] = [onnxtext.parse, onnxtext.format_text, onnxtext.to_binary]
    functions += [onnxtext.loads, partial(onnxtext.rewrite, model=onnxtext.parse(MODEL))]
    for function in functions:
        for wrong in (MODEL.encode(), b"\x08\x0a", memoryview(b"\xff"), None, Path("m.onnxtxt")):
            with pytest.raises(TypeError, match="expected a text") as caught:
                function(wrong)
            assert type(wrong).__name__ in str(caught.value)


def test_names_of_files_are_not_texts() -> None:
    for name in ("m.onnxtxt", "/a/m.onnx", "..\\m.onnxtext\n", "C:\\m.onnx"):
        for function in (onnxtext.parse, onnxtext.format_text, onnxtext.to_binary, onnxtext.loads):
            with pytest.raises(OnnxTextError) as caught:
                function(name)
            (diagnostic,) = caught.value.diagnostics
            assert diagnostic.message == "this is the name of a file, not a text"
            assert diagnostic.help == "read the file"
    with pytest.raises(TypeError, match="Path: read the file"):
        onnxtext.parse(Path("m.onnxtxt"))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="expected the bytes of a binary model, not"):
        editing.apply(Path("m.onnxtxt"), lambda tree: None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# converted from m.onnx", "the text contains only comments"),
        ('path = "m.onnx', None),
        ("y = Relu x # m.onnx", None),
        ("// m.onnx", None),
        ("see m.onnx", None),
    ],
)
def test_texts_that_end_like_a_file_name_are_no_file_names(text: str, message: str | None) -> None:
    with pytest.raises(OnnxTextError) as caught:
        onnxtext.parse(text)
    found = caught.value.diagnostics[0].message
    assert "name of a file" not in found
    assert message is None or message in found


@pytest.mark.parametrize("text", ["m.onnx", "path = m.onnx"])
def test_a_fragment_is_no_file_name(text: str) -> None:
    tree = onnxtext.parse("g (float x) => (float y) { y = my.F (x) }")
    with pytest.raises(OnnxTextError) as caught:
        editing.set_attribute(tree, "y", text)
    assert "name of a file" not in str(caught.value)
    assert ("needs quotes" in str(caught.value)) == ("=" in text)


def test_texts_may_have_a_subclass_of_str() -> None:
    class Text(str):
        __slots__ = ()

    plain = onnxtext.from_binary(onnxtext.to_binary("g () => () {\n  y = Relu (x)\n}\n"))
    text = Text(plain)
    assert onnxtext.to_binary(text) == onnxtext.to_binary(plain)
    assert onnxtext.parse(text) == onnxtext.parse(plain)
    assert onnxtext.format_text(text) == plain
    assert not onnxtext.diff(text, plain)
    assert onnxtext.check(text) == onnxtext.check(plain)
    assert onnxtext.verify(text)


@pytest.mark.parametrize("labels", [(), ("a", "b"), "ab", ("a", "b", "c", "d")])
def test_merges_need_three_labels(labels: Any) -> None:
    with pytest.raises(ValueError, match="three labels"):
        onnxtext.merge("", "", "", labels=labels)
    no_name: Any = 3
    with pytest.raises(TypeError, match=r"expected a name \(a str\), not int"):
        onnxtext.merge("", "", "", labels=("a", "b", no_name))


def test_arguments_that_are_not_bytes_are_named() -> None:
    wrong: list[Any] = [MODEL, None, Path("m.onnx"), onnxtext.loads(MODEL)]
    for one in wrong:
        with pytest.raises(TypeError, match="expected the bytes of a binary model") as caught:
            onnxtext.from_binary(one)
        assert f"not {type(one).__name__}" in str(caught.value)
        assert ("`dumps`" in str(caught.value)) == isinstance(one, onnx.ModelProto)


def test_buffers_of_other_items_are_not_bytes() -> None:
    data = onnxtext.to_binary(MODEL)
    right: list[Any] = [bytearray(data), memoryview(data), np.frombuffer(data, np.uint8)]
    right += [np.bytes_(data), memoryview(data).cast("c"), create_string_buffer(data, len(data))]
    for one in right:
        assert onnxtext.from_binary(one) == onnxtext.from_binary(data)
    wrong: list[Any] = [memoryview(data)[::2], np.frombuffer(data, np.int8), np.float32(2)]
    wrong += [np.zeros((2, 3), np.uint8), np.zeros(3)]
    for one in wrong:
        with pytest.raises(TypeError, match="expected the bytes of a binary model"):
            onnxtext.from_binary(one)


def test_message_types_that_are_no_classes_are_named() -> None:
    wrong: Any
    for wrong in ("ModelProto", [onnx.ModelProto], 5):
        with pytest.raises(TypeError, match=f"an object of {type(wrong).__name__} is not a"):
            onnxtext.loads(MODEL, wrong)


@pytest.mark.parametrize("wanted", [list, tuple, iter, lambda one: one[0]])
def test_names_may_be_in_any_iterable_and_one_name_alone(wanted: Any, tmp_path: Path) -> None:
    text = "g (float[2] x) => (float[2] y) { y = d.F (x) }\n"
    text = '<ir_version: 10, opset_import: ["": 21, "d": 1]>\n' + text
    schemas = tmp_path / "d.onnxschema"
    schemas.write_text("<onnxtext: 1>\n")
    found = onnxtext.check(text, select="all")
    assert found
    assert onnxtext.check(text, select=wanted(["all"])) == found
    assert not onnxtext.check(text, select="all", ignore=wanted(["all"]))
    assert onnxtext.check(text, select="all", schemas=wanted([schemas])) == found
    other = text.replace("=> (float[2] y)", "=> (float[2] y) <int8[1] v = {1}>")
    assert onnxtext.diff(text.replace("y = d", "[n] y = d"), text)
    assert not onnxtext.diff(text.replace("y = d", "[n] y = d"), text, ignore=wanted(["names"]))
    assert onnxtext.diff(text, other, ignore=wanted(["names"]))


@pytest.mark.parametrize("option", ["graph", "start", "end", "find"])
def test_names_to_show_that_are_no_strings_are_type_errors(option: str) -> None:
    wrong: Any
    said = None if option == "find" else r"expected a name \(a str\), not "
    for wrong in (5, [5], b"x", [b"x"], memoryview(b"abcd").cast("B", (2, 2))):
        with pytest.raises(TypeError, match=said):
            onnxtext.show(MODEL, **{option: wrong})


def test_a_path_is_no_name() -> None:
    show: Any = onnxtext.show
    check: Any = onnxtext.check
    for wrong in (Path("g"), [Path("g")]):
        for option in ("graph", "start", "end"):
            with pytest.raises(TypeError, match="expected a name"):
                show(MODEL, **{option: wrong})
        for option in ("select", "ignore"):
            with pytest.raises(TypeError, match="expected a name"):
                check(MODEL, **{option: wrong})
    for no_path in (b"x", [5]):
        with pytest.raises(TypeError, match=r"expected a name or path \(a str or os.PathLike\)"):
            check(MODEL, schemas=no_path)


def test_the_error_for_a_missing_directory_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "m.onnxtxt"
    with pytest.raises(FileNotFoundError) as caught:
        onnxtext.dump(onnxtext.loads(MODEL), path)
    assert caught.value.filename == str(path)


@pytest.mark.parametrize("option", ["weights", "metadata"])
def test_unknown_options_are_errors(option: str, tmp_path: Path) -> None:
    wrong: dict[str, Any] = {option: "nowhere"}
    with pytest.raises(ValueError, match="nowhere"):
        onnxtext.from_binary(onnxtext.to_binary(MODEL), **wrong)
    with pytest.raises(ValueError, match="nowhere"):
        onnxtext.dump(onnxtext.loads(MODEL), tmp_path / "m.onnxtxt", **wrong)
    assert not list(tmp_path.iterdir())
    for known in get_args(Weights):
        onnxtext.dump(onnxtext.loads(MODEL), tmp_path / "m.onnxtxt", weights=known)


@pytest.mark.parametrize("weights", ["store", "safetensors"])
def test_a_text_without_a_file_cannot_have_weights_beside_it(weights: Any) -> None:
    with pytest.raises(ValueError, match=f"weights='{weights}' needs a file .*: call `dump`"):
        onnxtext.from_binary(onnxtext.to_binary(MODEL), weights=weights)


@pytest.mark.parametrize("half", [0xD800, 0xDC80])
@pytest.mark.parametrize("side", range(3))
def test_lone_surrogates_are_errors_of_every_function(half: int, side: int) -> None:
    wrong = f"# {chr(half)}\n{MODEL}"
    functions: list[Any] = [onnxtext.to_binary, onnxtext.format_text, onnxtext.verify]
    sides = [wrong if index == side else MODEL for index in range(3)]
    for function in (*functions, lambda _: onnxtext.merge(*sides)):
        with pytest.raises(OnnxTextError) as caught:
            function(wrong)
        assert [item.code for item in caught.value.diagnostics] == ["invalid-character"]
