# SPDX-License-Identifier: Apache-2.0
"""`check` with schema files: of the project, given by an option, and the bundled table."""

from __future__ import annotations

import os
from pathlib import Path

import onnx
import pytest
from onnx.defs import OpSchema

import onnxtext
from onnxtext.checker.context.operator_tables import FileTable, use_tables
from onnxtext.checker.engine.check_tree import check_tree, run_rules
from onnxtext.checker.inference.inferred_types import inferred_type_texts
from onnxtext.diagnostics import Diagnostic
from onnxtext.schemas.reading import read_schemas
from onnxtext.source import Source
from onnxtext.syntax.parse import parse_model
from tests.cli.command import run
from tests.diagnostics.found import fix_of

SCHEMAS = """\
<opset_import: [21, "acme": 2]>
acme.Scale <factor: float, mode: string = "up", axes?: ints> (T x, T bias?) => (T y, I count?)
  where T: float16 | float, I: int64
acme.Join (@least(2) T parts...) => (T y) where T: float | double {
  y = Concat <axis = 0> (parts, parts)
}
acme.Open <...> (V x) => (V y) where V: any
acme.Old (T x) => (T y) where T: float
@since(2) @deprecated("use Scale")
acme.Old (T x) => (T y) where T: float
acme.Rows (T x) => (T y) where T: float { y = Concat <axis = 9> (x, x) }
acme.Wide <by: int> (T x) => (T y) where T: float {
  y = acme.Wider <by: int = @by> (x)
}
acme.Wider <by: int> (T x) => (T y) where T: float {
  n = Constant <value_int: int = @by> ()
  one = Constant <value_ints = [1]> ()
  axis = Constant <value_ints = [-1]> ()
  s = Shape <end = -1> (x)
  m = Reshape (n, one)
  r = Concat <axis = 0> (s, m)
  y = ConstantOfShape (r)
}
acme.Endless (T x) => (T y) where T: float { y = acme.Endless (x) }
acme.Ping (T x) => (T y) where T: float { y = acme.Pong (x) }
acme.Pong (T x) => (T y) where T: float { y = acme.Ping (x) }
"""
HEAD = '<onnxtext: 1, ir_version: 10, opset_import: [21, "acme": 1, "com.microsoft": 1]>\n'
TABLE = FileTable(read_schemas(Source(SCHEMAS, "acme.onnxschema")), "acme.onnxschema")


def model(node: str, inputs: str = "float[N, 4] x, int64[2] k, double[3] d") -> str:
    return f"{HEAD}g ({inputs}) => (float[?, ?] out) {{\n  {node}\n  out = Identity (y)\n}}\n"


def findings(node: str) -> list[Diagnostic]:
    text = model(node)
    source = Source(text, "m")
    with use_tables((TABLE,)):
        found = check_tree(parse_model(source), source=source)
    return [item for item in found if "`out`" not in item.message]


WRONG = {
    "y = acme.Scale (x)": ("attribute-required", "error", "`Scale` needs the attribute `factor`"),
    "y = acme.Scale <factor = 1> (x)": (
        "attribute-type", "error",
        "the attribute `factor` of `Scale` must have the type `float`, but has the type `int`"),
    "y = acme.Scale <factor = 1.0, mod = \"up\"> (x)": (
        "attribute-unknown", "error", "`Scale` has no attribute `mod`"),
    "y = acme.Scale <factor = 1.0> (x, x, x)": (
        "input-count", "error", "`Scale` takes 1 to 2 inputs, not 3"),
    "y = acme.Scale <factor = 1.0> (\"\", x)": (
        "optional-input-missing", "error", "the required input `x` of `Scale` is missing"),
    "y, z, w = acme.Scale <factor = 1.0> (x)": (
        "output-count", "error", "`Scale` has 1 to 2 outputs, not 3"),
    "y = acme.Scale <factor = 1.0> (k)": (
        "type-mismatch", "error",
        "the input `x` of `Scale` cannot be `int64`: it takes `float`, `float16`"),
    "y = acme.Join (x)": ("input-count", "error", "`Join` takes 2 or more inputs, not 1"),
    "y = acme.Join (x, d)": (
        "type-mismatch", "error", "the inputs `parts` of `Join` must have the same type, but are "
        "`float` and `double`"),
    "y = acme.Scall <factor = 1.0> (x)": (
        "op-unknown", "error", "there is no operator `acme.Scall` in acme.onnxschema"),
    "y = acme.Unlike (x)": (
        "op-unknown", "warning", "there is no operator `acme.Unlike` in acme.onnxschema"),
    "int64[?, ?] y = acme.Scale <factor = 1.0> (x)": (
        "type-mismatch", "error", "`y` is declared `int64`, but `Scale` computes `float`"),
    "float[N, 5] y = acme.Scale <factor = 1.0> (x)": None,
    "y = acme.Scale <factor = 1.0, axes = [1]> (x, x)": None,
    "y, n = acme.Scale <factor = 1.0> (x)": None,
    "y = acme.Open <anything = 1, more = \"x\"> (x)": None,
    "y = acme.Old (x)": None,
    "y = acme.Join (x, x, x)": None,
}  # fmt: skip


