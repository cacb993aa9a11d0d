#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run any development routine: `python3 dev.py --help` lists them.

It needs only the standard library, on Linux, macOS and Windows. Each command first updates the
virtual environment: `.venv`, or the directory in `ONNXTEXT_VENV`. If there is a C compiler, it then
also compiles the native core whenever its sources have changed.

Exit status: 0 on success, 1 if something fails, 2 after wrong usage or if the environment cannot be
set up.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent
OLDEST = (3, 10)
EXAMPLE = "examples/classifier.onnxtxt"
SITE = "build/site"
EXTENSION = "vscode-extension/onnxtext.vsix"
DOCS = (
    "tests/test_readme.py",
    "tests/test_docs.py",
    "tests/test_site.py",
    "tests/test_walkthroughs.py",
    "tests/test_spec.py",
    "tests/git/test_docs.py",
    "tests/differ/test_docs.py",
    "tests/diagnostics/test_pages.py",
)
VENV = ("-m", "venv")
INSTALL = ("install", "-e")
BENCHMARKS = ("check", "diff", "fmt", "lsp", "merge", "shapes", "weights")
HELP = """
commands:
  try       set up, then convert an example to binary and back, and print it
  test      the quick tests (under 3 minutes); --all: every test; --rest: only the thorough ones
  lint      ruff and mypy; --fix applies automatic fixes
  docs      build the site in build/site, then execute the commands and examples of README, docs/
            and grammar/SPEC.md; --site: only build the site
  bench     the benchmarks; `bench NAME` runs benchmarks/NAME.py
  bless     rewrite the golden files, then show what changed
  schemas   make the table of the installed onnxruntime's operators again
  release   build and check the packages and the site; --draft: even if the version is not ready
  setup     set up only

Other arguments are passed to the tool: `python3 dev.py test tests/merger -k rename`.
"""


