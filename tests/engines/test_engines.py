# SPDX-License-Identifier: Apache-2.0
"""Run models in a child process, and compare what they compute."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

import onnxtext
from onnxtext import engines
from onnxtext.engines import compare_values
from onnxtext.engines.value_files import read_values, write_values
from tests.corpus import REPOSITORY
from tests.seeds import sampled

TEXT = """\
<onnxtext: 1, ir_version: 10, opset_import: ["": 21]>
g (float[N, 2] x, int64 n = {3}) => (float[N, 2] y) {
  a = Neg (x)
  f = Cast <to = 1> (n)
  y = Mul (a, f)
}
"""


def onnxruntime() -> str:
    pytest.importorskip("onnxruntime", reason="onnxruntime needs Python 3.11")
    return "onnxruntime"


@pytest.mark.parametrize("engine", ["onnx", "onnxruntime"])
def test_each_engine_runs_a_model(engine: str) -> None:
    if engine == "onnxruntime":
        onnxruntime()
    model = engines.load_model(TEXT)
    inputs = engines.fill_inputs(model, {"x": np.array([[1, 2]])})  # integers become floats
    result = engines.run_model(model, inputs, engine=engine)
    assert result["y"].dtype == np.float32
    np.testing.assert_array_equal(result["y"], [[-3, -6]])
    inputs = engines.fill_inputs(model, {"x": np.ones((1, 2)), "n": np.array(5)})
    result = engines.run_model(model, inputs, engine=engine, also=["a"])
    np.testing.assert_array_equal(result["y"], [[-5, -5]])
    np.testing.assert_array_equal(result["a"], [[-1, -1]])


@pytest.mark.thorough
def test_both_engines_compute_the_same() -> None:
    engine = onnxruntime()
    names = ("classifier", "convnet", "feed_forward", "temperature", "extensions")
    for name in sampled(names, 2):
        model = engines.load_model(REPOSITORY / "examples" / f"{name}.onnxtxt")
        inputs = engines.random_inputs(model, seed=2, sizes={"N": 3})
        one = engines.run_model(model, inputs)
        other = engines.run_model(model, inputs, engine=engine)
        for key, value in one.items():
            assert not compare_values(key, value, other[key]).exceeds(1e-4, 1e-6)


def test_random_inputs_depend_on_name_and_seed_only() -> None:
    model = engines.load_model(TEXT)
    first = engines.random_inputs(model, seed=1, sizes={"N": 4})["x"]
    assert first.shape == (4, 2)
    np.testing.assert_array_equal(first, engines.random_inputs(model, seed=1, sizes={"N": 4})["x"])
    assert (first != engines.random_inputs(model, seed=2, sizes={"N": 4})["x"]).any()
    assert engines.random_inputs(model)["x"].shape == (1, 2)
    assert "n" not in engines.random_inputs(model)


@pytest.mark.parametrize("type", ["bool", "int8", "uint64", "int4", "uint4", "int2"])
def test_random_integers_are_0_or_1(type: str) -> None:
    model = engines.load_model(TEXT.replace("float[N, 2]", f"{type}[N, 2]"))
    values = engines.random_inputs(model, sizes={"N": 50})["x"]
    assert set(np.unique(values.astype(np.int64))) == {0, 1}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "an input is missing: `x`"),
        ({"xx": np.ones(1)}, "the model has no input `xx`"),
        ({"x": np.ones((1, 2)), "n": np.array(1.5)}, "`n` must be int64, which cannot hold"),
        ({"x": np.array([["a", "b"]])}, "`x` must be float32; the given array is"),
    ],
)
def test_wrong_inputs_are_errors(given: dict[str, Any], said: str) -> None:
    with pytest.raises(onnxtext.OnnxTextError, match=said) as caught:
        engines.fill_inputs(engines.load_model(TEXT), given)
    assert caught.value.diagnostics[0].code == "run-input"


@pytest.mark.parametrize(
    ("type", "array", "said"),
    [
        ("uint64", np.array(-1), "cannot hold the given int64 values exactly"),
        ("int64", np.array(2**64 - 1, np.uint64), "cannot hold the given uint64 values exactly"),
        ("int8", np.array(200, np.uint8), "cannot hold the given uint8 values exactly"),
        ("int4", np.array(1.5), "cannot hold the given float64 values exactly"),
        ("float16", np.array([1.0, 1e9]), "whose range the given values exceed"),
        ("float8e4m3fn", np.array(1e9), "whose range the given values exceed"),
        ("float8e4m3fn", np.array(np.inf), "whose range the given values exceed"),
        ("float4e2m1", np.array(100.0), "whose range the given values exceed"),
        ("float4e2m1", np.array(np.nan), "whose range the given values exceed"),
        ("complex64", np.array(1e300 + 1j), "whose range the given values exceed"),
        ("float16", np.array(-(2**31), np.int32), "cannot hold the given int32 values exactly"),
        ("int4", np.array(255, np.uint8), "cannot hold the given uint8 values exactly"),
        ("uint4", np.array(-1, ml_dtypes.int4), "cannot hold the given int4 values exactly"),
        ("int64", np.array([1.5, "2"], object), "cannot hold the given values"),
        ("int64", np.array([1.0], object), "cannot hold the given float64 values exactly"),
        ("float16", np.array([0.5, 1e9], object), "whose range the given values exceed"),
        ("float", np.array([0.5, 2**24 + 1], object), "cannot hold the given values"),
        ("float", np.array(1 + 2j), "the given array is complex128"),
        ("float8e4m3fn", np.array(3, ml_dtypes.float8_e4m3fnuz), None),
        ("float4e2m1", np.array([6.0, -0.5]), None),
        ("uint64", np.array(7), None),
        ("int4", np.array(-8), None),
        ("uint4", np.array(1, ml_dtypes.int4), None),
        ("int2", np.array(1, ml_dtypes.uint4), None),
        ("float16", np.array([0.1, np.inf, np.nan]), None),
        ("float", np.array([0.1, np.nan, 2**70], object), None),
        ("float", np.array(0.1, object), None),
    ],
)
def test_inputs_are_converted_without_changing_their_values(
    type: str, array: np.ndarray[Any, Any], said: str | None
) -> None:
    model = engines.load_model(
        "<onnxtext: 1, ir_version: 10, opset_import: [21]>"
        f"g ({type}[] x) => ({type}[] y) {{ y = Identity (x) }}"
    )
    model.graph.input[0].type.tensor_type.ClearField("shape")
    if said is None:
        result = engines.fill_inputs(model, {"x": array})["x"]
        np.testing.assert_allclose(result.astype(float), array.astype(float), rtol=1e-3)
        return
    with pytest.raises(onnxtext.OnnxTextError, match=said):
        engines.fill_inputs(model, {"x": array})


def test_integers_become_complex_numbers_without_a_warning() -> None:
    model = engines.load_model("g (complex64[2] x) => (complex64[2] y) { y = Identity (x) }")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert engines.fill_inputs(model, {"x": [1, 2]})["x"].tolist() == [1, 2]
        with pytest.raises(onnxtext.OnnxTextError, match="cannot hold the given int64 values"):
            engines.fill_inputs(model, {"x": [1, 2**24 + 1]})


@pytest.mark.parametrize("type", ["string[N]", "seq(string[N])"])
def test_bytes_are_decoded_as_utf_8(type: str) -> None:
    model = engines.load_model(
        "<onnxtext: 1, ir_version: 10, opset_import: [21]>"
        f"g ({type} a, {type} b, {type} c) => ({type} d, {type} e, {type} f)"
        "{ d = Identity (a) e = Identity (b) f = Identity (c) }"
    )
    wrap = (lambda items: [items]) if type.startswith("seq") else (lambda items: items)
    bytes_ = ["é".encode()]
    inputs = {
        "a": wrap(bytes_), "b": wrap(np.array(bytes_)), "c": wrap(np.array(bytes_, object))
    }  # fmt: skip
    for values in (engines.fill_inputs(model, inputs), engines.run_model(model, inputs)):
        assert len(values) == 3
        for value in values.values():
            assert np.array(value, object).ravel().tolist() == ["é"]
    with pytest.raises(onnxtext.OnnxTextError, match=r"must be string; the given array is bytes"):
        engines.fill_inputs(model, {**inputs, "b": wrap([b"\xff"])})


@pytest.mark.parametrize("type", ["float", "float[N]", "string", "string[N]"])
def test_objects_that_are_no_arrays_are_rejected(type: str) -> None:
    model = engines.load_model(f"g ({type} x) => ({type} y) {{ y = Identity (x) }}")
    tensor = numpy_helper.from_array(np.ones(2, np.float32))
    with pytest.raises(onnxtext.OnnxTextError, match="`x` must be a tensor, not TensorProto"):
        engines.fill_inputs(model, {"x": tensor})


def test_strings_keep_null_characters() -> None:
    model = engines.load_model(
        "<onnxtext: 1, ir_version: 10, opset_import: [21]>"
        "g (string[2] x) => (string[2] y) { y = Identity (x) }"
    )
    inputs = engines.fill_inputs(model, {"x": np.array(["a\0", "b"], object)})
    assert engines.run_model(model, inputs)["y"].tolist() == ["a\0", "b"]


def test_onnxruntime_returns_float8_numbers() -> None:
    engine = onnxruntime()
    model = engines.load_model(
        "<onnxtext: 1, ir_version: 10, opset_import: [21]>"
        "g (float[2] x) => (float8e4m3fn[2] y) { y = Cast <to = 17> (x) }"
    )
    result = engines.run_model(model, {"x": np.array([1, 2.5], "f")}, engine=engine)["y"]
    assert result.dtype == ml_dtypes.float8_e4m3fn
    assert result.tolist() == [1, 2.5]


SEQUENCE = """\
<onnxtext: 1, ir_version: 10, opset_import: [21]>
g (seq(float[N]) s, optional(float[N]) o) => (seq(float[N]) t) { t = SequenceInsert (s, o) }
"""


@pytest.mark.parametrize("items", [np.array([[1, 2], [3, 4]]), [np.array([1]), [2, 3]]])
def test_items_of_sequences_are_converted(items: Any) -> None:
    model = engines.load_model(SEQUENCE)
    values = engines.fill_inputs(model, {"s": items, "o": np.array([5])})
    assert [item.dtype for item in values["s"]] == [np.float32, np.float32]
    assert values["o"].dtype == np.float32
    with pytest.raises(onnxtext.OnnxTextError, match=r"`s\[0\]` must have the shape \[N\]"):
        engines.fill_inputs(model, {"s": np.array([1, 2]), "o": np.array([5])})
    with pytest.raises(onnxtext.OnnxTextError, match="`s` must be a sequence"):
        engines.fill_inputs(model, {"s": np.array(1), "o": np.array([5])})
    with pytest.raises(onnxtext.OnnxTextError, match="`o` must be a tensor, but its rows differ"):
        engines.fill_inputs(model, {"s": [], "o": [[1, 2], [3]]})


def test_overloads_are_not_run_by_the_reference_implementation() -> None:
    model = engines.load_model(
        """<onnxtext: 1, ir_version: 10, opset_import: ["my": 1]>
        g (float x) => (float z) { y = my.F (x) z = my.F:b (y) }
        <domain: "my", opset_import: [21]> F (x) => (y) { y = Neg (x) }
        <domain: "my", overload: "b", opset_import: [21]> F (x) => (y) { y = Exp (x) }
        """
    )
    inputs = {"x": np.float32(1)}
    with pytest.raises(onnxtext.OnnxTextError, match=r"overloads .* not supported: my\.F") as error:
        engines.run_model(model, inputs)
    assert error.value.diagnostics[0].help == "try `--engine onnxruntime`"
    np.testing.assert_allclose(
        engines.run_model(model, inputs, engine=onnxruntime())["z"], np.exp(-1), rtol=1e-6
    )


@pytest.mark.parametrize("node", ["my.F (x)", "my.F:c (x)"])
@pytest.mark.parametrize("place", ["main", "function", "attribute"])
def test_a_call_of_an_overload_that_does_not_exist_is_an_error(node: str, place: str) -> None:
    call = f"z = {node}"
    if place == "function":
        call = "z = my.G (x)"
    elif place == "attribute":
        branches = (
            f"{name} = b () => (t) {{ t = {node} }}" for name in ("then_branch", "else_branch")
        )
        call = f"z = If <{', '.join(branches)}> (c)"
    model = engines.load_model(
        f"""<onnxtext: 1, ir_version: 10, opset_import: [21, "my": 1]>
        g (float x, bool c) => (float z) {{ {call} }}
        <domain: "my", overload: "b", opset_import: [21]> F (x) => (y) {{ y = Neg (x) }}
        <domain: "my", opset_import: [21, "my": 1]> G (x) => (z) {{ z = {node} }}
        """
    )
    if place != "function":
        del model.functions[1]
    missing = "overload c" if ":c" in node else "definition without overload"
    message = f"a node calls the function my.F, which has no {missing}"
    with pytest.raises(onnxtext.OnnxTextError, match=message):
        engines.run_model(model, {"x": np.float32(1), "c": np.array(True)})


def test_an_overload_with_the_name_of_a_standard_operator_does_not_hide_it() -> None:
    model = engines.load_model(
        """<onnxtext: 1, ir_version: 10, opset_import: [21]>
        g (float x) => (float y) { y = Neg (x) }
        <domain: "", overload: "b", opset_import: [21]> Neg (x) => (y) { y = Exp (x) }
        """
    )
    assert engines.run_model(model, {"x": np.float32(1)})["y"] == -1


@pytest.mark.parametrize("node", ["Foo (x)", "my.Foo (x)"])
def test_no_other_engine_is_suggested_for_an_unknown_operator(node: str) -> None:
    model = engines.load_model(
        '<onnxtext: 1, ir_version: 10, opset_import: [21, "my": 1]>'
        f"g (float x) => (float y) {{ y = {node} }}"
    )
    with pytest.raises(onnxtext.OnnxTextError, match="onnx cannot run the model") as error:
        engines.run_model(model, {"x": np.float32(1)})
    assert error.value.diagnostics[0].help is None


def test_a_function_may_follow_its_callers() -> None:
    branches = "then_branch = a () => (t) {t = my.F (x)}, else_branch = b () => (t) {t = Neg (x)}"
    model = engines.load_model(
        f"""<onnxtext: 1, ir_version: 10, opset_import: [21, "my": 1]>
        g (float x, bool c) => (float y) {{ y = my.H (x, c) }}
        <domain: "my", opset_import: [21, "my": 1]> H (x, c) => (y) {{ y = my.G (x, c) }}
        <domain: "my", opset_import: [21, "my": 1]> G (x, c) => (y) {{ y = If <{branches}> (c) }}
        <domain: "my", opset_import: [21]> F (x) => (y) {{ y = Neg (x) }}
        """
    )
    assert engines.run_model(model, {"x": np.float32(1), "c": np.array(True)})["y"] == -1


@pytest.mark.parametrize("node", ["ai.onnx.ml.ZipMap (x)", "com.microsoft.Gelu (x)"])
def test_onnxruntime_is_suggested_for_its_operators(node: str) -> None:
    model = engines.load_model(
        '<onnxtext: 1, ir_version: 10, opset_import: ["ai.onnx.ml": 3, "com.microsoft": 1]>'
        f"g (float[1, 2] x) => (y) {{ y = {node} }}"
    )
    with pytest.raises(onnxtext.OnnxTextError, match="onnx cannot run the model") as error:
        engines.run_model(model, {"x": np.ones((1, 2), np.float32)})
    assert error.value.diagnostics[0].help == "try `--engine onnxruntime`"


def test_repeated_definitions_of_a_function_are_no_overloads() -> None:
    model = engines.load_model(
        """<onnxtext: 1, ir_version: 10, opset_import: ["my": 1]>
        g (float x) => (float y) { y = my.F (x) }
        <domain: "my", opset_import: [21]> F (x) => (y) { y = Neg (x) }
        """
    )
    model.functions.append(model.functions[0])
    assert engines.run_model(model, {"x": np.float32(1)})["y"] == -1


def test_every_call_runs_the_last_definition_of_a_function() -> None:
    model = engines.load_model(
        """<onnxtext: 1, ir_version: 10, opset_import: [21, "my": 1]>
        g (float x) => (float y, float z) { y = my.G (x) z = my.F (x) }
        <domain: "my", opset_import: [21, "my": 1]> G (x) => (y) { y = my.F (x) }
        <domain: "my", opset_import: [21]> F (x) => (y) { y = Neg (x) }
        """
    )
    model.functions.append(model.functions[1])
    model.functions[2].node[0].op_type = "Abs"
    assert engines.run_model(model, {"x": np.float32(2)}) == {"y": 2, "z": 2}


def test_failures_of_engines_are_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    model = engines.load_model(TEXT.replace("Neg", "Nagg"))
    with pytest.raises(onnxtext.OnnxTextError, match=r"onnx cannot run the model: .*Nagg") as error:
        engines.run_model(model, {"x": np.ones((1, 2), np.float32)})
    assert error.value.diagnostics[0].code == "run-failed"
    with pytest.raises(ValueError, match="unknown engine 'other'; choose one of onnx, onnxruntime"):
        engines.run_model(model, {}, engine="other")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(onnxtext.OnnxTextError, match="onnxruntime is not installed"):
        engines.run_model(model, {}, engine="onnxruntime")


ENDLESS = """\
<ir_version: 10, opset_import: [21]>
g (float x) => (float y) <int64 n = {9000000000000000000}, bool c = {1}> {
  y = Loop (n, c, x) <body = b (int64 i, bool d, float a) => (bool e, float z) {
    e = Identity (d)
    z = Neg (a)
  }>
}
"""
VAST = """\
<ir_version: 10, opset_import: [21]>
g (int64[1] n) => (float[N] y) { y = ConstantOfShape (n) }
"""


def test_memory_of_zero_is_no_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("onnxtext.engines.run_in_child.available_memory", lambda: 1 << 20)
    model = onnx.parser.parse_model(
        '<ir_version: 10, opset_import: ["": 21]> g (float[2] x) => (float[2] y) { y = Neg (x) }'
    )
    inputs = {"x": np.ones(2, np.float32)}
    assert engines.run_model(model, inputs, memory=0)["y"].tolist() == [-1, -1]


SMALL = "<ir_version: 10, opset_import: [21]>\ng (float[2] x) => (float[2] y) { y = Neg (x) }\n"


@pytest.mark.skipif(sys.platform != "linux", reason="the memory is not limited")
def test_a_library_that_cannot_be_loaded_exceeds_the_memory_limit() -> None:
    with pytest.raises(onnxtext.OnnxTextError, match="exceeds the memory limit") as caught:
        engines.run_model(engines.load_model(SMALL), {"x": np.ones(2, np.float32)}, memory=1 << 20)
    assert caught.value.diagnostics[0].code == "run-limit"


@pytest.mark.parametrize("report", ["", '{"type": "Mem'])
def test_memory_may_not_suffice_for_the_report(
    report: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[bytes]:
        Path(command[4], "error.json").write_text(report)
        return subprocess.CompletedProcess(command, 1, b"", b"Traceback\nMemoryError\n")

    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(onnxtext.OnnxTextError, match=r"limit with the model: .*MemoryError"):
        engines.run_model(engines.load_model(SMALL), {"x": np.ones(2, np.float32)})


def test_a_long_message_may_end_with_a_lack_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    said = f"error in the node {'block/' * 100}Expand: Failed to allocate memory"
    report = json.dumps({"type": "RuntimeException", "message": said})

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[bytes]:
        Path(command[4], "error.json").write_text(report)
        return subprocess.CompletedProcess(command, 1, b"", b"")

    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(onnxtext.OnnxTextError, match="exceeds the memory limit") as caught:
        engines.run_model(engines.load_model(SMALL), {"x": np.ones(2, np.float32)})
    assert caught.value.diagnostics[0].code == "run-limit"


def test_deeply_nested_functions_are_refused_with_a_help() -> None:
    calls = [f"y = l.f{index} (x)" for index in range(600)]
    text = SMALL.replace("[21]", '[21, "l": 1]').replace("y = Neg (x)", calls[0])
    for index, call in enumerate([*calls[1:], "y = Neg (x)"]):
        text += f'<domain: "l", opset_import: [21, "l": 1]>\nf{index} (x) => (y) {{ {call} }}\n'
    with pytest.raises(onnxtext.OnnxTextError, match="RecursionError") as caught:
        engines.run_model(engines.load_model(text), {"x": np.ones(2, np.float32)})
    help = caught.value.diagnostics[0].help
    assert help is not None
    assert "if `onnx.inliner` can inline them" in help  # onnx 1.23 cannot inline these


@pytest.mark.thorough
@pytest.mark.parametrize("engine", ["onnx", "onnxruntime"])
def test_time_and_memory_are_limited(engine: str) -> None:
    if engine == "onnxruntime":
        onnxruntime()
    endless = engines.load_model(ENDLESS)
    inputs = engines.random_inputs(endless)
    with pytest.raises(onnxtext.OnnxTextError, match=r"has not finished e\.onnx after") as caught:
        engines.run_model(endless, inputs, engine=engine, name="e.onnx", timeout=0.5)
    assert caught.value.diagnostics[0].code == "run-limit"
    if sys.platform == "linux":
        vast = engines.load_model(VAST)
        for size, memory in ((10**18, None), (200_000_000, 1 << 29)):
            inputs = {"n": np.array([size])}
            with pytest.raises(onnxtext.OnnxTextError, match="exceeds the memory limit") as caught:
                engines.run_model(vast, inputs, engine=engine, memory=memory)
            assert caught.value.diagnostics[0].code == "run-limit"


@pytest.mark.thorough
def test_a_limit_ends_a_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model over the limit is not run again without inner values; the message names it."""
    endless = engines.load_model(ENDLESS)
    fine = engines.load_model(ENDLESS.replace("9" + "0" * 18, "9"))
    inputs = engines.random_inputs(endless)
    started: list[Any] = []
    real = subprocess.run

    def counted(*words: Any, **options: Any) -> Any:
        started.append(words)
        return real(*words, **options)

    monkeypatch.setattr("subprocess.run", counted)
    names = ("a.onnx", "b.onnx")
    with pytest.raises(onnxtext.OnnxTextError, match=r"has not finished b\.onnx after"):
        engines.run_both(fine, endless, inputs, names=names, timeout=5)
    assert len(started) == 2


