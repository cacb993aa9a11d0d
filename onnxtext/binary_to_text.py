# SPDX-License-Identifier: Apache-2.0
"""Convert binary to text, with weights in the text or in files beside the text.

`onnxtext.api` is built on this module; the command line uses the module directly.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from onnxtext.ast.metadata_decorators import inline_all_metadata
from onnxtext.ast.model import Function, Graph, Model
from onnxtext.ast.visit import list_graphs
from onnxtext.conversion_errors import lift_binary, warn_if_suspicious
from onnxtext.diagnostics import Diagnostic, OnnxTextError
from onnxtext.io.memory import paused_collector
from onnxtext.printer.metadata_placement import leave_metadata_out, place_metadata
from onnxtext.printer.models import print_model
from onnxtext.printer.move_weights import move_weights
from onnxtext.tensor.blobs import BlobError

if TYPE_CHECKING:
    from onnxtext.weights.write_resources import WeightFiles, Weights

Metadata = Literal["auto", "inline", "section", "none"]

_WEIGHTS = frozenset({"auto", "inline", "section", "store", "safetensors", "none"})
_BESIDE = frozenset({"store", "safetensors"})
_METADATA = frozenset(get_args(Metadata))


def print_binary(
    data: bytes,
    target: Path | None,
    *,
    weights: Weights = "section",
    inline_limit: int = 32,
    metadata: Metadata = "auto",
    location: str | None = None,
    embed_from: Path | None = None,
    stats: bool = False,
    name: str = "<bytes>",
) -> tuple[str, WeightFiles | None]:
    """Print a binary model as text, with its weights in the text or in files beside the text.

    Args:
        data: an encoded `ModelProto`; the bytes of a memory-mapped file are not copied.
        target: the file that the text will be written to. If None, no weights can be written to
            files, and `auto` means `section`.
        weights: where to write large data, as in `onnxtext.dump`.
        inline_limit: maximum number of elements that are always written inline, as in
            `onnxtext.dump`.
        metadata: where to write metadata, as in `onnxtext.from_binary`.
        location: the weight store or safetensors file, relative to the text's directory; None to
            derive it from the text's name.
        embed_from: the directory of the model's file, to embed its external data; None to keep the
            references to external data.
        stats: whether to add comments with statistics of each blob.
        name: the name of the data in messages.

    Returns:
        (text, weight files). The weight files must be written before the text. They are None if no
        weights are to be written beside the text.

    Raises:
        OnnxTextError: the bytes are not a valid `ModelProto`, or external data cannot be embedded.
        ValueError: `weights` or `metadata` has an unknown value, or `weights` needs a `target`.
    """
    if weights not in _WEIGHTS:
        raise ValueError(f"weights={weights!r} is not one of {', '.join(sorted(_WEIGHTS))}")
    if target is None and weights in _BESIDE:
        raise ValueError(f"weights={weights!r} needs a file to write beside: call `dump`")
    if metadata not in _METADATA:
        raise ValueError(f"metadata={metadata!r} is not one of {', '.join(sorted(_METADATA))}")
    weight_files: WeightFiles | None = None
    try:
        with paused_collector(len(data)):
            digests: dict[str, str] = {}
            model = lift_placed(
                data,
                weights=weights,
                inline_limit=inline_limit,
                metadata=metadata,
                digests=digests,
                embed_from=embed_from,
                name=name,
            )
            comments = ""
            if stats and model.resources:
                from onnxtext.weights.statistics import describe_blobs

                comments = describe_blobs(model)
            if weights == "none" and model.resources:
                model.resources, model.resources_left_out = {}, True
            if target is not None and digests:
                from onnxtext.weights.write_resources import move_resources

                weight_files = move_resources(model, digests, weights, target, location)
            text = print_model(model)
            if comments:
                before, _, section = text.rpartition("\nresources ")
                text = before + comments + section
            # Another message that was saved as a model has no IR version, or unknown fields.
            may_be_other = model.ir_version is None or bool(model.decorators)
            del model  # before the garbage collector traverses the tree
    except BlobError as error:
        raise OnnxTextError(Diagnostic(error.code, str(error), path="model", file=name)) from None
    if may_be_other:
        warn_if_suspicious(data, name)
    return text, weight_files


def lift_placed(
    data: bytes | memoryview,
    *,
    weights: str = "section",
    inline_limit: int = 32,
    metadata: str = "auto",
    digests: dict[str, str] | None = None,
    embed_from: Path | None = None,
    name: str = "<bytes>",
) -> Model:
    """Return the syntax tree that `from_binary` prints, after verifying that it encodes to `data`.

    External data is embedded, and metadata removed, after the verification.

    Args:
        data: an encoded `ModelProto`.
        weights: `inline` to keep all data at its statements; with any other value, large data
            becomes blobs in the tree's resources.
        inline_limit: maximum number of elements that are always kept inline.
        metadata: where to write metadata, as in `onnxtext.from_binary`.
        digests: a dict to fill: it maps the digest of each blob in the tree's resources to the full
            digest; None if not needed.
        embed_from: the directory of the model's file, to embed its external data; None to keep the
            references to external data.
        name: the name of the data in messages.

    Raises:
        OnnxTextError: the bytes are not a valid `ModelProto`.
        BlobError: external data cannot be read.
    """
    is_moving = weights != "inline" and embed_from is None
    inline_limit = max(-1, min(inline_limit, sys.maxsize))  # the native core needs a C integer

    def finish(model: Model, graphs: list[Graph | Function] | None, largest: int) -> None:
        """Place metadata and move large data to the resources; see `proto.decode.lift.Finish`."""
        if graphs is not None:
            if metadata in ("auto", "section"):
                place_metadata(model, graphs, short_too=metadata == "section")
            else:
                inline_all_metadata(graphs)
        if digests:
            digests.clear()  # remove digests from an earlier attempt to lift the model
        if is_moving and not 0 <= largest <= inline_limit:
            _move(model, graphs, inline_limit, digests)

    model = lift_binary(data, name, finish, inline_limit if is_moving else sys.maxsize)
    if embed_from is not None:
        from onnxtext.weights.external_data import embed_external

        embed_external(model, embed_from)
        if weights != "inline":
            _move(model, list_graphs(model), inline_limit, digests)
    if metadata == "none":
        leave_metadata_out(model)
    return model


def _move(
    model: Model,
    graphs: list[Graph | Function] | None,
    inline_limit: int,
    digests: dict[str, str] | None,
) -> None:
    """Move large data to the resources; add the full digests to `digests`."""
    moved = move_weights(model, graphs, inline_limit=inline_limit)
    if digests is not None:
        digests.update(moved)
