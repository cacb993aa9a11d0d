# SPDX-License-Identifier: Apache-2.0
"""Merge files: texts, binary models and unreadable content."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from onnxtext.diagnostics import Diagnostic, OnnxTextError, OnnxTextWarning
from onnxtext.io.memory import paused_collector
from onnxtext.io.text_or_binary import looks_binary
from onnxtext.merger.conflict_markers import Markers
from onnxtext.merger.line_endings import LineEnds, plain_text

VERSIONS = ("base", "ours", "theirs")
"""The default names of the three versions."""


@dataclass(frozen=True, slots=True)
class MergeResult:
    """The result of a merge.

    Attributes:
        content: the merged text; a binary model if all versions are binary and there is no
            conflict; or one of the versions unchanged.
        conflicts: the number of conflicts marked in the content; 1 if a version cannot be read, or
            if the merged text is not a valid model.
        notes: warnings for the user, one sentence each.
        is_binary: whether the content is a binary model, or our version unchanged because a version
            cannot be read.
        unreadable: an error for each version that is neither a text nor a model; if there is one,
            the content is our version.
    """

    content: bytes
    conflicts: int
    notes: tuple[str, ...] = ()
    is_binary: bool = False
    unreadable: tuple[Diagnostic, ...] = ()

    def __str__(self) -> str:
        """Return the merged text; a merged binary model is printed as text.

        Raises:
            OnnxTextError: the content is one of the versions, and is not a valid model.
        """
        # If a version cannot be read, the content is our version, which may be a text.
        if not self.is_binary or (self.unreadable and not looks_binary(self.content)):
            return self.content.decode("utf-8", "surrogateescape")
        from onnxtext.binary_to_text import print_binary

        return print_binary(self.content, None)[0]


@dataclass(frozen=True, slots=True)
class _Version:
    """One of the three files, as text.

    Attributes:
        text: its text without `line_ends`, or the text printed from a binary model.
        resources: the blobs of a binary model, which are not in the text.
        line_ends: the byte order mark and line endings of the file.
    """

    text: str
    binary: bool = False
    resources: dict[str, bytes | memoryview] = field(default_factory=dict)
    line_ends: LineEnds = field(default_factory=LineEnds)


def merge(
    base: bytes,
    ours: bytes,
    theirs: bytes,
    *,
    marker_size: int = 7,
    labels: tuple[str, str, str] = VERSIONS,
    names: Sequence[str] = VERSIONS,
) -> MergeResult:
    """Merge two versions of a model with their common ancestor.

    If only one side changed a statement or a part of a statement, the merge has this change. If
    both sides changed the same part in different ways, the statement gets conflict markers, as in
    git. Each version is a text or a binary model. If one side equals the base, the result is the
    other side, byte for byte.

    Args:
        base: the common ancestor; empty if there is none.
        ours: one version.
        theirs: the other version.
        marker_size: length of a conflict marker.
        labels: names of the base, ours and theirs in the markers.
        names: names of the base, ours and theirs in messages about versions that cannot be read.
    """
    if theirs in (base, ours):
        return MergeResult(ours, 0, is_binary=looks_binary(ours))
    if base == ours:
        return MergeResult(theirs, 0, is_binary=looks_binary(theirs))
    markers = Markers(marker_size, labels)
    files = (base, ours, theirs)
    with paused_collector(), warnings.catch_warnings():
        # These warnings concern the inputs, not the merge.
        warnings.simplefilter("ignore", OnnxTextWarning)
        are_binary = all(map(looks_binary, files if base else files[1:]))
        versions: list[_Version] = []
        unreadable: list[Diagnostic] = []
        for data, name in zip(files, names, strict=True):
            try:
                versions.append(_read(data, name, keeps_resources=are_binary))
            except OnnxTextError as error:
                unreadable.append(error.diagnostics[0])
        if unreadable:
            return _keep_ours(ours, unreadable)
        return (_merge_models if are_binary else _merge_files)(versions, markers)


def _keep_ours(ours: bytes, unreadable: Sequence[Diagnostic]) -> MergeResult:
    notes = [
        f"a version cannot be read ({error.where()}: {error.message}); our version is unchanged"
        for error in unreadable
    ]
    return MergeResult(ours, 1, tuple(notes), is_binary=True, unreadable=tuple(unreadable))


def _merge_files(versions: Sequence[_Version], markers: Markers) -> MergeResult:
    """Merge texts, or texts and binary models, to a text.

    The result has our byte order mark, and the new line endings if a side changed them.
    """
    from onnxtext.merger.texts.text_merge import merge_texts

    base, ours, theirs = versions
    text, conflicts, notes = merge_texts(base.text, ours.text, theirs.text, markers)
    is_ours = base.line_ends.end != ours.line_ends.end and not ours.binary
    line_ends = LineEnds(ours.line_ends.mark, (ours if is_ours else theirs).line_ends.end)
    data = line_ends.restore(text).encode("utf-8", "surrogateescape")
    return MergeResult(data, conflicts, tuple(notes))


def _merge_models(versions: Sequence[_Version], markers: Markers) -> MergeResult:
    """Merge binary models through texts that have digests instead of the weights."""
    from onnxtext.merger.texts.text_merge import merge_texts

    base, ours, theirs = [version.text for version in versions]
    resources = {key: data for version in versions for key, data in version.resources.items()}
    text, conflicts, notes = merge_texts(base, ours, theirs, markers, resources)
    if not conflicts:
        try:
            return MergeResult(_encode(text, resources), 0, tuple(notes), True)
        except OnnxTextError as error:
            notes.append(f"the merged text is not valid: {error.diagnostics[0].message}")
            notes.append("the result is this text: correct it, then convert it to a binary model")
    else:
        notes.append(
            "the conflicts are marked in the model's text: resolve them, then convert the text "
            "back to a binary model"
        )
    if resources:
        base, ours, theirs = [_print(version) for version in versions]
        text, conflicts, _ = merge_texts(base, ours, theirs, markers)
    return MergeResult(text.encode(), max(conflicts, 1), tuple(notes))


def _read(data: bytes, name: str, *, keeps_resources: bool) -> _Version:
    """Read one of the three versions of a merge.

    If `keeps_resources`, the blobs of a binary model are in `_Version.resources`, not in the text.

    Raises:
        OnnxTextError: the bytes are neither a text nor a valid model.
    """
    from onnxtext.io.text_or_binary import decode_text

    if data and looks_binary(data):
        version = _lift(data, name)
        return version if keeps_resources else replace(version, text=_print(version), resources={})
    text, line_ends = plain_text(decode_text(data, name))
    return _Version(text, line_ends=line_ends)


def _lift(data: bytes, name: str) -> _Version:
    from onnxtext.binary_to_text import lift_placed
    from onnxtext.printer import print_model

    try:
        model = lift_placed(data, name=name)
        resources, model.resources = model.resources, {}
        return _Version(print_model(model), True, resources)
    except RecursionError:
        message = "the model is nested too deeply"
        raise OnnxTextError(Diagnostic("too-deep", message, file=name)) from None


def _print(version: _Version) -> str:
    """Return the text of a version, followed by a section with its `resources`, if any."""
    from onnxtext.ast.model import Graph, Model
    from onnxtext.printer import print_model

    if not version.resources:
        return version.text
    section = print_model(Model(Graph("g"), resources=version.resources)).partition("\nresources")
    return f"{version.text}{section[1]}{section[2]}"


def _encode(text: str, resources: dict[str, bytes | memoryview]) -> bytes:
    from onnxtext.source import Source
    from onnxtext.syntax.parse import parse_model
    from onnxtext.text_to_binary import encode

    source = Source(text, "<merge>")
    model = parse_model(source)
    model.resources = resources
    return b"".join(encode(model, source))
