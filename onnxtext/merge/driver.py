# SPDX-License-Identifier: Apache-2.0
"""Merging files: texts and binary models, and what is neither."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from onnxtext.ast.model import Model
from onnxtext.collector import paused_collector
from onnxtext.diagnostics import OnnxTextError, OnnxTextWarning
from onnxtext.filetype import looks_binary
from onnxtext.merge.lines import merge_lines, whole_conflict
from onnxtext.merge.outcome import Markers, write
from onnxtext.merge.reading import read_model
from onnxtext.merge.review import TooCoarse, Unmergeable, review
from onnxtext.merge.structure import Clash, Merger
from onnxtext.merge.versions import Items
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
        is_binary: whether the content is no text that was merged, but a binary model, or the bytes
            of our version where a version cannot be read.
    """

    content: bytes
    conflicts: int
    notes: tuple[str, ...] = ()
    is_binary: bool = False


class _Unreadable(Exception):
    """A version is neither a text in UTF-8 nor a model."""


@dataclass(frozen=True, slots=True)
class _Version:
    """A file as text.

    Attributes:
        text: its text, or that of the model it is, with LF as line ends.
        binary: whether it is a binary model.
        resources: the blobs of a binary model, which are not in the text.
        mark: the byte order mark it begins with.
        line_end: what ends its lines.
    """

    text: str
    binary: bool = False
    resources: dict[str, bytes | memoryview] = field(default_factory=dict)
    mark: str = ""
    line_end: str = "\n"


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
    files = (base, ours, theirs)
    with paused_collector(), warnings.catch_warnings():
        warnings.simplefilter("ignore", OnnxTextWarning)  # of what the versions are, not the merge
        try:
            if all(looks_binary(data) for data in files if data or data is not base):
                return _merge_models(files, markers, path)
            versions = [_read(data, path) for data in files]
        except _Unreadable as error:
            note = f"{error}; our version was left as it is"
            return MergeResult(ours, 1, (note,), is_binary=True)
        return _merge_files(versions, markers)


# ---- Files ----------------------------------------------------------------------------------


def _merge_files(versions: Sequence[_Version], markers: Markers) -> MergeResult:
    """Merge versions some of which are texts; line ends and byte order mark are as we have them."""
    base, ours, theirs = versions
    text, conflicts, notes = _merge_texts(base.text, ours.text, theirs.text, markers)
    chosen = theirs if base.line_end == ours.line_end or ours.binary else ours
    if chosen.line_end != "\n":
        text = text.replace("\n", chosen.line_end)
    data = (ours.mark + text).encode("utf-8", "surrogateescape")
    return MergeResult(data, conflicts, tuple(notes))


def _merge_models(files: Sequence[bytes], markers: Markers, path: str) -> MergeResult:
    """Merge binary models. Their weights are no text for that: they are known by digests."""
    versions = [_lift(data, path) if data else _Version("") for data in files]
    base, ours, theirs = [version.text for version in versions]
    text, conflicts, notes = _merge_texts(base, ours, theirs, markers)
    resources = {key: data for version in versions for key, data in version.resources.items()}
    if not conflicts:
        try:
            return MergeResult(_encode(text, resources, path), 0, tuple(notes), True)
        except OnnxTextError as error:
            notes.append(f"the merged text makes no model: {error.diagnostics[0].message}")
            conflicts = 1
    notes.append("the conflicts are in the text of the model: resolve them, then convert it back")
    if resources:
        base, ours, theirs = [_print(version) for version in versions]
        text, conflicts, _ = _merge_texts(base, ours, theirs, markers)
    return MergeResult(text.encode(), max(conflicts, 1), tuple(notes))


def _read(data: bytes, path: str) -> _Version:
    from onnxtext.api import decode_text

    if data and looks_binary(data):
        version = _lift(data, path)
        return replace(version, text=_print(version), resources={})
    try:
        text = decode_text(data, path or "<bytes>")
    except OnnxTextError as error:
        raise _unreadable(error) from None
    mark = BOM if text.startswith(BOM) else ""
    text = text.removeprefix(BOM)
    if "\r\n" in text and text.count("\r\n") == text.count("\n"):
        return _Version(text.replace("\r\n", "\n"), mark=mark, line_end="\r\n")
    return _Version(text, mark=mark)


