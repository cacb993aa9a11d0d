# SPDX-License-Identifier: Apache-2.0
"""`onnxtext from-binary`: binary models to texts."""

from __future__ import annotations

import click

from onnxtext.cli.convert import Conversion, run
from onnxtext.cli.options import EXIT_STATUSES, conversion_options, reporting_options

EXAMPLES = """\b
Examples:
  onnxtext from-binary model.onnx          writes model.onnxtxt
  onnxtext from-binary model.onnx -o -     prints it
  onnxtext from-binary *.onnx -o texts/    writes texts/NAME.onnxtxt for each
  curl -s https://example.org/m.onnx | onnxtext from-binary | less"""


def _convert(data: bytes, name: str) -> bytes:
    from onnxtext.api import from_binary

    return from_binary(data, name=name).encode("utf-8")


FROM_BINARY = Conversion(
    _convert, suffixes=(".onnx",), suffix=".onnxtxt", binary="in", inverse="to-binary"
)


@click.command("from-binary", epilog=f"{EXAMPLES}\n\n{EXIT_STATUSES}")
@conversion_options
@reporting_options
def command(
    inputs: tuple[str, ...], output: str | None, force: bool, output_format: str, color: str
) -> int:
    """Print binary ONNX models as texts.

    IN is a binary model; none, or -, is standard input. Without -o the text is written beside it:
    .onnx becomes .onnxtxt, and to any other name .onnxtxt is added. What comes from standard input
    goes to standard output. Files are replaced as a whole or not at all. `onnxtext to-binary` makes
    the very same bytes of the text again.
    """
    return run(FROM_BINARY, inputs, output, force=force, output_format=output_format, color=color)
