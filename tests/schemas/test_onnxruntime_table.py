# SPDX-License-Identifier: Apache-2.0
"""The table of onnxruntime's operators equals the installed one, and causes no false findings."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import onnxtext
from onnxtext.checker.context.operator_tables import BUNDLED, bundled_table
from onnxtext.printer.schemas import print_schemas
from onnxtext.schemas.importing import import_schemas, with_bodies
from onnxtext.schemas.reading import read_schemas
from onnxtext.source import Source
from tests.cli.command import run
from tests.corpus import SHARED

TEXT = BUNDLED.read_text(encoding="utf-8")


@cache
def installed() -> str:
    """The version of the installed onnxruntime; skips the test without one."""
    if sys.version_info < (3, 11):
        pytest.skip("onnxruntime needs Python 3.11")
    import onnxruntime

    return str(onnxruntime.__version__)


def test_the_table_is_that_of_its_onnxruntime() -> None:
    if bundled_table().origin != f"onnxruntime {installed()}":
        pytest.skip("the table is that of another onnxruntime")
    result = with_bodies(import_schemas("onnxruntime"), read_schemas(Source(TEXT, "table")))
    assert print_schemas(result) == TEXT


def test_the_operators_are_found_one_by_one() -> None:
    table = bundled_table()
    file = read_schemas(Source(TEXT, "table"))
    assert len(file.schemas) > 150
    keys = {(schema.domain, schema.name): [schema.since] for schema in file.schemas}
    assert table.operators == keys
    for schema in file.schemas:
        found = table.find(schema.domain, schema.name, schema.since + 1)
        assert found is not None
        assert found.source == schema
        assert found.origin.startswith("onnxruntime 1.")
    assert table.find("com.microsoft", "Relu", 1) is None
    assert table.find("com.microsoft", "FusedMatMul", 0) is None


def test_a_check_without_such_operators_does_not_read_the_table(tmp_path: Path) -> None:
    path = tmp_path / "m.onnxtxt"
    path.write_text(
        "<ir_version: 10, opset_import: [21]> g (float x) => (float y) { y = Relu (x) }"
    )
    code = (
        "import sys\nfrom pathlib import Path\n"
        "from onnxtext.checker.context.operator_tables import BundledTable\n"
        "def fail(self): raise AssertionError('read')\n"
        "BundledTable._text = property(fail)\n"
        f"sys.argv = ['onnxtext', 'check', {str(path)!r}]\n"
        "from onnxtext.cli.main import main\nmain()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


# ---- No false alarms ----------------------------------------------------------------------------


def alarms(data: bytes) -> list[str]:
    """Return the errors and warnings that follow from the table."""
    origin = bundled_table().origin
    return [
        item.message
        for item in onnxtext.check(data)
        if item.severity in ("error", "warning")
        and (origin in item.message or any(origin in note for note in item.notes))
    ]


def models() -> list[Path]:
    return (
        [] if SHARED is None else sorted(SHARED.glob("**/*.onnx"), key=lambda p: p.stat().st_size)
    )


@pytest.mark.data
def test_shared_models_have_no_alarm() -> None:
    found = [data for path in models() if b"com.microsoft" in (data := path.read_bytes())]
    assert len(found) > 5
    assert [alarms(data) for data in found if alarms(data)] == []


def optimized(path: Path, target: Path, level: str) -> bytes | None:
    """Return the model that onnxruntime's optimizer makes; None if it does not load the model."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, level)
    options.optimized_model_filepath = str(target)
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    try:
        onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception:  # its exceptions have no common class
        return None
    return target.read_bytes()


LEVELS = ("ORT_ENABLE_BASIC", "ORT_ENABLE_EXTENDED", "ORT_ENABLE_LAYOUT", "ORT_ENABLE_ALL")


def check_optimized(paths: list[Path], directory: Path, levels: tuple[str, ...]) -> int:
    """Check the optimized models; return how many have operators of the table."""
    installed()
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    count = 0
    for path in paths:
        for level in levels:
            if not hasattr(onnxruntime.GraphOptimizationLevel, level):
                continue
            data = optimized(path, directory / "optimized.onnx", level)
            if data is None:
                break
            if b"com.microsoft" in data:
                count += 1
                assert alarms(data) == [], (path, level)
    return count


@pytest.mark.data
def test_optimized_exports_have_no_alarm(tmp_path: Path) -> None:
    assert SHARED is not None
    paths = [SHARED / "exports" / f"{name}.onnx" for name in ("lm_dyn", "cnn_ts", "cnn_qdq")]
    assert check_optimized(paths, tmp_path, ("ORT_ENABLE_ALL",))


@pytest.mark.slow
@pytest.mark.data
def test_all_optimized_models_have_no_alarm(tmp_path: Path) -> None:
    paths = [path for path in models() if path.stat().st_size < 3_000_000]
    assert check_optimized(paths, tmp_path, LEVELS) > 50


