# SPDX-License-Identifier: Apache-2.0
"""Wheel and sdist have the right files, and the grammar is found in every installation."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest

import onnxtext
from onnxtext.cli.manual import manual_page
from tests.corpus import REPOSITORY

pytestmark = pytest.mark.thorough

GRAMMAR = "onnxtext/grammar/onnxtext.lark"
NOTICES = "onnxtext/viewer/THIRD-PARTY-NOTICES.md"
DIST_INFO = f"onnxtext-{onnxtext.__version__}.dist-info"
MANUAL = f"onnxtext-{onnxtext.__version__}.data/data/share/man/man1/onnxtext.1"
SDIST = f"onnxtext-{onnxtext.__version__}"


def run(*arguments: str, cwd: Path, **environment: str) -> str:
    """Return the output of a Python process."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    return done.stdout


def build(source: Path, target: Path, hook: str, **environment: str) -> Path:
    """Call the build backend like installers do, offline; by default without the native core."""
    script = f"from hatchling.build import {hook}; print({hook}({str(target)!r}))"
    environment = {"ONNXTEXT_CORE": "python"} | environment
    return target / run("-c", script, cwd=source, **environment).splitlines()[-1]


def unpack(wheel: Path) -> Path:
    """Install a wheel like `pip install --target`."""
    site = wheel.with_suffix("")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    return site


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(REPOSITORY, tmp_path_factory.mktemp("wheel"), "build_wheel")


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(REPOSITORY, tmp_path_factory.mktemp("sdist"), "build_sdist")


