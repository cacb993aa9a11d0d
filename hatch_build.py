# SPDX-License-Identifier: Apache-2.0
"""Compile the native core (`onnxtext/_core`) if possible, and add the manual page to wheels.

`ONNXTEXT_CORE=python` skips it; with `ONNXTEXT_CORE=native`, the installation fails if it cannot be
compiled.
"""

from __future__ import annotations

import hashlib
import os
import sys
import warnings
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

CORE = "onnxtext/_core"
DIRECTIVES = {
    "language_level": 3,
    "binding": False,
    "boundscheck": False,
    "cdivision": True,
    "initializedcheck": False,
    "wraparound": False,
}


class CompileCore(BuildHookInterface[Any]):
    """The hook that the build backend calls before it builds a wheel, editable or not."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the manual page and the compiled core to the wheel."""
        if version == "standard":  # not if the installation follows the sources
            page = write_manual(Path(self.root))
            build_data["shared_data"][str(page)] = "share/man/man1/onnxtext.1"
        wanted = os.environ.get("ONNXTEXT_CORE", "")
        if wanted == "python":
            return
        try:
            made = compile_core(Path(self.root))
        except Exception as error:  # such as a missing compiler: install without the core
            if wanted == "native":
                raise
            reason = " ".join(str(error).split())
            self.app.display_warning(f"onnxtext is installed without its native core: {reason}")
            return
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        build_data["artifacts"] += made


def write_manual(root: Path) -> Path:
    """Write the manual page of the command, made from its help; return the file."""
    sys.path.insert(0, str(root))
    try:
        from onnxtext.cli.manual import manual_page
    finally:
        sys.path.remove(str(root))
    page = root / "build" / "onnxtext.1"
    page.parent.mkdir(exist_ok=True)
    page.write_text(manual_page(), encoding="utf-8")
    return page


def compile_core(root: Path) -> list[str]:
    """Compile every module of the core beside its source; return the new files."""
    from Cython.Build import cythonize
    from setuptools import Distribution, Extension

    os.chdir(root)  # setuptools finds sources only relative to the current directory
    extensions = [
        Extension(f"onnxtext._core.{source.stem}", [f"{CORE}/{source.name}"])
        for source in sorted(Path(CORE).glob("*.pyx"))
    ]
    modules: Any = cythonize(  # type: ignore[no-untyped-call, unused-ignore]
        extensions, build_dir="build/core", compiler_directives=DIRECTIVES, quiet=True
    )
    command: Any = Distribution({"ext_modules": modules}).get_command_obj("build_ext")
    command.inplace = True
    command.build_temp = "build/core"
    command.parallel = True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # setuptools warns about its own use
        command.ensure_finalized()
        command.run()
    write_digests(root)
    return [Path(command.get_ext_filename(one.name)).as_posix() for one in extensions]


def write_digests(root: Path) -> None:
    """Record the sources of the compiled core: the benchmarks refuse to measure another one."""
    sources = sorted(path for path in (root / CORE).iterdir() if path.suffix in (".pyx", ".pxd"))
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sources]
    (root / "build" / "core" / "sources.sha256").write_text("".join(lines), encoding="utf-8")
