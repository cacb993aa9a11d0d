# SPDX-License-Identifier: Apache-2.0
"""Read the file to edit, write or show the edited model, and find errors that the edit adds."""

from __future__ import annotations

import difflib
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from onnxtext.cli.command_errors import CommandError, exists_error, io_errors, terminal_error
from onnxtext.cli.conversion_jobs import STDIN
from onnxtext.cli.streams import read_argument, write_stdout
from onnxtext.diagnostics import Diagnostic
from onnxtext.io.files import has_content, is_stream, write_atomically
from onnxtext.io.text_or_binary import BINARY_SUFFIX, TEXT_SUFFIXES
from onnxtext.terminal import is_terminal, wants_color


@dataclass(frozen=True)
class EditTarget:
    """The file to edit, and where to write the result.

    Attributes:
        file: the file to edit; `-` for standard input.
        output: the file to write; `-` for standard output; None to replace `file`.
        force: whether to overwrite `output` if it exists.
        diff: whether to show the differences and write nothing.
    """

    file: str
    output: str | None
    force: bool
    diff: bool

    @property
    def name(self) -> str:
        """The name of the edited file in messages."""
        return STDIN if self.file == "-" else self.file


def read(target: EditTarget) -> bytes:
    """Return the content of the file to edit.

    Raises:
        CommandError: the file cannot be read, or is to be replaced but is not a regular file.
    """
    replaces = target.file != "-" and target.output is None and not target.diff
    if replaces and is_stream(Path(target.file)):
        raise CommandError(
            "cannot-write",
            f"{target.file} is not a regular file and cannot be replaced",
            help="name another output with -o",
        )
    return read_argument(target.file, target.name)


def _convert(target: EditTarget, content: str | bytes) -> bytes:
    """Return the bytes to write: a text or a binary model, as the suffix of the output requires."""
    import onnxtext

    suffix = Path(target.output or "").suffix.lower()
    if isinstance(content, str):
        if suffix != BINARY_SUFFIX:
            return content.encode()
        base = None if target.file == "-" else Path(target.file).parent
        return onnxtext.to_binary(content, base_dir=base, name=target.name)
    if suffix in TEXT_SUFFIXES:
        return onnxtext.from_binary(content, name=target.name).encode()
    return content


def write(target: EditTarget, old: bytes, content: str | bytes) -> None:
    """Write an edited text or model to the target's output, or over the edited file.

    Args:
        target: the file to write.
        old: the content of the file before the edit.
        content: the edited text, or the bytes of the edited model.

    Raises:
        CommandError: the output cannot be written.
        OnnxTextError: the suffix of the output requires a conversion between text and binary model,
            which has failed.
    """
    new = _convert(target, content)
    if target.output == "-" or (target.output is None and target.file == "-"):
        if b"\0" in new[:4096] and is_terminal(sys.stdout):
            raise terminal_error()
        write_stdout([new])
        return
    path = Path(target.file if target.output is None else target.output)
    with io_errors("write", path):
        if target.output is None:
            if new != old:
                write_atomically(path, new, instead_of=old)
        elif path.is_file() and not target.force and not has_content(path, new):
            raise exists_error(path)
        else:
            write_atomically(path, new)


def show(old: str | bytes, new: str | bytes, target: EditTarget, color: str) -> None:
    """Print the unified diff of two texts, or the model diff of two binary models."""
    if isinstance(old, str) and isinstance(new, str):
        shown = line_diff(old, new, target.name, f"{target.name} (edited)")
    else:
        import onnxtext
        from onnxtext.differ.render.text import render

        shown = render(onnxtext.diff(old, new), color=wants_color(color, sys.stdout))
    write_stdout([shown.encode("utf-8", "backslashreplace")])


def line_diff(old: str, new: str, old_name: str, new_name: str) -> str:
    """Return the unified diff of two texts, in which only LF ends a line.

    `patch` and `git apply` accept it: a last line without LF is marked.
    """
    lines = difflib.unified_diff(_lines(old), _lines(new), old_name, new_name)
    return "".join(
        [
            line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
            for line in lines
        ]
    )


def _lines(text: str) -> list[str]:
    """Return the lines of a text with their LF, which the last line may lack."""
    *lines, last = text.split("\n")
    return [f"{line}\n" for line in lines] + ([last] if last else [])


def new_findings(target: EditTarget, old: str | bytes, new: str | bytes) -> list[Diagnostic]:
    """Return the errors, and the warnings about contradictory sizes, that an edit has added.

    Args:
        target: the edited file.
        old: the model before the edit, as a text or bytes.
        new: the model after the edit.
    """
    if old == new:
        return []
    old_errors = Counter([(item.code, item.message) for item in _errors(target, old)])
    result = []
    for item in _errors(target, new):
        if old_errors[item.code, item.message] > 0:
            old_errors[item.code, item.message] -= 1
        else:
            result.append(item)
    return result


def _errors(target: EditTarget, content: str | bytes) -> list[Diagnostic]:
    from onnxtext.checker.engine.check_source import check_any

    base = None if target.file == "-" else Path(target.file).parent
    diagnostics = check_any(content, name=target.name, base_dir=base)
    return [
        item
        for item in diagnostics
        if item.severity == "error" or (item.severity == "warning" and item.code in _SIZE_CODES)
    ]


_SIZE_CODES = ("dim-forced", "dim-variable-conflict")
"""The codes of warnings about contradictory sizes."""