def main() -> int:
    """Run a command from the command line."""
    parser = argparse.ArgumentParser(
        prog="dev.py",
        description="Routines of development.",
        epilog=HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", choices=COMMANDS, metavar="COMMAND")
    parser.add_argument("words", nargs=argparse.REMAINDER, metavar="...", help="see below")
    arguments = parser.parse_args()
    if arguments.words in (["-h"], ["--help"]) and arguments.command != "bench":
        parser.print_help()  # before `set_up`, which takes minutes; `bench` has options of its own
        return 0
    os.chdir(ROOT)
    return COMMANDS[arguments.command](arguments.words)


# ---- The commands -------------------------------------------------------------------------------


def try_it(words: list[str]) -> int:
    """Convert an example to binary and back, print it, and verify that no byte is lost."""
    example = words[0] if words else EXAMPLE
    python = set_up("")
    with tempfile.TemporaryDirectory() as directory:
        binary = Path(directory) / f"{Path(example).stem}.onnx"
        steps = [
            ["to-binary", example, "-o", str(binary)],
            ["from-binary", str(binary), "-o", "-"],
            ["verify", str(binary)],
        ]
        for step in steps:
            if status := run(python, "-m", "onnxtext", *step):
                return status
            if step[0] == "to-binary":
                size = binary.stat().st_size
                print(f"{example} is now {binary}: {size} bytes. Back as text:", flush=True)
    command = shown([str(python.with_name("onnxtext")), "--help"])
    print(f"\nIt works. The command is `{command}`; next: `python3 dev.py test`.")
    return 0


def test(words: list[str]) -> int:
    """Run the quick tests, all tests, or only the thorough ones."""
    selections = {"--all": "not slow", "--rest": "thorough and not slow"}
    chosen = [word for word in words if word in selections]
    for word in chosen:
        words = [other for other in words if other != word] + ["-m", selections[word]]
    return run(set_up("dev"), "-m", "pytest", *words)


def lint(words: list[str]) -> int:
    """Run ruff and mypy, even if one fails."""
    fix = words == ["--fix"]
    if words and not fix:
        return usage("lint takes nothing but --fix")
    python = set_up("dev")
    steps = [
        ["ruff", "check", *(["--fix"] if fix else [])],
        ["ruff", "format", *([] if fix else ["--check"])],
        ["mypy"],
    ]
    return max([run(python, "-m", *step) for step in steps])


def docs(words: list[str]) -> int:
    """Build the site; execute the examples of README, docs/ and the language reference."""
    python = set_up("dev")
    # The variable disables a warning of mkdocs-material about mkdocs 2.
    if status := run(python, "-m", "mkdocs", "build", "--quiet", NO_MKDOCS_2_WARNING="true"):
        return status
    print(f"The site is in {SITE}: open {SITE}/index.html.", flush=True)
    if words == ["--site"]:
        return 0
    return run(python, "-m", "pytest", "-m", "not slow", *DOCS, *words)


def bench(words: list[str]) -> int:
    """Run the benchmarks, or one module of `benchmarks`."""
    module = "benchmarks"
    if words and words[0] in BENCHMARKS:
        module, words = f"benchmarks.{words[0]}", words[1:]
    return run(set_up("dev"), "-m", module, *words)


def bless(words: list[str]) -> int:
    """Rewrite golden files and the outputs in docs/, then show what changed."""
    python = set_up("dev")
    tests = [str(python), "-m", "pytest", "-m", "not slow", *golden_tests(words)]
    status = run(*tests, ONNXTEXT_BLESS="1")
    if status:  # some tests fail when they write a golden file, but must pass then
        status = run(*tests, "--last-failed")
    if shutil.which("git") and (ROOT / ".git").exists():
        run("git", "--no-pager", "diff", "--stat")
        run("git", "ls-files", "--others", "--exclude-standard")  # new golden files
    print("Read `git diff` and the new files before you commit: they show what users will see.")
    return status


def golden_tests(words: list[str]) -> list[str]:
    """Return arguments for pytest: `words`; if these name no tests, also the golden tests.

    Golden tests are the test files that mention `ONNXTEXT_BLESS`.
    """
    if any("tests" in Path(word).parts for word in words):
        return words
    files = [
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "tests").rglob("test_*.py")
        if "ONNXTEXT_BLESS" in path.read_text(encoding="utf-8")
    ]
    return [*words, *sorted(files)]


def schemas(words: list[str]) -> int:
    """Make the table of the installed onnxruntime's operators; hand-written bodies are kept."""
    if words:
        return usage("schemas takes no arguments")
    table = "onnxtext/schemas/onnxruntime.onnxschema"
    return run(set_up("dev"), "-m", "onnxtext", "schemas", "import", "onnxruntime", "-o", table)


def release(words: list[str]) -> int:
    """Build the packages in dist/ and the site; check them; test the wheel in an environment.

    Without `--draft`, fail before that if the version is not ready for a release.
    """
    draft = words == ["--draft"]
    if words and not draft:
        return usage("release takes nothing but --draft")
    problems = [*release_problems(ROOT), *extension_problems(ROOT)]
    for problem in problems:
        print(f"release: {problem}", file=sys.stderr)
    if problems and not draft:
        return 1
    python = set_up("dev")
    dist = ROOT / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    if status := run(python, "-m", "hatchling", "build", "-d", str(dist)):
        return status
    with tempfile.TemporaryDirectory() as directory:
        # The environment has the Python of `python`, because the pip of an older Python can fail.
        run(python, *VENV, "--without-pip", str(Path(directory) / "venv"), check=True)
        fresh = python_of(Path(directory) / "venv")
        install = (python, "-m", "pip", "--python", fresh, "install", "--quiet")
        (wheel,) = dist.glob("*.whl")
        run(*install, wheel, check=True)
        model = Path(directory) / "model.onnx"
        for step in (["to-binary", EXAMPLE, "-o", str(model)], ["verify", str(model)]):
            # -I: import the installed package, not the one in this directory.
            if status := run(fresh, "-I", "-m", "onnxtext", *step):
                return status
        if not (Path(directory) / "venv" / "share" / "man" / "man1" / "onnxtext.1").exists():
            print("release: the wheel has no manual page", file=sys.stderr)
            return 1
        # Check the metadata and the description, which PyPI may reject.
        run(*install, "twine>=5", check=True)
        packages = sorted(dist.iterdir())
        if status := run(fresh, "-m", "twine", "check", "--strict", *packages):
            return status
    if status := docs(["--site"]):
        return status
    print("\n".join(["The packages are in dist:", *sorted(path.name for path in dist.iterdir())]))
    return 0


