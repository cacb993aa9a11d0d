# SPDX-License-Identifier: Apache-2.0
"""Derive the files to read and write from the names on the command line."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path

import click

from onnxtext.cli.command_errors import read_errors
from onnxtext.cli.report import Reporter
from onnxtext.diagnostics import OnnxTextWarning
from onnxtext.io.files import is_stream
from onnxtext.io.path_safety import walk_files
from onnxtext.io.text_or_binary import BINARY_SUFFIX, MODEL_SUFFIXES, TEXT_SUFFIXES
from onnxtext.quick_dataclass import dataclass

STDIN = "<stdin>"
_DASH = "-"
_SEPARATORS = ("/", os.sep)
# Paths of standard streams, which mean the same as `-`.
_STREAMS = ("/dev/stdin", "/dev/stdout", "/dev/fd/0", "/dev/fd/1")


@dataclass(frozen=True, slots=True)
class InputFile:
    """An input that the user named: a file, or standard input.

    Attributes:
        source: the file to read; None for standard input.
    """

    name: str
    source: Path | None

    @classmethod
    def of(cls, argument: str) -> InputFile:
        """Return the input that an argument names; `-` is standard input."""
        return cls(STDIN, None) if argument == _DASH else cls(argument, Path(argument))

    @property
    def directory(self) -> Path:
        """The directory to which paths in the input, such as paths of weights, are relative."""
        return Path() if self.source is None else self.source.parent


def output_path(output: str | None) -> Path | None:
    """Return the file that the option `-o` names; None for standard output (`-`, or no option)."""
    return None if output in (None, _DASH) else Path(str(output))


def warn_of_other_suffix(path: Path, *, is_binary: bool) -> None:
    """Warn if a binary model was written to a name of texts, or a text to one of binary models."""
    if path.suffix.lower() in (TEXT_SUFFIXES if is_binary else (BINARY_SUFFIX,)):
        forms = ["a text", "a binary model"]
        other, form = forms if is_binary else forms[::-1]
        message = f"{path} is {form}, but has the suffix of {other}"
        warnings.warn(message, OnnxTextWarning, stacklevel=3)


@dataclass(frozen=True, slots=True)
class ConversionJob(InputFile):
    """One input to convert, and the file to write.

    Attributes:
        target: the file to write; None for standard output.
        clash: the name of an earlier input with the same target; None if there is none.
        makes_directory: whether to create the target's directory if it is missing.
        derived: whether the target's name was derived from the source's name, not given with `-o`.
    """

    target: Path | None
    clash: str | None = None
    makes_directory: bool = False
    derived: bool = False


def plan_jobs(inputs: tuple[str, ...], output: str | None, to_binary: bool) -> list[ConversionJob]:
    """Return a job for each distinct input on the command line.

    Args:
        inputs: names of files; `-` or no name is standard input.
        output: the value of `-o`: a file, a directory, or `-`; None without this option.
        to_binary: whether texts are converted to binary models, or else binary models to texts.

    Raises:
        click.UsageError: the inputs cannot be combined, or cannot be written to `output`.
    """
    names = list(dict.fromkeys(_DASH if name in _STREAMS else name for name in inputs)) or [_DASH]
    output = _DASH if output in _STREAMS else output
    to_directory = output is not None and output.endswith(_SEPARATORS)
    if len(names) > 1:
        _check_several(names, output)
    jobs = []
    for file in map(InputFile.of, names):
        target = _target(file.source, output, BINARY_SUFFIX if to_binary else TEXT_SUFFIXES[0])
        derived = target is not None and (output is None or _names_directory(output))
        jobs.append(
            ConversionJob(
                file.name, file.source, target, makes_directory=to_directory, derived=derived
            )
        )
    return list(_mark_clashes(jobs))


def is_directory(name: str) -> bool:
    """Whether a name is the path of a directory; False for a name that is too long for a path."""
    return os.path.isdir(name)  # noqa: PTH112 - `Path.is_dir` raises an OSError for such names


def files_below(
    directory: str, suffixes: tuple[str, ...], reporter: Reporter, exclude: Sequence[str] = ()
) -> list[InputFile]:
    """Return the files below a directory that have one of the suffixes, sorted.

    Files and directories are left out if a pattern in `exclude` matches their relative path or
    their name. Links that lead out of the directory, devices and pipes are left out with a warning.
    """

    def warn_skipped(path: Path, why: str) -> None:
        warnings.warn(f"{path} is left out: {why}", OnnxTextWarning, stacklevel=2)

    def has_suffix(path: Path) -> bool:
        return path.name.lower().endswith(suffixes)

    def is_wanted(path: Path) -> bool:
        below = path.relative_to(directory).as_posix()
        return not any(fnmatch(below, p) or fnmatch(path.name, p) for p in exclude)

    with reporter.reporting(directory), read_errors(Path(directory)):
        paths = sorted(walk_files(Path(directory), has_suffix, is_wanted, warn_skipped))
        if not paths:
            listed = " or ".join(filter(None, (", ".join(suffixes[:-1]), suffixes[-1])))
            reporter.summary(f"there is no {listed} file below {directory}")
        return [InputFile(str(path), path) for path in paths]
    return []


def _check_several(names: list[str], output: str | None) -> None:
    if _DASH in names:
        raise click.UsageError("Standard input (-) cannot be one of several inputs.")
    if output == _DASH:
        raise click.UsageError("Several inputs cannot be written to standard output.")
    if output is not None and not _names_directory(output):
        raise click.UsageError(
            f"Several inputs need an output directory, and {output} is not a directory: "
            "add a / at the end to create it."
        )


def _target(source: Path | None, output: str | None, suffix: str) -> Path | None:
    """Return the file to write; None for stdout. Raise UsageError if the user must name it."""
    if output == _DASH or (output is None and source is None):
        return None
    if output is not None and not _names_directory(output):
        return Path(output)
    if source is None:
        raise click.UsageError(f"{output} is a directory: name an output file for standard input.")
    if output is None and is_stream(source):
        raise click.UsageError(f"{source} is not a regular file: name the output with -o.")
    replaced = MODEL_SUFFIXES if suffix == BINARY_SUFFIX else (BINARY_SUFFIX, suffix)
    stem = source.stem if source.suffix.lower() in replaced else source.name
    directory = source.parent if output is None else Path(output)
    return directory / (stem + suffix)


def _names_directory(name: str) -> bool:
    """Whether an output is a directory, which need not exist if its name ends with a separator."""
    return name.endswith(_SEPARATORS) or is_directory(name)


def _mark_clashes(jobs: Iterable[ConversionJob]) -> Iterator[ConversionJob]:
    """Yield each job, with `clash` set if an earlier job has the same target.

    A job is left out if an earlier job has the same target and reads the same file by another path.
    """
    written: dict[str, ConversionJob] = {}
    for job in jobs:
        if job.target is None or job.source is None:
            yield job
            continue
        first = written.setdefault(os.path.realpath(job.target), job)
        if first is job:
            yield job
        elif os.path.realpath(job.source) != os.path.realpath(first.source or ""):
            yield replace(job, clash=first.name)