def test_a_crash_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    script = tmp_path / "python"
    script.write_text("#!/bin/sh\necho why >&2\nkill -SEGV $$\n")
    script.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(script))
    with pytest.raises(onnxtext.OnnxTextError, match="onnx has crashed: SIGSEGV: why"):
        engines.run_model(engines.load_model(TEXT), {})


def test_external_data_is_loaded(tmp_path: Path) -> None:
    weight = numpy_helper.from_array(np.arange(2, dtype=np.float32), "w")
    model = helper.make_model(
        helper.make_graph(
            [helper.make_node("Identity", ["w"], ["y"])], "g", [],
            [helper.make_tensor_value_info("y", 1, [2])], [weight],
        )
    )  # fmt: skip
    onnx.save(model, tmp_path / "m.onnx", save_as_external_data=True, size_threshold=0)
    result = engines.run_model(engines.load_model(tmp_path / "m.onnx"), {})
    np.testing.assert_array_equal(result["y"], [0, 1])
    data = next(path for path in tmp_path.iterdir() if path.name != "m.onnx")
    data.unlink()
    said = rf"external data cannot be read: .*{data.name} does not exist"
    with pytest.raises(onnxtext.OnnxTextError, match=said):
        engines.load_model(tmp_path / "m.onnx")


@pytest.mark.parametrize(
    ("location", "said"), [(b"w" * 300, "w does not exist"), (b"\xff", "a location is not UTF-8")]
)
def test_a_location_that_is_no_path_is_an_error(tmp_path: Path, location: bytes, said: str) -> None:
    weight = onnx.TensorProto(name="w", data_type=1, dims=[2], data_location="EXTERNAL")
    weight.external_data.add(key="location", value="@" * len(location))
    graph = helper.make_graph([], "g", [], [], [weight])
    data = helper.make_model(graph).SerializeToString()
    (tmp_path / "m.onnx").write_bytes(data.replace(b"@" * len(location), location))
    with pytest.raises(onnxtext.OnnxTextError, match=rf"cannot be read: .*{said}"):
        engines.load_model(tmp_path / "m.onnx")


