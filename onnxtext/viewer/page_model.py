# SPDX-License-Identifier: Apache-2.0
"""Read a model for a page: its text, its syntax tree, and the types and weights of its values."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from onnxtext.ast.model import Model
from onnxtext.ast.tensors_and_attributes import SparseTensor, StringData, Tensor, TypedData
from onnxtext.ast.types import TensorType
from onnxtext.checker.engine.partial_parse import read_partial
from onnxtext.conversion_errors import check_declared_size
from onnxtext.diagnostics import Diagnostic, OnnxTextError
from onnxtext.differ import ModelSide
from onnxtext.differ.tensor_data import DataReader
from onnxtext.io.memory import paused_collector
from onnxtext.io.text_or_binary import HEAD, decode_text, is_binary
from onnxtext.lsp.index.document import Document
from onnxtext.lsp.server.check_document import Analysis, analyze
from onnxtext.plurals import count_noun
from onnxtext.printer.models import print_model
from onnxtext.tensor.blobs import BlobError
from onnxtext.weights.statistics import describe_briefly, describe_entries

ENCODING = "utf-16"
"""The unit of columns: UTF-16 code units, as in JavaScript."""


@dataclass(slots=True)
class LoadedModel:
    """A model that was read for a page.

    Attributes:
        name: its name, such as its file name.
        base: the directory of its file, to find weights beside it; None if unknown.
        document: its text, with the data derived from it, such as the syntax tree.
        findings: the syntax errors of the text, then other findings, such as those of the checker.
        binary: whether it was read from a binary model. If so, its text is in the canonical layout.
        statistics: whether the statistics of its weights are computed.
    """

    name: str
    base: Path | None
    document: Document
    findings: list[Diagnostic] = field(default_factory=list)
    binary: bool = False
    statistics: bool = True

    @property
    def text(self) -> str:
        """The text of the model."""
        return self.document.version.text

    @property
    def model(self) -> Model | None:
        """The syntax tree of the model; None if the text is not a whole model."""
        return self.document.version.index.model

    def side(self) -> ModelSide:
        """Return the model in the form that `onnxtext.differ` compares.

        Raises:
            OnnxTextError: the text has errors, or is only a part of a model.
        """
        model = self.model
        if self.document.version.syntax:
            raise OnnxTextError(*self.document.version.syntax)
        if model is None:  # parse the text again, to raise the error that it is only a part
            return ModelSide.of_text(self.text, label=self.name, base=self.base)
        return ModelSide(model, self.name, self.base, self.document.version.source)


def read(
    data: bytes | memoryview,
    name: str,
    base: Path | None,
    *,
    binary: bool | None = None,
    statistics: bool = True,
) -> LoadedModel:
    """Read a text or a binary model, check it, and infer the types of its values.

    A text may have errors; the result has them in `findings`. `base` is the directory of the file,
    to find weights beside it; None if unknown. If `binary` is None, the suffix of `name` decides,
    or `data` if the suffix is unknown. With `statistics`, compute the statistics of weights.

    Raises:
        OnnxTextError: the bytes are neither a model nor a text.
    """
    resources: dict[str, Any] = {}
    if binary is None:
        binary = is_binary(bytes(data[:HEAD]), name)
    with paused_collector():
        text = _print_model(data, name, resources) if binary else decode_text(bytes(data), name)
        document = Document.open("", None, text, 1, ENCODING)
        version = document.version
        version.source.name, version.directory = name, base
        version.parsed = read_partial(version.source)
        loaded = LoadedModel(name, base, document, list(version.syntax), binary, statistics)
        model = version.index.model
        if binary and model is not None:
            model.resources, model.resources_left_out = resources, False
        _infer(loaded)
        _describe(loaded)
    return loaded


def canonical(loaded: LoadedModel) -> LoadedModel:
    """Return a model whose text is in the canonical layout.

    A text with syntax errors, or with only a part of a model, is returned unchanged.
    """
    model = loaded.model
    if loaded.binary or model is None or loaded.document.version.syntax:
        return loaded
    resources = model.resources
    left_out = model.resources_left_out
    model.resources, model.resources_left_out = {}, bool(resources) or left_out
    data = print_model(model).encode("utf-8", "surrogatepass")
    again = read(data, loaded.name, loaded.base, binary=False, statistics=False)
    if again.model is not None:
        again.model.resources, again.model.resources_left_out = resources, left_out
    again.statistics = loaded.statistics
    _describe(again)
    return again


def _print_model(data: bytes | memoryview, name: str, resources: dict[str, Any]) -> str:
    """Print a binary model without its large weights, which are added to `resources`."""
    from onnxtext.binary_to_text import lift_placed

    # Exporters write pages of metadata: print it in a section after the graphs.
    model = lift_placed(data, metadata="section", name=name)
    model.encoding = None
    resources.update(model.resources)
    if resources:
        model.resources, model.resources_left_out = {}, True
    return print_model(model)


def _infer(loaded: LoadedModel) -> None:
    """Check a model and infer its types, as the language server does; store findings and types."""
    document = loaded.document
    analysis = analyze(loaded.text, loaded.name, loaded.base)
    messages = {finding.message for finding in loaded.findings}
    loaded.findings += [
        diagnostic for diagnostic in analysis.diagnostics if diagnostic.message not in messages
    ]
    document.analysis = Analysis(types=analysis.types)
    document.analyzed = document.version.number


def _describe(loaded: LoadedModel) -> None:
    """Set the function that the document calls to get the statistics of weights.

    If statistics are computed, and the model exceeds the limit of protobuf, add an error to
    `findings`.
    """
    describe = _Statistics(loaded).describe if loaded.statistics else lambda type, data: None
    loaded.document.describe = describe


class _Statistics:
    """Describes the weights of a model, and caches the descriptions."""

    def __init__(self, loaded: LoadedModel) -> None:
        self._known: dict[int, tuple[object, str | None]] = {}
        model = loaded.model
        self._reader = None if model is None else DataReader(model, loaded.base)
        try:
            if model is not None:
                check_declared_size(model, loaded.document.version.source)
        except OnnxTextError as error:
            self._reader = None
            loaded.findings += error.diagnostics

    def describe(self, type: Any, data: Any) -> str | None:
        """Return the statistics of a tensor, or the error of reading it; None if unavailable."""
        key = id(data)
        if key not in self._known:
            self._known[key] = data, self._describe(type, data)
        return self._known[key][1]

    def _describe(self, type: Any, data: Any) -> str | None:
        match data:
            case Tensor(type=own, data=inner):
                return self.describe(own, inner)
            case SparseTensor():
                text = self.describe(data.values.type, data.values.data)
                return f"stored values: {text}" if text else None
            case StringData(values):
                return count_noun(len(values), "string")
        if self._reader is None or not isinstance(type, TensorType):
            return None
        try:
            if isinstance(data, TypedData):
                return describe_entries(type.element, data.entries)
            raw = self._reader.raw(type, data, "")
        except (BlobError, OSError) as error:
            return str(error)
        return None if not raw else describe_briefly(type.element, raw)
