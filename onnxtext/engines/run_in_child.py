# SPDX-License-Identifier: Apache-2.0
"""Run a model in a child process."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onnxtext.diagnostics import Diagnostic, OnnxTextError
from onnxtext.io.memory import MEMORY_MESSAGES
from onnxtext.model_arguments import read_model_argument

if TYPE_CHECKING:
    import onnx

    from onnxtext.model_arguments import ModelSource

ENGINES = ("onnx", "onnxruntime")
"""The engines: onnx's reference implementation, and onnxruntime on the CPU."""

_NAMELESS = "<model>"
TIMEOUT = 600.0
"""Default time limit of a run in seconds, because a loop in a model may be endless."""

Values = dict[str, Any]
"""Values by name: an array, a list of arrays, a map, or None for an absent optional."""


def load_model(source: ModelSource) -> onnx.ModelProto:
    """Load a model to run it; load external data only of a model in a file.

    Args:
        source: the model, in one of the forms that `onnxtext.diff` accepts.

    Raises:
        OnnxTextError: the model is not valid, its external data cannot be read, or names of values
            or dimensions are not UTF-8.
        OSError: the file of the model cannot be read.
        TypeError: the source has an unsupported type, or is a `str` that looks like a file name.
    """
    import onnx
    from google.protobuf.message import DecodeError
    from onnx.external_data_helper import load_external_data_for_model

    from onnxtext.api import to_binary
    from onnxtext.conversion_errors import invalid_model_error

    argument = read_model_argument(source).as_model()
    data = argument.content
    if isinstance(data, str):
        data = to_binary(data, base_dir=argument.base, name=argument.name)
    try:
        model = onnx.ModelProto.FromString(data)
    except DecodeError as error:
        raise invalid_model_error(data, ValueError(str(error)), argument.name) from None
    if argument.base is not None:
        try:
            load_external_data_for_model(model, str(argument.base))
        except TypeError:
            message = "external data cannot be read: a location is not UTF-8"
            raise run_error(message, argument.name) from None
        except (OSError, RuntimeError, ValueError, onnx.checker.ValidationError) as error:
            why = _missing_file(data, argument.base) or error
            raise run_error(f"external data cannot be read: {why}", argument.name) from None
    for name in _value_names(model.graph):
        if isinstance(name, bytes):
            message = f"a name is not UTF-8: {name!r}; engines cannot run such a model"
            raise run_error(message, argument.name)
    return model


def _missing_file(data: bytes, base: Path) -> str | None:
    """Return a message about a missing file of a model's external data; None if all files exist.

    onnx reports a missing file only as "not a regular file". `base` is the model's directory.
    """
    from onnxtext.conversion_errors import lift_binary
    from onnxtext.weights.external_data import external_locations

    files = external_locations(lift_binary(data, _NAMELESS), base).values()
    exists = os.path.exists  # `Path.exists` raises an OSError for long names
    return next((f"{file} does not exist" for file in files if not exists(file)), None)


def _value_names(graph: onnx.GraphProto) -> Iterator[str | bytes]:
    """Yield the names of values, and the symbols in types of inputs and outputs.

    A name that is not UTF-8 is given as bytes.
    """
    for tensor in graph.initializer:
        yield tensor.name
    for value in (*graph.input, *graph.output):
        yield value.name
        for dim in value.type.tensor_type.shape.dim:
            yield dim.dim_param
    for node in graph.node:
        yield from node.output


def run_error(
    message: str, name: str, help: str | None = None, code: str = "run-failed"
) -> OnnxTextError:
    """Create the error for a model that cannot be run."""
    return OnnxTextError(Diagnostic(code, message, path="model", file=name, help=help))


