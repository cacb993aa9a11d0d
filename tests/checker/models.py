# SPDX-License-Identifier: Apache-2.0
"""Create texts of models, and collect their findings."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import onnxtext
from onnxtext import Diagnostic
from onnxtext.checker.engine.check_tree import run_rules
from onnxtext.checker.inference.inferred_types import inferred_type_texts
from onnxtext.source import Source
from onnxtext.syntax.parse import parse_model


def text(
    nodes: str,
    *,
    inputs: str = "float[4] x",
    outputs: str = "float[4] y",
    values: str = "",
    ir_version: int = 10,
    opsets: str = "21",
    rest: str = "",
) -> str:
    """Return a model with these nodes."""
    listed = f" <\n{indent(values, '  ')}\n>" if values else ""
    return (
        f"<onnxtext: 1, ir_version: {ir_version}, opset_import: [{opsets}]>\n"
        f"main ({inputs}) => ({outputs}){listed} {{\n{indent(nodes.strip(), '  ')}\n}}\n{rest}"
    )


def codes(
    source: object, *, base_dir: Path | None = None, select: list[str] | None = None
) -> set[str]:
    """Return the codes of the findings, except those of severity `info`."""
    found = onnxtext.check(source, base_dir=base_dir, select=select)
    return {item.code for item in found if item.severity != "info"}


def errors(found: list[Diagnostic]) -> list[Diagnostic]:
    """Return the errors among findings."""
    return [item for item in found if item.severity == "error"]


def problems(source: str | bytes) -> list[Diagnostic]:
    """Return errors and warnings, without those about missing types of graph outputs."""
    items = [item for item in onnxtext.check(source) if item.code != "graph-output-untyped"]
    return [item for item in items if item.severity in ("error", "warning")]


def types_of(source: str) -> dict[str, str]:
    """Return the inferred types of the values of the main graph, by name."""
    subject, _ = run_rules(parse_model(Source(source, "m")))
    assert subject.main is not None
    return inferred_type_texts(subject)[subject.main.original.at]
