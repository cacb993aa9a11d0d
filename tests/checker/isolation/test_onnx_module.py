# SPDX-License-Identifier: Apache-2.0
"""Load the compiled part of onnx with and without its package."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

ALONE = """
import importlib.util, json, sys, warnings
warnings.simplefilter("error")
import onnxtext.cli.main
from onnxtext.checker.isolation.onnx_module import onnx_native_module
module = onnx_native_module()
before = "onnx" in sys.modules
assert onnx_native_module() is module
import onnx
assert importlib.util.find_spec(module.__name__) is module.__spec__
assert module.__spec__.origin == module.__file__
assert module.__spec__.loader is module.__loader__
import onnx.checker, onnx.defs, onnx.parser, onnx.shape_inference
from onnx import onnx_cpp2py_export
assert onnx_cpp2py_export is module
assert onnx.checker.ValidationError is module.checker.ValidationError
assert onnx.shape_inference.InferenceError is module.shape_inference.InferenceError
model = onnx.parser.parse_model("<ir_version: 8, opset_import: ['' : 17]> g (float[2] x) => (float[2] y) { y = Relu(x) }".replace("'", '"'))
onnx.checker.check_model(model, full_check=True)
try:
    onnx.checker.check_model(onnx.ModelProto(ir_version=8))
except onnx.checker.ValidationError:
    print(json.dumps([before, len(onnx.defs.get_all_schemas_with_history())]))
"""  # noqa: E501
AMONG_OTHERS = """
import sys
from onnxtext.checker.isolation.onnx_module import onnx_native_module
onnx_native_module()
import onnx
print(onnx.onnx_cpp2py_export is onnx_native_module())
"""


def output(script: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    ).stdout.strip()


def test_onnx_works_after_its_compiled_part_was_loaded_alone() -> None:
    from onnx import defs

    assert json.loads(output(ALONE)) == [False, len(defs.get_all_schemas_with_history())]


def test_other_processes_import_onnx_normally() -> None:
    assert output(AMONG_OTHERS) == "True"


@pytest.mark.parametrize(
    ("name", "version", "domain"),
    [("Relu", 14, ""), ("Relu", 5, ""), ("Upsample", 10, ""), ("Normalizer", 3, "ai.onnx.ml")],
)
def test_find_returns_the_schema_of_the_version(name: str, version: int, domain: str) -> None:
    from onnx import defs

    from onnxtext.checker.context.signatures import Schemas

    found = Schemas().find(domain, name, version)
    since = [
        schema.since_version
        for schema in defs.get_all_schemas_with_history()
        if (schema.domain, schema.name) == (domain, name) and schema.since_version <= version
    ]
    assert found is not None
    assert found.since == max(since)
    assert Schemas().find(domain, name, 0) is None
    assert Schemas().find(domain, "No" + name, version) is None
    assert Schemas().find("nowhere", name, version) is None
    assert Schemas().find("\udc80", "\udc80", version) is None
    newest = Schemas().find(domain, name, 1 << 62)
    assert newest is not None
    assert newest.since == Schemas().history(domain, name)[-1]