def run_model(
    model: onnx.ModelProto,
    inputs: Mapping[str, Any],
    *,
    engine: str = "onnx",
    also: Sequence[str] = (),
    name: str = _NAMELESS,
    timeout: float | None = TIMEOUT,
    memory: int | None = None,
) -> Values:
    """Run a model in a child process.

    Args:
        model: the model.
        inputs: the values of the model's inputs, by name.
        engine: one of `ENGINES`.
        also: names of values of the main graph to return besides the outputs.
        name: the name of the model in messages.
        timeout: time limit of the engine in seconds; None for no limit.
        memory: maximum number of bytes that the engine may allocate (Linux only); 0 for no limit,
            None for the memory that is available now.

    Returns:
        The outputs and the values named in `also`, by name.

    Raises:
        OnnxTextError: the engine is not installed, rejects the model, crashes, or exceeds a limit;
            or the model is too large for protobuf.
        ValueError: `engine` is unknown.
    """
    if engine not in ENGINES:
        raise ValueError(f"unknown engine {engine!r}; choose one of {', '.join(ENGINES)}")
    if importlib.util.find_spec(engine) is None:
        raise run_error(f"{engine} is not installed", name, f"pip install {engine}")
    from onnxtext.engines.value_files import read_values, write_values

    shown = "the model" if name == _NAMELESS else name
    with tempfile.TemporaryDirectory(prefix="onnxtext-run-") as place:
        directory = Path(place)
        try:
            (directory / "model.onnx").write_bytes(_with_outputs(model, also))
        except ValueError as error:  # the model has more than 2 GiB
            raise run_error(f"the model is too large: {error}", name) from None
        write_values(directory / "inputs", dict(inputs))
        max_bytes = str(available_memory() if memory is None else memory)
        command = [sys.executable, "-m", "onnxtext.engines.child_main", engine, place, max_bytes]
        try:
            done = subprocess.run(command, capture_output=True, check=False, timeout=timeout)
        except subprocess.TimeoutExpired:
            unit = "second" if timeout == 1 else "seconds"
            message = f"{engine} has not finished {shown} after {timeout:g} {unit}"
            help = "raise the limit with `--timeout` (0: no limit), unless a loop never ends"
            raise run_error(message, name, help, "run-limit") from None
        if not done.returncode:
            return read_values(directory / "outputs")
        told = reason = _crash_reason(done)
        message, advice = f"{engine} has crashed: ", None
        with contextlib.suppress(OSError, ValueError):  # without memory, the report is incomplete
            failure = json.loads((directory / "error.json").read_text())
            told = f"{failure['type']}: {failure['message']}"
            reason = f"{failure['type']}: {' '.join(failure['message'].split())[:500]}"
            message = f"{engine} cannot run {shown}: "
            advice = _advice(engine, failure)
        if any(words in told for words in _NO_MEMORY):
            message = f"{engine} exceeds the memory limit with {shown}: {reason}"
            raise run_error(message, name, "raise the limit with `--memory`", "run-limit")
        raise run_error(f"{message}{reason}", name, advice)


_NO_MEMORY = ("MemoryError", "bad_alloc", "to allocate", *MEMORY_MESSAGES)
"""Parts of messages about a lack of memory: of engines, Python and the dynamic loader."""


def _advice(engine: str, failure: Mapping[str, str]) -> str | None:
    """Return the help for a model that the engine has rejected."""
    if failure["type"] == "RecursionError":
        # The inliner has a limit, too: onnx 1.23 inlines 520 nested functions, but not 600.
        return (
            "the functions are nested too deeply for onnx; if `onnx.inliner` can inline them, run "
            "the result"
        )
    from onnxtext.engines.child_main import NO_OVERLOADS

    message = failure["message"]
    elsewhere = NO_OVERLOADS in message or (engine == "onnx" and _lacks_operator(message))
    return "try `--engine onnxruntime`" if elsewhere else None


_MISSING = re.compile(
    r"operator '(?P<name>\w+)' and domain '(?P<domain>[\w.]*)'"
    r"|type '(?P<name2>\w+)' from domain '(?P<domain2>[\w.]*)' is unknown"
)
"""Matches an operator in messages of onnx's reference implementation about missing operators."""


def _lacks_operator(message: str) -> bool:
    """Whether onnx's reference implementation lacks an operator that onnxruntime may have."""
    found = _MISSING.search(message)
    if found is None:
        return False
    import onnx

    from onnxtext.checker.context.operator_tables import bundled_table

    name, domain = found["name"] or found["name2"], found["domain"] or found["domain2"] or ""
    return onnx.defs.has(name, domain) or (domain, name) in bundled_table().operators


def available_memory() -> int:
    """Return the number of bytes of memory that are available; 0 if unknown."""
    try:
        lines = Path("/proc/meminfo").read_text("ascii").splitlines()
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable"))
    except (OSError, ValueError, StopIteration):
        return 0


def _with_outputs(model: onnx.ModelProto, also: Sequence[str]) -> bytes:
    """Serialize a model, with the values named in `also` as additional outputs."""
    import onnx

    output_names = {output.name for output in model.graph.output}
    names = [name for name in dict.fromkeys(also) if name not in output_names]
    if not names:
        return model.SerializeToString()
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    declared = {value.name: value for value in copy.graph.value_info}
    for name in names:
        copy.graph.output.append(declared.get(name) or onnx.ValueInfoProto(name=name))
    return copy.SerializeToString()


def _crash_reason(done: subprocess.CompletedProcess[bytes]) -> str:
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
    last = f": {lines[-1][:200]}" if lines else ""
    if done.returncode < 0:
        return f"{signal.Signals(-done.returncode).name}{last}"
    return f"exit status {done.returncode}{last}"