VALUES: dict[str, Any] = {
    "float": np.array([1.5, np.nan, -np.inf]),
    "scalar": np.array(3, np.int8),
    "strings": np.array(["a", "ü"], object),
    "bool": np.array([True]),
    "complex": np.array([1 + 2j], np.complex64),
    "bfloat16": np.array([1, 2], ml_dtypes.bfloat16),
    "int4": np.array([1, -2], ml_dtypes.int4),
    "sequence": [np.zeros(2), np.ones((1, 1))],
    "nothing": None,
    "empty": np.zeros((0, 3), np.float32),
}


def test_values_survive_the_way_between_processes(tmp_path: Path) -> None:
    write_values(tmp_path / "values", VALUES)
    result = read_values(tmp_path / "values")
    assert list(result) == list(VALUES)
    for name, value in VALUES.items():
        assert not compare_values(name, value, result[name]).differs
        assert getattr(value, "dtype", None) == getattr(result[name], "dtype", None)


@pytest.mark.parametrize(
    ("first", "second", "changed", "largest", "relative"),
    [
        ([1.0, 2.0], [1.0, 2.5], 1, 0.5, 0.25),
        ([np.nan, 1.0], [np.nan, 1.0], 0, 0, 0),
        ([np.nan], [1.0], 1, np.inf, np.inf),
        ([np.inf], [np.inf], 0, 0, 0),
        ([0.0], [1e-9], 1, 1e-9, np.inf),
        ([], [], 0, 0, 0),
    ],
)
def test_compare_values_returns_the_differences(
    first: list[float], second: list[float], changed: int, largest: float, relative: float
) -> None:
    found = compare_values("v", np.array(first), np.array(second))
    assert (found.changed, found.largest, found.relative) == (changed, largest, relative)
    assert found.differs == bool(changed)


