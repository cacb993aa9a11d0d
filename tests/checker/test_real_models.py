# SPDX-License-Identifier: Apache-2.0
"""Real models: no false alarms, and a finding for every model that the official checker rejects."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

import onnxtext
from tests.checker.models import errors
from tests.checker.rejected_models import OTHERWISE, REJECTED
from tests.corpus import (
    SHARED,
    backend_cases,
    onnx_directory,
    shared_model,
    shared_models,
    wheel_models,
)
from tests.seeds import sampled

STRICTER = {
    # "attribute reference ... The attribute names and types must match those of the function" (IR
    # spec, Functions): its body refers to `dim`, which it does not declare.
    "models/harvested_onnxscript-tests/dd073671e7d091fc.onnx": {
        "attribute-ref-unknown",
        "function-call-attribute",
    },
    # schema of Gemm: "Input tensor C. The shape of C should be unidirectional broadcastable to
    # (M, N)"; onnxruntime refuses to run it.
    "models/kraiskil_onnx2c/ea1c9041-model.onnx": {"shape-mismatch"},
    # proto Version: "IR VERSION 8 ... Added functions to ModelProto"; it declares 7.
    "models/harvested_onnxscript-tests/e2ac6d0161b78f04.onnx": {"needs-ir-version"},
    # proto Version: "IR VERSION 9 ... Added AttributeProto to FunctionProto so that default
    # attribute values can be set"; it declares 8.
    "models/sdpython_onnx-extended/debug_4700-CPUep.onnx": {"needs-ir-version"},
}
"""Models that the official checker accepts although the specification forbids them."""


def official(data: bytes) -> str | None:
    """Return the error of the official checker; None if it accepts the model."""
    try:
        onnx.checker.check_model(data, full_check=True)
    except Exception as error:
        return str(error)
    return None


def compare(name: str, data: bytes, directory: Path | None) -> None:
    everything = onnxtext.check(data, base_dir=directory)
    found = errors(everything)
    objection = official(data)
    if objection is None:
        # This rule is a warning, but must have no false alarms either.
        assert "dim-variable-conflict" not in {item.code for item in everything}
        assert {item.code for item in found} == STRICTER.get(name, set()), found
    else:
        assert {item.code for item in found} == REJECTED[name], objection


@pytest.mark.parametrize("file", wheel_models())
def test_wheel_model(file: str) -> None:
    path = onnx_directory() / file
    compare(file, path.read_bytes(), path.parent)


@pytest.mark.data
@pytest.mark.parametrize("file", sampled(shared_models(), 3))
def test_shared_model(file: str) -> None:
    assert SHARED is not None
    compare(file, shared_model(file), (SHARED / file).parent)


@pytest.mark.data
def test_texts_and_binaries_have_the_same_findings() -> None:
    """A binary and its text have the same findings."""
    for file in shared_models()[::7]:
        data = shared_model(file)
        if len(data) < 200_000:
            wanted = sorted(item.code for item in onnxtext.check(data))
            found = onnxtext.check(onnxtext.from_binary(data))
            assert sorted(item.code for item in found) == wanted, file
            assert all(item.span is not None for item in found)


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore")  # numpy warns while onnx makes the cases
def test_backend_cases_agree_with_the_official_checker() -> None:
    cases = backend_cases()
    assert len(cases) > 1000
    for name, data in sampled(cases, 3):
        compare(name, data, None)


WORDS = {
    "No opset import for domain": {"opset-domain-not-imported", "function-opset-missing"},
    "must specify opset_import": {"opset-import-missing"},
    "not regular file": {"external-file-missing"},
    "should not have data field": {"external-location-missing"},
    "Field 'name' of 'graph'": {"graph-name-missing"},
    "Field 'shape' of 'type'": {"graph-output-untyped"},
    "Field 'type' of 'value_info'": {"graph-output-untyped"},
    "Unrecognized type value case": {"type-missing"},
    "topologically sorted": {"node-order"},
    "in initializer but not in graph input": {"initializer-not-input"},
    "Mismatched attribute type": {"attribute-type"},
    "does not have an ir_version": {"ir-version-missing"},
    "inconsistent type": {"type-mismatch"},
    " vs (-": {"dim-value-negative"},
    "[ShapeInferenceError]": {"shape-mismatch", "value-info-conflict"},
}
"""Messages of the official checker, and the corresponding rules."""


@pytest.mark.data
@pytest.mark.parametrize("file", [name for name in REJECTED if name.startswith("models/")])
def test_the_right_rule_is_named(file: str) -> None:
    """The first of these words in an official error determines the rule."""
    assert SHARED is not None
    if file in OTHERWISE:
        return
    objection = official(shared_model(file))
    assert objection is not None
    wanted = next(codes for words, codes in WORDS.items() if words in objection)
    assert REJECTED[file] & wanted, objection


@pytest.mark.data
def test_every_rejected_model_exists() -> None:
    files = {name for name in REJECTED if name.startswith("models/")}
    assert files <= set(shared_models())
    assert len(files) >= 40
