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
    found = summarize(model)
    parts = [count_noun(found.nodes, "node")]
    if found.parameters.elements:
        parts.append(f"{_large(found.parameters.elements)} parameters")
    rows: list[Row] = [
        ("in short", [*parts, *[f"{name} {number}" for name, number in found.opsets.items()]]),
        ("from", [_origin(found)]),
        ("graph", [found.graph]),
        ("inputs", _values(found.inputs)),
        ("outputs", _values(found.outputs)),
        ("dimensions", [f"{name}: {', '.join(at)}" for name, at in found.dimensions.items()]),
        ("operators", [f"{name} × {count:,}" for name, count in found.operators.items()]),
        ("functions", [f"{one.name} ({count_noun(one.nodes, 'node')})" for one in found.functions]),
        ("weights", [f"{place}: {_amount(amount)}" for place, amount in found.places.items()]),
        ("largest", [f"{each.name}: {each.type}" for each in found.largest]),
    ]  # fmt: skip
    return [(title, _few(lines)) for title, lines in rows if any(lines)]


def _origin(found: ModelSummary) -> str:
    version = "" if found.ir_version is None else f"IR version {found.ir_version}"
    return ", ".join(filter(None, (found.producer, version)))


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