def test_incomparable_values_have_a_note() -> None:
    other = compare_values("v", np.zeros(2), np.zeros(3))
    assert other.note == "the shapes differ: [2] in the first model, [3] in the second"
    assert other.exceeds(1, 1)
    other = compare_values("v", np.zeros(2), np.zeros(2, np.float32))
    assert other.note == (
        "the element types differ: float64 in the first model, float32 in the second"
    )
    assert compare_values("v", [np.zeros(2)], [np.ones(2)]).differs
    assert not compare_values("v", None, None).differs


def test_small_differences_are_within_tolerances() -> None:
    found = compare_values("v", np.array([100.0]), np.array([100.001]))
    assert found.differs
    assert not found.exceeds(1e-4, 1e-6)
    assert found.exceeds(1e-6, 1e-6)
    assert not found.exceeds(0, 1)


def test_tolerances_hold_for_each_element() -> None:
    one, two = np.array([1000.0, 1e-9]), np.array([1000.01, 2e-9])
    found = compare_values("v", one, two)
    assert (found.largest, found.relative) == pytest.approx((0.01, 1.0))
    assert not found.exceeds(1e-4, 1e-6)
    assert found.exceeds(1e-6, 1e-6)
    for wrap in (lambda value: [value, np.ones(3)], lambda value: {"a": [value]}):
        nested = compare_values("v", wrap(one), wrap(two))
        assert (nested.changed, nested.largest) == (2, found.largest)
        assert not nested.exceeds(1e-4, 1e-6)
        assert nested.exceeds(1e-6, 1e-6)
    assert compare_values("v", [one], [one, one]).exceeds(1, 1)


