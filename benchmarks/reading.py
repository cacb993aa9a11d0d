# SPDX-License-Identifier: Apache-2.0
"""Measure how well the texts of real models can be read: a table for `benchmarks.sizes`."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace

import onnxtext
from benchmarks.tables import amount
from onnxtext.ast import Graph, Model
from onnxtext.syntax.grammar.lexer import load_lexer
from tests.corpus import SHARED, shared_model, shared_models

WIDTH = 100
"""The columns of a line that the layout aims at."""
SECTIONS = ("\nresources {", "\nmetadata {", "\norder {", "\nencoding {")


@dataclass(frozen=True, slots=True)
class Reading:
    """The figures of one model, or the sums of several.

    Attributes:
        binary: the size of the model in bytes.
        text: the size of the text with the weights in it.
        beside: the size of the text without resources.
        wide: the number of lines of statements over 100 columns.
        wide_alone: the number of these lines that are not wide because of one long string.
        declared_twice: the number of repeated declarations among the inputs and in `<…>`.
        first_node: the line number of the first node.
        weights: the number of initializers of the main graph, which come before its nodes.
    """

    binary: int
    text: int
    beside: int
    wide: int
    wide_alone: int
    declared_twice: int
    first_node: int
    weights: int


def tabulate() -> list[str]:
    """Return a table in Markdown."""
    assert SHARED is not None
    models = [measure(shared_model(name)) for name in shared_models()]
    exports = sorted((SHARED / "exports").glob("*.onnx"))
    rows = [(path.stem, measure(path.read_bytes())) for path in exports]
    return _table([(f"{len(models)} shared models", _sum(models)), *rows])


def _sum(models: Sequence[Reading]) -> Reading:
    """Return the sum of each figure, but the median of `first_node`."""
    sums = [sum(getattr(one, each.name) for one in models) for each in fields(Reading)]
    middle = int(statistics.median(one.first_node for one in models))
    return replace(Reading(*sums), first_node=middle)


def measure(data: bytes) -> Reading:
    """Print a model and measure its text."""
    text = onnxtext.from_binary(data)
    model = onnxtext.parse(text)
    assert isinstance(model, Model)
    ends = [at for at in map(text.find, SECTIONS) if at >= 0]
    statements = text[: min(ends, default=len(text))]
    wide = [line for line in statements.splitlines() if len(line) > WIDTH]
    at = text.find("\nresources {")
    node = model.graph.nodes[0].at if model.graph.nodes else 0
    return Reading(
        len(data),
        len(text.encode()),
        len((text[:at] if at >= 0 else text).encode()),
        len(wide),
        sum(not _has_long_string(line) for line in wide),
        _declared_twice(model.graph),
        text.count("\n", 0, max(node, 0)) + 1,
        sum(value.data is not None for value in model.graph.values),
    )


def _has_long_string(line: str) -> bool:
    """Whether the longest token of a line leaves no room for others within `WIDTH` columns."""
    indent = len(line) - len(line.lstrip())
    longest, at, lexer = 0, 0, load_lexer()
    while (token := lexer.token(line, at)) is not None:
        longest, at = max(longest, len(token)), token.at + len(token)
    return indent + 2 + longest + 1 > WIDTH


def _declared_twice(graph: Graph) -> int:
    names = Counter(value.name for value in (*graph.inputs, *graph.values))
    return sum(count - 1 for count in names.values())


def _table(rows: Iterable[tuple[str, Reading]]) -> list[str]:
    lines = [
        "| model | text / binary | without resources | lines over 100 columns "
        "| without a long string | declared twice | first node on line | weights |",
        f"|---|{'---:|' * 7}",
    ]
    for name, one in rows:
        cells = [
            name,
            f"{amount(one.text)}, ×{one.text / one.binary:.2f}",
            f"{amount(one.beside)}, ×{one.beside / one.binary:.2f}",
            *map(str, (one.wide, one.wide_alone, one.declared_twice, one.first_node, one.weights)),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines
