# SPDX-License-Identifier: Apache-2.0
"""Looking at a merge as a whole: what each side has changed for itself may not fit together.

What is wrong in the merge, but in neither side, becomes a conflict around the statements in which
it is; nodes that stand before what they use are moved behind it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from onnxtext.ast.model import Model
from onnxtext.checker.finding import Finding
from onnxtext.checker.scopes import Scope
from onnxtext.checker.subject import Subject
from onnxtext.diagnostics import OnnxTextError
from onnxtext.merge.constructs import CONTAINERS, STATEMENTS
from onnxtext.merge.findings import find, identity, known_in, sorted_nodes, subject_of
from onnxtext.merge.outcome import Chunk, Listed, Markers, Placed, all_chunks, write
from onnxtext.source import Source
from onnxtext.syntax.parse import parse_model

_MOST_ROUNDS = 8


class Unmergeable(Exception):
    """What was merged is no text of the language, wherever conflicts are marked."""


class TooCoarse(Exception):
    """Something is to be done with a statement that was not taken out of what holds it."""


@dataclass(frozen=True)
class Reviewed:
    """A merge that was reviewed.

    Attributes:
        text: the text.
        tree: its syntax tree.
        fits: whether everything in it fits together.
    """

    text: str
    tree: Model
    fits: bool


def review(
    listed: Listed, ours: Model, theirs: Model, notes: list[str], *, fine: bool = False
) -> Reviewed:
    """Make conflicts of what does not fit together.

    Args:
        listed: the merged model; changed in place.
        ours: our version.
        theirs: their version.
        notes: takes what people should know.
        fine: whether all statements were taken apart.

    Returns:
        The text with conflicts resolved to ours.

    Raises:
        Unmergeable: no text could be made that parses.
        TooCoarse: the merge has to be done again, taking apart everything.
    """
    _keep_needed(listed)
    sides = (ours, theirs)
    known: set[tuple[str, str]] | None = None
    tried = False
    for _ in range(_MOST_ROUNDS):
        writer = write(listed, None)
        text = writer.text()
        try:
            model = parse_model(Source(text, "<merge>"))
        except OnnxTextError as error:
            _mark_broken(error, _Places(writer.placed, fine), notes)
            continue
        subject = subject_of(model)
        findings = list(find(subject, sides))
        if not findings:
            return Reviewed(text, model, True)
        if known is None:
            known = known_in(sides)
        new = [finding for finding in findings if identity(finding) not in known]
        places = _Places(writer.placed, fine)
        disordered = [finding for finding in new if finding.slug == "node-order"]
        sorted_all = bool(disordered) and not tried and _sort(subject, disordered, places)
        tried = tried or bool(disordered)
        for finding in new:
            if not sorted_all or finding.slug != "node-order":
                known.add(identity(finding))
                _mark(finding, places, notes)
        if not sorted_all:
            return Reviewed(text, model, not new)
    raise Unmergeable


# ---- Places ---------------------------------------------------------------------------------


class _Places:
    """The chunks of a written text by their offsets."""

    def __init__(self, placed: Sequence[Placed], fine: bool) -> None:
        self.fine = fine
        self._placed = sorted(placed, key=lambda place: (place.start, -place.end))
        self._starts = [place.start for place in self._placed]
        self._parents: list[int] = []
        open_places: list[int] = []
        for number, place in enumerate(self._placed):
            while open_places and self._placed[open_places[-1]].end < place.end:
                open_places.pop()
            self._parents.append(open_places[-1] if open_places else -1)
            open_places.append(number)

    def around(self, offset: int) -> Iterator[Placed]:
        """The chunks around an offset, inner ones first."""
        at = bisect_right(self._starts, offset) - 1
        while at >= 0:
            place = self._placed[at]
            if place.end >= offset:
                yield place
            at = self._parents[at]


def _mark(finding: Finding, places: _Places, notes: list[str]) -> None:
    """Make a conflict of the statements that a finding is about, if a side has changed them."""
    found: dict[int, Chunk] = {}
    for place in finding.places:
        at = getattr(place.item, "at", -1)
        around = next((p for p in places.around(at) if _is_statement(p.chunk)), None)
        if around is not None:
            _check_fine(around, at, places)
            found[id(around.chunk)] = around.chunk
    changed = [chunk for chunk in found.values() if not _is_same(chunk)] or found.values()
    for chunk in changed:
        chunk.forced = True
    notes.append(f"{finding.message} (in the merge, but in neither side)")


def _check_fine(place: Placed, at: int, places: _Places) -> None:
    """Refuse a place that is in a chunk, but in a statement that is none itself."""
    holds = place.chunk.origin in CONTAINERS or place.chunk.origin == "node"
    if not places.fine and at != place.start and holds:
        raise TooCoarse


def _is_statement(chunk: Chunk) -> bool:
    return chunk.origin in STATEMENTS


def _is_same(chunk: Chunk) -> bool:
    """Whether both sides have a statement as the base has it."""
    return len({None if item is None else item.part.body for item in chunk.versions}) == 1


def _mark_broken(error: OnnxTextError, places: _Places, notes: list[str]) -> None:
    """Make conflicts of the statements in which a merge is no text of the language."""
    marked = False
    for diagnostic in error.diagnostics:
        for label in diagnostic.labels[:1]:
            at = label.span.start
            for place in places.around(at):
                chunk = place.chunk
                _check_fine(place, at, places)
                if _is_statement(chunk) and not chunk.conflict and not _is_same(chunk):
                    chunk.conflict = marked = True
                    notes.append(f"{diagnostic.message} (in the merge, but in neither side)")
                    break
    if not marked:
        raise Unmergeable


# ---- Order ----------------------------------------------------------------------------------


def _sort(subject: Subject, findings: Sequence[Finding], places: _Places) -> bool:
    """Sort the nodes of the graphs in which some are out of order; False if that cannot be."""
    wanted = {id(place.item) for finding in findings for place in finding.places}
    for scope in subject.scopes:
        if not any(id(node) in wanted for node in scope.nodes):
            continue
        place = next(
            (p for p in places.around(scope.nodes[0].at) if p.chunk.origin == "node"), None
        )
        if not places.fine and (place is None or place.start != scope.nodes[0].at):
            raise TooCoarse
        if place is None or not _sort_chunks(place.listed, scope):
            return False
    return True


def _sort_chunks(listed: Listed, scope: Scope) -> bool:
    """Sort the nodes of a graph; what is not shown follows the one before."""
    groups: list[list[Chunk]] = []
    hidden: list[Chunk] = []
    for chunk in listed.chunks:
        if not chunk.conflict or chunk.versions[1] is not None:
            groups.append([chunk])
        else:
            (groups[-1] if groups else hidden).append(chunk)
    if len(groups) != len(scope.nodes):
        return False
    new = {number for number, group in enumerate(groups) if group[0].versions[0] is None}
    order = sorted_nodes(scope, new)
    if order is None:
        return False
    listed.chunks = [*hidden, *[chunk for number in order for chunk in groups[number]]]
    return True


# ---- Resources ------------------------------------------------------------------------------

BLOB = re.compile(r'blob"([0-9a-f]+)"')
"""A blob in a text that names it; also where it is in a string or a comment."""


def _keep_needed(listed: Listed) -> None:
    """Leave out the blobs that one side has deleted, unless the other one needs them."""
    doubtful = []
    for owner, chunk in all_chunks(listed):
        if chunk.origin == "resource" and None in chunk.versions[1:] and chunk.versions[0]:
            doubtful.append((owner, chunk))
    if not doubtful:
        return
    used = set(BLOB.findall(write(listed, Markers()).text()))
    lengths = {len(digest) for digest in used}
    for _, chunk in doubtful:
        item = chunk.versions[1] or chunk.versions[2]
        assert item is not None
        digest = item.part.tokens()[0].strip('"')
        if not any(digest[:length] in used for length in lengths):
            chunk.dropped = True
    for owner in {id(owner): owner for owner, _ in doubtful}.values():
        owner.chunks = [chunk for chunk in owner.chunks if not chunk.dropped]
