# SPDX-License-Identifier: Apache-2.0
"""Write an edited model into its text, keeping comments, layout and spelling of the rest.

Edited nodes, values and sections are replaced (`splicing`). Other differences, such as in the
header or in the order of nodes, are written item by item (`item_edits`). If the result does
not parse to the edited model, the edited model is printed instead.
"""

from __future__ import annotations

from collections.abc import Mapping

from onnxtext.ast.model import Function, Graph, Model
from onnxtext.ast.wrong_values import raise_for_wrong_value
from onnxtext.diagnostics import Diagnostic, OnnxTextError
from onnxtext.io.memory import paused_collector
from onnxtext.merger.line_endings import plain_text
from onnxtext.merger.texts.lazy_read import read_model
from onnxtext.merger.texts.reprint_comments import restore_comments
from onnxtext.merger.texts.text_parts import ListItems
from onnxtext.merger.texts.verify_merged_text import parse_or_none
from onnxtext.printer.models import graph_printer, print_model
from onnxtext.printer.sections import section_parts
from onnxtext.proto.encode.lower import lower_without_weights
from onnxtext.recursion_limit import room_for_nesting
from onnxtext.rewriter.item_edits import CannotEdit, ItemEdits
from onnxtext.rewriter.item_pairs import may_name, renamed_names
from onnxtext.rewriter.splicing import Splicing
from onnxtext.rewriter.text_edits import TextEdits
from onnxtext.source import Source
from onnxtext.syntax.parse import parse_model


def rewrite_text(text: str, model: Model, *, name: str) -> str:
    """Return a text of an edited model that keeps the unchanged parts of the text before the edit.

    `text` is the text before the edit, `model` its edited tree; `name` names the text in messages.

    Raises:
        OnnxTextError: the text has errors, or the model cannot be written as a text.
    """
    with paused_collector(), room_for_nesting():
        try:
            return _rewrite(text, model, name)
        except Exception as error:
            raise_for_wrong_value(model, error)
            raise


def _rewrite(text: str, model: Model, name: str) -> str:
    old = parse_model(Source(text, name))
    if old == model:
        return text
    for in_parts in (True, False):
        spliced = _splice(Source(text, name), old, model, in_parts=in_parts)
        parsed = parse_or_none(spliced)
        if parsed is not None:
            break
    else:
        spliced, parsed = text, old
    if parsed == model:
        return spliced
    edited = _edit_items(parsed, model, spliced)
    if edited is not None and parse_or_none(edited) == model:
        return edited
    _, line_ends = plain_text(text)
    result = line_ends.restore(restore_comments(print_model(model), (text, old), model))
    try:
        parsed = parse_model(Source(result, name))
        reason = "" if _mean_the_same(parsed, model) else "its text would mean another model"
    except OnnxTextError as error:
        reason = error.diagnostics[0].message
    if parsed != model:
        cause = ValueError(reason or "the text does not parse to the edited model")
        raise_for_wrong_value(model, cause)
    if reason:
        message = f"the edited model cannot be written as a text: {reason}"
        raise OnnxTextError(Diagnostic("edit-refused", message))
    return result


def _splice(source: Source, old: Model, new: Model, *, in_parts: bool) -> str:
    """Return a text with the edits of nodes, values and sections (see `Splicing`)."""
    edits, renamed = TextEdits(source.text), renamed_names(old, new)
    _edit_sections(edits, old, new, renamed)
    Splicing(source, edits, renamed, in_parts).model(old, new)
    return edits.apply()


def _mean_the_same(left: Model, right: Model) -> bool:
    """Whether two trees mean the same model, for example with the output types `(None,)` and `()`.

    Return True if neither tree can be encoded, for example because blobs are missing, or because
    lists repeat their last items too often.
    """
    return left == right or lower_without_weights(left) == lower_without_weights(right)


_EMPTY_GRAPH = "g () => () {}\n\n"
"""A graph to precede sections that are parsed alone: a text cannot begin with a section."""


def _edit_items(old: Model, new: Model, text: str) -> str | None:
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


def _edit_sections(
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
