# SPDX-License-Identifier: Apache-2.0
"""Show a model in a notebook or an interactive session, without metadata and large weights."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from onnxtext.model_arguments import as_tuple, read_model_argument

if TYPE_CHECKING:
    from onnxtext.ast.model import Function, Graph, Node
    from onnxtext.model_arguments import ModelSource
    from onnxtext.show_model.load_model import ReadableModel, Root


@dataclass(frozen=True, slots=True, repr=False)
class Shown:
    """The text of a model, or of a part of one, for display.

    `str` returns the text. Interactive sessions show it in color, notebooks as foldable HTML.
    """

    _text: str
    _reading: ReadableModel

    def __str__(self) -> str:
        """Return the text, with the statistics of weights as comments."""
        return self._annotated(color=False, terminal=False)

    def __repr__(self) -> str:
        """Return the text for a terminal; `wants_color` decides whether it is colored."""
        from onnxtext.terminal import wants_color

        return self._annotated(color=wants_color("auto", sys.stdout), terminal=True).rstrip("\n")

    def _repr_html_(self) -> str:
        from onnxtext.show_model.annotate_text import add_statistics
        from onnxtext.show_model.html import to_html

        return to_html(add_statistics(self._text, self._reading))

    def _annotated(self, *, color: bool, terminal: bool) -> str:
        from onnxtext.show_model.annotate_text import annotate

        return "".join(annotate(self._text, self._reading, color=color, terminal=terminal))


def show(
    model: ModelSource,
    *,
    graph: str | None = None,
    start: str | Sequence[str] = (),
    end: str | Sequence[str] = (),
    find: str | re.Pattern[str] | None = None,
    context: int = 2,
    base_dir: str | os.PathLike[str] | None = None,
) -> Shown:
    """Return a model, or a part of it, as a text for reading.

    The text shows statistics instead of large weights, and no metadata. Notebooks show it as HTML,
    terminals in color.

    Args:
        model: a text (a `str`), bytes of a text or of a binary model, the path of a file with
            either (a `pathlib.Path`), a message of the `onnx` package, or an object of `onnx_ir` or
            `onnxscript`.
        graph: the name of a graph or function; None for the whole model.
        start: names of values or nodes; only nodes that depend on one of them are shown.
        end: names of values or nodes; only nodes that one of them depends on are shown.
        find: a regular expression; only statements that match it are shown, with their neighbors.
        context: the number of statements to show before and after each match of `find`.
        base_dir: the directory of weight files; for a model in a file, its directory by default.

    Raises:
        OnnxTextError: the bytes are not a model, no part of the text can be parsed, or the model
            lacks the chosen part.
        OSError: the file cannot be read.
        TypeError: the model has an unsupported type, or is a `str` that looks like a file name; or
            a name is not a `str`.
        re.error: `find` is not a regular expression.
    """
    from onnxtext.show_model.load_model import read_model
    from onnxtext.show_model.print_part import PartOptions, part_text

    pattern = None if find is None else re.compile(find)
    if not isinstance(graph, str | None):
        raise TypeError(f"expected a name (a str), not {type(graph).__name__}")
    choice = PartOptions(graph, as_tuple(start), as_tuple(end), pattern, context)
    passed = read_model_argument(model)
    argument = passed.as_model()
    base = argument.base if base_dir is None else Path(base_dir)
    binary = isinstance(argument.content, bytes)
    reading = read_model(argument.data, argument.name, base, binary=binary)
    if passed is not argument and choice.selects_whole_model:
        return Shown(_fragment_text(reading.root, passed.message), reading)
    return Shown(part_text(reading, choice), reading)


def _fragment_text(root: Root, message: str) -> str:
    """Return the text of a graph, function or node without the model that contains nothing else.

    Args:
        root: a model that `ModelArgument.as_model` made.
        message: the type of the message that it contains.
    """
    from onnxtext.ast.model import Fragment, Model
    from onnxtext.ast.visit import list_graphs
    from onnxtext.printer import print_fragment
    from onnxtext.proto.unreachable_annotations import settle_annotations

    assert isinstance(root, Model)
    item: Graph | Function | Node = root.graph
    if message != "GraphProto":
        item = root.functions[0] if root.functions else root.graph.nodes[0]
    fragment = Fragment(item, replace(root.presence, version=None))
    settle_annotations(fragment, list_graphs(root))  # a fragment has no sections
    return print_fragment(fragment)