def test_large_integers_are_distinguished() -> None:
    found = compare_values("v", np.array([2**53]), np.array([2**53 + 1]))
    assert (found.changed, found.largest) == (1, 1)


@pytest.mark.thorough
def test_run_both_compares_all_values() -> None:
    first, second = engines.load_model(TEXT), engines.load_model(TEXT.replace("{3}", "{4}"))
    inputs = engines.random_inputs(first)
    one, two, found = engines.run_both(first, second, inputs, engine="onnx")
    assert [each.name for each in found] == ["a", "f", "y"]
    assert [each.name for each in found if each.differs] == ["f", "y"]
    assert [each.name for each in found if each.is_output] == ["y"]
    np.testing.assert_allclose(one["y"] * 4, two["y"] * 3, rtol=1e-5)


@pytest.mark.thorough
def test_missing_inputs_come_from_the_other_model() -> None:
    text = """<ir_version: 10, opset_import: ["": 21]>
    g (float[1] x, float[1] w = [3]) => (float[1] y) { y = Mul (x, w) }"""
    first, second = engines.load_model(text), engines.load_model(text.replace(" = [3]", ""))
    inputs = engines.random_inputs(first)
    assert list(inputs) == ["x"]
    _, _, found = engines.run_both(first, second, inputs, engine="onnx")
    assert [(each.name, each.differs) for each in found] == [("y", False)]
    other = engines.load_model(text.replace(" = [3]", "").replace("w", "v"))
    with pytest.raises(
        onnxtext.OnnxTextError, match="B requires the input `v`, which is not given and has no"
    ):
        engines.run_both(first, other, inputs, engine="onnx", names=("A", "B"))


