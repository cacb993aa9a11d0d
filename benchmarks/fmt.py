# SPDX-License-Identifier: Apache-2.0
"""Compare the time of formatting a text with that of parsing it.

    python -m benchmarks.fmt [NODES…]      default: 20000

The same model in many layouts: as printed; with comments after, above and in nodes, and in their
lists; with other blanks and line breaks; with other spellings of numbers; as the official printer
writes it; with bare names. Also a chain of minimal nodes. A figure is the minimum processor time of
all rounds. Nodes with comments in their lists are formatted in Python, without the native core.
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
    """Yield the layouts of a model of `count` nodes: description and text."""
    data = b"".join(transformer(count))
    text = onnxtext.from_binary(data)
    yield "as printed", text
    lines = text.split("\n")
    nodes = [index for index, line in enumerate(lines) if line.endswith(")") and " = " in line]
    commented = list(lines)
    for number in nodes[::10]:
        commented[number] = f"\n  # about it\n{lines[number]}  # behind it"
    yield "comments", "\n".join(commented)
    yield "other lines", text.replace(", ", ",").replace("\n  ", "\n    ")
    yield "other numbers", re.sub(r"(epsilon = 0?\.?\d*[1-9])(?=[,>])", r"\g<1>0", text)
    yield "official", onnx.printer.to_text(onnx.ModelProto.FromString(data))
    few = len(nodes) // 4
    yield "comments inside", _changed(lines, nodes[::few], _inside)
    yield "every 10th inside", _changed(lines, nodes[::10], _inside)
    yield "all behind", _changed(lines, nodes, lambda line: f"{line}  # behind it")
    yield "all above", _changed(lines, nodes, lambda line: f"    # above it\n{line}")
    yield "in lists", _changed(lines, nodes, lambda line: line.replace("(", "(  # first\n", 1))
    yield "tabs", text.replace("\n  ", "\n\t")
    yield "CRLF", text.replace("\n", "\r\n")
    yield "many lines", text.replace(" = ", " =\n    ").replace(", ", ",\n      ")
    bare = onnxtext.from_binary(b"".join(transformer(count, bare=True)))
    yield "bare names", bare
    yield "bare, other lines", bare.replace(", ", ",").replace("\n  ", "\n    ")
    chain = [f"v{index + 1} = Relu (v{index})" for index in range(count)]
    yield "a chain", _chain("\n  ".join(chain), count)
    yield "a chain, other lines", _chain("\n\t".join(chain), count)


def _changed(lines: list[str], numbers: list[int], change: Callable[[str], str]) -> str:
    """Return a text with some lines changed."""
    changed = list(lines)
    for number in numbers:
        changed[number] = change(changed[number])
    return "\n".join(changed)


def _inside(line: str) -> str:
    """Insert a comment into a node."""
    return line.replace(" = ", " = # why\n  ", 1)


def _chain(nodes: str, count: int) -> str:
    """Return a model of nodes without types and attributes."""
    return f"<onnxtext: 1>\nmain (float[N] v0) => (float[N] v{count}) {{\n  {nodes}\n}}\n"


def least(action: Callable[[str], object], text: str) -> float:
    """Return the minimum processor time of all rounds, in seconds."""
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        action(text)
        times.append(time.process_time() - start)
    return min(times)


def measure(count: int) -> None:
    """Print the figures for models of `count` nodes."""
    print(f"{count} nodes")
    for name, text in texts(count):
        parse = least(onnxtext.parse, text)
        form = least(onnxtext.format_text, text)
        print(
            f"  {name:20} parse {parse:6.3f} s  fmt {form:6.3f} s  {form / parse:5.2f}", flush=True
        )


def main(arguments: list[str]) -> None:
    """Measure models of the given sizes."""
    for count in map(int, arguments or ["20000"]):
        measure(count)


if __name__ == "__main__":
    main(sys.argv[1:])
