# SPDX-License-Identifier: Apache-2.0
"""Show a model in a notebook or an interactive session, without metadata and weights."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnxtext.api import Proto
    from onnxtext.excerpt.reading import Reading


@dataclass(frozen=True, slots=True, repr=False)
class Shown:
    """A text for reading.

    `str` returns it. Interactive sessions show it in color, notebooks as HTML that can be folded.
    """

    _text: str
    _reading: Reading

    def __str__(self) -> str:
        """Return the text, with the statistics of weights as comments."""
        return self._annotated(color=False, terminal=False)

    def __repr__(self) -> str:
        """Return the text for a terminal: in color, unless `NO_COLOR` is set."""
        from onnxtext.terminal import wants_color

        return self._annotated(color=wants_color("auto", sys.stdout), terminal=True).rstrip("\n")

    def _repr_html_(self) -> str:
        from onnxtext.excerpt.html import to_html
        from onnxtext.excerpt.output import described

        return to_html(described(self._text, self._reading))

    def _annotated(self, *, color: bool, terminal: bool) -> str:
        from onnxtext.excerpt.output import annotate

        return "".join(annotate(self._text, self._reading, color=color, terminal=terminal))


def show(
    model: str | bytes | os.PathLike[str] | Proto,
    *,
    graph: str | None = None,
    start: str | Sequence[str] = (),
    end: str | Sequence[str] = (),
    find: str | re.Pattern[str] | None = None,
    context: int = 2,
    base_dir: str | os.PathLike[str] | None = None,
) -> Shown:
    """Return a model, or a part of it, as a text for reading.

    It has no metadata, and statistics of large weights instead of the weights. Notebooks show it
    as HTML, terminals in color.

    Args:
        model: text, the bytes of a binary model, the path of a file with either (a
            `pathlib.Path`; a `str` is text), or a message: `ModelProto`, `GraphProto` or
            `FunctionProto`.
        graph: the name of a graph or function; None for the whole model.
        start: values after which the shown part begins.
        end: values with which it ends.
        find: a pattern; only statements that it matches are shown, with their neighbours.
        context: the number of neighbours on either side.
        base_dir: the directory of weights beside the model; for a file, its own by default.

    Raises:
        OnnxTextError: the bytes are not a model, nothing of the text can be read, or the model has
            no such part.
        OSError: the file cannot be read.
        TypeError: the model has another type.
    """
    from onnxtext.excerpt.parts import Choice, part_text
    from onnxtext.excerpt.reading import read_model

    name = "<model>"
    base = None if base_dir is None else Path(base_dir)
    if isinstance(model, os.PathLike):
        name = os.fspath(model)
        base = Path(model).parent if base is None else base
    pattern = re.compile(find) if isinstance(find, str) else find
    choice = Choice(graph, _names(start), _names(end), pattern, context)
    data, binary = _data_of(model)
    reading = read_model(data, name, base, binary=binary)
    return Shown("".join(part_text(reading, choice)), reading)


def _names(given: str | Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def _data_of(model: str | bytes | os.PathLike[str] | Proto) -> tuple[bytes, bool | None]:
    """Return the data of a model, and whether it is binary; None if its content decides."""
    if isinstance(model, str):
        return model.encode("utf-8", "surrogatepass"), False
    if isinstance(model, bytes):
        return model, None
    if isinstance(model, os.PathLike):
        return Path(model).read_bytes(), None
    if model.DESCRIPTOR.name == "ModelProto":
        return model.SerializeToString(), True
    if model.DESCRIPTOR.name == "NodeProto":
        raise TypeError("show takes models, graphs and functions; dumps returns the text of a node")
    from onnxtext.api import dumps

    return dumps(model).encode(), False
