# SPDX-License-Identifier: Apache-2.0
"""Create HTML pages that show the text and graph of a model, or the differences of two."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from onnxtext.io.memory import paused_collector

if TYPE_CHECKING:
    from onnxtext.model_arguments import ModelSource
    from onnxtext.viewer.page_model import LoadedModel


def view(model: ModelSource, other: ModelSource | None = None, *, statistics: bool = True) -> str:
    """Return an HTML page that shows a model, or the differences between two models.

    The page shows the graph and the text, which is colored and foldable. Statistics replace large
    weights. The page loads no other file and needs no network: save it, and open it in a browser.

    Args:
        model: a text (a `str`), bytes of a text or of a binary model, the path of a file with
            either (a `pathlib.Path`), a message of the `onnx` package, or an object of `onnx_ir` or
            `onnxscript`. A text may have errors if `other` is None.
        other: the new version to compare `model` with, in any form that `model` may have; None to
            show only `model`.
        statistics: whether to compute the statistics of weights, which reads all weights.

    Raises:
        OnnxTextError: the bytes are not a model, or a model to compare is not valid.
        OSError: a file cannot be read.
        TypeError: `model` or `other` has another type.
    """
    from onnxtext.model_arguments import read_model_argument
    from onnxtext.viewer.page_model import read

    models: list[LoadedModel] = []
    names = ("model",) if other is None else ("old", "new")
    for source, role in zip((model, other), names, strict=False):
        argument = read_model_argument(source).as_model()
        # Only a model that was read from a path has a file name to show.
        name = argument.name if argument.base is not None else role
        binary = isinstance(argument.content, bytes)
        models.append(
            read(argument.data, name, argument.base, binary=binary, statistics=statistics)
        )
    return page_of(*models)


def page_of(model: LoadedModel, other: LoadedModel | None = None) -> str:
    """Return the HTML page of a model, or of the differences between two models.

    Raises:
        OnnxTextError: `other` is given, and one of the two models is not valid.
    """
    from onnxtext.viewer.page import page

    with paused_collector():
        data = _single(model) if other is None else _double(model, other)
        return page(data, data["title"])


def _single(loaded: LoadedModel) -> dict[str, Any]:
    from onnxtext.lsp.graph.drawing import Drawing
    from onnxtext.viewer.colored_lines import color_lines
    from onnxtext.viewer.graph_data import graph

    text = color_lines(loaded.text)
    return {
        **_about(loaded, _short_name(loaded)),
        "text": _text(loaded, text),
        "old": None,
        "rows": [("=", 0, 0, len(text.lines))],
        "graph": graph(Drawing(loaded.document), text, None, None),
        "changes": None,
    }


def _double(old: LoadedModel, new: LoadedModel) -> dict[str, Any]:
    from onnxtext.differ import compare
    from onnxtext.lsp.graph.compare_drawings import changes_of
    from onnxtext.lsp.graph.drawing import Drawing
    from onnxtext.viewer.colored_lines import color_lines
    from onnxtext.viewer.compare_for_page import align_lines, list_changes
    from onnxtext.viewer.graph_data import graph
    from onnxtext.viewer.page_model import canonical

    if old.binary != new.binary:
        old, new = canonical(old), canonical(new)
    names = _short_name(old), _short_name(new)
    if names[0] == names[1]:
        names = old.name, new.name
    diff = compare(old.side(), new.side())
    changes = changes_of(Drawing(old.document), Drawing(new.document), diff, old.name)
    drawing = Drawing(new.document, changes)
    before, after = color_lines(old.text), color_lines(new.text)
    return {
        **_about(new, f"{names[0]} → {names[1]}"),
        "text": _text(new, after),
        "old": _text(old, before),
        "rows": align_lines(before.lines, after.lines),
        "graph": graph(drawing, after, before, names[0]),
        "changes": list_changes(diff, before, after),
    }


def _short_name(loaded: LoadedModel) -> str:
    """Return the file name only: a page for other people should not reveal directories."""
    return Path(loaded.name).name or loaded.name


def _about(loaded: LoadedModel, title: str) -> dict[str, Any]:
    from onnxtext.viewer.overview import overview

    return {"title": title, "overview": [] if loaded.model is None else overview(loaded.model)}


def _text(loaded: LoadedModel, text: Any) -> dict[str, Any]:
    from onnxtext.viewer.colored_lines import CLASSES
    from onnxtext.viewer.line_data import (
        finding_lines,
        foldable_ranges,
        name_positions,
        weight_notes,
    )

    return {
        "lines": text.lines,
        "kinds": text.kinds,
        "classes": CLASSES,
        "numbers": text.numbers if text.cuts else None,
        "names": name_positions(loaded, text),
        "folds": foldable_ranges(loaded, text),
        "notes": weight_notes(loaded, text),
        "findings": finding_lines(loaded, text),
    }
