# SPDX-License-Identifier: Apache-2.0
"""Summarize a model in a few rows for the head of a page."""

from __future__ import annotations

from onnxtext.ast.model import Model
from onnxtext.info import InterfaceValue, ModelSummary, TensorTotals, summarize
from onnxtext.plurals import count_noun

_MOST = 12

Row = tuple[str, list[str]]


def overview(model: Model) -> list[Row]:
    """Return (title, items) of each row; the items of the first row summarize the whole model."""
    summary = summarize(model)
    parts = [count_noun(summary.nodes, "node")]
    if summary.parameters.elements:
        noun = "parameter" if summary.parameters.elements == 1 else "parameters"
        parts.append(f"{_large(summary.parameters.elements)} {noun}")
    rows: list[Row] = [
        ("in short", [*parts, *[f"{name} {version}" for name, version in summary.opsets.items()]]),
        ("from", [_origin(summary)]),
        ("graph", [summary.graph]),
        ("inputs", _values(summary.inputs)),
        ("outputs", _values(summary.outputs)),
        ("dimensions", [f"{name}: {', '.join(at)}" for name, at in summary.dimensions.items()]),
        ("operators", [f"{name} × {count:,}" for name, count in summary.operators.items()]),
        ("functions", [f"{f.name} ({count_noun(f.nodes, 'node')})" for f in summary.functions]),
        ("weights", [f"{place}: {_amount(amount)}" for place, amount in summary.places.items()]),
        ("largest", [f"{weight.name}: {weight.type}" for weight in summary.largest]),
    ]  # fmt: skip
    return [(title, _few(lines)) for title, lines in rows if any(lines)]


def _origin(summary: ModelSummary) -> str:
    version = "" if summary.ir_version is None else f"IR version {summary.ir_version}"
    return ", ".join(filter(None, (summary.producer, version)))


def _amount(amount: TensorTotals) -> str:
    return f"{count_noun(amount.tensors, 'tensor')}, {count_noun(amount.elements, 'element')}"


def _values(values: tuple[InterfaceValue, ...]) -> list[str]:
    return [f"{value.name}: {value.type or '(no type)'}" for value in values]


def _few(lines: list[str]) -> list[str]:
    left = len(lines) - _MOST
    return [*lines[:_MOST], f"and {left:,} more"] if left > 0 else lines


def _large(count: int) -> str:
    """Abbreviate a large number, such as `1.5 M`."""
    if count < 1000:
        return str(count)
    unit, value = "k", count / 10**3
    for larger in ("M", "B"):
        if round(value) >= 1000:
            unit, value = larger, value / 10**3
    return f"{value:.0f} {unit}" if value >= 99.5 else f"{value:.3g} {unit}"