@pytest.fixture(scope="module")
def checkout(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The unpacked sdist."""
    directory = tmp_path_factory.mktemp("checkout")
    with tarfile.open(sdist) as archive:
        # The archive is trusted; the filter requires 3.10.12.
        safe = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        archive.extractall(directory, **safe)  # type: ignore[arg-type]
    return directory / SDIST


def contents(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def sources() -> set[str]:
    """Return our modules and the pages about codes in the checkout."""
    package = REPOSITORY / "onnxtext"
    modules = [*package.rglob("*.py"), *package.rglob("*.pyi")]
    files = [*modules, *package.glob("diagnostics/pages/*.md"), *package.glob("viewer/assets/*")]
    files += package.glob("schemas/*.onnxschema")
    return {path.relative_to(REPOSITORY).as_posix() for path in files}


def test_the_wheel_has_the_package_only(wheel: Path) -> None:
    about = {"METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE"}
    about.add(f"licenses/{NOTICES}")
    assert contents(wheel) == {
        *sources(),
        GRAMMAR,
        "onnxtext/py.typed",
        NOTICES,
        MANUAL,
        *(f"{DIST_INFO}/{name}" for name in about),
    }
    with zipfile.ZipFile(wheel) as archive:
        grammar = (REPOSITORY / "grammar" / "onnxtext.lark").read_bytes()
        assert archive.read(GRAMMAR) == grammar
        assert archive.read(MANUAL).decode() == manual_page()
        entry_points = archive.read(f"{DIST_INFO}/entry_points.txt").decode()
        metadata = archive.read(f"{DIST_INFO}/METADATA").decode()
    assert "onnxtext = onnxtext.cli.main:main" in entry_points
    assert f"\nVersion: {onnxtext.__version__}\n" in metadata
    assert "\nRequires-Python: >=3.10\n" in metadata


COMPILER = shutil.which(sysconfig.get_config_var("CC").split()[0])
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")


def core_sources() -> list[Path]:
    """Return the sources of the native core, relative to the repository."""
    sources = (REPOSITORY / "onnxtext" / "_core").rglob("*.pyx")
    return sorted(path.relative_to(REPOSITORY) for path in sources)


def core_of(site: Path, tmp_path: Path) -> str:
    """Return the core of a process that imports onnxtext from the directory `site`."""
    script = "import onnxtext.select_core; print(onnxtext.select_core.core())"
    return run("-c", script, cwd=tmp_path, PYTHONPATH=str(site), ONNXTEXT_CORE="").strip()


def test_the_wheel_without_the_core_is_for_every_python(wheel: Path, tmp_path: Path) -> None:
    assert wheel.name.endswith("-py3-none-any.whl")
    assert core_of(unpack(wheel), tmp_path) == "python"


@needs_compiler
@pytest.mark.slow  # .ci/run compiles both, and fails if either core does not run
@pytest.mark.parametrize("hook", ["build_wheel", "build_editable"])
def test_the_core_is_compiled_if_there_is_a_compiler(
    hook: str, wheel: Path, tmp_path: Path
) -> None:
    result = build(REPOSITORY, tmp_path, hook, ONNXTEXT_CORE="native")
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    compiled = {source.with_suffix(suffix).as_posix() for source in core_sources()}
    if hook == "build_wheel":
        assert f"-cp{sys.version_info.major}{sys.version_info.minor}-" in result.name
        assert contents(result) == contents(wheel) | compiled
        assert core_of(unpack(result), tmp_path) == "native"
    else:
        assert all((REPOSITORY / name).exists() for name in compiled)


def test_an_outdated_core_does_not_run(wheel: Path, tmp_path: Path) -> None:
    site = unpack(wheel)
    core = site / "onnxtext" / "_core" / "syntax"
    module = core / f"parser{sysconfig.get_config_var('EXT_SUFFIX')}"
    module.touch()
    assert core_of(site, tmp_path) == "native"  # it is not imported
    os.utime(module, (1, 1))
    assert core_of(site, tmp_path) == "native"  # a wheel has no sources
    (core / "parser.pyx").touch()
    assert core_of(site, tmp_path) == "python"
    module.unlink()
    (core / "parser.pyx").unlink()


@pytest.mark.parametrize("hook", ["build_wheel", "build_editable"])
def test_without_a_compiler_the_wheel_is_pure_python(
    hook: str, checkout: Path, wheel: Path, tmp_path: Path
) -> None:
    missing = {"CC": "/there/is/no/compiler", "ONNXTEXT_CORE": ""}
    result = build(checkout, tmp_path, hook, **missing)
    assert result.name.endswith("-py3-none-any.whl")
    assert hook != "build_wheel" or contents(result) == contents(wheel)
    with pytest.raises(subprocess.CalledProcessError):
        build(checkout, tmp_path, hook, **missing | {"ONNXTEXT_CORE": "native"})


def test_the_sdist_is_a_whole_checkout(sdist: Path, wheel: Path, tmp_path: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.removeprefix(f"{SDIST}/") for name in archive.getnames()}
        # The archive is trusted; the filter requires 3.10.12.
        safe = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        archive.extractall(tmp_path, **safe)  # type: ignore[arg-type]
    assert sources() <= names
    for directory, pattern in (("grammar", "*"), ("examples", "*"), ("tests", "*.py")):
        files = (path for path in (REPOSITORY / directory).rglob(pattern) if path.is_file())
        assert {path.relative_to(REPOSITORY).as_posix() for path in files} <= names
    assert {"pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE", ".ci/run"} <= names
    assert {"hatch_build.py", *(path.as_posix() for path in core_sources())} <= names
    assert not [name for name in names if name.endswith((".c", ".so", ".pyd"))]
    assert not [name for name in names if ".venv" in name or "__pycache__" in name]
    # Distributors build the wheel from the sdist.
    again = build(tmp_path / SDIST, tmp_path, "build_wheel")
    assert contents(again) == contents(wheel)


PROBE = """
import json, site, sys
for directory in json.loads(sys.argv[1]):
    site.addsitedir(directory)
import onnxtext
from onnxtext.syntax.grammar.tables import grammar_path
print(json.dumps([onnxtext.__file__, str(grammar_path())]))
model = onnxtext.loads("g (float[N] x) => (float[N] y) { y = Relu (x) }")
assert onnxtext.loads(onnxtext.dumps(model)) == model
"""


def probe(tmp_path: Path, *, path: str = "", sites: tuple[Path, ...] = ()) -> tuple[Path, Path]:
    """Return the paths of the package and the grammar in a process that used both.

    `-S` skips `.pth` files, and so the environment's own installation of onnxtext; dependencies
    are imported from the paths of this process.
    """
    ours = {Path(), REPOSITORY}
    others = [entry for entry in sys.path if entry and Path(entry).resolve() not in ours]
    printed = run(
        "-S",
        "-c",
        PROBE,
        json.dumps([str(site) for site in sites]),
        cwd=tmp_path,
        PYTHONPATH=os.pathsep.join([path, *others] if path else others),
        ONNXTEXT_CACHE="",
        ONNXTEXT_CORE="",  # the wheel is without the compiled one
    )
    package, grammar = json.loads(printed)
    return Path(package), Path(grammar)


def test_the_grammar_is_found_from_the_wheel(wheel: Path, tmp_path: Path) -> None:
    site = unpack(wheel)
    package, grammar = probe(tmp_path, path=str(site))
    assert package == site / "onnxtext" / "__init__.py"
    assert grammar == site / GRAMMAR


def test_the_grammar_is_found_from_an_editable_install(tmp_path: Path) -> None:
    site = unpack(build(REPOSITORY, tmp_path, "build_editable"))
    assert not (site / "onnxtext").exists()  # no copy that could become stale
    package, grammar = probe(tmp_path, sites=(site,))
    assert package == REPOSITORY / "onnxtext" / "__init__.py"
    assert grammar == REPOSITORY / "grammar" / "onnxtext.lark"


def test_the_grammar_is_found_from_a_bare_checkout(tmp_path: Path) -> None:
    package, grammar = probe(tmp_path, path=str(REPOSITORY))
    assert package == REPOSITORY / "onnxtext" / "__init__.py"
    assert grammar == REPOSITORY / "grammar" / "onnxtext.lark"


def test_the_command_runs_from_an_installed_wheel(wheel: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    run(
        *("-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-compile"),
        *("--disable-pip-version-check", "--root-user-action=ignore"),
        *("--target", str(site), str(wheel)),
        cwd=tmp_path,
    )
    script = site / "bin" / "onnxtext"
    python_path = {"PYTHONPATH": str(site), "ONNXTEXT_CACHE": "", "ONNXTEXT_CORE": ""}
    version = f"onnxtext {onnxtext.__version__} (pure Python)\n"
    assert run(str(script), "--version", cwd=tmp_path, **python_path) == version
    assert run("-m", "onnxtext", "--version", cwd=tmp_path, **python_path) == version
    example = REPOSITORY / "examples" / "temperature.onnxtxt"
    run(str(script), "to-binary", str(example), "-o", "t.onnx", cwd=tmp_path, **python_path)
    expected = onnxtext.to_binary(example.read_text(encoding="utf-8"))
    assert (tmp_path / "t.onnx").read_bytes() == expected
