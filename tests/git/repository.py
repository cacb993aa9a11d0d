# SPDX-License-Identifier: Apache-2.0
"""Real repositories, isolated from the developer's git configuration."""

from __future__ import annotations

import itertools
import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import onnxtext
from onnxtext.git.filter_comment import NOTE
from tests.cli import command
from tests.replacements import replaced

TEXT = """\
<
  onnxtext: 1,
  ir_version: 10,
  opset_import: [20],
>
net (float[N, 4] x) => (float[N, 4] y) {
  a = Relu (x)
  b = Tanh (a)
  c = Sigmoid (b)
  d = Neg (c)
  e = Abs (d)
  y = Exp (e)
}
"""


STORED = NOTE + TEXT.encode()
"""The bytes that the filter stores in git for the model of `TEXT`."""


def binary(text: str = TEXT) -> bytes:
    """Return the binary model of a text."""
    return onnxtext.to_binary(text)


def edited(*changes: tuple[str, str]) -> bytes:
    """Return the binary model of `TEXT` after some replacements."""
    return binary(replaced(TEXT, *changes))


_SECONDS = itertools.count(1_600_000_000)
_ATTRIBUTES = (".git/info/attributes", ".gitattributes")
_INSTALLED: dict[tuple[object, ...], tuple[str | None, ...]] = {}
"""The files after `git install`, by its options and the files before."""


@dataclass
class Result:
    """The result of a command."""

    status: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        """Standard output as text."""
        return self.out.decode("utf-8", "surrogateescape")


@dataclass
class Repository:
    """A repository and the commands in it."""

    path: Path
    home: Path
    more: dict[str, str] = field(default_factory=dict)

    def run(self, *words: str | Path, given: bytes = b"", check: bool = True) -> Result:
        """Run a command at the top of the working tree."""
        done = subprocess.run(
            list(map(str, words)),
            cwd=self.path,
            input=given,
            capture_output=True,
            check=False,
            timeout=120,
            env=self.environment(),
        )
        result = Result(done.returncode, done.stdout, done.stderr.decode("utf-8", "replace"))
        return self._result(words, result, check)

    def _result(self, words: tuple[str | Path, ...], result: Result, check: bool) -> Result:
        if check:
            assert result.status == 0, (words, result.text, result.err)
        return result

    def environment(self) -> dict[str, str]:
        """Return the environment of its commands."""
        return environment(self.home, **self.more)

    def git(self, *words: str | Path, given: bytes = b"", check: bool = True) -> Result:
        """Run git."""
        return self.run("git", *words, given=given, check=check)

    def onnxtext(self, *words: str | Path, given: bytes = b"", check: bool = True) -> Result:
        """Run onnxtext."""
        done = command.run(*words, cwd=self.path, stdin=given, env=self.environment())
        return self._result(words, Result(done.status, done.out, done.err), check)

    def install(self, *options: str) -> None:
        """Run `git install`; let git fork its commands: they start faster, and do the same.

        `git install` starts git about 30 times: in equal repositories without commits, only the
        first call runs it. The commands that users have are those of `onnxtext("git", "install")`.
        """
        files = [self.path / name for name in (".git/config", *_ATTRIBUTES)]
        key = options, _contents(files)
        if key not in _INSTALLED or (self.path / ".git" / "index").exists():
            self.onnxtext("git", "install", *options)
            _INSTALLED[key] = _contents(files)
        python = self.home / "python"
        command.write_python(python, self.environment())
        words = shlex.quote(sys.executable), shlex.quote(str(python))
        for file, content in zip(files, _INSTALLED[key], strict=True):
            if content is not None:
                file.parent.mkdir(exist_ok=True)  # git makes `info` only from its templates
                file.write_text(content.replace(*words))

    def write(self, name: str, content: bytes | str) -> Path:
        """Write a file of the working tree.

        Each file gets its own modification time, in the past: git compares the content of files
        that are as new as its index, and misses changes that leave the time unchanged.
        """
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        then = next(_SECONDS)
        os.utime(path, (then, then))
        return path

    def read(self, name: str) -> bytes:
        """Read a file of the working tree."""
        return (self.path / name).read_bytes()

    def commit(self, message: str, **files: bytes) -> None:
        """Write models, named without `.onnx`, and commit everything."""
        for name, content in files.items():
            self.write(f"{name}.onnx", content)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)

    def blob(self, name: str, at: str = "HEAD") -> bytes:
        """Return what git stores for a file."""
        return self.git("cat-file", "blob", f"{at}:{name}").out

    def unchanged(self) -> None:
        """Assert that git sees no change."""
        assert self.git("status", "--porcelain").text == ""

    def clone(self, name: str, *options: str) -> Repository:
        """Clone the repository into a directory beside it."""
        other = self.path.parent / name
        self.git("clone", "-q", *options, self.path.as_uri(), other)
        return Repository(other, self.home, self.more)

    def touch(self) -> None:
        """Make git look at the content of all files again."""
        for path in self.path.rglob("*.onnx"):
            status = path.stat()
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + 1_000_000_000))


def _contents(files: list[Path]) -> tuple[str | None, ...]:
    return tuple(file.read_text() if file.exists() else None for file in files)


def environment(home: Path, **more: str) -> dict[str, str]:
    """Return an environment without settings of the developer's shell and git."""
    unwanted = ("GIT_", "XDG_", "ONNXTEXT_", "PYTHONPATH", "NO_COLOR", "EDITOR")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(unwanted)}
    return {
        **kept,
        "HOME": str(home),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": str(home / ".gitconfig"),
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_EDITOR": "true",
        "LC_ALL": "C.UTF-8",
        # The parse tables need not be made again for each home.
        "ONNXTEXT_CACHE": os.environ.get("ONNXTEXT_CACHE", str(Path.home() / ".cache/onnxtext")),
        **more,
    }


def create(directory: Path, *options: str) -> Repository:
    """Create a repository in a directory with a blank in its name."""
    home = directory / "home"
    home.mkdir(exist_ok=True)
    repository = Repository(directory / "my repository", home)
    repository.path.mkdir()
    config = """\
[user]
\tname = Somebody
\temail = somebody@example.org
[init]
\tdefaultBranch = main
[protocol "file"]
\tallow = always
[advice]
\tdetachedHead = false
"""
    (home / ".gitconfig").write_text(config)
    repository.git("init", "-q", *options)
    return repository


def has_git() -> bool:
    """Whether git is installed."""
    return shutil.which("git") is not None