def test_the_second_model_gets_inputs_of_its_declared_types() -> None:
    text = """<ir_version: 10, opset_import: ["": 21]>
    g (float[1] x) => (float[1] y) { y = Cast <to = 1> (x) }"""
    first, second = (
        engines.load_model(text),
        engines.load_model(text.replace("float[1] x", "float16[1] x")),
    )
    inputs = {"x": np.array([0.1], np.float32)}
    _, values, (found,) = engines.run_both(first, second, inputs)
    assert found.differs
    assert values["y"] == np.float32(np.float16(0.1))
    other = engines.load_model(text.replace("float[1] x", "float[2] x"))
    with pytest.raises(onnxtext.OnnxTextError, match=r"B: model: error: .* the shape \[2\]"):
        engines.run_both(first, other, inputs, names=("A", "B"))


@pytest.mark.parametrize("indices", [[1, 3], [[0, 1], [1, 1]]])
def test_missing_inputs_come_from_sparse_defaults(indices: list[Any]) -> None:
    onnxruntime()  # the reference evaluator of onnx reads no sparse ones
    infos = [helper.make_tensor_value_info(name, 1, [2, 2]) for name in "xwy"]
    node = helper.make_node("Mul", ["x", "w"], ["y"])
    graph = helper.make_graph([node], "g", infos[:2], infos[2:])
    imports = [helper.make_opsetid("", 21)]
    second = helper.make_model(graph, opset_imports=imports, ir_version=10)
    first = helper.make_model(graph, opset_imports=imports, ir_version=10)
    sparse = first.graph.sparse_initializer.add(dims=[2, 2])
    sparse.values.CopyFrom(numpy_helper.from_array(np.array([2, 5], np.float32), "w"))
    sparse.indices.CopyFrom(numpy_helper.from_array(np.array(indices, np.int64)))
    inputs = {"x": np.ones([2, 2], np.float32)}
    one, _, found = engines.run_both(first, second, inputs, engine="onnxruntime")
    np.testing.assert_array_equal(one["y"], [[0, 2], [0, 5]])
    assert [(each.name, each.differs) for each in found] == [("y", False)]
    sparse.dims[:] = [1, 1]
    with pytest.raises(onnxtext.OnnxTextError, match="sparse default value of `w` is invalid"):
        engines.run_both(first, second, inputs, engine="onnxruntime")
