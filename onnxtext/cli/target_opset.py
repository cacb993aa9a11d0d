# SPDX-License-Identifier: Apache-2.0
"""The option `--target-opset` of `onnxtext check`: report or apply an opset conversion."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from onnxtext.ast.qualified_names import plain_domain
from onnxtext.diagnostics import Diagnostic, Label, OnnxTextError
from onnxtext.source import Source, Span

if TYPE_CHECKING:
    from onnxtext.ast.model import Model
    from onnxtext.checker.context.checked_model import CheckedModel
    from onnxtext.editing.opsets import Targets


def read_targets(
    context: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> dict[str, int]:
    """Return a map from domains to versions for option values such as `21` and `ai.onnx.ml=3`.

    Raises:
        click.BadParameter: a value is neither a version nor `DOMAIN=VERSION`.
    """
    result: dict[str, int] = {}
    for value in values:
        domain, _, version = value.rpartition("=")
        if not (version.isascii() and version.isdigit() and len(version) < 10):
            raise click.BadParameter(f"{value!r} is neither a version nor DOMAIN=VERSION.")
        result[plain_domain(domain)] = int(version)
    return result


def check_targets(targets: Targets) -> None:
    """Check that the installed onnx has the operator sets to convert to.

    Raises:
        click.UsageError: a version or domain is unknown.
    """
    from onnxtext.editing.opsets import check_version

    for domain, version in targets.items():
        try:
            check_version(domain, version)
        except OnnxTextError as error:
            diagnostic = error.diagnostics[0]
            message = diagnostic.message[0].upper() + diagnostic.message[1:]
            raise click.UsageError(f"{message}; {diagnostic.help}.") from None


def find_changes(
    subject: CheckedModel, source: Source | None, *, name: str, targets: Targets
) -> list[Diagnostic]:
    """Return findings on a conversion: the changes that it would make, and obstacles to it.

    `subject` is the checked model; it must have no errors. `source` is its text; None for a binary
    model.
    """
    from onnxtext.editing.opsets import plan_conversion, remark_diagnostics

    if subject.model is None:
        message = "only whole models can be converted, not a part without opset imports"
        return [Diagnostic("edit-refused", message, source=source, labels=(Label(Span(0, 0)),))]
    try:
        plan = plan_conversion(subject.model, targets, subject)
    except OnnxTextError as error:
        return list(error.diagnostics)
    return remark_diagnostics(plan.remarks, subject, source=source, file=name)


def convert_content(
    content: str | bytes, name: str, targets: Targets
) -> tuple[list[Diagnostic], str | bytes]:
    """Convert a valid model, as a text or bytes, to other versions of operator sets.

    Return (the diagnostics of `find_changes`, the converted model). The model is unchanged if it
    cannot be converted.
    """
    from onnxtext.editing import apply
    from onnxtext.editing.opsets import plan_conversion, remark_diagnostics

    diagnostics: list[Diagnostic] = []

    def convert(model: Model) -> None:
        plan = plan_conversion(model, targets)
        source = Source(content, name) if isinstance(content, str) else None
        diagnostics.extend(remark_diagnostics(plan.remarks, plan.subject, source=source, file=name))
        if not plan.obstacles:
            plan.apply()

    try:
        return diagnostics, apply(content, convert, name=name).content
    except OnnxTextError as error:
        return list(error.diagnostics), content
