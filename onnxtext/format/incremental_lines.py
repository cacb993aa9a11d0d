# SPDX-License-Identifier: Apache-2.0
"""Format texts that are canonical except for comments, blank lines and indentation.

If the lines of a text equal those of its printed model, with comments and blank lines between and
behind them, only the latter need formatting. The result equals that of `document`, in a hundredth
of the time; other texts are left to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property

from onnxtext.printer.layout import STEP
from onnxtext.printer.strings import SPECIAL_WORDS

_OPENING = ("(", "<", "[", "{")
_CLOSING = (")", ">", "]", "}")


def merge(text: str, printed: str) -> str | None:
    """Format the comments and blank lines of a text; None if other lines differ.

    Args:
        text: the text.
        printed: its printed syntax tree.
    """
    if "# fmt:" in text:
        return None
    return _Merger(printed.split("\n")[:-1]).merge(text.split("\n"))


class _Merger:
    """Merges printed lines with the comments and blank lines of a text."""

    def __init__(self, printed: list[str]) -> None:
        self.printed = [*printed, ""]
        self.count = len(printed)
        self.at = 0  # index of the next printed line
        self.out: list[str] = []
        self.inside = False  # whether that line is inside of a multi-line string
        self.blank = False  # whether a blank line is pending

    @cached_property
    def continued(self) -> frozenset[int]:
        """The indices of lines behind which a statement certainly goes on."""
        return _continued(self.printed[: self.count])

    def merge(self, lines: list[str]) -> str | None:
        """Return the merged text; None if the lines differ."""
        printed, out = self.printed, self.out
        for line in lines:
            at = self.at
            if at < self.count and line == printed[at] and (line or self.inside):
                if self.blank:
                    self._flush(line)
                out.append(line)
                self.at = at + 1
                if '"""' in line and line.count('"""') % 2:
                    self.inside = not self.inside
            elif self.inside or not self._extra(line):
                return None
        if self.at != self.count:
            return None
        return "\n".join([*out, ""])

    def _extra(self, line: str) -> bool:
        """Process a line that differs from the printed one; False if that is impossible."""
        line = line.strip(" \t\v\f\r")
        at = self.at
        if not line:
            self.blank = True
            return not self._is_within()
        while at < self.count and not self.printed[at]:  # between functions and sections
            self.blank = True
            self.at = at = at + 1
        if line[0] == "#":
            return self._own_line(line)
        if at >= self.count:
            return False
        wanted = self.printed[at]
        bare = wanted.lstrip(" ")
        behind = line[len(bare) :].lstrip(" \t\v\f")
        if not line.startswith(bare) or (behind and behind[0] != "#") or '"""' in bare:
            return False
        if behind and not self._ends_item(at):
            return False
        self._flush(wanted)
        self.out.append(f"{wanted} {behind}" if behind else wanted)
        self.at += 1
        return True

    def _own_line(self, line: str) -> bool:
        at = self.at
        following = self.printed[at]
        if self._is_within():
            return False
        indent = following[: len(following) - len(following.lstrip(" "))]
        if following[len(indent) :].startswith(_CLOSING):
            indent += STEP
        self._flush("#")
        self.out.append(indent + line)
        return True

    def _is_within(self) -> bool:
        """Whether the next line may continue the current statement."""
        return self.at > 0 and not self._ends_item(self.at - 1)

    def _ends_item(self, at: int) -> bool:
        """Whether a printed line certainly ends an item or opens a list."""
        if at in self.continued:
            return False
        line = self.printed[at]
        bare = line.lstrip(" ")
        if bare[:1] == "@":
            return False
        if bare[-1:] == ")":  # a node, or the end of a decorator or of the inputs of a node
            return "= " in bare or at - 1 in self.continued
        if line[:1] == "<" and line != "<":  # the header of a function
            return False
        if line == ">":  # the header of the model, or of a function
            return self.printed[0] == "<" and self.printed.index(">") == at
        return True

    def _flush(self, line: str) -> None:
        """Write a pending blank line unless it is behind an opening or before a closing bracket."""
        if not self.blank:
            return
        self.blank = False
        if not self.out or line.lstrip(" ").startswith(_CLOSING):
            return
        last = self.out[-1]
        opens = self.printed[self.at - 1] if self.at else ""
        if opens.endswith(_OPENING) and last.startswith(opens):
            return
        self.out.append("")


def _continued(printed: Sequence[str]) -> frozenset[int]:
    """Return the indices of lines behind which a statement certainly goes on.

    Comments move away from there: inside of a node outside of its attributes, inside of a type, and
    between the items of a filled list.
    """
    found: set[int] = set()
    open: list[
        tuple[int, bool]
    ] = []  # opening lines, and whether they have several items on a line
    previous = ""
    inside = False  # of a string of several lines
    for at, line in enumerate(printed):
        if '"""' in line and line.count('"""') % 2:
            inside = not inside
            if not inside:
                previous = line
                continue
        elif inside:
            continue
        bare = line.lstrip(" ")
        indent = len(line) - len(bare)
        if bare[:1] in _CLOSING and open:
            start, several = open.pop()
            if several or _closes(printed[start], bare):
                found.update(range(start, at))
        if indent > len(previous) - len(previous.lstrip(" ")) and previous[-1:] not in _OPENING:
            found.add(at - 1)
        if bare.startswith("= ") and previous[-1:] not in _ENDS:
            found.update(_back(printed, at, indent))
        if bare[-1:] in _OPENING and bare:
            open.append((at, False))
        elif open and bare[-1:] == "," and ", " in bare and _is_literal(printed[open[-1][0]]):
            open[-1] = open[-1][0], True
        previous = line
    return frozenset(found)


_ENDS = (*_OPENING, *_CLOSING)
_TYPE = re.compile(rf"(?:{'|'.join(sorted(SPECIAL_WORDS))})[\[(]")


def _is_literal(opening: str) -> bool:
    """Whether a line may open a list of numbers or strings."""
    return opening[-1:] == "[" or (opening[-1:] == "{" and opening[-3:] not in (") {", "> {"))


def _closes(opening: str, closing: str) -> bool:
    """Whether two lines are around the inputs of a node or the parts of a type."""
    if opening[-1:] not in "[(":
        return False
    if opening[-2:-1] != " ":
        return _TYPE.fullmatch(opening, opening.rfind(" ") + 1) is not None
    return opening[-1:] == "(" and opening[-5:] != " => (" and not closing.startswith(") =>")


def _back(printed: Sequence[str], at: int, indent: int) -> Iterator[int]:
    """Yield the lines of a statement before one that begins with the `=`."""
    for before in range(at - 1, -1, -1):
        yield before
        line = printed[before]
        if len(line) - len(line.lstrip(" ")) < indent and line.lstrip(" ")[:1] not in _CLOSING:
            return
