# SPDX-License-Identifier: Apache-2.0
"""`onnxtext to-binary`: texts to binary models."""

from __future__ import annotations

import click

from onnxtext.cli.convert import Conversion, run
from onnxtext.cli.options import EXIT_STATUSES, conversion_options, reporting_options

EXAMPLES = """\b
Examples:
  onnxtext to-binary model.onnxtxt          writes model.onnx
  onnxtext to-binary model.onnxtxt -o /tmp/m.onnx
  onnxtext to-binary *.onnxtxt -o build/    writes build/NAME.onnx for each
  generate-model | onnxtext to-binary >model.onnx"""


def _convert(data: bytes, name: str) -> bytes:
    from onnxtext.api import decode_text, to_binary

    return to_binary(decode_text(data, name), name=name)


TO_BINARY = Conversion(
    _convert,
    suffixes=(".onnxtxt", ".onnxtext"),
    suffix=".onnx",
    binary="out",
    inverse="from-binary",
)


@click.command("to-binary", epilog=f"{EXAMPLES}\n\n{EXIT_STATUSES}")
@conversion_options
@reporting_options
def command(
    inputs: tuple[str, ...], output: str | None, force: bool, output_format: str, color: str
) -> int:
    """Encode texts as binary ONNX models.

    IN is a text in UTF-8; none, or -, is standard input. Without -o the binary is written beside
    it: .onnxtxt and .onnxtext become .onnx, and to any other name .onnx is added. What comes from
    standard input goes to standard output. Files are replaced as a whole or not at all.
    """
    return run(TO_BINARY, inputs, output, force=force, output_format=output_format, color=color)
