# SPDX-License-Identifier: Apache-2.0
"""`onnxtext from-binary`: convert binary models to texts."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

import click

from onnxtext.cli.command_errors import CommandError
from onnxtext.cli.convert_files import Conversion, Output, run
from onnxtext.cli.left_behind_data import find_left_behind
from onnxtext.cli.named_files import ConversionJob
from onnxtext.cli.options import (
    BINARY,
    EXIT_STATUSES,
    TEXT,
    FileName,
    Integer,
    conversion_options,
    reporting_options,
)
from onnxtext.cli.report import DiagnosticWarning, Reporter
from onnxtext.diagnostics import Diagnostic, OnnxTextError, OnnxTextWarning

if TYPE_CHECKING:
    from pathlib import Path

    from onnxtext.binary_to_text import Metadata
    from onnxtext.diagnostics import Severity
    from onnxtext.proto.official.losses import Loss
    from onnxtext.weights.write_resources import Weights

EXAMPLES = """\b
Examples:
  onnxtext from-binary model.onnx          writes model.onnxtxt
  onnxtext from-binary model.onnx -o -     prints it
  onnxtext from-binary *.onnx -o texts/    writes texts/NAME.onnxtxt for each
  onnxtext from-binary --weights inline model.onnx -o -
  onnxtext from-binary --dialect onnx --allow-loss model.onnx
  curl -s https://example.org/m.onnx | onnxtext from-binary | less"""


def conversion(
    weights: Weights,
    inline_limit: int,
    metadata: Metadata,
    store: str | None = None,
    *,
    embed_external: bool = False,
    stats: bool = False,
) -> Conversion:
    """Return the conversion of binary models to texts; the arguments are options of the command."""

    def convert(data: bytes, job: ConversionJob) -> Output:
        from onnxtext.binary_to_text import print_binary

        if job.target is None and weights in ("store", "safetensors"):
            raise CommandError(
                "no-place",
                f"`--weights {weights}` writes beside the text, but standard output has no "
                "directory",
                help="name a file with `-o`",
            )
        text, beside = print_binary(
            data,
            job.target,
            weights=weights,
            inline_limit=inline_limit,
            metadata=metadata,
            location=store,
            embed_from=job.directory if embed_external else None,
            stats=stats,
            name=job.name,
        )
        if not data:
            # For protobuf, an empty file is a message without fields, so it is not an error.
            warnings.warn(f"{job.name}: the file is empty", OnnxTextWarning, stacklevel=2)
        if weights == "auto" and job.target is None and len(text) > _LONG_TEXT:
            warnings.warn(DiagnosticWarning(_in_text(job.name)), stacklevel=2)
        left_behind: list[Diagnostic] = []
        if not embed_external:
            left_behind = find_left_behind(data, (job.directory,), job.target)
        referenced: tuple[Path, ...] = ()
        if embed_external and beside is not None and beside.place.kind == "safetensors":
            from onnxtext.conversion_errors import lift_binary
            from onnxtext.weights.external_data import external_locations

            # The model of `beside` has no references any more.
            model = lift_binary(data, job.name)
            referenced = tuple(external_locations(model, job.directory).values())
        return Output(
            [text.encode("utf-8")], beside, referenced=referenced, left_behind=left_behind
        )

    return Conversion(convert, "in")


def _in_text(name: str) -> Diagnostic:
    """Create the note for a long text that contains its weights."""
    return Diagnostic(
        "weights-in-text",
        "the weights are in the text itself because standard output has no directory for a store",
        "note",
        file=name,
        help="`-o FILE` writes the weights to a store beside the text",
    )


_LONG_TEXT = 1 << 20
"""A note is reported if a text with weights on standard output has more characters."""


def _official_conversion(allow_loss: bool) -> Conversion:
    """Return the conversion of binary models to the official syntax."""

    def convert(data: bytes, job: ConversionJob) -> Output:
        text = _convert_official(bytes(data), job.name, allow_loss=allow_loss)
        left_behind = find_left_behind(data, (job.directory,), job.target)
        return Output([text], left_behind=left_behind)

    return Conversion(convert, "in")


def _check_dialect(dialect: str, allow_loss: bool) -> None:
    """Raise a UsageError for options that do not apply to the dialect."""
    if dialect == "onnxtext":
        if allow_loss:
            raise click.UsageError(
                "--allow-loss needs --dialect onnx: the dialect onnxtext loses nothing."
            )
        return
    context = click.get_current_context()
    for name in ("weights", "store", "embed_external", "stats", "inline_limit", "metadata"):
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            option = "--" + name.replace("_", "-")
            raise click.UsageError(f"{option} cannot be combined with --dialect onnx.")


