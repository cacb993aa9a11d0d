# SPDX-License-Identifier: Apache-2.0
"""Find semantic conflicts in a merge of texts.

A statement with an error that neither side has becomes a conflict. A node that uses a value before
its definition is moved after the definition.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from onnxtext.ast.model import Model
from onnxtext.checker.context.checked_model import CheckedModel
from onnxtext.checker.context.finding import Finding
from onnxtext.checker.context.scopes import Scope
from onnxtext.diagnostics import OnnxTextError
from onnxtext.merger.conflict_markers import Markers
from onnxtext.merger.semantic_conflicts import (
    Resources,
    find_conflicts,
    find_new_errors,
    finding_key,
    issues_of,
    sorted_nodes,
    subject_of,
)
from onnxtext.merger.texts.construct_rules import BLOB, STATEMENTS, has_new_comments
from onnxtext.merger.texts.merged_tree import (
    MergedItem,
    MergedItemSpan,
    MergedList,
    all_items,
    write,
)
from onnxtext.source import Source
from onnxtext.syntax.parse import parse_model

_MAX_ROUNDS = 8


class Unmergeable(Exception):
    """The merged text does not parse, and no conflict around its errors can be marked."""


@dataclass(frozen=True)
class ReviewedMerge:
    """The result of `review`: a merge in which all semantic conflicts are marked.

    Attributes:
        text: the merged text, with conflicts resolved to ours.
        consistent: whether the last check of the text found nothing new. Semantic conflicts are not
            new if they are already marked, or if ours or theirs has them.
    """

    text: str
    tree: Model
    consistent: bool


def review(
    listed: MergedList, versions: Sequence[Model], notes: list[str], resources: Resources
) -> ReviewedMerge:
    """Drop unneeded blobs of a merge, mark its semantic conflicts, and sort its nodes.

    `listed` is changed in place, and `notes` receives warnings for the user. `versions` are the
    trees of the base, if there is one, of ours and of theirs. `resources` are the blobs that the
    texts do not contain, by digest.

    Raises:
        Unmergeable: the merged text does not parse.
    """
    _drop_unneeded_blobs(listed)
    sides = versions[-2:]
    known: set[tuple[str, str]] | None = None  # findings of ours and theirs
    tried = False
    for _ in range(_MAX_ROUNDS):
        writer = write(listed, None)
        text = writer.text()
        try:
            model = parse_model(Source(text, "<merge>"))
        except OnnxTextError as error:
            _mark_broken(error, _ChunkSpans(writer.placed), notes)
            continue
        subject = subject_of(model)
        findings = list(find_conflicts(subject, versions))
        places = _ChunkSpans(writer.placed)
        if findings and known is None:
            known = issues_of(sides)
        new = [item for item in findings if finding_key(item) not in (known or ())]
        if not new:
            errors = find_new_errors(model, sides, resources)
            for finding in errors:
                _mark(finding, places, notes)
            return ReviewedMerge(text, model, not errors)
        disordered = [finding for finding in new if finding.code == "node-order"]
        sorted_all = bool(disordered) and not tried and _sort(subject, disordered, places)
        tried = tried or bool(disordered)
        assert known is not None
        for finding in new:
            if not sorted_all or finding.code != "node-order":
                known.add(finding_key(finding))
                _mark(finding, places, notes)
        if not sorted_all:
            return ReviewedMerge(text, model, not new)
    raise Unmergeable


# ---- Places ---------------------------------------------------------------------------------


class _ChunkSpans:
    """Finds the merged items at an offset of the written text."""

    def __init__(self, placed: Sequence[MergedItemSpan]) -> None:
        self._placed = sorted(placed, key=lambda place: (place.start, -place.end))
        self._starts = [span.start for span in self._placed]
        self._parents: list[int] = []
        open_places: list[int] = []
        for index, span in enumerate(self._placed):
            while open_places and self._placed[open_places[-1]].end < span.end:
                open_places.pop()
            self._parents.append(open_places[-1] if open_places else -1)
            open_places.append(index)

    def around(self, offset: int) -> Iterator[MergedItemSpan]:
        """Yield the items that contain an offset, from the innermost to the outermost."""
        index = bisect_right(self._starts, offset) - 1
        while index >= 0:
            span = self._placed[index]
            if span.end >= offset:
                yield span
            index = self._parents[index]


def _mark(finding: Finding, places: _ChunkSpans, notes: list[str]) -> None:
    """Mark the statements of a finding as conflicts, and add its message to `notes`.

    If some of the statements differ between the versions, mark only the differing statements.
    """
    found: dict[int, MergedItem] = {}
    for place in finding.places:
        offset = getattr(place.item, "at", -1)
        around = next((p for p in places.around(offset) if _is_statement(p.item)), None)
        if around is not None:
            found[id(around.item)] = around.item
    changed = [
        merged_item for merged_item in found.values() if not _is_same(merged_item)
    ] or found.values()
    for merged_item in changed:
        merged_item.forced = True
    notes.append(f"{finding.message} (only in the merge, not in ours or theirs)")


def _is_statement(merged_item: MergedItem) -> bool:
    return merged_item.origin in STATEMENTS


def _is_same(merged_item: MergedItem) -> bool:
    """Whether a statement is equal in all versions."""
    return len({None if item is None else item.part.body for item in merged_item.versions}) == 1


_BROKEN = "the edits of a statement do not fit together: their merge has a syntax error"


def _mark_broken(error: OnnxTextError, places: _ChunkSpans, notes: list[str]) -> None:
    """Mark the statements with syntax errors as conflicts, with notes, or raise Unmergeable."""
    marked = False
    for diagnostic in error.diagnostics:
        for label in diagnostic.labels[:1]:
            for span in places.around(label.span.start):
                merged_item = span.item
                if (
                    _is_statement(merged_item)
                    and not merged_item.conflict
                    and not _is_same(merged_item)
                ):
                    merged_item.conflict = marked = True
                    notes.append(_BROKEN)
                    break
    if not marked:
        raise Unmergeable


# ---- Order ----------------------------------------------------------------------------------


def _sort(subject: CheckedModel, findings: Sequence[Finding], places: _ChunkSpans) -> bool:
    """Sort the nodes of graphs with misordered nodes; return False if a graph cannot be sorted."""
    marked = {id(place.item) for finding in findings for place in finding.places}
    for scope in subject.scopes:
        if not any(id(node) in marked for node in scope.nodes):
            continue
        place = next((p for p in places.around(scope.nodes[0].at) if p.item.origin == "node"), None)
        if place is None or not _sort_chunks(place.listed, scope):
            return False
    return True


def _sort_chunks(listed: MergedList, scope: Scope) -> bool:
    """Sort the nodes of a graph; return False if there is a cycle, or a node cannot be moved.

    A conflict that has no node in ours stays after its predecessor.
    """
    groups: list[list[MergedItem]] = []
    hidden: list[MergedItem] = []
    for merged_item in listed.items:
        if not merged_item.conflict or merged_item.versions[1] is not None:
            groups.append([merged_item])
        else:
            (groups[-1] if groups else hidden).append(merged_item)
    if len(groups) != len(scope.nodes):
        return False
    new = {index for index, group in enumerate(groups) if group[0].versions[0] is None}
    order = sorted_nodes(scope, new)
    if order is None:
        return False
    listed.items = [*hidden, *[merged_item for number in order for merged_item in groups[number]]]
    return True


# ---- Resources ------------------------------------------------------------------------------


def _drop_unneeded_blobs(listed: MergedList) -> None:
    """Drop blobs that one side has deleted and that the merged text does not reference.

    A blob to which the other side added a comment is kept.
    """
    doubtful = []
    for owner, merged_item in all_items(listed):
        base, ours, theirs = merged_item.versions
        deleted = merged_item.origin == "resource" and base and not (ours and theirs)
        if deleted and not has_new_comments(base, ours or theirs):
            doubtful.append((owner, merged_item))
    if not doubtful:
        return
    used = set(BLOB.findall(write(listed, Markers()).text()))
    lengths = {len(digest) for digest in used}
    for owner, merged_item in doubtful:
        item = merged_item.versions[1] or merged_item.versions[2]
        assert item is not None
        digest = item.part.token_texts()[0].strip('"')
        if not any(digest[:length] in used for length in lengths):
            owner.items.remove(merged_item)