@pytest.mark.data
def test_quantized_exports_have_no_false_alarms(tmp_path: Path) -> None:
    installed()
    assert SHARED is not None
    from onnxruntime.quantization import quantize_dynamic

    path = tmp_path / "quantized.onnx"
    quantize_dynamic(SHARED / "exports" / "lm_dyn.onnx", path)
    assert alarms(path.read_bytes()) == []
    assert check_optimized([path], tmp_path, ("ORT_ENABLE_ALL",))


# ---- Imports ------------------------------------------------------------------------------------

PACKAGE = """\
import onnx.defs
from onnx.defs import OpSchema
print("noise")
onnx.defs.register_schema(OpSchema(
    "Scale", "acme", 3, doc="Scales values. Slowly.",
    inputs=[OpSchema.FormalParameter("x", "T", "The input."),
            OpSchema.FormalParameter(
                "rest", "T", param_option=OpSchema.FormalParameterOption.Variadic, min_arity=2)],
    outputs=[OpSchema.FormalParameter("y", "tensor(int64)")],
    type_constraints=[("T", ["tensor(float)", "seq(tensor(double))"], "")],
    attributes=[OpSchema.Attribute("axis", OpSchema.AttrType.INT, required=True)],
))
"""
WANTED = """\
@doc("Scales values.")
@since(3)
acme.Scale <axis: int> (
  @doc("The input.")
  T x,
  @least(2)
  T rest...,
) => (int64 y) where T: float | seq(double)
"""


def test_registered_schemas_are_imported(tmp_path: Path) -> None:
    (tmp_path / "acme_ops.py").write_text(PACKAGE)
    done = run("schemas", "import", "acme_ops", env=_with_path(tmp_path))
    assert done.status == 0, done.err
    assert done.out.decode().endswith("\n\n" + WANTED)
    assert '"acme": 3' in done.out.decode()


@pytest.mark.thorough
def test_schemas_of_an_entry_point_are_imported(tmp_path: Path) -> None:
    (tmp_path / "acme_ops.py").write_text(f"def schemas():\n    return {WANTED!r}\n")
    info = tmp_path / "acme_ops-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-ops\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[onnxtext.schemas]\nacme = acme_ops:schemas\n")
    for name in ("acme", "acme-ops"):
        done = run("schemas", "import", name, env=_with_path(tmp_path))
        assert (done.status, done.out.decode()) == (0, WANTED), done.err


def test_bodies_survive_an_import(tmp_path: Path) -> None:
    (tmp_path / "acme_ops.py").write_text(PACKAGE)
    out = tmp_path / "acme.onnxschema"
    out.write_text(WANTED.replace("double)\n", "double) {\n  y = Size (x)\n}\n"))
    done = run("schemas", "import", "acme_ops", "-o", out, env=_with_path(tmp_path))
    assert done.status == 0, done.err
    assert "y = Size (x)" in out.read_text()
    assert "1 operator: 1 of acme" in done.err
    assert run("schemas", "check", out).status == 0


FAILING = {
    "raise RuntimeError('broken')": "RuntimeError: broken",
    "import os\nos._exit(7)": "exit status 7",
    "import os\nos.kill(os.getpid(), 9)": "exit status -9",
    "x = 1": "offers no operator schemas",
}


@pytest.mark.thorough
@pytest.mark.parametrize("code", FAILING)
def test_a_package_that_fails_is_an_error(code: str, tmp_path: Path) -> None:
    (tmp_path / "acme_ops.py").write_text(code)
    out = tmp_path / "acme.onnxschema"
    done = run("schemas", "import", "acme_ops", "-o", out, env=_with_path(tmp_path))
    assert done.status == 2
    assert FAILING[code] in done.err
    assert not out.exists()


def test_list_and_show_print_operators() -> None:
    assert (
        "com.microsoft.nchwc.Conv"
        in run("schemas", "list", "com.microsoft.nchwc").out.decode().split()
    )
    shown = run("schemas", "show", "com.microsoft.FusedMatMul").out.decode()
    assert f"# {bundled_table().origin}\n" in shown
    assert not read_schemas(Source(shown, "shown")).schemas[0].others
    done = run("schemas", "show", "com.microsoft.FusedMatmul")
    assert (done.status, "FusedMatMul" in done.err) == (2, True)
    assert run("schemas", "show", "Relu").status == 0
    assert run("schemas", "list", "no.such.domain").status == 2


def test_check_reports_bodies(tmp_path: Path) -> None:
    path = tmp_path / "acme.onnxschema"
    path.write_text("acme.F (T x) => (T y) where T: float { z = Rellu (x) }\n")
    done = run("schemas", "check", "--output-format", "json", path)
    assert done.status == 1
    assert {"op-unknown", "function-output-undefined"} <= {i["code"] for i in done.findings()}
    assert run("schemas", "check", tmp_path / "missing.onnxschema").status == 2


def _with_path(directory: Path) -> dict[str, str]:
    from tests.cli.command import environment

    return environment(PYTHONPATH=str(directory))