def release_problems(root: Path) -> list[str]:
    """Return the reasons why the working tree is not ready for a release."""
    problems = []
    version = package_version(root)
    changes = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    first = re.search(r"^## (.*)$", changes, re.MULTILINE)
    wanted = rf"\[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d"
    if first is None or not re.fullmatch(wanted, first[1]):
        problems.append(f"the first section of CHANGELOG.md is not `[{version}] - YYYY-MM-DD`")
    if "/OWNER/" in (root / "pyproject.toml").read_text(encoding="utf-8"):
        problems.append("pyproject.toml has no address of the repository: OWNER is a placeholder")
    state = git(root, "status", "--porcelain")
    if state is None:
        problems.append("this is not a git repository")
    elif state:
        problems.append("there are uncommitted changes")
    elif git(root, "tag", "--list", f"v{version}"):
        problems.append(f"version {version} is already released: the tag v{version} exists")
    return problems


def extension_problems(root: Path) -> list[str]:
    """Return the reasons why the package of the VS Code extension is not ready for a release."""
    version = package_version(root)
    with (root / EXTENSION).with_name("package.json").open(encoding="utf-8") as file:
        own = json.load(file)["version"]
    if own != version:
        return [f"vscode-extension/package.json has version {own}, the package has {version}"]
    try:
        with zipfile.ZipFile(root / EXTENSION) as archive:
            packed = json.loads(archive.read("extension/package.json"))["version"]
    except (OSError, KeyError, zipfile.BadZipFile):
        return [f"{EXTENSION} is missing or invalid: build it with `.ci/extension`"]
    if packed != version:
        return [f"{EXTENSION} has version {packed}: rebuild it with `.ci/extension`"]
    return []


def setup(words: list[str]) -> int:
    """Set up the environment with all tools."""
    if words:
        return usage("setup takes no arguments")
    set_up("dev")
    return 0


COMMANDS = {
    "try": try_it,
    "test": test,
    "lint": lint,
    "docs": docs,
    "bench": bench,
    "bless": bless,
    "schemas": schemas,
    "release": release,
    "setup": setup,
}


# ---- The environment ----------------------------------------------------------------------------


def set_up(extra: str) -> Path:
    """Update the virtual environment; return its Python. Exit on failure.

    `extra` is the pip extra to install, such as `dev`; "" for none.

    A file in the environment records what was installed; if nothing has changed, nothing is done.
    """
    home = Path(os.environ.get("ONNXTEXT_VENV") or ROOT / ".venv").absolute()
    python = python_of(home)
    note = home / "onnxtext-dev.json"
    wanted = {"extra": extra, "sources": fingerprint()}
    if python.exists() and note.exists():
        done = json.loads(note.read_text(encoding="utf-8"))
        if done in (wanted, {**wanted, "extra": "dev"}):
            return python
        wanted["extra"] = extra or done["extra"]  # keep installed tools up to date
    if home.is_symlink() and "ONNXTEXT_VENV" not in os.environ:
        cannot(f"{home} is a symbolic link, perhaps to the environment of another tree: remove it")
    print(f"Setting up {home} (a minute or two, once)", flush=True)
    if not python.exists():
        make_environment(home)
    requirement = f".[{wanted['extra']}]" if wanted["extra"] else "."
    if run(python, "-m", "pip", *INSTALL, requirement, "--quiet"):
        cannot("pip could not install onnxtext: see above; it needs a network")
    note.write_text(json.dumps(wanted), encoding="utf-8")
    run(python, "-m", "onnxtext", "--version")
    asked = os.environ.get("ONNXTEXT_CORE")
    script = "from onnxtext.select_core import core; raise SystemExit(core() != 'native')"
    if asked != "python" and subprocess.call([str(python), "-c", script]):
        print(
            "onnxtext runs in pure Python, which is slower: for the native core, install a C "
            "compiler and Python's headers"
        )
    return python


