# SPDX-License-Identifier: Apache-2.0
"""Read a git attributes file, and edit onnxtext's block of lines; every other byte is kept.

Source: gitattributes(5), DESCRIPTION: a line is a pattern and attributes, `#` begins a comment, and
later lines override earlier ones. So our block goes to the end.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from onnxtext.diagnostics import Diagnostic, OnnxTextError
from onnxtext.git.repository import Scope, run_git, to_path, top_level
from onnxtext.io.files import write_atomically
from onnxtext.io.os_errors import reason_of

_BEGIN = b"# onnxtext git install: begin"
_END = b"# onnxtext git install: end"
# Suffixes of the begin comment. They record the state of the file before `install`, which
# `uninstall` restores.
_NEW_FILE = b" (in a new file)"
_UNENDED = b" (after a line without an end)"
_BLOCK = re.compile(
    rb"(?P<line_end>\r?\n)?^%b(?P<note>%b|%b)?\r?\n(?P<lines>(?:(?!%b|%b).*\n)*)%b(?:\r?\n|\Z)"
    % tuple(map(re.escape, (_BEGIN, _NEW_FILE, _UNENDED, _BEGIN, _END, _END))),
    re.MULTILINE,
)
"""Matches onnxtext's block, and the line end before the block."""


class DamagedBlock(ValueError):
    """The begin and end comments of onnxtext's block do not form exactly one block."""


@dataclass(frozen=True, slots=True)
class AttributesFile:
    """The content of an attributes file.

    Attributes:
        content: its bytes; None if there is no file.
    """

    content: bytes | None

    def lines(self) -> list[str]:
        """Return the lines of onnxtext's block; [] if there is no block.

        Raises:
            DamagedBlock: the block is incomplete or occurs twice.
        """
        block = self._block()
        if block is None:
            return []
        ours = block["lines"].decode("utf-8", "surrogateescape").split("\n")[:-1]
        return [line.rstrip("\r") for line in ours]

    def with_lines(self, lines: list[str]) -> bytes | None:
        """Return the content of the file with `lines` in onnxtext's block.

        Args:
            lines: the new lines; if empty, the block is removed.

        Returns:
            The new content; None if the file should not exist.

        Raises:
            DamagedBlock: the block is incomplete or occurs twice.
        """
        block = self._block()
        content = self.content or b""
        if block is None:
            if not lines:
                return self.content
            note = self._begin_suffix()
            return content + self._line_end() * (note == _UNENDED) + self._block_bytes(lines, note)
        line_end, note = block["line_end"] or b"", block["note"] or b""
        before, after = content[: block.start()], content[block.end() :]
        if lines:
            return before + line_end + self._block_bytes(lines, note) + after
        # Remove the line end before the block if `install` added it and the block is still last.
        rest = before + (b"" if note == _UNENDED and not after else line_end) + after
        return None if note == _NEW_FILE and not rest else rest

    def _block(self) -> re.Match[bytes] | None:
        content = self.content or b""
        matches = list(_BLOCK.finditer(content))
        if (
            len(matches) > 1
            or content.count(_BEGIN) != len(matches)
            or content.count(_END) != len(matches)
        ):
            raise DamagedBlock(
                f"the block between `{_BEGIN.decode()}` and `{_END.decode()}` is damaged: "
                "remove both comments and the lines between them"
            )
        return matches[0] if matches else None

    def _begin_suffix(self) -> bytes:
        """Return the suffix of the begin comment; `uninstall` needs it to restore the file.

        The suffix records that the file is new, or that it had no newline at its end.
        """
        if self.content is None:
            return _NEW_FILE
        return _UNENDED if self.content and not self.content.endswith(b"\n") else b""

    def _line_end(self) -> bytes:
        return b"\r\n" if b"\r\n" in (self.content or b"") else b"\n"

    def _block_bytes(self, lines: list[str], note: bytes) -> bytes:
        """Return a block with the lines; `note` is the suffix of its begin comment."""
        ours = [_BEGIN + note, *[line.encode("utf-8", "surrogateescape") for line in lines], _END]
        return b"".join(line + self._line_end() for line in ours)


def read_attributes(path: Path) -> AttributesFile:
    """Read an attributes file; if it does not exist, the content is None.

    Raises:
        OnnxTextError: the file cannot be read.
    """
    try:
        return AttributesFile(path.read_bytes())
    except FileNotFoundError:
        return AttributesFile(None)
    except OSError as error:
        message = f"cannot read {path}: {reason_of(error)}"
        raise OnnxTextError(Diagnostic("cannot-read", message)) from None


def block_lines(path: Path) -> list[str]:
    """Return the lines of onnxtext's block in a file; [] if it cannot be read or is damaged."""
    try:
        return read_attributes(path).lines()
    except (DamagedBlock, OnnxTextError):
        return []


def write_attributes(path: Path, content: bytes | None) -> None:
    """Write an attributes file, and create its directory. If the content is None, remove the file.

    Raises:
        OSError: the file cannot be written or removed.
    """
    if content is None:
        path.unlink()
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, content)


def default_file(scope: Scope) -> Path:
    """Return the default attributes file of a repository or user (gitattributes(5))."""
    if scope == "local":
        # All working trees of the repository share this file; it is never committed.
        return absolute(to_path(run_git("rev-parse", "--git-path", "info/attributes")))
    file = run_git("config", "--global", "--type=path", "--get", "core.attributesFile", fails=[1])
    if file:
        return absolute(to_path(file))
    home = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(home, "git", "attributes")


def absolute(path: Path) -> Path:
    """Return an absolute path without `..`."""
    return Path(os.path.abspath(path))  # noqa: PTH100  # keep symbolic links


def path_to_record(scope: Scope, file: Path) -> str:
    """Return the path of the attributes file to record in the configuration.

    The path of a file in the working tree is relative, because users may move the working tree.
    """
    top = top_level() if scope == "local" else None
    if top is not None and file.is_relative_to(absolute(top)):
        return file.relative_to(absolute(top)).as_posix()
    return str(file)


def resolve_recorded(scope: Scope, recorded: str) -> Path:
    """Return the attributes file for a path that `path_to_record` has returned."""
    top = top_level() if scope == "local" else None
    return absolute(Path(recorded) if top is None else top / recorded)


def display_path(path: Path) -> str:
    """Return a path for display: relative if it is below the current directory."""
    current = absolute(Path())
    return str(path.relative_to(current) if path.is_relative_to(current) else path)
