# SPDX-License-Identifier: Apache-2.0
"""The child process that runs a model, so that a crash of the engine does not end the parent.

Called as `python -m onnxtext.engines.child_main ENGINE DIRECTORY MEMORY`. DIRECTORY must contain
`model.onnx` and the directory `inputs` (see `value_files`). The process writes the results to
DIRECTORY: the directory `outputs`, or the file `error.json`.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from onnxtext.engines.value_files import read_values, write_values


def main(engine: str, place: str, memory: int) -> int:
    """Run a model with `onnx` or `onnxruntime`, and write its outputs, or the error, to files.

    `place` is the directory that has `model.onnx` and `inputs`, and gets the results. `memory` is
    the maximum number of bytes that this process may allocate (Linux only); 0 for no limit. Return
    the exit status: 0 if the model ran; 1 after an error, which is then in `error.json`.
    """
    directory = Path(place)
    os.dup2(2, 1)  # send stdout to stderr: engines print to it
    _limit_memory(memory)
    try:
        inputs = read_values(directory / "inputs")
        outputs = _ENGINES[engine](directory / "model.onnx", inputs)
        write_values(directory / "outputs", outputs)
    # Engines raise many types of errors; their only common base class is Exception.
    except Exception as error:
        report = {"type": type(error).__name__, "message": str(error)}
        (directory / "error.json").write_text(json.dumps(report))
        return 1
    return 0


def _limit_memory(max_bytes: int) -> None:
    """Limit the memory of this process, so that large allocations fail early; Linux only."""
    if not max_bytes or sys.platform != "linux":
        return
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    max_bytes = max_bytes if hard == resource.RLIM_INFINITY else min(max_bytes, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (max_bytes, hard))


def _run_onnx(model: Path, inputs: dict[str, Any]) -> dict[str, Any]:
    import onnx
    from onnx.reference import ReferenceEvaluator

    proto = onnx.load(model)
    functions = _callees_first(list(proto.functions))
    del proto.functions[:]
    proto.functions.extend(functions)
    session = ReferenceEvaluator(proto)
    _reject_overloads(session)
    outputs: Any = session.run(None, inputs)
    return dict(zip(session.output_names, outputs, strict=True))


def _callees_first(functions: list[Any]) -> list[Any]:
    """Sort functions topologically, callees first, as onnx's reference implementation requires."""
    # If a function is defined twice, keep the last definition, as the implementation does.
    functions = list({(f.domain, f.name, f.overload): f for f in functions}.values())
    by_name = {(item.domain, item.name): item for item in functions}
    result: list[Any] = []
    seen: set[int] = set()

    def add(function: Any) -> None:
        if id(function) in seen:
            return
        seen.add(id(function))
        for node in _walk_nodes(function.node):
            if (node.domain, node.op_type) in by_name:
                add(by_name[node.domain, node.op_type])
        result.append(function)

    for item in functions:
        add(item)
    return result


NO_OVERLOADS = "overloads of functions are not supported"


def _reject_overloads(session: Any) -> None:
    """Reject a model for which the session would run a wrong overload of a function.

    For each domain and name, onnx's reference implementation keeps only the last function.

    Raises:
        NotImplementedError: a function has several overloads.
        NameError: a node calls an overload that does not exist.
    """
    import onnx

    model = session.proto_
    keys = {(item.domain, item.name, item.overload) for item in model.functions}
    counts = Counter([(domain, name) for domain, name, _ in keys])
    overloaded = sorted([f"{domain}.{name}" for (domain, name), n in counts.items() if n > 1])
    if overloaded:
        raise NotImplementedError(f"{NO_OVERLOADS}: {', '.join(overloaded)}")
    nodes = [*model.graph.node, *(node for item in model.functions for node in item.node)]
    for node in _walk_nodes(nodes if keys else ()):
        called = node.domain, node.op_type
        if called not in counts or onnx.defs.has(node.op_type, node.domain):
            continue
        if (*called, node.overload) not in keys:
            missing = (
                f"overload {node.overload}" if node.overload else "definition without overload"
            )
            function = ".".join(called)
            raise NameError(f"a node calls the function {function}, which has no {missing}")


def _walk_nodes(nodes: Iterable[Any]) -> Iterator[Any]:
    """Yield nodes, and the nodes of the graphs in their attributes."""
    for node in nodes:
        yield node
        for attribute in node.attribute:
            for graph in (attribute.g, *attribute.graphs):
                yield from _walk_nodes(graph.node)


def _run_onnxruntime(model: Path, inputs: dict[str, Any]) -> dict[str, Any]:
    import onnxruntime  # type: ignore[import-untyped, unused-ignore]

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(model), options, ["CPUExecutionProvider"])
    types = {output.name: output.type for output in session.get_outputs()}
    values = zip(types, session.run(list(types), inputs), strict=True)
    return {name: _typed(value, types[name]) for name, value in values}


def _typed(value: Any, type: str) -> Any:
    """Return an output with its declared type: onnxruntime returns float8e4m3fn as uint8."""
    import ml_dtypes

    if type != "tensor(float8e4m3fn)" or value is None or value.dtype.name != "uint8":
        return value
    return value.view(ml_dtypes.float8_e4m3fn)


_ENGINES = {"onnx": _run_onnx, "onnxruntime": _run_onnxruntime}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
