# SPDX-License-Identifier: Apache-2.0
"""Measure one conversion in this process, and print the result as JSON.

    python -m benchmarks.child PEER to-text|to-binary section|inline SOURCE [TARGET]

Converts all files of the directory SOURCE, and writes the results to the new directory TARGET.
"""

from __future__ import annotations

import gc
import hashlib
import importlib
import json
import os
import resource
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.peers import named
from benchmarks.preload import preload
from benchmarks.workloads import SAMPLE

MAX_MEMORY = 0.75
"""The fraction of the machine's memory that a conversion may use."""
MAX_WARM_LENGTH = 10.0
"""A conversion that takes longer than this number of seconds is not repeated."""
_REASON = 110
"""Maximum length of the error message of a peer."""


def main(arguments: Sequence[str]) -> None:
    """Measure and print."""
    try:
        result = measure(*arguments)
    except Exception as error:
        result = {"failed": _reason(error)}
    print(json.dumps(result))


def measure(
    peer: str, direction: str, weights: str, source: str, target: str = ""
) -> dict[str, Any]:
    """Measure the first conversion in the process and, if that is short, a second one.

    Write the results of the first conversion to `target`, unless it is "". Return the figures that
    `runner` stores in a row.
    """
    _limit_memory()
    function = prepared(peer, direction, weights)
    inputs = read(Path(source), as_text=direction == "to-binary")
    gc.collect()
    before = _peak()
    files, outputs = _timed(function, inputs)
    seconds = sum(files)
    result: dict[str, Any] = {"seconds": seconds, "peak": _peak(), "before": before}
    results = [one.encode() if isinstance(one, str) else one for one in outputs]
    del outputs
    if target:
        write(Path(target), results, ".onnxtxt" if direction == "to-text" else ".onnx")
    made = hashlib.sha256()
    for one in results:
        made.update(one)
    result |= {"size": sum(map(len, results)), "sha256": made.hexdigest()}
    del results
    if seconds < MAX_WARM_LENGTH:
        result["files"] = _timed(function, inputs)[0]
        result["warm"] = sum(result["files"])
    return result


def prepared(peer: str, direction: str, weights: str) -> Callable[[Any], str | bytes]:
    """Return the conversion of one model; its modules are imported, its caches are cold."""
    module = importlib.import_module(f"benchmarks.peers.{named(peer).module}")
    to_text: Callable[[Any], str] = partial(module.to_text, weights=weights)
    to_binary: Callable[[Any], bytes] = module.to_binary
    samples = read(SAMPLE.directory, as_text=False)

    def rehearse() -> None:
        for sample in samples:
            text = to_text(sample)
            if direction == "to-binary":
                to_binary(text)

    preload(rehearse)
    return to_text if direction == "to-text" else to_binary


def read(directory: Path, *, as_text: bool) -> list[bytes] | list[str]:
    """Return the contents of the files of a directory."""
    paths = sorted(directory.iterdir())
    if as_text:
        return [path.read_bytes().decode("utf-8") for path in paths]
    return [path.read_bytes() for path in paths]


def write(directory: Path, contents: Iterable[bytes], suffix: str) -> None:
    """Write files to a new directory."""
    directory.mkdir(parents=True)
    for index, content in enumerate(contents):
        (directory / f"{index:04}{suffix}").write_bytes(content)


def _timed(
    function: Callable[[Any], str | bytes], inputs: Sequence[Any]
) -> tuple[list[float], list[str | bytes]]:
    """Return the processor time and output of each conversion."""
    seconds, outputs = [], []
    for one in inputs:
        start = time.process_time()
        outputs.append(function(one))
        seconds.append(time.process_time() - start)
    return seconds, outputs


def _peak() -> int:
    """Return the peak memory of this process in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _limit_memory() -> None:
    """Make allocations fail before the machine is out of memory."""
    whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (int(whole * MAX_MEMORY), hard))


def _reason(error: Exception) -> str:
    """Return an error as one line."""
    detail = error.args[0] if error.args else ""
    text = detail.decode("utf-8", "replace") if isinstance(detail, bytes) else str(error)
    text = " ".join(f"{type(error).__name__}: {text}".split())
    return text if len(text) <= _REASON else f"{text[:_REASON]}…"


if __name__ == "__main__":
    main(sys.argv[1:])
