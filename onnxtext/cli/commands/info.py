# SPDX-License-Identifier: Apache-2.0
"""`onnxtext info`: summarize models."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from onnxtext.cli.named_files import InputFile
from onnxtext.cli.options import MODEL, reporting_options
from onnxtext.cli.report import Reporter
from onnxtext.cli.streams import print_to_stdout, read_file
from onnxtext.diagnostics.terminal_text import escape_controls
from onnxtext.plurals import count_noun, size_text

if TYPE_CHECKING:
    from onnxtext.info import InterfaceValue, ModelSummary, TensorTotals

Cells = list[str]
Row = tuple[str, list[Cells]]
"""A row of the table: its title, and one cell per model; a cell is a list of lines."""

EXPLANATION = """\b
Examples:
  onnxtext info model.onnx
  onnxtext info before.onnx after.onnx      side by side
  onnxtext info --json *.onnx | jq '.[].parameters.elements'

\b
Exit status:
  0  every file was summarized
  1  a file is not a model, or has errors
  2  could not run: wrong usage, or a file is missing or cannot be read"""


@click.command("info", epilog=EXPLANATION)
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=MODEL)
@click.option("--json", "as_json", is_flag=True, help="Write a JSON list with one object per file.")
@reporting_options
def command(files: tuple[str, ...], as_json: bool, reporter: Reporter) -> None:
    """Summarize models: interface, operators, parameters, and where the weights are.

    FILE is a binary model or a text (.onnxtxt, .onnxtext); - is standard input. Several files are
    shown side by side. External data is not read. Nodes of nested graphs and functions are counted,
    too; parameters are initializers and tensors in attributes, with their size in memory.
    """
    summaries: list[tuple[str, int, ModelSummary]] = []
    for file in map(InputFile.of, dict.fromkeys(files)):
        with reporter.reporting(file.name):
            summaries.append(_summarize(file))
    with reporter.reporting("standard output"):
        if as_json or reporter.format == "json":
            objects = [{"file": name, "size": size, **asdict(one)} for name, size, one in summaries]
            print_to_stdout(json.dumps(objects, indent=2))
        elif summaries:
            print_to_stdout("\n".join(_table(summaries)))


def _summarize(file: InputFile) -> tuple[str, int, ModelSummary]:
    """Return the name of a file in messages, its size in bytes, and its summary."""
    from onnxtext.differ import ModelSide
    from onnxtext.info import summarize

    data = read_file(file)
    side = ModelSide.of_content(data, file.name, base=file.directory)
    return file.name, len(data), summarize(side.model)


def _table(models: Sequence[tuple[str, int, ModelSummary]]) -> list[str]:
    """Return the lines of a table with a column for each model."""
    views = [overview for _, _, overview in models]
    rows: list[Row] = [
        ("file", [[f"{name}, {size_text(size)}"] for name, size, _ in models]),
        *[(title, [cell(view) for view in views]) for title, cell in _CELLS],
        *_operators(views),
        *[(title, [cell(view) for view in views]) for title, cell in _WEIGHTS],
    ]
    rows = [row for row in rows if any(row[1])]
    widths = [max(len(escape_controls(line)) for _, cells in rows for line in cells[index] or [""])
              for index in range(len(models))]  # fmt: skip
    first = max(len(title) for title, _ in rows)
    return [line for row in rows for line in _lines(row, first, widths)]


def _lines(row: Row, first: int, widths: Sequence[int]) -> Iterable[str]:
    """Yield the lines of a row, with a title of width `first` and cells of the widths `widths`."""
    title, cells = row
    for index in range(max(map(len, cells))):
        shown = [escape_controls(cell[index]) if index < len(cell) else "" for cell in cells]
        columns = [f"{text:<{width}}" for text, width in zip(shown, widths, strict=True)]
        yield "  ".join(
            [f"{escape_controls(title) if index == 0 else '':<{first}}", *columns]
        ).rstrip()


def _operators(views: Sequence[ModelSummary]) -> list[Row]:
    """Return one row with the count of each operator in each model, the most frequent first."""
    counts = [view.operators for view in views]
    names = {name for model_counts in counts for name in model_counts}
    order = sorted(
        names, key=lambda name: (-max([model_counts.get(name, 0) for model_counts in counts]), name)
    )
    width = max(map(len, order), default=0)
    cells = [
        [f"{name:<{width}}  {model_counts.get(name, '-')}" for name in order]
        for model_counts in counts
    ]
    return [("operators", cells)]


def _header(view: ModelSummary) -> Cells:
    version = "no IR version" if view.ir_version is None else f"IR version {view.ir_version}"
    return [", ".join([*filter(None, [view.producer]), version])]


def _opsets(view: ModelSummary) -> Cells:
    return [", ".join([f"{domain} {version}" for domain, version in view.opsets.items()])]


def _counts(view: ModelSummary) -> Cells:
    parts = [view.graph or "(no name)", count_noun(view.nodes, "node")]
    parts += [count_noun(view.subgraphs, "nested graph")] * bool(view.subgraphs)
    parts += ["training information"] * view.training
    parts += [count_noun(view.metadata, "metadata entry", "metadata entries")] * bool(view.metadata)
    return [", ".join(parts)]


def _values(values: Sequence[InterfaceValue]) -> Cells:
    width = max((len(value.name) for value in values), default=0)
    return [
        f"{value.name:<{width}}  {value.type or '(no type)'}{' = default' * value.default}"
        for value in values
    ]


def _dimensions(view: ModelSummary) -> Cells:
    return [f"{name}: {', '.join(places)}" for name, places in view.dimensions.items()]


def _functions(view: ModelSummary) -> Cells:
    return [f"{function.name}  {count_noun(function.nodes, 'node')}" for function in view.functions]


def _amount(amount: TensorTotals) -> str:
    tensors = count_noun(amount.tensors, "tensor")
    return f"{tensors}, {count_noun(amount.elements, 'element')}, {size_text(amount.size)}"


def _amounts(amounts: dict[str, TensorTotals]) -> Cells:
    width = max(map(len, amounts), default=0)
    return [f"{name:<{width}}  {_amount(amount)}" for name, amount in amounts.items()]


def _largest(view: ModelSummary) -> Cells:
    return [f"{size_text(weight.size):>7}  {weight.name}  {weight.type}" for weight in view.largest]


_CELLS: tuple[tuple[str, Callable[[ModelSummary], Cells]], ...] = (
    ("from", _header),
    ("opsets", _opsets),
    ("graph", _counts),
    ("inputs", lambda view: _values(view.inputs)),
    ("outputs", lambda view: _values(view.outputs)),
    ("dimensions", _dimensions),
    ("functions", _functions),
)
_WEIGHTS: tuple[tuple[str, Callable[[ModelSummary], Cells]], ...] = (
    ("parameters", lambda view: [_amount(view.parameters)]),
    ("types", lambda view: _amounts(view.types)),
    ("weights", lambda view: _amounts(view.places)),
    ("largest", _largest),
)
