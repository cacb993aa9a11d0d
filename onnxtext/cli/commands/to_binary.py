# SPDX-License-Identifier: Apache-2.0
"""`onnxtext to-binary`: convert texts to binary models."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import click

from onnxtext.cli.command_errors import CommandError
from onnxtext.cli.convert_files import Conversion, Output, run
from onnxtext.cli.left_behind_data import find_left_behind
from onnxtext.cli.named_files import ConversionJob
from onnxtext.cli.options import BINARY, EXIT_STATUSES, TEXT, conversion_options, reporting_options
from onnxtext.cli.report import Reporter
from onnxtext.diagnostics import OnnxTextError
from onnxtext.io.memory import paused_collector
from onnxtext.io.text_or_binary import decode_text
from onnxtext.source import Source

if TYPE_CHECKING:
    from pathlib import Path

    from onnxtext.ast.model import Model
    from onnxtext.diagnostics import Diagnostic
    from onnxtext.tensor.blobs import BlobSource
    from onnxtext.weights.external_data import ExternalFile
    from onnxtext.wire.writer import Piece

EXAMPLES = """\b
Examples:
  onnxtext to-binary model.onnxtxt          writes model.onnx
  onnxtext to-binary model.onnxtxt -o /tmp/m.onnx
  onnxtext to-binary *.onnxtxt -o build/    writes build/NAME.onnx for each
  generate-model | onnxtext to-binary >model.onnx
  onnxtext to-binary --no-check broken.onnxtxt"""


def conversion(
    *, checked: bool, embed_external: bool = False, externalize: bool = False
) -> Conversion:
    """Return the conversion of texts to binary models; the arguments are options of the command."""

    def convert(data: bytes, job: ConversionJob) -> Output:
        if checked:
            from onnxtext.checker.isolation.inference_client import start_worker

            start_worker()  # before the imports below, because they would make the fork slower
        from onnxtext.syntax.parse import parse_model
        from onnxtext.text_to_binary import embed, encode
        from onnxtext.weights.find_blobs import BlobReader

        external = _external(job) if externalize else None
        source = Source(decode_text(data, job.name), job.name)
        with paused_collector(len(data)):
            try:
                model = parse_model(source)
            except OnnxTextError as error:
                if checked:
                    _explain_dangling(source, error, job)
                raise
            blob_source = BlobReader.of(model, job.directory)
            referenced = _referenced(model, job, embed_external) if externalize else ()
            if embed_external:
                embed(model, source, job.directory)
            left_behind = find_left_behind(model, (job.directory,), job.target)
            pieces = encode(model, source, blob_source=blob_source, external=external)
            if checked:
                _check(model, source, pieces, blob_source, job)
        if external is not None and not external.parts:
            external = None
        return Output(pieces, external=external, referenced=referenced, left_behind=left_behind)

    return Conversion(convert, "out")


def _check(
    model: Model, source: Source, pieces: list[Piece], blob_source: BlobSource, job: ConversionJob
) -> None:
    """Raise an OnnxTextError if checking a model finds errors."""
    from onnxtext.checker.engine.check_tree import check_tree
    from onnxtext.checker.isolation.strip_weights import LARGE
    from onnxtext.proto.encode.lower import lower_without_weights

    def encoded() -> bytes | None:
        if sum(map(len, pieces)) < LARGE:
            return b"".join(pieces)
        # Shape inference does not need large weights, and would copy them.
        return lower_without_weights(model, blob_source)

    # Check only the model itself: external data may still be missing.
    _raise_errors(partial(check_tree, model, source=source, encoded=encoded), job)


def _explain_dangling(source: Source, error: OnnxTextError, job: ConversionJob) -> None:
    """Raise the errors of `onnxtext check` if the parser reports only dangling entries.

    `error` has the errors of the parser. A dangling entry of a section refers to an item that the
    model lacks, perhaps because of an error that only the checker reports.
    """
    from onnxtext.checker.engine.check_source import check_text
    from onnxtext.checker.engine.dangling_entries import only_dangling

    if only_dangling(error.diagnostics):
        _raise_errors(partial(check_text, source.text, name=source.name), job)


def _raise_errors(check: Callable[..., list[Diagnostic]], job: ConversionJob) -> None:
    """Raise the errors that `check` finds with the settings of the job's project."""
    from onnxtext.cli.load_settings import schemas_of_project

    with schemas_of_project(job.source) as settings:
        diagnostics = check(select=settings.select, ignore=settings.ignore)
    errors = [item for item in diagnostics if item.severity == "error"]
    if errors:
        raise OnnxTextError(*errors[:MAX_ERRORS])


MAX_ERRORS = 50
"""Maximum number of errors to show per text; `onnxtext check` shows all."""


def _external(job: ConversionJob) -> ExternalFile:
    """Return the external data file of a job. It is empty until the encoder adds data.

    Raises:
        CommandError: the output is standard output, so there is no directory for the file.
    """
    from onnxtext.weights.external_data import ExternalFile

    if job.target is None:
        raise CommandError(
            "no-place",
            "`--externalize` writes beside the model, but standard output has no directory",
            help="name a file with `-o`",
        )
    return ExternalFile(job.target.name + ".data")


def _referenced(model: Model, job: ConversionJob, embed_external: bool) -> tuple[Path, ...]:
    """Return the external data files beside the text (`embed_external`) or the new model."""
    from onnxtext.weights.external_data import external_locations

    base = job.directory if embed_external or job.target is None else job.target.parent
    return tuple(external_locations(model, base).values())


@click.command("to-binary", epilog=f"{EXAMPLES}\n\n{EXIT_STATUSES}")
@conversion_options(inputs=TEXT, output=BINARY)
@click.option(
    "--check/--no-check",
    "checked",
    default=True,
    help="Whether to reject models that violate rules of the ONNX IR (see `onnxtext check`).",
)
@click.option(
    "--externalize",
    is_flag=True,
    help="Write the data of tensors of 1 KiB and more to a file beside the model, OUT.data, as "
    "ONNX external data. Models of more than 2 GiB need it.",
)
@click.option(
    "--embed-external",
    is_flag=True,
    help="Embed ONNX external data of the text in the model. Its files are looked up relative to "
    "the text's directory.",
)
@reporting_options
def command(
    inputs: tuple[str, ...],
    output: str | None,
    force: bool,
    checked: bool,
    externalize: bool,
    embed_external: bool,
    reporter: Reporter,
) -> None:
    """Encode texts as binary ONNX models.

    IN is a text in UTF-8; without IN, or with -, the text is read from standard input and the
    binary is written to standard output. Without -o the binary is written beside the text: its
    suffix .onnxtxt or .onnxtext becomes .onnx, and .onnx is added to any other name. Files are
    replaced atomically. Weights outside of the text are looked up relative to the directory of the
    text, or to the current directory for standard input.
    """
    chosen = conversion(checked=checked, embed_external=embed_external, externalize=externalize)
    run(chosen, inputs, output, force=force, reporter=reporter)
