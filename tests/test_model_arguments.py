# SPDX-License-Identifier: Apache-2.0
"""`diff`, `merge`, `verify` and `check` accept models in all documented forms."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx
import pytest

import onnxtext

OLD = """<onnxtext: 1, ir_version: 10, opset_import: ["": 21]>
g (float[N] x) => (float[N] y) {
  y = Relu (x)  # a comment
}
"""
NEW = OLD.replace("Relu", "Tanh")


def ir_model(text: str) -> Any:
    import onnx_ir  # takes 0.5 s: not when the tests are collected

    return onnx_ir.from_proto(onnxtext.loads(text))


FORMS: dict[str, Callable[[str, Path], Any]] = {
    "text": lambda text, path: text,
    "bytes of a text": lambda text, path: text.encode(),
    "bytes": lambda text, path: onnxtext.to_binary(text),
    "bytearray": lambda text, path: bytearray(onnxtext.to_binary(text)),
    "message": lambda text, path: onnxtext.loads(text),
    "graph": lambda text, path: onnxtext.loads(text).graph,
    "node": lambda text, path: onnxtext.loads(text).graph.node[0],
    "text file": lambda text, path: written(path.with_suffix(".onnxtxt"), text.encode()),
    "binary file": lambda text, path: written(path.with_suffix(".onnx"), onnxtext.to_binary(text)),
    "onnx_ir": lambda text, path: ir_model(text),
    "graph of onnx_ir": lambda text, path: ir_model(text).graph,
}


def written(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_model_is_accepted(form: str, tmp_path: Path) -> None:
    old, same, new = [
        FORMS[form](text, tmp_path / name)
        for name, text in (("old", OLD), ("same", OLD), ("new", NEW))
    ]
    assert not onnxtext.diff(old, same)
    assert str(onnxtext.diff(old, same)) == ""
    found = onnxtext.diff(old, new)
    assert found
    assert "Tanh" in str(found)
    assert found.items[0].kind == "node"
    result = onnxtext.merge(old, new, same)
    assert result.conflicts == 0
    assert "Tanh" in str(result)
    assert ("# a comment" in str(result)) == ("text" in form)
    verdict = onnxtext.verify(new)
    assert verdict
    assert str(verdict) == "ok"
    assert not [
        item for item in onnxtext.check(new) if item.severity == "error" and "node" not in form
    ]


def test_forms_can_be_mixed(tmp_path: Path) -> None:
    result = [FORMS[form](OLD, tmp_path / "m") for form in ("text", "message", "binary file")]
    assert not any(onnxtext.diff(one, other) for one in result for other in result)


def test_functions_are_compared() -> None:
    text = '<domain: "d", opset_import: ["": 21]> f (x) => (y) { y = Relu (x) }'
    old = onnxtext.loads(text, onnx.FunctionProto)
    new = onnxtext.loads(text.replace("Relu", "Tanh"), onnx.FunctionProto)
    assert onnxtext.diff(old, new)
    assert not onnxtext.diff(old, old)


def test_onnxscript_functions_are_accepted() -> None:
    from tests.onnxscript_function import double

    text = onnxtext.dumps(double)
    assert "Add (x, x)" in text
    assert not onnxtext.diff(double, text)
    assert onnxtext.verify(double)
    assert not [item for item in onnxtext.check(double) if item.severity == "error"]


def test_parts_of_onnx_ir_are_printed() -> None:
    model = ir_model(OLD)
    assert onnxtext.dumps(model.graph[0]).splitlines()[-1] == "y = Relu (x)"
    assert onnxtext.dumps(model.graph.inputs[0]) == "float[N] x\n"


def test_differences_can_be_ignored() -> None:
    labelled = OLD.replace("y = Relu", "[label] y = Relu")
    assert onnxtext.diff(OLD, labelled)
    assert not onnxtext.diff(OLD, labelled, ignore=["names"])
    with pytest.raises(ValueError, match="'nothing' cannot be ignored"):
        onnxtext.diff(OLD, OLD, ignore=["nothing"])  # type: ignore[list-item]


def test_conflicts_have_the_given_labels() -> None:
    result = onnxtext.merge(OLD, NEW, OLD.replace("Relu", "Sin"), labels=("old", "mine", "yours"))
    assert result.conflicts == 1
    assert "<<<<<<< mine" in str(result)
    assert ">>>>>>> yours" in str(result)


def test_merge_accepts_an_empty_ancestor() -> None:
    assert onnxtext.merge(b"", OLD, OLD).content == OLD.encode()


@pytest.mark.parametrize(
    "function", [onnxtext.diff, onnxtext.merge, onnxtext.verify, onnxtext.check]
)
def test_arguments_that_are_no_models_are_type_errors(
    function: Callable[..., Any], tmp_path: Path
) -> None:
    count = {"diff": 2, "merge": 3}.get(function.__name__, 1)
    with pytest.raises(TypeError, match=r"pass pathlib.Path\('m.onnx'\) to read the file"):
        function(*["m.onnx"] * count)
    with pytest.raises(
        TypeError,
        match=r"^expected a message of onnx.*, not int; a text, bytes or a path is accepted",
    ):
        function(*[1] * count)
    with pytest.raises(TypeError, match="TensorProto"):
        function(*[onnx.TensorProto()] * count)
    with pytest.raises(FileNotFoundError):
        function(*[tmp_path / "none.onnx"] * count)


def test_invalid_models_are_errors() -> None:
    for wrong in ("g (", b"\x08\x0b\x00\xff", "<onnxtext: 1> g () => () { y = Relu (x }"):
        with pytest.raises(onnxtext.OnnxTextError):
            onnxtext.diff(wrong, OLD)
        with pytest.raises(onnxtext.OnnxTextError):
            onnxtext.verify(wrong)
        assert onnxtext.check(wrong)
