# SPDX-License-Identifier: Apache-2.0
"""The format of conflict markers, and functions that write them around the versions of a text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from onnxtext.sequences import common_prefix, longest_increasing_subsequence

LABEL = re.compile(r"[^\0\r\n\ud800-\udc7f\udd00-\udfff]*")
"""Matches the label of a version, one line; it may have surrogates for bytes of a file name."""


@dataclass(frozen=True, slots=True)
class Markers:
    """The format of conflict markers, as in git.

    Attributes:
        swapped: whether ours and theirs were swapped for the merge; `lines` swaps them back.
    """

    size: int = 7
    labels: tuple[str, str, str] = ("base", "ours", "theirs")
    swapped: bool = False

    def lines(self, base: str, ours: str, theirs: str) -> str:
        """Return a conflict with its markers, without a line end after the last marker.

        Each version must be empty or consist of whole lines.
        """
        names = [f" {label}" if label else "" for label in self.labels]
        if self.swapped:
            ours, theirs = theirs, ours
        return (
            f"{'<' * self.size}{names[1]}\n{ours}{'|' * self.size}{names[0]}\n{base}"
            f"{'=' * self.size}\n{theirs}{'>' * self.size}{names[2]}"
        )


def whole_conflict(base: str, ours: str, theirs: str, markers: Markers) -> str:
    """Return a single conflict whose versions are the whole texts."""
    texts = [
        text if not text or text.endswith("\n") else f"{text}\n" for text in (base, ours, theirs)
    ]
    return f"{markers.lines(*texts)}\n"


def join_versions(base: str, ours: str, theirs: str, markers: Markers) -> tuple[str, int]:
    """Join three versions of a text; put conflict markers where ours and theirs differ.

    Each version is the whole merged text, with all conflicts resolved to the base, to ours or to
    theirs.

    Returns:
        (text, number of conflicts)
    """
    versions = [text.split("\n") for text in (base, ours, theirs)]
    by_line = [dict(_pairs(versions[1], versions[index])) for index in (0, 2)]
    joined: list[str] = []
    conflicts = 0
    starts = [0, 0, 0]
    for line in range(len(versions[1]) + 1):
        ends = [by_line[0].get(line), line, by_line[1].get(line)]
        if line == len(versions[1]):
            ends = [len(lines) for lines in versions]
        if ends[0] is None or ends[2] is None or ends[0] < starts[0] or ends[2] < starts[2]:
            continue
        parts = [lines[index:end] for lines, index, end in zip(versions, starts, ends, strict=True)]
        following = versions[1][line : line + 1]
        if parts[1] == parts[2]:
            joined += parts[1]
        else:
            conflicts += 1
            if _begins_with_bracket(parts, following):
                joined += following
                parts = [[*part[1:], *following] if part else part for part in parts]
                following = []
            texts = ["".join([f"{line}\n" for line in part]) for part in parts]
            joined += markers.lines(*texts).split("\n")
        joined += following
        starts = [end + 1 for end in ends if end is not None]
    return "\n".join(joined), conflicts


def _begins_with_bracket(parts: Sequence[Sequence[str]], following: Sequence[str]) -> bool:
    """Whether the line after a conflict is a bracket that also begins each nonempty version.

    If True, the conflict can be moved down by one line, so that it contains whole blocks. `parts`
    are its versions; `following` has the line after it, if any.
    """
    first = [part[:1] for part in parts if part]
    brackets = following and following[0].strip(" ,")
    return bool(brackets) and set(brackets) <= set(")]}>") and all(f == following for f in first)


def _pairs(left: Sequence[str], right: Sequence[str]) -> list[tuple[int, int]]:
    """Return (index in `left`, index in `right`) of the lines that match, in order.

    Equal lines at the beginning and at the end match; in between, lines that are unique in both
    texts match.
    """
    start = common_prefix(left, right)
    end = common_prefix(left[start:][::-1], right[start:][::-1])
    places = {line: index for index, line in enumerate(right[start : len(right) - end], start)}
    counts = Counter(left[start : len(left) - end])
    others = Counter(right[start : len(right) - end])
    shared = [
        (index, places[line])
        for index, line in enumerate(left[start : len(left) - end], start)
        if counts[line] == 1 and others[line] == 1
    ]
    kept = longest_increasing_subsequence([at for _, at in shared])
    middle = [pair for pair, stays in zip(shared, kept, strict=True) if stays]
    last = [(len(left) - index, len(right) - index) for index in range(end, 0, -1)]
    return [*[(index, index) for index in range(start)], *middle, *last]
