# SPDX-License-Identifier: Apache-2.0
"""One of the two models that are compared."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path

from onnxtext.ast.model import Model
from onnxtext.diagnostics import Diagnostic, OnnxTextError
from onnxtext.diff.body import replaces_lists
from onnxtext.diff.facts import Facts
from onnxtext.diff.model import Place
from onnxtext.diff.weights import Holder
from onnxtext.files import read_input
from onnxtext.proto.generic import RecordError
from onnxtext.source import Source
from onnxtext.weights.paths import PathError, view_file


@dataclass(slots=True)
class Side:
    """A model and what is known of it.

    Attributes:
        model: the model.
        label: what it is called.
        base: the directory of its file, where weights and external data are; None if unknown.
        source: its text; None for a binary.
        facts: lowers its statements.
        holder: finds the data of its tensors.
    """

    model: Model
    label: str
    base: Path | None = None
    source: Source | None = None
    facts: Facts = field(init=False)
    holder: Holder = field(init=False)

    def __post_init__(self) -> None:
        self._settle()
        try:
            self.facts = Facts(self.model.presence)
        except RecordError as error:
            message = Diagnostic("invalid-record", str(error), source=self.source, file=self.label)
            raise OnnxTextError(message) from None
        self.holder = Holder(self.model, self.base)

    def place(self, path: str, at: int = -1) -> Place:
        """A place in this model.

        Args:
            path: in the field names of the schema.
            at: the offset of the statement in the text, -1 if it has none.
        """
        if self.source is None or at < 0:
            return Place(path)
        position = self.source.position(at)
        return Place(path, position.line, position.column)

    def _settle(self) -> None:
        """Lift a text anew whose decorators say lists that have a syntax of their own."""
        from onnxtext.ast.visit import walk_graphs
        from onnxtext.proto.lift import LiftError, lift_model
        from onnxtext.proto.lower import LowerError, lower_model
        from onnxtext.weights.reader import Reader

        if self.source is None or not any(map(replaces_lists, walk_graphs(self.model))):
            return
        try:
            plain = replace(self.model, encoding_habits=(), encoding=None)
            lifted = lift_model(lower_model(plain, Reader(self.base, plain.places)))
        except (LowerError, LiftError):
            return  # weights are missing: the decorators are compared as they are
        lifted.encoding_habits = self.model.encoding_habits
        lifted.encoding = self.model.encoding
        self.model = lifted
        self.source = None

    @classmethod
    def of_text(cls, text: str, *, label: str = "<string>", base: Path | None = None) -> Side:
        """A model from its text.

        Raises:
            OnnxTextError: the text is not of the language, or its model would be too large.
        """
        from onnxtext.refusals import check_size
        from onnxtext.syntax.parse import parse_model

        source = Source(text, label)
        model = parse_model(source)
        check_size(model, source)
        return cls(model, label, base, source)

    @classmethod
    def of_binary(
        cls, data: bytes | memoryview, *, label: str = "<bytes>", base: Path | None = None
    ) -> Side:
        """A model from its bytes.

        Raises:
            OnnxTextError: the bytes are no model.
        """
        from onnxtext.proto.lift import lift_model
        from onnxtext.refusals import no_model

        try:
            return cls(lift_model(data), label, base)  # type: ignore[arg-type]
        except ValueError as error:
            if isinstance(error, OnnxTextError):
                raise
            raise no_model(bytes(data), error, label) from None

    @classmethod
    def of_file(cls, path: str | os.PathLike[str], *, label: str | None = None) -> Side:
        """A model from a file, which is text or binary by its name, else by its content.

        Raises:
            OnnxTextError: the file is neither.
            OSError: it cannot be read.
        """
        from onnxtext.api import decode_text
        from onnxtext.filetype import is_binary

        path = Path(path)
        name = label or os.fspath(path)
        data = _read(path)
        if is_binary(bytes(data[:_HEAD]), os.fspath(path)):
            return cls.of_binary(data, label=name, base=path.parent)
        return cls.of_text(decode_text(bytes(data), name), label=name, base=path.parent)


def _read(path: Path) -> bytes | memoryview:
    """The bytes of a file, mapped if they are many: weights stay where they are."""
    try:
        view = view_file(Path(os.path.realpath(path)))
    except PathError:  # a pipe, or a directory, which cannot be read
        return read_input(path)
    return view if len(view) > _LARGE else bytes(view)


_LARGE = 1 << 24
"""Smaller files are faster to take apart in memory."""

_HEAD = 1 << 16
"""So many bytes tell whether a file is a text."""
