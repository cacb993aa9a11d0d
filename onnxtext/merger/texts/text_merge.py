# SPDX-License-Identifier: Apache-2.0
"""Merge texts: as models if they are valid, otherwise line by line.

The models and the texts are merged separately. The merged text keeps comments, layout and
spelling. If it parses to the merged model, it is the result; otherwise the merged model is printed.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from onnxtext.ast.model import Model
from onnxtext.diagnostics import OnnxTextError
from onnxtext.merger.conflict_markers import Markers, join_versions, whole_conflict
from onnxtext.merger.followed_changes import certain_changes
from onnxtext.merger.models.canonical_models import DataMarks, lift, lower_all
from onnxtext.merger.models.merge_messages import ModelMerger
from onnxtext.merger.models.model_review import Models, both_defined, review_models
from onnxtext.merger.renames import dimension_notes, find_renames
from onnxtext.merger.semantic_conflicts import NO_RESOURCES, Resources
from onnxtext.merger.texts.construct_rules import MergeConflict
from onnxtext.merger.texts.reprint_comments import add_comments
from onnxtext.merger.texts.text_proposal import (
    Proposal,
    change_text,
    edit_in_layout,
    propose_merge,
    resolve_both_ways,
)
from onnxtext.merger.texts.text_review import Unmergeable
from onnxtext.merger.texts.verify_merged_text import agrees_with_model_merge, lower_text, lower_tree
from onnxtext.plurals import count_noun
from onnxtext.proto.decode.lift import LiftError
from onnxtext.proto.encode.lower_error import LowerError
from onnxtext.proto.unknown_fields import RecordError
from onnxtext.source import Source
from onnxtext.syntax.parse import parse_model
from onnxtext.wire.reader import WireError

Merged = tuple[str, int, list[str]]
"""A text, its number of conflicts, and warnings for the user."""


def merge_texts(
    base: str, ours: str, theirs: str, markers: Markers, resources: Resources = NO_RESOURCES
) -> Merged:
    """Merge three texts: as models if they are valid, otherwise line by line.

    Without a common ancestor, `base` is empty. `resources` are blobs that are not in the texts, by
    digest.

    Returns:
        (merged text, number of conflicts, warnings for the user)
    """
    reason = "a version is nested too deeply"
    named = zip((base, ours, theirs), markers.labels, strict=True)
    try:
        models = [parse_model(Source(text, name)) for text, name in named if text.strip()]
        if ours.strip() and theirs.strip():
            return _merge_statements((base, ours, theirs), models, markers, resources)
        empty = markers.labels[2 if ours.strip() else 1]
        reason = f"a version is empty ({empty})"
    except OnnxTextError as error:
        location = error.diagnostics[0].where()
        reason = f"a version is not a valid text ({location}: {error.diagnostics[0].message})"
    except (MergeConflict, Unmergeable):
        reason = "the versions could not be merged statement by statement"
    except (RecursionError, LiftError, WireError):  # protobuf's limit of depth, or Python's
        pass
    text, conflicts, by_git = merge_lines(base, ours, theirs, markers)
    if not by_git:
        note = f"{reason}, and `git merge-file` failed: the whole texts are one conflict"
    elif not conflicts and not _parses(text) and _parses(ours) and _parses(theirs):
        text, conflicts = whole_conflict(base, ours, theirs, markers), 1
        note = f"{reason}, and merging line by line fails: the whole texts are one conflict"
    else:
        note = f"{reason}; merged line by line"
    return text, conflicts, [note]


def _merge_statements(
    written: Sequence[str],
    models: Sequence[Model],
    markers: Markers,
    resources: Resources,
    *,
    follows: bool = True,
) -> Merged:
    """Merge valid texts: the base, ours and theirs; `models` are the trees of the nonempty texts.

    `follows`: whether to apply the `certain_changes` of each side to the other versions, and merge
    again, if there are conflicts.
    """
    *before, mine, others = models
    trees = [before[0] if before else None, mine, others]
    texts = list(written)
    notes: list[str] = []
    if mine.presence != others.presence:
        notes.append(
            "the headers of ours and theirs differ in `onnxtext` or `explicit`, which determine "
            "how empty fields of the merged statements are stored"
        )
    try:
        versions, encodings = lower_all(trees, resources)
    except (LowerError, RecordError) as error:
        proposal = propose_merge(texts, models, markers, notes, resources)
        notes.append(f"the merged text was not verified against the merged model: {error}")
        return proposal.text, proposal.conflicts, _limit_notes(notes)
    if before:
        notes += dimension_notes(models, markers.labels)
    # Swap the sides if necessary, so that the result does not depend on their order.
    if (versions[2], texts[2]) < (versions[1], texts[1]):
        texts[1:], trees[1:], versions[1:] = texts[:0:-1], trees[:0:-1], versions[:0:-1]
        markers = replace(markers, swapped=not markers.swapped)
    merge = _Merge(texts, trees, versions, encodings, markers, notes)
    may_follow = bool(before) and follows
    followed = _merge_followed(merge, resources) if may_follow and merge.has_conflicts else None
    if followed is not None and not followed[1]:
        return followed
    text, conflicts = merge.run()
    if conflicts and may_follow and not merge.has_conflicts:
        followed = _merge_followed(merge, resources)
    if followed is not None and followed[1] < conflicts:
        return followed
    return text, conflicts, _limit_notes(list(dict.fromkeys(notes)))


def _merge_followed(merge: _Merge, resources: Resources) -> Merged | None:
    """Apply the `certain_changes` of each side to the other versions; merge the results.

    Return None if there are no certain changes.
    """

    def read(number: int) -> Model:
        return lift(merge.versions[number], merge.known, ())

    ours, theirs = certain_changes(read)
    if not (ours or theirs):
        return None
    changes = ((ours, theirs), (theirs,), (ours,))
    texts = [change_text(*version) for version in zip(merge.texts, changes, strict=True)]
    trees = [*map(_parse, texts)]
    return _merge_statements(texts, trees, merge.markers, resources, follows=False)


@dataclass
class _Merge:
    """A merge of valid texts.

    Attributes:
        versions: the canonical bytes of the models, with marks (see `DataMarks`) for tensor data.
        known: the data that the marks replace.
    """

    texts: Sequence[str]
    trees: Sequence[Model | None]
    versions: Sequence[bytes]
    known: DataMarks
    markers: Markers
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Merge the models, without a search for semantic conflicts."""
        self._merger = ModelMerger(find_renames(self.models))
        self._resolved: Models = self._merger.model(*self.versions)

    @property
    def has_conflicts(self) -> bool:
        """Whether both sides changed a part of the models in different ways."""
        return self._resolved[0] != self._resolved[1]

    def run(self) -> tuple[str, int]:
        """Return (merged text, its number of conflicts); add warnings to `notes`."""
        _, ours, theirs = self.versions
        merger, resolved = self._merger, self._resolved
        notes: list[str] = []
        try:
            proposal = propose_merge(
                self.texts, self.models, self.markers, notes, self.known.resources
            )
        except (MergeConflict, Unmergeable):
            proposal = None
        if (
            proposal is not None
            and not proposal.conflicts
            and not merger.ambiguous
            and proposal.plain.consistent
            and resolved[0] == resolved[1] == self._lower(proposal)
            and not both_defined(resolved[0], ours, theirs)
        ):
            self.notes += notes
            return proposal.text, 0
        found: list[str] = []
        resolved = review_models(merger, resolved, self.versions, self.models, self.known, found)
        if proposal is not None and self._agrees(proposal, resolved, merger.ambiguous):
            self.notes += notes
            return proposal.text, proposal.conflicts
        self.notes += found
        return self._print_merge(resolved, merger.ambiguous, proposal)

    @property
    def models(self) -> list[Model]:
        """The syntax trees of the nonempty versions."""
        return [tree for tree in self.trees if tree is not None]

    @property
    def sides(self) -> list[Model]:
        """The syntax trees of ours and theirs."""
        return self.models[-2:]

    def _lower(self, proposal: Proposal) -> bytes | None:
        return lower_tree(proposal.plain.tree, proposal.text, self.known, self.models)

    def _agrees(self, proposal: Proposal, resolved: Models, ambiguous: bool) -> bool:
        """Whether the model of the merged text is the merge of the models, `resolved`."""
        clean = resolved[0] == resolved[1] and not ambiguous
        if not proposal.conflicts:
            return clean and self._lower(proposal) == resolved[0]
        if clean and proposal.conflicts > proposal.about_comments:
            return False
        both = [
            lower_text(text, self.known, self.models) for text in resolve_both_ways(proposal.marked)
        ]
        if both[0] is None or both[1] is None:
            return False
        if not ambiguous and not clean and both[0] == both[1]:
            return False
        return agrees_with_model_merge(
            (both[0], both[1]), resolved, self.versions[1], self.versions[2]
        )

    def _print_merge(
        self, resolved: Models, ambiguous: bool, proposal: Proposal | None
    ) -> tuple[str, int]:
        """Print the merge of models, in the layout of the proposal, ours or theirs if possible.

        If `resolved` does not show the conflicts (`ambiguous`), the whole texts become a conflict.
        """
        base, ours, theirs = self.texts
        if ambiguous and resolved[0] == resolved[1]:
            return whole_conflict(base, ours, theirs, self.markers), 1
        printed = {model: self._print(model) for model in dict.fromkeys(resolved)}
        layouts = [*([] if proposal is None else [proposal.plain.text]), ours, theirs]
        edited = next(filter(None, (self._in_layout(text, printed) for text in layouts)), printed)
        texts = {model: self._with_comments(text) for model, text in edited.items()}
        mine, others, before = [texts[model] for model in resolved]
        if len(texts) == 1:
            return mine, 0
        return join_versions(before, mine, others, self.markers)

    def _in_layout(self, text: str, printed: Mapping[bytes, str]) -> dict[bytes, str] | None:
        """Write models in the layout of a text, which may be invalid.

        `printed` maps the canonical bytes of each model to its printed text.

        Returns:
            A map from the canonical bytes of each model to its new text; None if the layout cannot
            be kept.
        """
        before = lower_text(text, self.known, self.models)
        if before is None:
            return None
        base = self._print(before)
        result: dict[bytes, str] = {}
        for model, after in printed.items():
            edited = edit_in_layout(text, base, after)
            if edited is None or lower_text(edited, self.known, self.models) != model:
                return None
            result[model] = edited
        return result

    def _with_comments(self, text: str) -> str:
        before, *texts = self.texts
        mine, others = self.sides
        return add_comments(text, before, (texts[0], mine), (texts[1], others))

    def _print(self, data: bytes) -> str:
        from onnxtext.printer import print_model

        model = lift(data, self.known, self.models)
        mine, others = self.sides
        model.encoding_habits = (
            mine.encoding_habits if mine.encoding_habits == others.encoding_habits else ()
        )
        model.metadata_left_out = mine.metadata_left_out or others.metadata_left_out
        model.resources_left_out = mine.resources_left_out or others.resources_left_out
        return print_model(model)


