# SPDX-License-Identifier: Apache-2.0
"""Merging files: texts and binary models, and what is neither."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from onnxtext.collector import paused_collector
from onnxtext.diagnostics import OnnxTextError, OnnxTextWarning
from onnxtext.files import looks_binary

if TYPE_CHECKING:
    from onnxtext.merge.outcome import Markers

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
    from onnxtext.merge.outcome import Markers

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
    from onnxtext.merge.texts import merge_texts

    base, ours, theirs = versions
    text, conflicts, notes = merge_texts(base.text, ours.text, theirs.text, markers)
    chosen = theirs if base.line_end == ours.line_end or ours.binary else ours
    if chosen.line_end != "\n":
        text = text.replace("\n", chosen.line_end)
    data = (ours.mark + text).encode("utf-8", "surrogateescape")
    return MergeResult(data, conflicts, tuple(notes))


def _merge_models(files: Sequence[bytes], markers: Markers, path: str) -> MergeResult:
    """Merge binary models. Their weights are no text for that: they are known by digests."""
    from onnxtext.merge.texts import merge_texts

    versions = [_lift(data, path) if data else _Version("") for data in files]
    base, ours, theirs = [version.text for version in versions]
    text, conflicts, notes = merge_texts(base, ours, theirs, markers)
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
        text, conflicts, _ = merge_texts(base, ours, theirs, markers)
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
    from onnxtext.ast.model import Graph, Model
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
    from onnxtext.source import Source
    from onnxtext.syntax.parse import parse_model

    source = Source(text, path or "<merge>")
    model = parse_model(source)
    model.resources = resources
    return joined(encode(model, source))
