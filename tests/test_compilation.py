# SPDX-License-Identifier: Apache-2.0
"""The build hook compiles outdated modules of the native core, and no others; stubs fit them."""

from __future__ import annotations

import ast
import operator
from pathlib import Path

import pytest

import hatch_build
from onnxtext.select_core import core, core_module

CORE = Path(__file__).parents[1] / "onnxtext" / "_core"
STUBS = sorted(stub.relative_to(CORE) for stub in CORE.rglob("*.pyi"))


def test_only_outdated_modules_are_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    core = Path(hatch_build.CORE)
    core.mkdir(parents=True)
    result = {core / f"{name}.pyx": core / f"{name}.so" for name in ("lexer", "parser")}
    lexer, parser = result
    for file in (*result, *result.values(), core / "stack.pxd"):
        file.write_text("")

    def outdated() -> list[Path]:
        return hatch_build.find_outdated(result, hatch_build.find_digests())

    def record() -> None:
        lines = [f"{digest}  {name}\n" for name, digest in hatch_build.find_digests().items()]
        hatch_build.RECORD.write_text("".join(lines))

    assert outdated() == [lexer, parser]
    hatch_build.RECORD.parent.mkdir(parents=True)
    record()
    assert outdated() == []
    lexer.touch()
    assert outdated() == []
    lexer.write_text("changed")
    assert outdated() == [lexer]
    result[parser].unlink()
    assert outdated() == [lexer, parser]
    result[parser].touch()
    record()
    (core / "stack.pxd").write_text("changed")
    assert outdated() == [lexer, parser]
    record()
    monkeypatch.setenv("CFLAGS", "-O0")
    assert outdated() == [lexer, parser]


def declared(stub: Path) -> list[str]:
    """Return the names of the functions, classes, methods and attributes that a stub declares."""
    names = []
    for statement in ast.parse(stub.read_text()).body:
        match statement:
            case ast.FunctionDef(name=name):
                names.append(name)
            case ast.ClassDef(name=name, body=body):
                members = [m.name for m in body if isinstance(m, ast.FunctionDef)]
                members += [ast.unparse(m.target) for m in body if isinstance(m, ast.AnnAssign)]
                names += [name, *(f"{name}.{member}" for member in members)]
    return names


@pytest.mark.skipif(core() != "native", reason="the native core does not run")
@pytest.mark.parametrize("stub", STUBS, ids=str)
def test_what_a_stub_declares_is_compiled(stub: Path) -> None:
    module = core_module(".".join(stub.with_suffix("").parts))
    assert [name for name in declared(CORE / stub) if not has_name(module, name)] == []


def has_name(module: object, dotted: str) -> bool:
    """Whether a module has a function, a class, or a member of a class."""
    try:
        operator.attrgetter(dotted)(module)
    except AttributeError:
        return False
    return True
