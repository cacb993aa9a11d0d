# SPDX-License-Identifier: Apache-2.0
"""The option `--target-opset` of `onnxtext check`: report or apply an opset conversion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from onnxtext.ast.model import Model
    from onnxtext.diagnostics import Diagnostic

Targets = Mapping[str, int]


def read_targets(
    context: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> dict[str, int]:
    """Parse `21` and `ai.onnx.ml=3`."""
    found: dict[str, int] = {}
    for value in values:
        domain, _, number = value.rpartition("=")
        if not (number.isascii() and number.isdigit() and len(number) < 10):
            raise click.BadParameter(f"{value!r} is neither a version nor DOMAIN=VERSION.")
        found["" if domain == "ai.onnx" else domain] = int(number)
    return found


def check_targets(targets: Targets) -> None:
    """Check that the installed onnx knows the versions.

    Raises:
        click.UsageError: a version or domain is unknown.
    """
    from onnxtext.diagnostics import OnnxTextError
    from onnxtext.editing.opsets import check_version

    for domain, version in targets.items():
        try:
            check_version(domain, version)
        except OnnxTextError as error:
            found = error.diagnostics[0]
            raise click.UsageError(f"{found.message}; {found.help}") from None


def find_changes(data: bytes, name: str, targets: Targets) -> list[Diagnostic]:
    """Return the changes that a conversion of a valid model makes, and its obstacles."""
    from onnxtext.diagnostics import OnnxTextError
    from onnxtext.editing.opsets import diagnose, plan_conversion
    from onnxtext.filetype import decode_text, is_binary
    from onnxtext.memory import paused_collector
    from onnxtext.proto.decode.lift import LiftError, lift_model
    from onnxtext.source import Source
    from onnxtext.syntax.parse import parse_model

    with paused_collector():
        source = None
        try:
            if is_binary(data, name):
                model = lift_model(data)
            else:
                source = Source(decode_text(data, name), name)
                model = parse_model(source)
            plan = plan_conversion(model, targets)
        except LiftError:
            return []
        except OnnxTextError as error:
            return list(error.diagnostics)
        return diagnose(plan.remarks, plan.subject, source=source, file=name)


def conversion(model: Model, targets: Targets) -> list[str]:
    """Convert a model: the edit for `onnxtext.editing.apply`."""
    from onnxtext.editing.opsets import convert

    convert(model, targets)  # `find_changes` has reported the changes
    return []