@pytest.mark.parametrize("node", WRONG)
def test_nodes_are_checked_against_a_schema_file(node: str) -> None:
    found = [item for item in findings(node) if item.severity != "hint"]
    wanted = WRONG[node]
    if wanted is None:
        assert found == []
    else:
        (item,) = [item for item in found if item.code == wanted[0]]
        assert (item.code, item.severity, item.message) == wanted
        if item.code != "op-unknown":
            assert "according to acme.onnxschema" in item.notes


def test_a_misspelt_operator_has_a_suggestion_and_a_fix() -> None:
    (item,) = findings("y = acme.Scall <factor = 1.0> (x)")
    assert item.help == "did you mean `Scale`?"
    assert fix_of(item).edits[0].text == "acme.Scale"


def test_deprecated_operators_are_found() -> None:
    text = model("y = acme.Old (x)").replace('"acme": 1', '"acme": 2')
    source = Source(text, "m")
    with use_tables((TABLE,)):
        (item,) = check_tree(parse_model(source), source=source)
    assert (item.code, item.help) == ("op-deprecated", "use Scale")


def test_functions_of_the_model_precede_schemas() -> None:
    text = model("y = acme.Scale (x)") + (
        '<domain: "acme", opset_import: [21]> Scale (a) => (b) { b = Relu (a) }\n'
    )
    source = Source(text, "m")
    with use_tables((TABLE,)):
        assert check_tree(parse_model(source), source=source) == []


SHAPES = {
    "y = acme.Scale <factor = 1.0> (x)": "float[]",
    "y = acme.Join (x, x)": 'float["2*N", 4]',
    "y = acme.Wide <by = 7> (x)": "float[N, 7]",
    "y = acme.Wider <by = 7> (x)": "float[N, 7]",
    "y = acme.Rows (x)": "float[]",  # onnx rejects it in the body, which is no error of the user
    "y = acme.Endless (x)": "float[]",
    "y = acme.Ping (x)": "float[]",
    "y = acme.Open (x)": "float[]",
}


@pytest.mark.parametrize("node", SHAPES)
def test_bodies_of_schemas_give_shapes(node: str) -> None:
    text = model(node)
    with use_tables((TABLE,)):
        subject, found = run_rules(parse_model(Source(text, "m")))
    assert subject.main is not None
    shown = inferred_type_texts(subject)[subject.main.original.at].get("y", "float[]")
    assert shown in (SHAPES[node], "float[?, ?]"), shown
    assert (shown == SHAPES[node]) or SHAPES[node] == "float[]"
    assert not [item for item in found if item.severity in (None, "error")], found


def test_a_type_that_contradicts_a_body_is_an_error() -> None:
    (item,) = findings("float[N, 6] y = acme.Wide <by = 7> (x)")
    assert item.code == "shape-mismatch"
    assert "computes `float[N, 7]`" in item.message


# ---- The bundled table --------------------------------------------------------------------------

