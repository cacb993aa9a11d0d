# SPDX-License-Identifier: Apache-2.0
"""Compare whole processes, as users run them, with `python -c` and the official functions.

    python -m benchmarks.whole [NODES…]                 default: 1 2000 20000

`to text` compares `from-binary` with onnx.load and onnx.printer; `to binary` compares `to-binary`
and its check with onnx.parser, onnx.checker and onnx.save. A figure is the minimum of all rounds:
processor time, child processes included, and wall time.
"""

from __future__ import annotations

import compileall
import resource
import sys
import tempfile
from pathlib import Path

import onnx
import onnx.printer

import onnxtext
from benchmarks.check_models import layered
from benchmarks.processes import python, run

ROUNDS = 7
_TO_TEXT = "import onnx, onnx.printer; print(onnx.printer.to_text(onnx.load({0!r})))"
_TO_BINARY = (
    "import onnx, onnx.parser, onnx.checker; m = onnx.parser.parse_model(open({0!r}).read()); "
    "onnx.checker.check_model(m); onnx.save(m, {1!r})"
)


def commands(directory: Path, count: int) -> dict[str, tuple[list[str | Path], list[str | Path]]]:
    """Write a model of `count` nodes; return (our command, official command) for each direction."""
    binary, text, official = (directory / name for name in ("m.onnx", "m.onnxtxt", "official.txt"))
    made = directory / "made.onnx"
    data = layered(count)
    binary.write_bytes(data)
    text.write_text(onnxtext.from_binary(data), encoding="utf-8")
    official.write_text(onnx.printer.to_text(onnx.load_from_string(data)), encoding="utf-8")
    ours = Path(sys.executable).with_name("onnxtext")
    return {
        "to text": (
            [ours, "from-binary", binary, "-o", "-"],
            python("-c", _TO_TEXT.format(str(binary))),
        ),
        "to binary": (
            [ours, "to-binary", text, "-o", directory / "ours.onnx", "--force"],
            python("-c", _TO_BINARY.format(str(official), str(made))),
        ),
    }


def spent(command: list[str | Path]) -> tuple[float, float]:
    """Return the processor time and wall time of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    finished = run(command, timeout=600)
    assert not finished.failed, finished.failed
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return used, finished.seconds


def main(counts: list[int]) -> None:
    """Measure, and print a line for each direction and size."""
    # Without this, `PYTHONDONTWRITEBYTECODE` makes every process compile all modules.
    compileall.compile_dir(Path(onnxtext.__file__).parent, quiet=1)
    for count in counts:
        with tempfile.TemporaryDirectory() as directory:
            for direction, both in commands(Path(directory), count).items():
                rounds = [[spent(command) for command in both] for _ in range(ROUNDS)]
                for what, index in (("processor", 0), ("passed", 1)):
                    ours, official = (min(one[side][index] for one in rounds) for side in (0, 1))
                    print(
                        f"{count:7,} nodes  {direction:9}  {what:9}  {ours * 1000:6,.0f} ms  "
                        f"official {official * 1000:6,.0f} ms  × {ours / official:4.2f}",
                        flush=True,
                    )


if __name__ == "__main__":
    main([int(count) for count in sys.argv[1:]] or [1, 2_000, 20_000])
