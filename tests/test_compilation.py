# SPDX-License-Identifier: Apache-2.0
"""The build hook compiles the modules of the native core that are out of date, and no others."""

from __future__ import annotations

from pathlib import Path

import pytest

import hatch_build


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
