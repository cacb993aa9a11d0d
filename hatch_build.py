# SPDX-License-Identifier: Apache-2.0
"""Compile the native core (`onnxtext/_core`) if possible, and add the manual page to wheels.

`ONNXTEXT_CORE=python` skips it; with `ONNXTEXT_CORE=native`, the installation fails if it cannot be
compiled.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import sysconfig
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

CORE = "onnxtext/_core"
BUILD = "build/core"
RECORD = Path(BUILD, "sources.sha256")
"""The file with the digests of the sources and options of the compiled modules.

Only modules with other digests are compiled. The benchmarks stop if the sources have other digests.
"""
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
        if version == "standard":  # not for an editable installation
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
    replace(page, manual_page())
    return page


def replace(path: Path, content: str) -> None:
    """Write a file atomically, because another build of this tree may read it at the same time."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    temporary.write_text(content, encoding="utf-8")
    temporary.replace(path)


def compile_core(root: Path) -> list[str]:
    """Compile the modules of the core that are out of date, each beside its source.

    Returns:
        All compiled modules, the unchanged ones too.
    """
    from Cython.Build import cythonize
    from setuptools import Distribution, Extension

    os.chdir(root)  # setuptools finds sources only relative to the current directory
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    made = {source: source.with_suffix(suffix) for source in sorted(Path(CORE).rglob("*.pyx"))}
    digests = find_digests()
    outdated = find_outdated(made, digests)
    if outdated:
        find_compiler()
        RECORD.unlink(missing_ok=True)  # an interrupted build leaves no record
        modules: Any = cythonize(  # type: ignore[no-untyped-call, unused-ignore]
            [
                Extension(
                    ".".join(each.with_suffix("").parts),
                    [each.as_posix()],
                    extra_compile_args=find_debug_options(),
                )
                for each in outdated
            ],
            build_dir=BUILD,
            nthreads=os.cpu_count() if sys.platform == "linux" else 0,  # 0 elsewhere: no fork
            compiler_directives=DIRECTIVES,
            force=True,  # Cython also compares the time of its own headers
            quiet=True,
        )
        command: Any = Distribution({"ext_modules": modules}).get_command_obj("build_ext")
        command.inplace = True
        command.force = True
        command.build_temp = BUILD
        command.parallel = True
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # setuptools warns about its own use
            command.ensure_finalized()
            command.run()
    for file in made.values():
        file.touch()  # onnxtext runs only modules that are newer than their sources
    RECORD.parent.mkdir(parents=True, exist_ok=True)
    lines = [f"{digest}  {name}\n" for name, digest in digests.items()]
    replace(RECORD, "".join(lines))
    return [file.as_posix() for file in made.values()]


def find_compiler() -> None:
    """Find the C compiler, so that its absence is known before Cython runs.

    Raises:
        FileNotFoundError: there is none.
    """
    if os.name == "nt":
        return  # setuptools finds Visual Studio without PATH
    command = os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc"
    if shutil.which(command.split()[0]) is None:
        raise FileNotFoundError(f"there is no C compiler `{command}`")


def find_debug_options() -> list[str]:
    """Return the options that omit debug information, unless `CFLAGS` asks for it.

    Python is compiled with `-g`, and setuptools compiles extensions with the same options. Without
    debug information, compiling takes three quarters of the time, and the modules an eighth of the
    space.
    """
    wanted = any(word.startswith("-g") for word in os.environ.get("CFLAGS", "").split())
    return [] if wanted or os.name == "nt" else ["-g0"]


def find_digests() -> dict[str, str]:
    """Return the digests of the core's sources and of everything else that its build depends on."""
    sources = sorted(path for path in Path(CORE).rglob("*") if path.suffix in (".pyx", ".pxd"))
    digests = {path.as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in sources}
    flags = [os.environ.get(name) for name in ("CC", "CFLAGS", "CPPFLAGS", "LDFLAGS")]
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    facts = [version("cython"), sys.version, suffix, DIRECTIVES, flags]
    return digests | {"build": hashlib.sha256(repr(facts).encode()).hexdigest()}


def find_outdated(made: dict[Path, Path], digests: dict[str, str]) -> list[Path]:
    """Return the sources to compile.

    Args:
        made: the compiled module of each source.
        digests: what `find_digests` returns.

    Returns:
        All sources if a shared declaration, the compiler or its options changed.
    """
    lines = RECORD.read_text(encoding="utf-8").splitlines() if RECORD.exists() else []
    before = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    changed = {name for name, digest in digests.items() if before.get(name) != digest}
    everything = any(not name.endswith(".pyx") for name in changed)
    return [
        source
        for source, module in made.items()
        if everything or source.as_posix() in changed or not module.exists()
    ]