def _lift(data: bytes, path: str) -> _Version:
    """A binary model as text, its blobs apart."""
    from onnxtext.conversion import lift_placed
    from onnxtext.printer import print_model
    from onnxtext.refusals import no_model

    try:
        model = lift_placed(data)
        resources, model.resources = model.resources, {}
        return _Version(print_model(model), True, resources)
    except RecursionError:
        raise _Unreadable("a version cannot be read: it is nested too deeply") from None
    except ValueError as error:  # LiftError is one
        raise _unreadable(no_model(data, error, path or "<bytes>")) from None


def _print(version: _Version) -> str:
    """The text of a binary model with its blobs."""
    from onnxtext.ast.model import Graph
    from onnxtext.printer import print_model

    if not version.resources:
        return version.text
    section = print_model(Model(Graph("g"), resources=version.resources)).partition("\nresources")
    return f"{version.text}{section[1]}{section[2]}"


def _unreadable(error: OnnxTextError | ValueError) -> _Unreadable:
    said = error.diagnostics[0].message if isinstance(error, OnnxTextError) else str(error)
    return _Unreadable(f"a version cannot be read: {said}")


def _encode(text: str, resources: dict[str, bytes | memoryview], path: str) -> bytes:
    from onnxtext.conversion import encode, joined
    from onnxtext.syntax.parse import parse_model

    source = Source(text, path or "<merge>")
    model = parse_model(source)
    model.resources = resources
    return joined(encode(model, source))


# ---- Texts ----------------------------------------------------------------------------------


def _merge_texts(base: str, ours: str, theirs: str, markers: Markers) -> tuple[str, int, list[str]]:
    """Merge three texts, as models if they are, else line by line: the text, conflicts, notes."""
    from onnxtext.syntax.parse import parse_model

    reason = "a version is nested too deeply"
    named = zip((base, ours, theirs), markers.labels, strict=True)
    try:
        models = [parse_model(Source(text, name)) for text, name in named if text.strip()]
        if len(models) + (not base.strip()) == 3:
            return _merge_statements(base, ours, theirs, models, markers)
        reason = "a version is empty"
    except OnnxTextError as error:
        where = error.diagnostics[0].where()
        reason = f"a version is no valid text ({where}: {error.diagnostics[0].message})"
    except (Clash, Unmergeable):
        reason = "the versions could not be merged statement by statement"
    except RecursionError:
        pass
    text, conflicts, by_git = merge_lines(base, ours, theirs, markers)
    notes = [
        f"{reason}; merged line by line" if by_git else f"{reason}, and git cannot merge lines"
    ]
    if not conflicts and not _parses(text) and _parses(ours) and _parses(theirs):
        text, conflicts = whole_conflict(base, ours, theirs, markers), 1
    return text, conflicts, notes


def _merge_statements(
    base: str, ours: str, theirs: str, models: Sequence[Model], markers: Markers
) -> tuple[str, int, list[str]]:
    *_, mine, others = models
    texts = [text for text in (base, ours, theirs) if text.strip()]
    read = [read_model(text, model) for text, model in zip(texts, models, strict=True)]
    if len(read) < 3:
        read.insert(0, Items())
    for fine in (False, True):
        merger = Merger(fine=fine)
        listed = merger.model(*read)
        try:
            review(listed, mine, others, merger.notes)
            break
        except TooCoarse:
            if fine:
                raise Unmergeable from None
    writer = write(listed, markers)
    if mine.presence != others.presence:
        merger.notes.append(
            "the sides differ in what is stored where the text is silent (`onnxtext` or `explicit` "
            "in the header), which concerns the statements of both"
        )
    return writer.text(), writer.conflicts, _few(merger.notes)


def _few(notes: list[str]) -> list[str]:
    """Some of many notes."""
    more = len(notes) - _MOST_NOTES
    return notes if more <= 0 else [*notes[:_MOST_NOTES], f"and {more} more of this kind"]


_MOST_NOTES = 20


def _parses(text: str) -> bool:
    from onnxtext.syntax.parse import parse_model

    try:
        parse_model(Source(text, "<merge>"))
    except (OnnxTextError, RecursionError):
        return False
    return True
