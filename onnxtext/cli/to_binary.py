# SPDX-License-Identifier: Apache-2.0
"""`onnxtext to-binary`: texts to binary models."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from onnxtext.cli.convert import Conversion, Output, run
from onnxtext.cli.jobs import Job
from onnxtext.cli.options import EXIT_STATUSES, conversion_options, reporting_options
from onnxtext.cli.report import Refused

if TYPE_CHECKING:
    from onnxtext.weights.external import ExternalFile

EXAMPLES = """\b
Examples:
  onnxtext to-binary model.onnxtxt          writes model.onnx
  onnxtext to-binary model.onnxtxt -o /tmp/m.onnx
  onnxtext to-binary *.onnxtxt -o build/    writes build/NAME.onnx for each
  generate-model | onnxtext to-binary >model.onnx"""


def conversion(embed_external: bool, externalize: bool) -> Conversion:
    """The conversion with these options."""

    def convert(data: bytes, job: Job) -> Output:
        from onnxtext.api import decode_text, encode_text

        external = None
        if externalize:
            external = _external(job)
        base = Path.cwd() if job.source is None else job.source.parent
        pieces = encode_text(
            decode_text(data, job.name),
            base_dir=base,
            embed_external=embed_external,
            external=external,
            name=job.name,
        )
        held = external if external is not None and external.parts else None
        return Output(pieces, external=held)

    return Conversion(
        convert,
        suffixes=(".onnxtxt", ".onnxtext"),
        suffix=".onnx",
        binary="out",
        inverse="from-binary",
    )


def _external(job: Job) -> ExternalFile:
    from onnxtext.weights.external import ExternalFile

    if job.target is None:
        raise Refused(
            "no-place",
            "--externalize writes beside the model, and standard output is nowhere",
            help="name a file with -o",
        )
    return ExternalFile(job.target.name + ".data")


TO_BINARY = conversion(embed_external=False, externalize=False)


@click.command("to-binary", epilog=f"{EXAMPLES}\n\n{EXIT_STATUSES}")
@conversion_options
@click.option(
    "--externalize",
    is_flag=True,
    help="Put the data of tensors of 1 KiB and more into a file beside the model, OUT.data, as "
    "ONNX external data. Models of more than 2 GiB need it.",
)
@click.option(
    "--embed-external",
    is_flag=True,
    help="Put data that the text refers to as ONNX external data into the model. Its files are "
    "found from the text's directory.",
)
@reporting_options
def command(
    inputs: tuple[str, ...],
    output: str | None,
    force: bool,
    externalize: bool,
    embed_external: bool,
    output_format: str,
    color: str,
) -> int:
    """Encode texts as binary ONNX models.

    IN is a text in UTF-8; none, or -, is standard input. Without -o the binary is written beside
    it: .onnxtxt and .onnxtext become .onnx, and to any other name .onnx is added. What comes from
    standard input goes to standard output. Files are replaced as a whole or not at all. Weights in
    files beside the text are found from its directory, for standard input from the current one.
    """
    made = conversion(embed_external, externalize)
    return run(made, inputs, output, force=force, output_format=output_format, color=color)