@click.command("from-binary", epilog=f"{EXAMPLES}\n\n{EXIT_STATUSES}")
@conversion_options(inputs=BINARY, output=TEXT)
@click.option(
    "--weights",
    type=click.Choice(["auto", "inline", "section", "store", "safetensors", "none"]),
    default="auto",
    help="Where to write large tensors, strings and lists: to a section at the end of the text; to "
    "a store, a directory beside it with one file per blob; to one safetensors file beside it; "
    "inline; or nowhere, for reading only. auto: a section up to 1 MiB, a store beyond.",
)
@click.option(
    "--store",
    metavar="NAME",
    type=FileName(".safetensors"),
    help="The path of the store or safetensors file, relative to the text; several texts can share "
    "a store. Default: the name of the text with .weights or .safetensors.",
)
@click.option(
    "--embed-external",
    is_flag=True,
    help="Treat ONNX external data like other weights, instead of keeping the references. Its "
    "files are looked up relative to the model's directory. `to-binary` then creates a "
    "self-contained model.",
)
@click.option(
    "--stats",
    is_flag=True,
    help="Add comments with statistics of each blob: min, max, mean, standard deviation, share of "
    "zeros, NaNs.",
)
@click.option(
    "--inline-limit",
    type=Integer(min=0),
    default=32,
    metavar="N",
    help="Tensors, and lists in attributes, of up to N elements are always inline.",
)
@click.option(
    "--metadata",
    type=click.Choice(["auto", "inline", "section", "none"]),
    default="auto",
    help="Where to write the metadata of nodes and values. section: at the end of the file; "
    "inline: at each statement; auto: like section, but short single entries inline unless "
    "exporters write them; none: leave it out.",
)
@click.option(
    "--dialect",
    type=click.Choice(["onnxtext", "onnx"]),
    default="onnxtext",
    help="The language of the text. onnx: only the official syntax, which onnx.parser can read.",
)
@click.option(
    "--allow-loss",
    is_flag=True,
    help="With --dialect onnx, write the text even if parts of the model are lost; these are "
    "listed.",
)
@reporting_options
def command(
    inputs: tuple[str, ...],
    output: str | None,
    force: bool,
    weights: Weights,
    store: str | None,
    embed_external: bool,
    stats: bool,
    inline_limit: int,
    metadata: Metadata,
    dialect: Literal["onnxtext", "onnx"],
    allow_loss: bool,
    reporter: Reporter,
) -> None:
    """Convert binary ONNX models to texts.

    IN is a binary model; without IN, or with -, the model is read from standard input and the text
    is written to standard output. Without -o the text is written beside the model: its suffix
    .onnx becomes .onnxtxt, and .onnxtxt is added to any other name. Files are replaced atomically.
    `onnxtext to-binary` converts the text back to the same bytes.

    The official syntax (--dialect onnx) cannot represent everything: losses are listed on standard
    error by kind; the exit status is 1 and nothing is written, unless --allow-loss is given.
    Two changes of the encoding do not count as losses, and are only noted: empty fields that become
    absent or present, and raw_data written as typed data.
    """
    _check_dialect(dialect, allow_loss)
    if dialect == "onnx":
        chosen = _official_conversion(allow_loss)
    else:
        chosen = conversion(
            weights, inline_limit, metadata, store, embed_external=embed_external, stats=stats
        )
    run(chosen, inputs, output, force=force, reporter=reporter)


_SHOWN_PLACES = 3
"""Maximum number of locations to name per kind of loss."""


def _convert_official(data: bytes, name: str, *, allow_loss: bool) -> bytes:
    """Convert a binary model to the official syntax; warn about losses and changed encodings.

    Raises:
        OnnxTextError: the bytes are not a model, or there are losses and `allow_loss` is False.
    """
    from onnxtext.api import to_official

    text, losses = to_official(data, name=name)
    lost = list(_lost(losses, name, "warning" if allow_loss else "error"))
    notes = [
        Diagnostic("stored-otherwise", loss.message, "note", path="model", file=name)
        for loss in losses
        if loss.harmless
    ]
    if lost and not allow_loss:
        raise OnnxTextError(*lost, *notes, _not_written(name))
    for diagnostic in [*lost, *notes]:
        warnings.warn(DiagnosticWarning(diagnostic), stacklevel=2)
    return text.encode("utf-8")


def _lost(losses: list[Loss], name: str, severity: Severity) -> Iterator[Diagnostic]:
    """Yield one diagnostic per kind of loss."""
    from onnxtext.proto.official.losses import group_losses

    for loss, places in group_losses(losses).items():
        count = len(places)
        message = loss if count == 1 else f"{loss} ({count} places)"
        also = ", ".join(places[1:_SHOWN_PLACES])
        if count > _SHOWN_PLACES:
            also += f" and {count - _SHOWN_PLACES} more"
        notes = (f"also at {also}",) if also else ()
        yield Diagnostic("not-official", message, severity, path=places[0], notes=notes, file=name)


def _not_written(name: str) -> Diagnostic:
    return Diagnostic(
        "loss-not-allowed",
        f"{name} was not written: the official syntax cannot represent the parts reported above",
        help="`--allow-loss` writes the text without these parts; "
        "`--dialect onnxtext` loses nothing",
    )
