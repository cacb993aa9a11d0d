# SPDX-License-Identifier: Apache-2.0
"""`onnxtext to-binary`: texts to binary models."""

from __future__ import annotations

from pathlib import Path

import click

from onnxtext.cli.convert import Conversion, Output, run
from onnxtext.cli.jobs import Job
from onnxtext.cli.options import EXIT_STATUSES, conversion_options, reporting_options

EXAMPLES = """\b
Examples:
  onnxtext to-binary model.onnxtxt          writes model.onnx
  onnxtext to-binary model.onnxtxt -o /tmp/m.onnx
  onnxtext to-binary *.onnxtxt -o build/    writes build/NAME.onnx for each
  generate-model | onnxtext to-binary >model.onnx"""


def _convert(data: bytes, job: Job) -> Output:
    from onnxtext.api import decode_text, encode_text

    base = Path.cwd() if job.source is None else job.source.parent
    return Output(encode_text(decode_text(data, job.name), base_dir=base, name=job.name))


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
