# SPDX-License-Identifier: Apache-2.0
"""Merge texts statement by statement, without a comparison with the merge of models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from onnxtext.ast.model import Model
from onnxtext.diagnostics import OnnxTextError
from onnxtext.merger.conflict_markers import Markers
from onnxtext.merger.followed_changes import Changes
from onnxtext.merger.renames import find_renames
from onnxtext.merger.semantic_conflicts import NO_RESOURCES, Resources
from onnxtext.merger.texts.construct_rules import MergeConflict
from onnxtext.merger.texts.lazy_read import read_model
from onnxtext.merger.texts.merge_constructs import Merger
from onnxtext.merger.texts.merged_tree import write
from onnxtext.merger.texts.reprint_comments import restore_comments
from onnxtext.merger.texts.text_parts import ListItems
from onnxtext.merger.texts.text_review import ReviewedMerge, Unmergeable, review
from onnxtext.merger.texts.verify_merged_text import parse_or_none
from onnxtext.source import Source
from onnxtext.syntax.parse import parse_model


@dataclass
class Proposal:
    """The merge of texts, before it is compared with the merge of models.

    Attributes:
        text: the merged text with conflict markers.
        plain: the merge with conflicts resolved to ours.
        about_comments: number of conflicts that concern comments only.
        marked: the text with the markers that `resolve_both_ways` reads; "" without conflicts.
    """

    text: str
    conflicts: int
    plain: ReviewedMerge
    about_comments: int
    marked: str


# Lines around the versions of a conflict; no valid text contains the character NUL.
_OURS, _THEIRS, _END = "\x00<", "\x00=", "\x00>"


class _ResolvableMarkers(Markers):
    """Conflict markers that differ from all lines of valid texts."""

    def lines(self, base: str, ours: str, theirs: str) -> str:
        """Return a conflict without the version of the base."""
        return f"{_OURS}\n{ours}{_THEIRS}\n{theirs}{_END}"


def propose_merge(
    texts: Sequence[str],
    models: Sequence[Model],
    markers: Markers,
    notes: list[str],
    resources: Resources = NO_RESOURCES,
) -> Proposal:
    """Merge texts statement by statement; `notes` receives warnings for the user.

    `resources` are the blobs that the texts do not contain, by digest.

    Raises:
        MergeConflict: no markers fit around a conflict.
        Unmergeable: the merged text does not parse.
    """
    there = [text for text in texts if text.strip()]
    read = [read_model(text, model) for text, model in zip(there, models, strict=True)]
    if len(read) < 3:
        read.insert(0, ListItems())
    merger = Merger(find_renames(models))
    listed = merger.model(*read)
    plain = review(listed, models, merger.notes, resources)
    notes += merger.notes
    writer = write(listed, markers)
    marked = ""
    if writer.conflicts:
        marked = write(listed, _ResolvableMarkers()).text()
    return Proposal(writer.text(), writer.conflicts, plain, merger.about_comments, marked)


def resolve_both_ways(text: str) -> tuple[str, str]:
    """Return (text resolved to ours, text resolved to theirs) of a merge (`Proposal.marked`)."""
    ours: list[str] = []
    theirs: list[str] = []
    within = _END
    for line in text.split("\n"):
        if line in (_OURS, _THEIRS, _END):
            within = line
            continue
        if within != _THEIRS:
            ours.append(line)
        if within != _OURS:
            theirs.append(line)
    return "\n".join(ours), "\n".join(theirs)


def edit_in_layout(text: str, before: str, after: str) -> str | None:
    """Apply the differences of two printed models to a text; keep the text's layout and comments.

    `text` parses to the model that is printed in `before`, but may have another layout.

    Returns:
        The edited text; None if the texts cannot be merged. The caller must verify that the text
        parses to the model `after`.
    """
    versions = [before, text, after]
    try:
        trees = [parse_model(Source(version, "<edit>")) for version in versions]
        proposal = propose_merge(versions, trees, Markers(), [])
    except (MergeConflict, Unmergeable, OnnxTextError):
        return None
    return resolve_both_ways(proposal.marked)[1] if proposal.conflicts else proposal.text


def change_text(text: str, changes: Sequence[Changes]) -> str:
    """Apply renames and new orders of parameters to a valid text.

    If the layout of the text cannot be kept, the changed model is printed.
    """
    from onnxtext.printer import print_model

    old, changed = [parse_model(Source(text, "<edit>")) for _ in range(2)]
    for change in changes:
        change.apply(changed)
    if old == changed:
        return text
    without_blobs = [replace(model, resources={}) for model in (old, changed)]
    edited = edit_in_layout(text, *map(print_model, without_blobs))
    if edited is not None and parse_or_none(edited) == changed:
        return edited
    return restore_comments(print_model(changed), (text, old), changed)
