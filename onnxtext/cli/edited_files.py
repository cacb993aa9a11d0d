# SPDX-License-Identifier: Apache-2.0
"""Read the file to edit, write or show the edited model, and find errors that the edit adds."""

from __future__ import annotations

import difflib
import sys
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

from onnxtext.cli.command_errors import CommandError, io_errors
from onnxtext.cli.left_behind_data import warn_if_left_behind
from onnxtext.cli.named_files import InputFile, output_path
from onnxtext.cli.streams import read_file, write_output, write_stdout
from onnxtext.diagnostics import Diagnostic
from onnxtext.diagnostics.terminal_text import visible_char
from onnxtext.io.files import is_stream, write_atomically
from onnxtext.io.text_or_binary import BINARY_SUFFIX, TEXT_SUFFIXES
from onnxtext.terminal import wants_color


@dataclass(frozen=True)
class EditTarget(InputFile):
    """The file to edit, and where to write the result.

    Attributes:
        output: the file to write; `-` for standard output; None to replace the edited file.
        force: whether to overwrite `output` if it has other content.
        diff: whether to show the differences and write nothing.
    """

    output: str | None
    force: bool = False
    diff: bool = False


def read(target: EditTarget) -> bytes:
    """Return the content of the file to edit.

    Raises:
        CommandError: the file cannot be read, or is to be replaced but is not a regular file.
    """
    if target.output is None and not target.diff:
        check_replaceable(target, "name another output with `-o`")
    return read_file(target)


def check_replaceable(file: InputFile, help: str) -> None:
    """Raise a CommandError if a file that will be replaced is a pipe or a device."""
    if file.source is not None and is_stream(file.source):
        message = f"{file.name} is not a regular file and cannot be replaced"
        raise CommandError("cannot-write", message, help)


def _convert(target: EditTarget, content: str | bytes) -> bytes:
    """Return the bytes to write, converted if the output's suffix asks for the other form."""
    import onnxtext

    suffix = Path(target.output or "").suffix.lower()
    if isinstance(content, str):
        if suffix != BINARY_SUFFIX:
            return content.encode()
        base = None if target.source is None else target.directory
        return onnxtext.to_binary(content, base_dir=base, name=target.name)
    if suffix in TEXT_SUFFIXES:
        return onnxtext.from_binary(content, name=target.name).encode()
    return content


def write(target: EditTarget, old: bytes, content: str | bytes) -> None:
    """Write an edited text or model to `target.output`.

    If it is None, replace the edited file; for standard input, write to standard output.
    `old` is the content of the file before the edit.

    Raises:
        CommandError: the output cannot be written.
        OnnxTextError: the suffix of the output requires a conversion between text and binary model,
            which has failed.
    """
    new = _convert(target, content)
    if target.output is not None or target.source is None:
        path = output_path(target.output)
        write_output(path, new, force=target.force)
        is_text = isinstance(content, str) and Path(path or "").suffix.lower() != BINARY_SUFFIX
        warn_if_left_behind(content, (target.directory,), path, weights=is_text)
    elif new != old:
        replace_edited(target.source, new, old)


def replace_edited(path: Path, new: bytes, old: bytes) -> None:
    """Replace a file by its edited content, unless the file has changed since it was read.

    Raises:
        CommandError: the file has changed, or cannot be written.
    """
    with io_errors("write", path):
        write_atomically(path, new, instead_of=old)


def show(old: str | bytes, new: str | bytes, target: EditTarget, color: str) -> None:
    """Print the unified diff of two texts, or the model diff of two binary models.

    Raises:
        CommandError: standard output is closed, or cannot be written.
        OnnxTextError: a binary model is not valid.
    """
    names = target.name, f"{target.name} (edited)"
    if isinstance(old, str) and isinstance(new, str):
        shown = line_diff(old, new, *names)
    else:
        import onnxtext
        from onnxtext.differ.render.text import render

        found = replace(onnxtext.diff(old, new), old_label=names[0], new_label=names[1])
        shown = render(found, color=wants_color(color, sys.stdout))
    write_stdout([shown.encode("utf-8", "backslashreplace")])


def line_diff(old: str, new: str, old_name: str, new_name: str) -> str:
    """Return the unified diff of two texts, in which only LF ends a line.

    `patch` and `git apply` accept it: a last line without LF is marked. Controls in the names are
    escaped, because a line feed would end the line.
    """
    before, after = old_name.translate(_CONTROLS), new_name.translate(_CONTROLS)
    lines = difflib.unified_diff(_lines(old), _lines(new), before, after)
    return "".join(
        [
            line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
            for line in lines
        ]
    )


_CONTROLS = {code: visible_char(chr(code)) for code in range(0x20)}


def _lines(text: str) -> list[str]:
    """Return the lines of a text with their LF, which the last line may lack."""
    *lines, last = text.split("\n")
    return [f"{line}\n" for line in lines] + ([last] if last else [])


def new_findings(target: EditTarget, old: str | bytes, new: str | bytes) -> list[Diagnostic]:
    """Return the errors, and the warnings about contradictory sizes, that an edit has added."""
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

    base = None if target.source is None else target.directory
    diagnostics = check_any(content, name=target.name, base_dir=base)
    return [
        item
        for item in diagnostics
        if item.severity == "error" or (item.severity == "warning" and item.code in _SIZE_CODES)
    ]


_SIZE_CODES = ("dim-forced", "dim-variable-conflict")
"""The codes of warnings about contradictory sizes."""