def _limit_notes(notes: list[str]) -> list[str]:
    """Limit a list of notes to `_MAX_NOTES`, followed by the number of hidden notes."""
    hidden = len(notes) - _MAX_NOTES
    if hidden <= 0:
        return notes
    return [*notes[:_MAX_NOTES], f"and {count_noun(hidden, 'more warning')}"]


_MAX_NOTES = 20


def _parse(text: str) -> Model:
    return parse_model(Source(text, "<merge>"))


def _parses(text: str) -> bool:
    try:
        _parse(text)
    except (OnnxTextError, RecursionError):
        return False
    return True


_MAX_CONFLICTS = 127
"""The exit status of `git merge-file` is the number of conflicts, but at most this number."""


def merge_lines(base: str, ours: str, theirs: str, markers: Markers) -> tuple[str, int, bool]:
    """Merge three texts line by line.

    Returns:
        (text, number of conflicts, whether git has merged the texts). If git fails, the whole texts
        become one conflict.
    """
    names = markers.labels
    command = ["git", "merge-file", "-p", "--diff3", f"--marker-size={markers.size}"]
    command += ["-L", names[1], "-L", names[0], "-L", names[2], "ours", "base", "theirs"]
    # Git's variables could select another repository.
    environment = {name: text for name, text in os.environ.items() if not name.startswith("GIT_")}
    try:
        with tempfile.TemporaryDirectory(prefix="onnxtext-merge-") as directory:
            for name, text in (("base", base), ("ours", ours), ("theirs", theirs)):
                (Path(directory) / name).write_bytes(text.encode("utf-8", "surrogateescape"))
            done = subprocess.run(
                command, cwd=directory, capture_output=True, check=False, env=environment
            )
    except OSError:
        done = None
    if done is None or not 0 <= done.returncode <= _MAX_CONFLICTS:
        return whole_conflict(base, ours, theirs, markers), 1, False
    return done.stdout.decode("utf-8", "surrogateescape"), done.returncode, True