def fingerprint() -> str:
    """Return a digest of all inputs of the installation; if it changes, `set_up` installs again."""
    compiler = next((name for name in ("cc", "gcc", "clang", "cl") if shutil.which(name)), "")
    facts = [sys.version, str(ROOT), os.environ.get("ONNXTEXT_CORE", ""), compiler]
    digest = hashlib.sha256("\0".join(facts).encode())
    core = ROOT / "onnxtext" / "_core"
    sources = [*core.rglob("*.pyx"), *core.rglob("*.pxd")]
    for path in [ROOT / "pyproject.toml", ROOT / "hatch_build.py", *sorted(sources)]:
        digest.update(path.read_bytes())
    return digest.hexdigest()


def make_environment(home: Path) -> Path:
    """Make a virtual environment; return its Python. Exit if that fails.

    As root on Debian, install the missing module `venv` if necessary.
    """
    command = [sys.executable, *VENV, "--clear", str(home)]
    if run(*command):
        # On Debian, the module is in a separate package.
        if not (shutil.which("apt-get") and hasattr(os, "geteuid") and os.geteuid() == 0):
            cannot("Python could not make an environment; on Debian: sudo apt install python3-venv")
        install = ["apt-get", "install", "-qq", "-y", "--no-install-recommends", "python3-venv"]
        for step in (["apt-get", "update", "-qq"], install, command):
            run(*step, check=True)
    return python_of(home)


def python_of(home: Path) -> Path:
    """Return the Python of a virtual environment."""
    return home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


# ---- Processes ----------------------------------------------------------------------------------


def run(*command: str | Path, check: bool = False, **environment: str) -> int:
    """Show a command and run it; return its exit status. With `check`, exit if it fails."""
    words = [str(word) for word in command]
    print(f"$ {shown(words)}", flush=True)
    variables = {**os.environ, **QUIET, **environment}
    for name in ("PYTHONPATH", "PYTHONHOME"):  # of another environment
        variables.pop(name, None)
    try:
        status = subprocess.run(words, env=variables, check=False).returncode
    except KeyboardInterrupt:
        status = 130
    if status and check:
        cannot(f"command failed: {shown(words)}")
    return status


QUIET = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_ROOT_USER_ACTION": "ignore"}


def shown(words: list[str]) -> str:
    """Return a command as one would type it in a shell in this directory."""
    prefix = f"{ROOT}{os.sep}"
    return " ".join(shlex.quote(word.removeprefix(prefix)) for word in words)


def git(root: Path, *words: str) -> str | None:
    """Return the output of a git command; None if it fails."""
    try:
        done = subprocess.run(
            ["git", *words], cwd=root, capture_output=True, text=True, check=False
        )
    except OSError:
        return None
    return None if done.returncode else done.stdout


def package_version(root: Path) -> str:
    """Return the version of the package in a tree."""
    text = (root / "onnxtext" / "__init__.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "(.*)"$', text, re.MULTILINE)
    return found[1] if found else "?"


def usage(message: str) -> int:
    """Report wrong usage; return the exit status."""
    print(f"dev.py: {message}", file=sys.stderr)
    return 2


def cannot(message: str) -> None:
    """Exit because the environment cannot be set up."""
    print(f"dev.py: {message}", file=sys.stderr)
    raise SystemExit(2)


if __name__ == "__main__":
    if sys.version_info < OLDEST:
        cannot("this Python is {}.{}; 3.10 or newer is needed".format(*sys.version_info[:2]))
    raise SystemExit(main())
