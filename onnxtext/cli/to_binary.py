# SPDX-License-Identifier: Apache-2.0
"""`onnxtext to-binary`: texts to binary models."""

from __future__ import annotations

from pathlib import Path

import click

from onnxtext.cli.convert import Conversion, run
from onnxtext.cli.jobs import STDIN
from onnxtext.cli.options import EXIT_STATUSES, conversion_options, reporting_options

EXAMPLES = """\b
Examples:
  onnxtext to-binary model.onnxtxt          writes model.onnx
  onnxtext to-binary model.onnxtxt -o /tmp/m.onnx
  onnxtext to-binary *.onnxtxt -o build/    writes build/NAME.onnx for each
  generate-model | onnxtext to-binary >model.onnx
  onnxtext to-binary --no-check broken.onnxtxt"""


def conversion(*, checked: bool) -> Conversion:
    """The conversion, with or without a check of the model."""
    return Conversion(
        _convert_checked if checked else _convert,
        suffixes=(".onnxtxt", ".onnxtext"),
        suffix=".onnx",
        binary="out",
        inverse="from-binary",
    )


def _convert(data: bytes, name: str) -> bytes:
    from onnxtext.api import decode_text, to_binary

    return to_binary(decode_text(data, name), name=name)


def _convert_checked(data: bytes, name: str) -> bytes:
    from onnxtext.api import decode_text, encode
    from onnxtext.checker.run import check_tree
    from onnxtext.cli.settings import read_settings
    from onnxtext.collector import paused_collector
    from onnxtext.diagnostics import OnnxTextError
    from onnxtext.source import Source
    from onnxtext.syntax.parse import parse_model

    settings = read_settings(None if name == STDIN else Path(name))
    source = Source(decode_text(data, name), name)
    with paused_collector():
        model = parse_model(source)
        made = encode(model, source)
        # External data may still be missing where the text is: only the model itself is checked.
        found = check_tree(
            model,
            source=source,
            encoded=lambda: made,
            select=settings.select,
            ignore=settings.ignore,
        )
    errors = [item for item in found if item.severity == "error"]
    if errors:
        raise OnnxTextError(*errors[:MOST_ERRORS])
    return made


MOST_ERRORS = 50
"""How many errors of one text are shown; `onnxtext check` shows all."""


@click.command("to-binary", epilog=f"{EXAMPLES}\n\n{EXIT_STATUSES}")
@conversion_options
@click.option(
    "--check/--no-check",
    "checked",
    default=True,
    show_default=True,
    help="Whether to refuse models that break rules of the ONNX IR (see `onnxtext check`).",
)
@reporting_options
def command(
    inputs: tuple[str, ...],
    output: str | None,
    force: bool,
    checked: bool,
    output_format: str,
    color: str,
) -> int:
    """Encode texts as binary ONNX models.

    IN is a text in UTF-8; none, or -, is standard input. Without -o the binary is written beside
    it: .onnxtxt and .onnxtext become .onnx, and to any other name .onnx is added. What comes from
    standard input goes to standard output. Files are replaced as a whole or not at all.
    """
    made = conversion(checked=checked)
    return run(made, inputs, output, force=force, output_format=output_format, color=color)
