# SPDX-License-Identifier: Apache-2.0
"""Load a model for `onnxtext show`: drop metadata, and replace large weights by blobs.

A blob is a reference to bytes by their digest: `blob"<digest>"` in the text.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from onnxtext.ast.model import Fragment, Function, Graph, Model
from onnxtext.ast.tensors_and_attributes import ExternalData
from onnxtext.ast.types import TensorType
from onnxtext.ast.visit import list_graphs
from onnxtext.conversion_errors import check_declared_size
from onnxtext.diagnostics import Diagnostic, OnnxTextError
from onnxtext.differ.tensor_data import DataReader
from onnxtext.io.memory import paused_collector
from onnxtext.io.text_or_binary import HEAD, decode_text, is_binary
from onnxtext.printer.metadata_placement import leave_metadata_out, remove_metadata_decorators
from onnxtext.printer.move_weights import INLINE_ELEMENTS, WeightMover
from onnxtext.printer.quoting import quote_string
from onnxtext.source import Source
from onnxtext.tensor.blobs import PRINTED_DIGITS, BlobError
from onnxtext.weights.statistics import describe_briefly, first_uses_of_blobs

Root = Model | Function | Graph
"""The syntax tree of a file to show: a model, a function or a graph."""


@dataclass(slots=True)
class ReadableModel:
    """A loaded model, ready to be shown.

    Attributes:
        root: the model, graph or function, with blobs in place of its large data.
        findings: the errors of its text. `root` does not contain the statements with errors.
        source: its text; None for a binary model.
    """

    root: Root
    name: str
    findings: tuple[Diagnostic, ...] = ()
    source: Source | None = None
    # `_moved` has the bytes of each blob by its number in `root`. `_uses` has the name and element
    # type of the first use of each blob.
    _moved: dict[str, bytes | memoryview] = field(default_factory=dict)
    _uses: dict[str, tuple[str, str]] = field(default_factory=dict)
    _reader: DataReader | None = None
    _external: dict[tuple[str, ...], tuple[TensorType, ExternalData]] = field(default_factory=dict)

    def digest(self, shown: str) -> str:
        """Return the digest of a blob of `root`.

        `shown` is the content of `blob"…"` in the printed model: a digest, or the number of a blob
        that `read_model` created.
        """
        data = self._moved.get(shown)
        return shown if data is None else hashlib.sha256(data).hexdigest()[:PRINTED_DIGITS]

    def statistics(self, shown: str) -> str | None:
        """Return the statistics of the data of a blob of `root`; None if the data cannot be read.

        `shown` is the content of `blob"…"` in the printed model (see `digest`).
        """
        data = self._moved.get(shown)
        try:
            if data is None and self._reader is not None:
                data = self._reader.blob(shown)
        except (BlobError, OSError):
            return None
        return None if data is None else describe_briefly(self._uses.get(shown, ("", ""))[1], data)

    def external_statistics(self, arguments: tuple[str, ...]) -> str | None:
        """Return the statistics of external data; None if the data cannot be read.

        `arguments` are those of `external(…)` as printed: the quoted location, then offset and
        length if present.
        """
        statistics = self._external.get(arguments)
        if statistics is None or self._reader is None:
            return None
        type, reference = statistics
        try:
            data = self._reader.raw(type, reference, "")
        except (BlobError, OSError):
            return None
        return None if data is None else describe_briefly(type.element, data)


class _LazyMover(WeightMover):
    """Moves large data to `resources` without hashing: blobs get numbers instead of digests.

    Attributes:
        external: the references to external data, by location, offset and length.
    """

    def __init__(self, limit: int) -> None:
        super().__init__(limit)
        self.external: dict[tuple[str, ...], tuple[TensorType, ExternalData]] = {}

    def data(self, type: TensorType, data: Any, name: str | None) -> Any:
        """Move large data to `resources` and return a blob for it; return other data unchanged.

        References to external data are recorded in `external`.
        """
        if isinstance(data, ExternalData):
            location, *numbers = [value for _, value in data.entries] or [""]
            arguments = quote_string(location), *numbers
            self.external.setdefault(arguments, (type, data))
        return super().data(type, data, name)

    def add(self, data: bytes | memoryview) -> str:
        """Add bytes to `resources`; return a number in place of their digest."""
        number = f"{len(self.resources):0{PRINTED_DIGITS}x}"
        self.resources[number] = data
        return number


def read_model(
    data: bytes | memoryview, name: str, base: Path | None, *, binary: bool | None = None
) -> ReadableModel:
    """Read a text or a binary model to be shown.

    `base` is the directory of the file, to find weights beside it; None if unknown. If `binary` is
    None, the suffix of `name` decides, or `data` if the suffix is unknown.

    Raises:
        OnnxTextError: `data` is not a model, no part of the text can be read, or its weights are
            too large for protobuf.
    """
    with paused_collector():
        if is_binary(bytes(data[:HEAD]), name) if binary is None else binary:
            from onnxtext.binary_to_text import lift_placed

            model = lift_placed(data, weights="inline", metadata="none", name=name)
            return _finish(ReadableModel(model, name), base)
        source = Source(decode_text(bytes(data), name), name)
        root, findings = _parse(source)
        _leave_metadata_out(root)
        return _finish(ReadableModel(root, name, findings, source), base)


def _parse(source: Source) -> tuple[Root, tuple[Diagnostic, ...]]:
    from onnxtext.checker.engine.partial_parse import read_partial

    found, diagnostics = read_partial(source)
    root = found.item if isinstance(found, Fragment) else found
    if not isinstance(root, Model | Function | Graph):
        raise OnnxTextError(*diagnostics)
    assert found is not None
    check_declared_size(found, source)
    return root, diagnostics


def _finish(reading: ReadableModel, base: Path | None) -> ReadableModel:
    """Replace large data by blobs; remove resources, weight paths and the encoding patch.

    The replaced data stays available to `reading`, for statistics. `base` is the directory of the
    model's file, where `reading` finds other weights.
    """
    root = reading.root
    mover = _LazyMover(INLINE_ELEMENTS)
    mover.run(root)
    reading._moved, reading._external = mover.resources, mover.external
    reading._uses = first_uses_of_blobs(root)
    if isinstance(root, Model):
        reading._reader = DataReader(root, base)
        if root.resources or root.places or mover.resources:
            root.resources_left_out = True
        root.resources, root.places = {}, []
        root.encoding = None
    return reading


def _leave_metadata_out(root: Root) -> None:
    """Remove the metadata of a parsed text, except the metadata in its header."""
    graphs = list_graphs(root)
    left_out = False
    for graph in graphs:
        for item in (graph, *graph.inputs, *graph.outputs, *graph.values, *graph.nodes):
            left_out = left_out or bool(item.metadata)
            item.metadata = ()
        left_out = left_out or bool(graph.value_metadata)
        graph.value_metadata = {}
    if isinstance(root, Model):
        leave_metadata_out(root)
        root.metadata_left_out = root.metadata_left_out or left_out
    else:
        remove_metadata_decorators(graphs)
