# SPDX-License-Identifier: Apache-2.0
"""Compiles the native core (`onnxtext/_core`) where that can be done; else onnxtext is pure Python.

`ONNXTEXT_CORE=python` leaves it out, and with `ONNXTEXT_CORE=native` a failure to compile it is one
of the installation.
"""

from __future__ import annotations

import os
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
    """What the build backend calls before it makes a wheel, an editable one too."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and put the result into the wheel."""
        wanted = os.environ.get("ONNXTEXT_CORE", "")
        if wanted == "python":
            return
        try:
            made = compile_core(Path(self.root))
        except Exception as error:  # whatever is missing: the installation goes on
            if wanted == "native":
                raise
            reason = " ".join(str(error).split())
            self.app.display_warning(f"onnxtext is installed without its native core: {reason}")
            return
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        build_data["artifacts"] += made


def compile_core(root: Path) -> list[str]:
    """Compile every module of the core beside its source; the files that were made."""
    from Cython.Build import cythonize
    from setuptools import Distribution, Extension

    os.chdir(root)  # setuptools knows no other way to say where sources are
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
        warnings.simplefilter("ignore")  # of setuptools, about itself
        command.ensure_finalized()
        command.run()
    return [Path(command.get_ext_filename(one.name)).as_posix() for one in extensions]
