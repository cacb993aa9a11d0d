# SPDX-License-Identifier: Apache-2.0
"""Collect the data for the graph of a page, in the format of the language server's requests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from onnxtext.lsp.graph.details import details, drawn_node, searched_texts
from onnxtext.lsp.graph.drawing import Drawing
from onnxtext.lsp.graph.module_groups import parse_id
from onnxtext.viewer.colored_lines import ColoredText


def graph(
    drawing: Drawing, text: ColoredText, old: ColoredText | None, against: str | None
) -> dict[str, Any]:
    """Return the data of all graphs of a model, with the line numbers of the page.

    Args:
        drawing: the graphs of the model; in a comparison, of the new model with marked changes.
        text: the text on the page.
        old: the old text on the page, to convert the lines of removed nodes; None if only one model
            is shown.
        against: the name of the old text; None if only one model is shown.

    Returns:
        `document`: the result of the request `onnxtext/graph`, with all groups.
        `open`: the ids of the groups that are initially open.
        `details`: the results of `onnxtext/graphNode`, by id of the node or value.
        `searched`: the text that a search matches, by id of the node or value.
        `statements`: (first line, column, last line, id of the drawn node or value) of each
        statement that the graph shows. Lines and columns count from 0.
    """
    groups = [(group, tree) for tree in drawing.trees for group in tree.groups()]
    ids = {group.id for group, _ in groups}
    document = drawing.draw(ids, (), max_items=drawing.total + len(groups))
    for item in _items(document):
        parsed = parse_id(item["id"])
        is_removed = parsed is not None and parsed[1] == "r"
        _move(item, old if old is not None and is_removed else text)
    drawn = [item["id"] for group in document["groups"] for item in group["items"]]
    return {
        "document": {**document, "version": 1, "here": None, "against": against},
        "open": [group.id for group, tree in groups if drawing.is_open(group, tree)],
        "details": {
            identity: detail
            for identity in drawn
            if (detail := details(drawing, identity)) is not None
        },
        "searched": dict(searched_texts(drawing)),
        "statements": list(_statements(drawing, text)),
    }


def _items(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from document["roots"]
    for group in document["groups"]:
        yield group
        yield from group["items"]


def _move(item: dict[str, Any], text: ColoredText) -> None:
    """Replace an item's line numbers in the text by line numbers on the page."""
    stubs = [stub["at"] for stub in item.get("stubs", ()) if stub["at"]]
    for place in (*item["range"].values(), *stubs):
        place["line"] = text.line(place["line"])


def _statements(drawing: Drawing, text: ColoredText) -> Iterator[tuple[int, int, int, str]]:
    for statement in drawing.index.statements:
        identity = drawn_node(drawing, statement)
        if identity is not None:
            line, column = text.place(statement.at)
            located = drawing.index.located(statement)
            end = line if located is None else text.place(located.span.end)[0]
            yield line, column, end, identity