MICROSOFT = {
    "y = com.microsoft.FusedMatMull (x, x)": ("op-unknown", "warning"),
    "y = com.microsoft.NothingLikeIt (x)": ("op-unknown-domain", "info"),
    "y = com.microsoft.FusedMatMul (x)": ("input-count", "error"),
    "y = com.microsoft.FusedMatMul (x, x, x)": ("input-count", "warning"),
    "y = com.microsoft.FusedMatMul <transb = 1> (x, x)": ("attribute-unknown", "warning"),
    "y = com.microsoft.FusedMatMul <alpha = 1> (x, x)": ("attribute-type", "error"),
    "y = com.microsoft.FusedMatMul (k, k)": ("type-mismatch", "warning"),
    "y = com.microsoft.BiasGelu (x, \"\")": ("optional-input-missing", "error"),
    "y = com.microsoft.QLinearSoftmax (x, x, \"\", x)": ("attribute-required", "error"),
    "y = SimplifiedLayerNormalization (x, x)": ("op-unknown", "info"),
}  # fmt: skip


@pytest.mark.parametrize("node", MICROSOFT)
def test_operators_of_onnxruntime_are_checked(node: str) -> None:
    found = onnxtext.check(model(node))
    assert MICROSOFT[node] in {(item.code, item.severity) for item in found}, found


# ---- Projects -----------------------------------------------------------------------------------


def project(directory: Path, settings: str, **files: str) -> Path:
    (directory / "pyproject.toml").write_text(f"[tool.onnxtext]\nschemas = {settings}\n")
    for name, text in files.items():
        (directory / f"{name}.onnxschema").write_text(text)
    path = directory / "models" / "m.onnxtxt"
    path.parent.mkdir(exist_ok=True)
    path.write_text(model("y = acme.Scale (x)"))
    return path


def test_a_project_names_schema_files(tmp_path: Path) -> None:
    path = project(tmp_path, '["acme.onnxschema"]', acme=SCHEMAS)
    done = run("check", "--output-format", "json", path)
    assert done.status == 1
    assert [item["code"] for item in done.findings()] == ["attribute-required"]
    assert run("to-binary", path).status == 1
    path.write_text(model("y = acme.Scale <factor = 1.0> (x)"))
    assert run("check", path).status == 0
    assert run("to-binary", path, "-o", "-").status == 0


def test_an_option_names_schema_files(tmp_path: Path) -> None:
    path = project(tmp_path, "[]")
    (tmp_path / "other.onnxschema").write_text(SCHEMAS)
    assert run("check", path).status == 0
    done = run("check", "--schemas", tmp_path / "other.onnxschema", path)
    assert done.status == 1
    assert "attribute-required" in done.err


def test_edits_know_the_operators_of_the_project(tmp_path: Path) -> None:
    path = project(tmp_path, '["acme.onnxschema"]', acme=SCHEMAS)
    path.write_text(model("y = acme.Scale <factor = 1.0> (x)"))
    done = run("edit", path, "insert", "z = acme.Scale (x)", "--diff")
    assert done.status == 1
    assert "attribute-required" in done.err
    good = "z = acme.Scale <factor = 2.0> (x)"
    assert run("edit", path, "insert", good, "--diff").status == 0
    wrong = path.with_name("wrong.onnxtxt")
    wrong.write_text(path.read_text())
    (tmp_path / "acme.onnxschema").write_text("acme.Scale (")
    done = run("edit", wrong, "insert", good)
    assert done.status != 0
    assert "acme.onnxschema" in done.err
    assert wrong.read_text() == path.read_text()


def test_wrong_declared_outputs_of_schema_files_are_errors(tmp_path: Path) -> None:
    """onnx accepts the model, because it does not know the operator."""
    file = tmp_path / "acme.onnxschema"
    file.write_text(SCHEMAS)
    text = model("float[N, 5] y = acme.Join (x, x)")
    (found,) = onnxtext.check(text, schemas=[file])
    assert (found.code, found.severity) == ("shape-mismatch", "error")
    assert found.message.startswith("`y` is declared `float[N, 5]`, but `Join` computes")


def test_callers_name_schema_files(tmp_path: Path) -> None:
    file = tmp_path / "acme.onnxschema"
    file.write_text(SCHEMAS)
    text = model("y = acme.Scale (x)")
    found = onnxtext.check(text, schemas=[file])
    assert [item.code for item in found] == ["attribute-required"]
    assert "attribute-required" not in {item.code for item in onnxtext.check(text)}
    with pytest.raises(FileNotFoundError):
        onnxtext.check(text, schemas=[tmp_path / "missing.onnxschema"])
    file.write_text("acme.Scale (")
    with pytest.raises(onnxtext.OnnxTextError):
        onnxtext.check(text, schemas=[str(file)])


