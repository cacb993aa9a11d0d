# SPDX-License-Identifier: Apache-2.0
"""Run models in onnxruntime, each in a process of its own with limits of time and memory."""

from __future__ import annotations

import os
import pickle
import re
import resource
import select
import signal
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
import onnx

from benchmarks.shape_truth import SIZES, Shape, feeds

_SECONDS = 10
_MEMORY = 3 << 30
_OTHER = re.compile(
    "NOT_IMPLEMENTED|bad_alloc|allocate memory|out of data bounds|std::bad_function|"
    "Could not find an implementation|is not a registered function|overflow"
)
"""Matches errors that have other reasons than types, shapes and attributes."""


class Verdict(NamedTuple):
    """The outcome of loading and running a model in onnxruntime.

    Attributes:
        state: `fine`; `load` or `run` if it refuses the model; `other` if it fails for reasons
            that no checker can know, such as a missing implementation, the time, or random indices.
        message: its error.
        symbols: the sizes of the symbols of each run.
        shapes: the element types and shapes of all values in each run, if they were asked for.
    """

    state: str
    message: str = ""
    symbols: tuple[dict[str, int], ...] = ()
    shapes: tuple[dict[str, tuple[int, Shape]], ...] = ()


def judged(
    model: onnx.ModelProto, sizes: tuple[tuple[int, ...], ...] = SIZES, *, shapes: bool = False
) -> Verdict:
    """Load a model, and run it with inputs of the declared types, once for each tuple in `sizes`.

    Args:
        model: the model.
        sizes: for each run, the sizes of the model's symbols, in order.
        shapes: whether to return the shapes of all values.
    """
    ours, its = os.pipe()
    child = os.fork()
    if child == 0:
        try:  # whatever happens, this process ends here
            os.close(ours)
            _limit()
            verdict = _verdict(model, sizes, shapes)
            with os.fdopen(its, "wb") as pipe:
                pickle.dump(tuple(verdict), pipe)
        finally:
            os._exit(0)
    os.close(its)
    data = b""
    with os.fdopen(ours, "rb") as pipe:
        if select.select([pipe], [], [], 3 * _SECONDS)[0]:
            data = pipe.read()
        else:
            os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return Verdict(*pickle.loads(data)) if data else Verdict("other", "it crashed")


def _limit() -> None:
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()  # noqa: SIM115, PTH123
    resource.setrlimit(resource.RLIMIT_AS, (used + _MEMORY, used + _MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS))
    signal.alarm(2 * _SECONDS)


def _verdict(model: onnx.ModelProto, sizes: tuple[tuple[int, ...], ...], shapes: bool) -> Verdict:
    try:
        session = _session(model, shapes)
    except Exception as error:
        return _refused("load", error)
    names = [value.name for value in session.get_outputs()]
    symbols: list[dict[str, int]] = []
    found: list[dict[str, tuple[int, Shape]]] = []
    for chosen in sizes:
        symbols.append({})
        try:
            given = dict(feeds(model, chosen, symbols[-1]))
        except Exception as error:  # such as an input that is no tensor
            return Verdict("other", str(error))
        try:
            made = session.run(names, given)
        except Exception as error:
            return _refused("run", error)
        found.append({
            name: (onnx.helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
            for name, value in zip(names, made, strict=True)
            if isinstance(value, np.ndarray)
        })  # fmt: skip
    return Verdict("fine", "", tuple(symbols), tuple(found))


def _refused(state: str, error: Exception) -> Verdict:
    message = " ".join(str(error).split())
    other = isinstance(error, MemoryError) or _OTHER.search(message)
    return Verdict("other" if other else state, message)


def _session(model: onnx.ModelProto, shapes: bool) -> Any:
    onnxruntime = import_module("onnxruntime")
    onnxruntime.set_default_logger_severity(4)
    if shapes:
        known = {value.name for value in model.graph.output}
        names = [name for node in model.graph.node for name in node.output if name]
        model.graph.output.extend(onnx.ValueInfoProto(name=n) for n in names if n not in known)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
