# SPDX-License-Identifier: Apache-2.0
"""`onnxtext run`: run a model, or two on the same inputs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import partial
from math import isfinite
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import click

from onnxtext.cli.command_errors import CommandError, check_no_model_lost, io_errors
from onnxtext.cli.named_files import InputFile
from onnxtext.cli.options import MODEL, FileName, Integer, reporting_options
from onnxtext.cli.report import FINDINGS, Reporter
from onnxtext.cli.run_results import (
    differences_as_objects,
    differences_as_text,
    outputs_as_object,
    outputs_as_text,
)
from onnxtext.cli.streams import print_to_stdout, read_stdin
from onnxtext.io.files import replace_file

if TYPE_CHECKING:
    import onnx

    from onnxtext.engines import Values

EXPLANATION = """\b
Examples:
  onnxtext run model.onnx --input x=@x.npy --output y.npy
  onnxtext run model.onnx --input 'x=[[1, 2.5]]' --input n=3
  onnxtext run model.onnxtxt --random --seed 7 --dim N=4
  onnxtext run before.onnx --compare after.onnx --random

\b
Exit status:
  0  the model was run; with --compare: no element of a common output
     differs by more than --atol and by more than --rtol
  1  findings: the file is not a model or has errors, an input does not
     fit, the engine fails or exceeds a limit, outputs differ, or two
     models have no common output
  2  could not run: wrong usage, or a file is missing or cannot be read or
     written"""


def _pairs(
    context: click.Context, parameter: click.Parameter, arguments: tuple[str, ...]
) -> list[tuple[str, str]]:
    """Split arguments `NAME=VALUE` at the first `=`; raise BadParameter for other arguments."""
    pairs = []
    for argument in arguments:
        name, equals, value = argument.partition("=")
        if not equals or not name:
            metavar = parameter.make_metavar(context)
            raise click.BadParameter(f"{argument!r} is not of the form {metavar}.")
        pairs.append((name, value))
    return pairs


class _Finite(click.FloatRange):
    """A click type for finite numbers in a range: `click.FloatRange` would accept NaN."""

    name = "number"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Convert an argument to a finite number."""
        number = float(super().convert(value, param, ctx))
        if not isfinite(number):
            self.fail(f"{value!r} is not a finite number.", param, ctx)
        return number


@click.command("run", epilog=EXPLANATION)
@click.argument("file", metavar="FILE", type=MODEL)
@click.option(
    "--input",
    "inputs",
    multiple=True,
    metavar="NAME=VALUE",
    callback=_pairs,
    help="An input: @x.npy, a number, or numbers in brackets. Elements are converted to the "
    "declared type.",
)
@click.option("--random", is_flag=True, help="Generate the other inputs at random.")
@click.option("--seed", metavar="N", type=Integer(min=0), default=0, help="Seed of random inputs.")
@click.option(
    "--dim",
    "dims",
    multiple=True,
    metavar="NAME=SIZE",
    callback=_pairs,
    help="The size of a symbolic dimension of random inputs; 1 by default.",
)
@click.option(
    "--engine",
    type=click.Choice(["onnx", "onnxruntime"]),
    default="onnx",
    help="onnx's reference implementation, or onnxruntime on the CPU, if it is installed.",
)
@click.option(
    "--output",
    "outputs",
    multiple=True,
    metavar="[NAME=]FILE",
    type=FileName(".npy"),
    help="Write an output to a .npy file. Without NAME: the output that FILE is named after, "
    "or the only output. A file with the suffix of a model is not replaced.",
)
@click.option(
    "--compare",
    "other",
    metavar="OTHER",
    type=MODEL,
    help="Run another model on the same inputs, and show where their values differ.",
)
@click.option("--rtol", metavar="X", type=_Finite(0), default=1e-4, help="Relative tolerance.")
@click.option("--atol", metavar="X", type=_Finite(0), default=1e-6, help="Absolute tolerance.")
@click.option(
    "--timeout",
    type=_Finite(0, 1_000_000),
    default=600.0,
    metavar="SECONDS",
    help="Stop a model after this time; 0 for no limit.",
)
@click.option(
    "--memory",
    type=Integer(1, 1 << 40),
    metavar="MIB",
    help="Memory that a model may use, in MiB (on Linux); all that is available by default.",
)
@click.option("--json", "as_json", is_flag=True, help="Write the result as one JSON object.")
@reporting_options
def command(
    file: str,
    inputs: list[tuple[str, str]],
    random: bool,
    seed: int,
    dims: list[tuple[str, str]],
    engine: str,
    outputs: tuple[str, ...],
    other: str | None,
    rtol: float,
    atol: float,
    timeout: float,
    memory: int | None,
    as_json: bool,
    reporter: Reporter,
) -> None:
    """Run a model and show its outputs.

    FILE is a text or a binary model; - is standard input. The engine runs in a separate process,
    with limits of time and memory. --compare compares not only the outputs, but each value that
    nodes of both main graphs compute under the same name.
    """
    sizes = _sizes(dims)
    name = InputFile.of(file).name
    with reporter.reporting(name):
        from onnxtext.cli.array_arguments import read_arrays
        from onnxtext.engines import fill_inputs, run_both, run_model

        model = _load(file, name)
        names = [value.name for value in model.graph.input]
        given: Values = {}
        for pair in inputs:
            key, value = _split(*pair, names)
            if key in given:
                raise CommandError("no-input", f"input {key} is given twice")
            given[key] = read_arrays(value)
        results = [value.name for value in model.graph.output]
        destinations = _destinations(outputs, results, (file, other))
        values = fill_inputs(model, given, random=random, seed=seed, sizes=sizes)
        limits: dict[str, Any] = {
            "engine": engine,
            "timeout": timeout or None,
            "memory": None if memory is None else memory << 20,
        }
        if other is None:
            found = run_model(model, values, name=name, **limits)
            as_text = partial(outputs_as_text, found)
            as_object: Callable[[], object] = partial(outputs_as_object, found)
            differs = False
        else:
            second = _load(other, other)
            found, _, compared = run_both(model, second, values, names=(name, other), **limits)
            others = [value.name for value in second.graph.output]
            # Map each output that one model lacks to the name of the other model.
            only = {result: name for result in results if result not in others}
            only |= {result: other for result in others if result not in results}
            as_text = partial(differences_as_text, compared, name, other, only)
            as_object = partial(differences_as_objects, compared, only)
            common = [one for one in compared if one.is_output]
            differs = any(one.exceeds(rtol, atol) for one in common) or bool(only and not common)
        _write({result: found[result] for result in results}, destinations)
        print_to_stdout(json.dumps(as_object(), indent=2) if as_json else as_text())
        if differs:
            reporter.status = max(reporter.status, FINDINGS)


