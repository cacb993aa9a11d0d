# SPDX-License-Identifier: Apache-2.0
"""Merging files: texts and binary models, and what is neither."""

from __future__ import annotations

from dataclasses import dataclass

from onnxtext.checker.sources import looks_binary
from onnxtext.collector import paused_collector
from onnxtext.diagnostics import OnnxTextError
from onnxtext.merge.lines import merge_lines, whole_conflict
from onnxtext.merge.outcome import Markers, write
from onnxtext.merge.review import Unmergeable, review
from onnxtext.merge.structure import Clash, Merger
from onnxtext.source import Source

BOM = "\ufeff"


@dataclass(frozen=True, slots=True)
class MergeResult:
    """What a merge has given.

    Attributes:
        content: a text, or the bytes of a model if all three versions were binary and there is
            no conflict.
        conflicts: how many conflicts are marked in it; 0 if it is whole.
        notes: what people should know about it, one sentence each.
        is_binary: whether the content is a binary model, or whatever bytes a side had.
    """

    content: bytes
    conflicts: int
    notes: tuple[str, ...] = ()
    is_binary: bool = False


class _Unreadable(Exception):
    """A version is neither a text in UTF-8 nor a model."""


@dataclass(frozen=True, slots=True)
class _Version:
    """A file.

    Attributes:
        text: its text, or that of the model it is.
        binary: whether it is a binary model.
        mark: the byte order mark it begins with.
    """

    text: str
    binary: bool
    mark: str = ""


def merge(
    base: bytes,
    ours: bytes,
    theirs: bytes,
    *,
    marker_size: int = 7,
    labels: tuple[str, str, str] = ("base", "ours", "theirs"),
    path: str = "",
) -> MergeResult:
    """Merge two versions of a model with their common ancestor.

    What only one side has changed, in whatever statement or part of one, is taken from it; what
    both have changed in different ways is a conflict, marked as git marks it. Each version is a
    text or a binary model. If one side is as the base, the result is the other side's very bytes.

    Args:
        base: the common ancestor; nothing if there is none.
        ours: one version.
        theirs: the other version.
        marker_size: how many characters a conflict marker has.
        labels: what the base, ours and theirs are called in the markers.
        path: what to call the file in messages.

    Returns:
        The merged file.
    """
    if theirs in (base, ours):
        return MergeResult(ours, 0, is_binary=looks_binary(ours))
    if base == ours:
        return MergeResult(theirs, 0, is_binary=looks_binary(theirs))
    markers = Markers(marker_size, labels)
    try:
        versions = [_read(data, path) for data in (base, ours, theirs)]
    except _Unreadable as error:
        note = f"{error}; our version was left as it is"
        return MergeResult(ours, 1, (note,), looks_binary(ours))
    with paused_collector():
        text, conflicts, notes = _merge_texts([version.text for version in versions], markers)
    if versions[1].mark:
        text = versions[1].mark + text
    if not all(version.binary for version in versions):
        return MergeResult(text.encode("utf-8", "surrogateescape"), conflicts, tuple(notes))
    if not conflicts:
        try:
            return MergeResult(_encode(text, path), 0, tuple(notes), True)
        except OnnxTextError as error:
            notes.append(f"the merged text makes no model: {error.diagnostics[0].message}")
            conflicts = 1
    notes.append("the conflicts are in the text of the model: resolve them, then convert it back")
    return MergeResult(text.encode(), conflicts, tuple(notes))


def _read(data: bytes, path: str) -> _Version:
    from onnxtext.api import decode_text, from_binary

    try:
        if data and looks_binary(data):
            return _Version(from_binary(data, name=path or "<bytes>"), True)
        text = decode_text(data, path or "<bytes>")
    except (OnnxTextError, RecursionError) as error:
        message = "nested too deeply"
        if isinstance(error, OnnxTextError):
            message = error.diagnostics[0].message
        raise _Unreadable(f"a version cannot be read: {message}") from None
    if text.startswith(BOM):
        return _Version(text.removeprefix(BOM), False, BOM)
    return _Version(text, False)


def _encode(text: str, path: str) -> bytes:
    from onnxtext.api import to_binary

    return to_binary(text, name=path or "<merge>")


def _merge_texts(texts: list[str], markers: Markers) -> tuple[str, int, list[str]]:
    """Merge three texts: as models if they are, else line by line."""
    from onnxtext.syntax.parse import parse_model

    base, ours, theirs = texts
    reason = "a version is nested too deeply"
    try:
        models = [
            parse_model(Source(text, name))
            for text, name in zip(texts, markers.labels, strict=True)
        ]
        merger = Merger()
        listed = merger.model(base, ours, theirs)
        review(listed, models[-2], models[-1], merger.notes)
        writer = write(listed, markers)
        return writer.text(), writer.conflicts, merger.notes
    except OnnxTextError as error:
        where = error.diagnostics[0].where()
        reason = f"a version is no valid text ({where}: {error.diagnostics[0].message})"
    except (Clash, Unmergeable):
        reason = "the versions could not be merged statement by statement"
    except RecursionError:
        pass
    text, conflicts, by_git = merge_lines(base, ours, theirs, markers)
    notes = [f"{reason}; merged line by line" if by_git else f"{reason}, and there is no git"]
    if not conflicts and not _parses(text) and _parses(ours) and _parses(theirs):
        text, conflicts = whole_conflict(base, ours, theirs, markers), 1
    return text, conflicts, notes


def _parses(text: str) -> bool:
    from onnxtext.syntax.parse import parse_model

    try:
        parse_model(Source(text, "<merge>"))
    except (OnnxTextError, RecursionError):
        return False
    return True
