# SPDX-License-Identifier: Apache-2.0
"""Merging texts: as models if they are valid, else line by line."""

from __future__ import annotations

from collections.abc import Sequence

from onnxtext.ast.model import Model
from onnxtext.diagnostics import OnnxTextError
from onnxtext.merge.constructs import Clash
from onnxtext.merge.lines import merge_lines, whole_conflict
from onnxtext.merge.outcome import Markers, write
from onnxtext.merge.reading import read_model
from onnxtext.merge.review import TooCoarse, Unmergeable, review
from onnxtext.merge.structure import Merger
from onnxtext.merge.versions import Items
from onnxtext.source import Source
from onnxtext.syntax.parse import parse_model


def merge_texts(base: str, ours: str, theirs: str, markers: Markers) -> tuple[str, int, list[str]]:
    """Merge three texts, as models if they are, else line by line: the text, conflicts, notes."""
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
            review(listed, mine, others, merger.notes, fine=fine)
            break
        except TooCoarse:
            continue
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
    try:
        parse_model(Source(text, "<merge>"))
    except (OnnxTextError, RecursionError):
        return False
    return True
