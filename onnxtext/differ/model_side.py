# SPDX-License-Identifier: Apache-2.0
"""Load one of the two models of a diff, from text, bytes or a file."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path

from onnxtext.ast.model import Model
from onnxtext.diagnostics import Diagnostic, OnnxTextError
from onnxtext.differ.graph_lists import replaces_lists
from onnxtext.differ.result import ItemPosition
from onnxtext.differ.statement_encoding import StatementEncoder
from onnxtext.differ.tensor_data import DataReader
from onnxtext.io.files import read_input
from onnxtext.proto.unknown_fields import RecordError
from onnxtext.source import Source


@dataclass(slots=True)
class ModelSide:
    """One of the two models of a diff.

    Attributes:
        label: the name of the model for display.
        base: the directory for references to weight files and external data; None if unknown.
        source: the text of the model; None if there is none, or if `model` has no offsets in it.
    """

    model: Model
    label: str
    base: Path | None = None
    source: Source | None = None
    encoder: StatementEncoder = field(init=False)
    reader: DataReader = field(init=False)

    def __post_init__(self) -> None:
        self._normalize()
        try:
            self.encoder = StatementEncoder(self.model.presence)
        except RecordError as error:
            message = Diagnostic("invalid-record", str(error), source=self.source, file=self.label)
            raise OnnxTextError(message) from None
        self.reader = DataReader(self.model, self.base)

    def position(self, path: str, at: int = -1) -> ItemPosition:
        """Return the position of an item of this model.

        The position has no line if `source` is None, or if `at` is -1.

        `path` is the path of the item in the ONNX schema, such as `graph.node[12]`; `at` is the
        offset of its statement in the text, or -1 if unknown.
        """
        if self.source is None or at < 0:
            return ItemPosition(path)
        position = self.source.position(at)
        return ItemPosition(path, position.line, position.column)

    def _normalize(self) -> None:
        """Apply `@set` and `@unset` if they replace lists, to compare the list items one by one.

        The model is encoded and decoded for this purpose; the new model has no text positions. If
        the model cannot be encoded, it stays unchanged.
        """
        from onnxtext.ast.visit import walk_graphs
        from onnxtext.proto.decode.lift import LiftError, lift_model
        from onnxtext.proto.encode.lower import LowerError, lower_model
        from onnxtext.weights.find_blobs import BlobReader

        if self.source is None or not any(map(replaces_lists, walk_graphs(self.model))):
            return
        try:
            plain = replace(self.model, encoding_habits=(), encoding=None)
            lifted = lift_model(lower_model(plain, BlobReader(self.base, plain.places, plain)))
        except (LowerError, LiftError):
            return  # for example, weights are missing; the decorators are then compared unchanged
        lifted.encoding_habits = self.model.encoding_habits
        lifted.encoding = self.model.encoding
        self.model = lifted
        self.source = None

    @classmethod
    def of_text(cls, text: str, *, label: str = "<string>", base: Path | None = None) -> ModelSide:
        """Create a side from a text.

        Raises:
            OnnxTextError: the text has syntax errors or an invalid header, or its model exceeds the
                size limit of protobuf.
        """
        from onnxtext.conversion_errors import check_declared_size
        from onnxtext.syntax.parse import parse_model

        source = Source(text, label)
        model = parse_model(source)
        check_declared_size(model, source)
        return cls(model, label, base, source)

    @classmethod
    def of_binary(
        cls, data: bytes | memoryview, *, label: str = "<bytes>", base: Path | None = None
    ) -> ModelSide:
        """Create a side from an encoded `ModelProto`.

        Raises:
            OnnxTextError: the bytes are not a valid model.
        """
        from onnxtext.conversion_errors import lift_binary

        return cls(lift_binary(data, label), label, base)

    @classmethod
    def of_file(cls, path: str | os.PathLike[str], *, label: str | None = None) -> ModelSide:
        """Create a side from a file.

        The suffix `.onnx` means a binary model; `.onnxtxt` and `.onnxtext` mean a text. For other
        suffixes, the content decides.

        Raises:
            OnnxTextError: the file is not a valid text or model.
            OSError: the file cannot be read.
        """
        path = Path(path)
        data = read_input(path, maps=True)
        return cls.of_content(data, os.fspath(path), label=label, base=path.parent)

    @classmethod
    def of_content(
        cls, data: bytes | memoryview, file: str, *, label: str | None = None, base: Path
    ) -> ModelSide:
        """Create a side from the content of a file, or of standard input.

        The suffix of `file`, a path or `<stdin>`, decides whether `data` is a text or an encoded
        model, as in `of_file`. `label` is the name of the model for display; None to show `file`.
        `base` is the directory for references to weight files and external data.

        Raises:
            OnnxTextError: the content is not a valid text or model.
        """
        from onnxtext.io.text_or_binary import HEAD, decode_text, is_binary

        name = label or file
        if is_binary(bytes(data[:HEAD]), file):
            return cls.of_binary(data, label=name, base=base)
        return cls.of_text(decode_text(bytes(data), name), label=name, base=base)