BROKEN = {
    '["missing.onnxschema"]': "`missing.onnxschema` is not a file",
    '["onnx"]': "`onnx` is not a file: name a file *.onnxschema, or `onnxruntime`",
    '["../outside.onnxschema"]': "is outside of",
    '["/dev/zero"]': "is outside of",
    '["models"]': "is not a file",
    '["a\\u0000b"]': "is not a valid path",
    '"acme.onnxschema"': "schemas must be a list of schema files",
    "[1]": "schemas must be a list of schema files",
    '["wrong.onnxschema"]': "wrong.onnxschema:1:9",
    '["large.onnxschema"]': "larger than 16 MiB",
    '["binary.onnxschema"]': "not UTF-8",
}


@pytest.mark.parametrize("setting", BROKEN)
def test_wrong_settings_are_errors(setting: str, tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (tmp_path / "outside.onnxschema").write_text(SCHEMAS)
    path = project(root, setting, wrong="acme.F (flaot x) => ()")
    (root / "binary.onnxschema").write_bytes(b"\xff\xfe")
    with (root / "large.onnxschema").open("wb") as file:
        os.truncate(file.fileno(), (16 << 20) + 1)
    done = run("check", "--output-format", "concise", path)
    assert done.status == 2
    assert BROKEN[setting] in done.err
    assert "Traceback" not in done.err


def test_a_link_out_of_the_project_is_refused(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (tmp_path / "outside.onnxschema").write_text(SCHEMAS)
    (root / "inside.onnxschema").symlink_to(tmp_path / "outside.onnxschema")
    done = run("check", project(root, '["inside.onnxschema"]'))
    assert done.status == 2
    assert "is outside of" in done.err


def test_the_first_schema_of_an_operator_applies(tmp_path: Path) -> None:
    other = "com.microsoft.FusedMatMul (float a) => (float b)\nacme.Scale (float a) => (float b)\n"
    path = project(tmp_path, '["other.onnxschema", "acme.onnxschema"]', acme=SCHEMAS, other=other)
    assert run("check", path).status == 0
    path.write_text(model("y = com.microsoft.FusedMatMul (x)"))
    assert run("check", path).status == 0
    settings = '["onnxruntime", "other.onnxschema"]'
    project(tmp_path, settings)
    path.write_text(model("y = com.microsoft.FusedMatMul (x)"))
    assert "takes 2 inputs, not 1" in run("check", path).err


def test_pages_know_the_operators_of_the_project(tmp_path: Path) -> None:
    from onnxtext.viewer.page_model import read

    path = project(tmp_path, '["acme.onnxschema"]', acme=SCHEMAS)
    path.write_text(model("y = acme.Wide <by = 3> (x)"))
    result = read(path.read_bytes(), str(path), path.parent)
    assert result.document.version.schemas.find("acme", "Wide", 1) is not None
    assert result.document.analysis is not None
    types = result.document.analysis.types
    assert "float[N, 3]" in {found for each in types.values() for found in each.values()}
    assert b"`y`: float[N, 3]" in run("explain-type", path, "y").out


def test_a_schema_that_python_code_registers_again_is_read_again() -> None:
    def codes(inputs: int, value: str) -> set[str]:
        formals = [OpSchema.FormalParameter(f"x{n}", "tensor(float)") for n in range(inputs)]
        outputs = [OpSchema.FormalParameter("y", "tensor(float)")]
        onnx.defs.register_schema(OpSchema("Foo", "again", 1, inputs=formals, outputs=outputs))
        try:
            head = '<ir_version: 10, opset_import: [21, "again": 1]> g (float x) => (float y)'
            return {item.code for item in onnxtext.check(f"{head} {{ y = again.Foo ({value}) }}")}
        finally:
            onnx.defs.deregister_schema("Foo", 1, "again")

    assert "input-count" in codes(1, "x, x")
    assert not codes(2, "x, x")  # the process that infers types does not have the schema
