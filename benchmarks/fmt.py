# SPDX-License-Identifier: Apache-2.0
"""How long formatting a text takes beside parsing it, in one run.

    python -m benchmarks.fmt [NODES…]      default: 20000

The same model in several states: as it is printed; with comments and blank lines; with other blanks
and line breaks; with numbers spelled otherwise; as the official printer writes it; and with
a comment within a statement. A figure is the least processor time of all rounds. The goal:
formatting takes no more than twice as long as parsing.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterator

import onnx
import onnx.printer

import onnxtext
from benchmarks.transformer import transformer

ROUNDS = 5


def texts(count: int) -> Iterator[tuple[str, str]]:
    """A model with so many nodes in several states: what was done, and the text."""
    data = b"".join(transformer(count))
    text = onnxtext.from_binary(data)
    yield "as printed", text
    lines = text.split("\n")
    nodes = [number for number, line in enumerate(lines) if line.endswith(")") and " = " in line]
    commented = list(lines)
    for number in nodes[::10]:
        commented[number] = f"\n  # about it\n{lines[number]}  # behind it"
    yield "comments", "\n".join(commented)
    yield "other lines", text.replace(", ", ",").replace("\n  ", "\n    ")
    yield "other numbers", re.sub(r"(epsilon = 0?\.?\d*[1-9])(?=[,>])", r"\g<1>0", text)
    yield "official", onnx.printer.to_text(onnx.ModelProto.FromString(data))
    inside = list(lines)
    for number in nodes[:: len(nodes) // 4]:
        inside[number] = lines[number].replace(" = ", " = # why\n  ", 1)
    yield "comments inside", "\n".join(inside)


def least(action: Callable[[str], object], text: str) -> float:
    """The least processor time of all rounds, in seconds."""
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        action(text)
        times.append(time.process_time() - start)
    return min(times)


def measure(count: int) -> None:
    """Print the figures for models with so many nodes."""
    print(f"{count} nodes")
    for name, text in texts(count):
        parse = least(onnxtext.parse, text)
        form = least(onnxtext.format_text, text)
        print(
            f"  {name:16} parse {parse:6.3f} s  fmt {form:6.3f} s  {form / parse:5.2f}", flush=True
        )


def main(arguments: list[str]) -> None:
    """Measure models of the sizes that are named."""
    for count in map(int, arguments or ["20000"]):
        measure(count)


if __name__ == "__main__":
    main(sys.argv[1:])
