# SPDX-License-Identifier: Apache-2.0
"""`onnxtext from-binary`: binary models to texts."""

from __future__ import annotations

import warnings
from typing import Literal

import click

from onnxtext.cli.convert import Conversion, run
from onnxtext.cli.options import EXIT_STATUSES, conversion_options, reporting_options

EXAMPLES = """\b
Examples:
  onnxtext from-binary model.onnx          writes model.onnxtxt
  onnxtext from-binary model.onnx -o -     prints it
  onnxtext from-binary *.onnx -o texts/    writes texts/NAME.onnxtxt for each
  onnxtext from-binary --weights inline model.onnx -o -
  onnxtext from-binary --dialect onnx --allow-loss model.onnx
  curl -s https://example.org/m.onnx | onnxtext from-binary | less"""


Metadata = Literal["auto", "inline", "section", "none"]


def conversion(
    weights: Literal["section", "inline"], inline_limit: int, metadata: Metadata
) -> Conversion:
    """The conversion with these options."""

    def convert(data: bytes, name: str) -> bytes:
        from onnxtext.api import from_binary
        from onnxtext.diagnostics import OnnxTextWarning

        text = from_binary(
            data, weights=weights, inline_limit=inline_limit, metadata=metadata, name=name
        )
        if not data:
            # Formally it is a model, and the text of one that says nothing.
            warnings.warn(f"{name}: the file is empty", OnnxTextWarning, stacklevel=2)
        return text.encode("utf-8")

    return Conversion(
        convert, suffixes=(".onnx",), suffix=".onnxtxt", binary="in", inverse="to-binary"
    )


def official_conversion(allow_loss: bool) -> Conversion:
    """The conversion to the official syntax."""

    def convert(data: bytes, name: str) -> bytes:
        from onnxtext.cli.official import convert_official

        return convert_official(data, name, allow_loss=allow_loss)

    return Conversion(
        convert, suffixes=(".onnx",), suffix=".onnxtxt", binary="in", inverse="to-binary"
    )


def _check_dialect(dialect: str, allow_loss: bool) -> None:
    """Refuse options that say nothing together."""
    if dialect == "onnxtext":
        if allow_loss:
            raise click.UsageError("--allow-loss goes with --dialect onnx: no other loses anything")
        return
    context = click.get_current_context()
    for name in ("weights", "inline_limit", "metadata"):
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            option = "--" + name.replace("_", "-")
            raise click.UsageError(f"{option} goes with --dialect onnxtext: onnx has no choice")


@click.command("from-binary", epilog=f"{EXAMPLES}\n\n{EXIT_STATUSES}")
@conversion_options
@click.option(
    "--weights",
    type=click.Choice(["section", "inline"]),
    default="section",
    show_default=True,
    help="Where large tensors, strings and lists go: to a section at the end, or inline.",
)
@click.option(
    "--inline-limit",
    type=click.IntRange(min=0),
    default=64,
    show_default=True,
    metavar="N",
    help="Tensors of up to N elements are inline in any case.",
)
@click.option(
    "--metadata",
    type=click.Choice(["auto", "inline", "section", "none"]),
    default="auto",
    show_default=True,
    help="Where metadata of nodes and values goes: to a section at the end (auto: but for short "
    "single entries), to its statements, or nowhere, for reading only.",
)
@click.option(
    "--dialect",
    type=click.Choice(["onnxtext", "onnx"]),
    default="onnxtext",
    show_default=True,
    help="The language: onnx is the official syntax only, which onnx.parser reads.",
)
@click.option(
    "--allow-loss",
    is_flag=True,
    help="With --dialect onnx, write the text even if it lacks something, which is listed.",
)
@reporting_options
def command(
    inputs: tuple[str, ...],
    output: str | None,
    force: bool,
    weights: Literal["section", "inline"],
    inline_limit: int,
    metadata: Metadata,
    dialect: Literal["onnxtext", "onnx"],
    allow_loss: bool,
    output_format: str,
    color: str,
) -> int:
    """Print binary ONNX models as texts.

    IN is a binary model; none, or -, is standard input. Without -o the text is written beside it:
    .onnx becomes .onnxtxt, and to any other name .onnxtxt is added. What comes from standard input
    goes to standard output. Files are replaced as a whole or not at all. `onnxtext to-binary` makes
    the very same bytes of the text again.

    The official syntax (--dialect onnx) cannot carry everything: what a model has beyond it is
    listed on standard error, kind by kind, and makes the exit status 1, and nothing is written,
    unless --allow-loss is given. No loss, and only noted, is what changes no meaning: whether empty
    fields are stored, and raw_data that becomes typed data of the same values.
    """
    _check_dialect(dialect, allow_loss)
    official = dialect == "onnx"
    made = (
        official_conversion(allow_loss) if official else conversion(weights, inline_limit, metadata)
    )
    return run(made, inputs, output, force=force, output_format=output_format, color=color)
