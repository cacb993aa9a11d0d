# SPDX-License-Identifier: Apache-2.0
"""Apply the differences of two printed models, or of their sections, to a text."""

from __future__ import annotations

from collections.abc import Mapping

from onnxtext.ast.model import Function, Graph, Model
from onnxtext.merger.texts.lazy_read import read_model
from onnxtext.merger.texts.text_parts import ListItems
from onnxtext.merger.texts.verify_merged_text import parse_or_none
from onnxtext.printer.models import graph_printer, print_model
from onnxtext.printer.sections import section_parts
from onnxtext.rewriter.item_edits import CannotEdit, ItemEdits
from onnxtext.rewriter.item_pairs import may_name, renamed_names
from onnxtext.rewriter.text_edits import TextEdits

_EMPTY_GRAPH = "g () => () {}\n\n"
"""A graph to precede sections that are parsed alone: a text cannot begin with a section."""


def edit_items(old: Model, new: Model, text: str) -> str | None:
    """Write the differences between two models into a text of the old model.

    Return None if the differences cannot be written. The caller must verify that the result parses
    to the edited model.
    """
    printed = [print_model(model, in_full=True) for model in (old, new)]
    before, after = map(parse_or_none, printed)
    if before is None or after is None:
        return None
    edits = TextEdits(text)
    lists = _read_source(text, old), read_model(printed[0], before), read_model(printed[1], after)
    try:
        ItemEdits(edits, renamed_names(old, new)).items(*lists, commas=False)
    except CannotEdit:
        return None
    return edits.apply()


def edit_sections(
    edits: TextEdits, old: Model, new: Model, renamed: Mapping[str, str | None]
) -> None:
    """Edit the sections of a text, except `encoding` and `resources`.

    If a difference cannot be written, all sections stay unchanged. `renamed` is the result of
    `renamed_names`.
    """
    before, after = _sections(old), _sections(new)
    # The sections follow the last node.
    owners: list[Graph | Function] = [old.graph, *old.functions]
    last = max([node.at for owner in owners for node in owner.nodes], default=0)
    if not before or (before == after and not may_name(edits.text[last:], renamed)):
        return
    ours = _read_source(edits.text, old)
    base = _read_sections(before)
    theirs = base if before == after else _read_sections(after)
    for listed in (ours, base, theirs):
        listed.items = [
            item
            for item in listed.items
            if item.part.origin == "section"
            and not item.part.body.startswith(("encoding", "resources"))
        ]
    if before == after and not any(may_name(item.part.body, renamed) for item in ours.items):
        return
    try:
        ItemEdits(edits, renamed).items(ours, base, theirs, commas=False)
    except CannotEdit:
        edits.edits.clear()


def _sections(model: Model) -> str:
    sections = section_parts(model, graph_printer().graph_value, in_full=True)
    return "".join(["".join([*section, "\n\n"]) for section in sections])


def _read_source(text: str, model: Model) -> ListItems:
    return read_model(text.replace("\ufeff", " ", 1), model)  # the offsets stay


def _read_sections(text: str) -> ListItems:
    """Return printed sections as items; their paths are not resolved."""
    return read_model(_EMPTY_GRAPH + text, Model(Graph("g")))