def _sizes(dims: list[tuple[str, str]]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for name, text in dims:
        if not (text.isascii() and text.isdigit() and len(text) < 4300):
            raise click.UsageError(f"The size of {name} is not a number: {text!r}.")
        if name in sizes:
            raise click.UsageError(f"The size of {name} is given twice.")
        sizes[name] = int(text)
    return sizes


def _split(name: str, value: str, candidates: list[str]) -> tuple[str, str]:
    """Split an argument `NAME=VALUE` in which NAME may contain equals signs.

    `name` and `value` are the parts before and after the first equals sign. Return (NAME, VALUE):
    NAME is the longest name in `candidates` (the known names) that fits, or `name` if none fits.
    """
    assignment = f"{name}={value}"
    fitting = [candidate for candidate in candidates if assignment.startswith(f"{candidate}=")]
    longest = max(fitting, key=len, default=name)
    return longest, assignment[len(longest) + 1 :]


def _load(file: str, name: str) -> onnx.ModelProto:
    from onnxtext.engines import load_model

    with io_errors("read", name):
        return load_model(read_stdin() if file == "-" else Path(file))


def _destinations(
    files: Iterable[str], names: list[str], models: Iterable[str | None]
) -> dict[str, str]:
    """Map each .npy file to the name of the output to write to it.

    `files` are the values of `--output`: `[NAME=]FILE`. `names` are the names of the model's
    outputs, `models` the files of the models.

    Raises:
        CommandError: the model has no output with a given name; or a file is a model, is "" or
            `-`, or is given for two outputs.
    """
    inputs = [InputFile.of(model).source for model in models if model is not None]
    names_by_file: dict[str, str] = {}
    for text in files:
        name, equals, file = text.partition("=")
        name, file = _split(name, file, names) if equals else (Path(text).stem, text)
        if not equals and name not in names and len(names) == 1:
            name = names[0]
        if name not in names:
            help = f"the outputs are: {', '.join(names)}"
            raise CommandError("no-input", f"the model has no output `{name}`", help=help)
        if file in ("", "-"):
            raise CommandError("cannot-write", f"`{text}` does not name a file for the output")
        check_no_model_lost(inputs, Path(file), "an output")
        if (other := names_by_file.setdefault(file, name)) != name:
            message = f"{other} and {name} would both be written to {file}"
            raise CommandError("output-exists", message)
    return names_by_file


def _write(values: Values, files: dict[str, str]) -> None:
    """Write outputs to .npy files.

    `values` are the outputs by name; `files` maps each file to the name of its output.

    Raises:
        CommandError: an output is not an array, or a file cannot be written.
    """
    import numpy as np

    for file, name in files.items():
        if not isinstance(values[name], np.ndarray):
            raise CommandError("cannot-write", f"the output {name} is not an array")
        with io_errors("write", file), replace_file(Path(file)) as opened:
            # numpy cannot write to the descriptor of a pipe.
            writer: Any = SimpleNamespace(write=opened.write)
            np.save(writer, _plain(values[name]), allow_pickle=False)


def _plain(array: Any) -> Any:
    """Convert an array for .npy, which can store neither objects nor the types of ml_dtypes.

    Objects become strings; elements of ml_dtypes become raw bytes.
    """
    if array.dtype.kind == "O":
        return array.astype(str)
    return array if array.dtype.isbuiltin == 1 else array.view(f"V{array.dtype.itemsize}")
