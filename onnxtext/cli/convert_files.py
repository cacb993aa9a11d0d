# SPDX-License-Identifier: Apache-2.0
"""Convert files one by one, for `to-binary` and `from-binary`."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from onnxtext.cli.command_errors import (
    CommandError,
    check_inputs,
    check_not_overwritten,
    exists_error,
    io_errors,
    no_input_error,
    terminal_error,
)
from onnxtext.cli.left_behind_data import warn_of_left_behind
from onnxtext.cli.named_files import ConversionJob, plan_jobs, warn_of_other_suffix
from onnxtext.cli.progress import Progress, process_files
from onnxtext.cli.report import Reporter
from onnxtext.cli.streams import read_file, write_stdout
from onnxtext.io.files import holds_pieces, is_same, mapped, replace_file
from onnxtext.io.path_safety import unsafe_reason
from onnxtext.terminal import is_terminal
from onnxtext.wire.writer import MAX_MESSAGE_BYTES

if TYPE_CHECKING:
    from onnxtext.diagnostics import Diagnostic
    from onnxtext.weights.external_data import ExternalFile
    from onnxtext.weights.write_resources import WeightFiles
    from onnxtext.wire.writer import Piece

_check_again = partial(check_inputs, again=True)


class Output(NamedTuple):
    """The result of a conversion.

    Attributes:
        beside: weight files to write beside the output, before it; None if there are none.
        external: the file of ONNX external data to write with the output; None if there is none.
        referenced: the external data files of the input or output; weights must not replace them.
        left_behind: warnings to report after the output was written.
    """

    pieces: list[Piece]
    beside: WeightFiles | None = None
    external: ExternalFile | None = None
    referenced: tuple[Path, ...] = ()
    left_behind: Sequence[Diagnostic] = ()


class Conversion(NamedTuple):
    """One direction of conversion: `to-binary` or `from-binary`.

    Attributes:
        convert: returns the output for the bytes of an input and its job.
        binary: `in` if inputs are binary, `out` if outputs are. Binary models are neither read from
            nor written to a terminal.
    """

    convert: Callable[[bytes, ConversionJob], Output]
    binary: Literal["in", "out"]


def run(
    conversion: Conversion,
    inputs: tuple[str, ...],
    output: str | None,
    *,
    force: bool,
    reporter: Reporter,
) -> None:
    """Convert all inputs; after an error in one, continue with the next.

    `inputs` and `output` are those of `plan_jobs`, which may raise a UsageError. `force` tells
    whether to overwrite existing files that have other content.
    """
    jobs = plan_jobs(inputs, output, conversion.binary == "out")
    convert = partial(_convert, conversion, force)
    process_files(jobs, reporter, convert, "could not be converted")


def _convert(conversion: Conversion, force: bool, job: ConversionJob, progress: Progress) -> None:
    """Convert one input and write the output; never overwrite an input or another output."""
    _check_output(conversion, job)
    result = conversion.convert(_read(conversion, job), job)
    if job.target is None:
        write_stdout(result.pieces)
    else:
        if result.beside is not None:
            _check_weights(job, result, result.beside.base / result.beside.place.path)
        if result.external is not None:
            _check_weights(job, result, job.target.with_name(result.external.name))
        _write(job.target, result, force, job.makes_directory, progress)
        warn_of_left_behind(result.left_behind)
        warn_of_other_suffix(job.target, is_binary=conversion.binary == "out")


def _check_output(conversion: Conversion, job: ConversionJob) -> None:
    """Raise a CommandError if the output is not allowed; called before the input is read."""
    if conversion.binary == "out" and _ends_on_terminal(job.target):
        raise terminal_error()
    if job.target is None:
        return
    if job.derived:
        _check_derived(job.target)
    inverse = "from-binary" if conversion.binary == "out" else "to-binary"
    help = f"name another output with `-o`; `{inverse}` converts in the other direction"
    check_not_overwritten([job.source], job.target, "its own conversion", help)
    if job.clash is not None:
        raise CommandError(
            "output-exists",
            f"{job.name} and {job.clash} would both be written to {job.target}",
            help="convert them into different directories",
        )


def _check_weights(job: ConversionJob, result: Output, weights: Path) -> None:
    """Raise a CommandError if a file of weights would replace another file of the conversion.

    The other files are the input, the output and `result.referenced`.
    """
    help = "choose another path with `-o`"
    if result.external is None:
        help = "choose other paths with `-o` and `--store`"
    check_not_overwritten([job.source, *result.referenced], weights, "weights", help)
    if job.target is not None and is_same(job.target, weights):
        raise CommandError("output-exists", f"{job.target} would be overwritten by weights", help)


def _check_derived(target: Path) -> None:
    """Raise a CommandError if `target` is a device, a pipe, or a link out of its directory.

    Check only paths that the user did not give: with `-o`, a path may be a device, a pipe or any
    link.
    """
    with io_errors("write", target):
        why = unsafe_reason(target, target.parent)
    if why is not None:
        raise CommandError(
            "output-is-link",
            f"{target} is not written: {why}",
            help="delete it, or choose another output with `-o`",
        )


def _ends_on_terminal(target: Path | None) -> bool:
    """Whether a file, or standard output for None, is a terminal."""
    if target is None:
        return is_terminal(sys.stdout)
    try:
        if not target.is_char_device():
            return False
        with target.open("wb", buffering=0) as device:
            return device.isatty()
    except OSError:
        return False


def _read(conversion: Conversion, job: ConversionJob) -> bytes:
    """Return the content of an input; a large binary model is mapped into memory, not copied.

    Raises:
        CommandError: the input cannot be read. For a binary model, also: it would be read from a
            terminal, or is too large for protobuf.
    """
    if conversion.binary == "out":
        return read_file(job)
    if job.source is None and is_terminal(sys.stdin):
        raise no_input_error()
    with io_errors("read", job.name):
        is_file = job.source is not None and job.source.is_file()
        size = job.source.stat().st_size if job.source is not None and is_file else 0
    if size > MAX_MESSAGE_BYTES:
        raise CommandError(
            "model-too-large",
            f"{job.name} has {size:,} bytes, but protobuf cannot read or write messages of more "
            f"than {MAX_MESSAGE_BYTES:,}",
            help="keep its weights in external data, as onnx.save(…, save_as_external_data=True) "
            "does",
        )
    return read_file(job, maps=True)


def _write(
    target: Path, output: Output, force: bool, makes_directory: bool, progress: Progress
) -> None:
    """Write the output and its weights, and remove obsolete weight files.

    Files that already have the right content are not written.

    Raises:
        CommandError: a file exists with other content and `force` is False; an input has changed;
            `_check_derived` rejects the path of the external data; or writing has failed.
    """
    with io_errors("write", target):
        if makes_directory:
            target.parent.mkdir(parents=True, exist_ok=True)
        files = [(target, output.pieces)]
        if output.external is not None:
            external = target.with_name(output.external.name)
            _check_derived(external)
            files.append((external, list(output.external.pieces())))
        files = [(path, pieces) for path, pieces in files if not holds_pieces(path, pieces)]
        for path, _ in files:
            if path.is_file() and not force:
                raise exists_error(path)
        if output.beside is not None:
            write_beside(output.beside, force, progress)
        _replace(files, target.name, progress)
        if output.beside is not None:
            output.beside.remove_obsolete(_check_again)
    mapped.clear()  # inputs may change now


def _replace(files: list[tuple[Path, list[Piece]]], name: str, progress: Progress) -> None:
    """Write all new files, then rename them over the old ones.

    The files are renamed in reverse order: `files` has a model before its external data, and the
    external data must exist first.
    """
    size = sum(len(piece) for _, pieces in files for piece in pieces)
    with contextlib.ExitStack() as stack:
        opened = [stack.enter_context(replace_file(path)) for path, _ in files]
        with progress.counting(name, size) as written:
            for file, (_, pieces) in zip(opened, files, strict=True):
                for piece in pieces:
                    file.write(piece)
                    written(len(piece))
        _check_again()  # the pieces may be parts of mapped files
        for file in opened:
            file.flush()
            with contextlib.suppress(OSError):  # pipes and devices do not support fsync
                os.fsync(file.fileno())


def write_beside(beside: WeightFiles, force: bool, progress: Progress) -> None:
    """Write the weight files beside an output; raise a CommandError as `_write` does."""
    target = beside.base / beside.place.path
    size = sum(map(len, beside.blobs.values()))
    with io_errors("write", target):
        try:
            if not force and (foreign := beside.foreign()) is not None:
                raise CommandError(
                    "output-exists",
                    f"{foreign} exists and has other content",
                    help="`--force` overwrites it; `--store` names another file",
                )
            with progress.counting(target.name, size) as written:
                beside.write(written, _check_again)
        except ValueError as error:  # such as a path outside of the directory, a missing library
            raise CommandError("cannot-write", f"cannot write {target}: {error}") from None
