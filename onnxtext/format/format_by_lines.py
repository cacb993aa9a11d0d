# SPDX-License-Identifier: Apache-2.0
"""Format texts that differ from their printed form only in layout, commas and comments.

The printed form is the text that the printer makes from the syntax tree. Its lines replace the
lines of the text. Each comment and blank line stays after the code that it follows in the text. The
result is the text that `format_in_full` returns, in a hundredth of the time. If a comment is
in the middle of a printed line, `format_in_full` must format the text.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate, pairwise

from onnxtext.format.fmt_off import MARK
from onnxtext.format.trivia_spans import BLANK_LINE
from onnxtext.printer.layout import STEP
from onnxtext.printer.quoting import SPECIAL_WORDS
from onnxtext.source import COMMENT, STRING

_OPENING = ("(", "<", "[", "{")
_CLOSING = (")", ">", "]", "}")

_MARK = "\0"
"""Placeholder for a comment or blank line; `_use_printed_lines` rejects texts that contain it."""

_STRING_OR_TRIVIA = re.compile(rf"{STRING}|{COMMENT}|\n[ \t\v\f\r]*(?=\n)", re.DOTALL)
"""Matches a string, a comment, or the line break before a blank line."""

_LAST_COMMA = re.compile(r",(?=\0*[>\]})])")


def format_by_lines(text: str, printed: str) -> str | None:
    """Format a text by adding its comments to its printed form.

    Return None if the text must be formatted in full.
    """
    if printed == text:
        return text
    if MARK in text:
        return None
    formatted = _Merger(printed).merge(text)
    if formatted is None and (moved := _use_printed_lines(text, printed)) is not None:
        return moved if moved is printed else _Merger(printed).merge(moved)
    return formatted


# ---- Lines -------------------------------------------------------------------------------------


def _use_printed_lines(text: str, printed: str) -> str | None:
    """Insert the comments and blank lines of a text into its printed form.

    Return `printed` itself if the text has no comments and no blank lines. Return None if
    `format_in_full` must format the text, for example because a comment is in the middle of a
    printed line.
    """
    if _MARK in text:
        return None
    marks: list[str] = []

    def take_out(match: re.Match[str]) -> str:
        found = match[0]
        if found[0] == '"':
            return found
        before = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        behind = found[0] == "#" and not before.isspace() and before
        marks.append(f"  {found.rstrip()}" if behind else f"\n{found.strip()}")
        return _MARK

    code = _STRING_OR_TRIVIA.sub(take_out, text) if "#" in text or BLANK_LINE.search(text) else text
    tokens = _LAST_COMMA.sub("", "".join(code.split())).split(_MARK)
    code_alone = "".join(tokens)
    if not marks:
        return printed if code_alone == _LAST_COMMA.sub("", "".join(printed.split())) else None
    lines = printed.split("\n")[:-1]
    without_spaces = ["".join(line.split()) for line in lines]
    for index, (line, after) in enumerate(pairwise(without_spaces)):
        if after[:1] in _CLOSING and line[-1:] == ",":
            without_spaces[index] = line[:-1]
    return (
        _placed(lines, without_spaces, marks, tokens)
        if code_alone == "".join(without_spaces)
        else None
    )


def _placed(
    lines: list[str], without_spaces: list[str], marks: list[str], tokens: list[str]
) -> str | None:
    """Insert comments and blank lines into printed lines; None if a comment cannot be placed.

    Args:
        lines: the printed lines; changed in place.
        without_spaces: the same lines without whitespace.
        marks: the comments and blank lines.
        tokens: the code before, between and after the marks, without whitespace.
    """
    head: list[str] = []
    ends = list(accumulate(map(len, without_spaces)))
    last = -1
    for mark, offset in zip(marks, accumulate(map(len, tokens)), strict=False):
        line = bisect_left(ends, offset)
        if not offset:
            head.append(mark[1:] + "\n")
        elif mark[0] == " ":
            if ends[line] != offset or offset == last:
                return None
            lines[line] += mark
        elif ends[line] == offset:
            lines[bisect_right(ends, offset) - 1] += mark  # place it below printed blank lines
        elif mark != "\n":
            return None
        last = offset
    return "".join(head) + "\n".join(lines) + "\n"


# ---- Comments and blank lines ------------------------------------------------------------------


class _Merger:
    """Merges printed lines with the comments and blank lines of a text."""

    def __init__(self, printed: str) -> None:
        self.printed = printed.split("\n")
        self.count = len(self.printed) - 1
        self.at = 0  # index of the next printed line
        self.out: list[str] = []
        self.inside = False  # whether the next printed line is in a multi-line string
        self.blank = False  # whether a blank line is pending

    @cached_property
    def continued(self) -> frozenset[int]:
        """The indices of printed lines after which a comment cannot stay: the statement continues.

        These lines are in a node (but not in its attributes), in a type, or in a filled list.
        `format_in_full` moves the comments after these lines.
        """
        printed = self.printed[: self.count]
        continued: set[int] = set()
        # The lines that opened the current lists, and whether a list has several items on a line.
        open: list[tuple[int, bool]] = []
        previous = ""
        inside = False  # whether the line is inside a multi-line string
        for index, line in enumerate(printed):
            if '"""' in line and line.count('"""') % 2:
                inside = not inside
                if not inside:
                    previous = line
                    continue
            elif inside:
                continue
            stripped = line.lstrip(" ")
            indent = len(line) - len(stripped)
            if stripped[:1] in _CLOSING and open:
                start, several = open.pop()
                if several or _closes(printed[start], stripped):
                    continued.update(range(start, index))
            if indent > len(previous) - len(previous.lstrip(" ")) and previous[-1:] not in _OPENING:
                continued.add(index - 1)
            if stripped.startswith("= ") and previous[-1:] not in _ENDS:
                continued.update(_back(printed, index, indent))
            if stripped[-1:] in _OPENING and stripped:
                open.append((index, False))
            elif open and _is_filled(stripped) and _is_literal(printed[open[-1][0]]):
                open[-1] = open[-1][0], True
            previous = line
        return frozenset(continued)

    def merge(self, text: str) -> str | None:
        """Add the comments and blank lines of a text to the printed lines; None if impossible."""
        printed, out = self.printed, self.out
        for line in text.split("\n"):
            index = self.at
            if index < self.count and line == printed[index] and (line or self.inside):
                if self.blank:
                    self._flush(line)
                out.append(line)
                self.at = index + 1
                if '"""' in line and line.count('"""') % 2:
                    self.inside = not self.inside
            elif self.inside or not self._extra(line):
                return None
        if self.at != self.count:
            return None
        return "\n".join([*out, ""])

    def _extra(self, line: str) -> bool:
        """Merge a source line that is not the next printed line; return False if impossible."""
        line = line.strip(" \t\v\f\r")
        index = self.at
        if not line:
            self.blank = True
            return not self._is_within()
        while index < self.count and not self.printed[index]:  # skip printed blank lines
            self.blank = True
            self.at = index = index + 1
        if line[0] == "#":
            return self._own_line(line)
        if index >= self.count:
            return False
        expected = self.printed[index]
        stripped = expected.lstrip(" ")
        trailing = line[len(stripped) :].lstrip(" \t\v\f")
        if not line.startswith(stripped) or (trailing and trailing[0] != "#") or '"""' in stripped:
            return False
        if trailing and not self._ends_item(index):
            return False
        self._flush(expected)
        self.out.append(f"{expected} {trailing}" if trailing else expected)
        self.at += 1
        return True

    def _own_line(self, line: str) -> bool:
        """Write a comment that has its own line; return False if a statement continues after it.

        The comment gets the indentation of the next printed line.
        """
        if self._is_within():
            return False
        following = self.printed[self.at]
        indent = following[: len(following) - len(following.lstrip(" "))]
        if following[len(indent) :].startswith(_CLOSING):
            indent += STEP
        self._flush("#")
        self.out.append(indent + line)
        return True

    def _is_within(self) -> bool:
        """Whether the next line may continue the current statement."""
        return self.at > 0 and not self._ends_item(self.at - 1)

    def _ends_item(self, index: int) -> bool:
        """Whether a printed line certainly ends an item or opens a list."""
        if index in self.continued:
            return False
        line = self.printed[index]
        stripped = line.lstrip(" ")
        if stripped[:1] == "@":
            return False
        if stripped[-1:] == ")":  # a node, or the end of a decorator or of the inputs of a node
            return "= " in stripped or index - 1 in self.continued
        if line[:1] == "<" and line != "<":  # the header of a function
            return False
        if line == ">":  # the header of the model, or of a function
            return self.printed[0] == "<" and self.printed.index(">") == index
        return True

    def _flush(self, line: str) -> None:
        """Write a pending blank line, unless it is first, or beside the bracket of a list.

        `line` is the line that follows; it is not written here.
        """
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


_ENDS = (*_OPENING, *_CLOSING)
_TYPE = re.compile(rf"(?:{'|'.join(sorted(SPECIAL_WORDS))})[\[(]")
_STRING_ITEM = re.compile(r'"""|b?"(?:[^"\\]|\\.)*",')


def _is_filled(line: str) -> bool:
    """Whether a line of a literal is part of a filled list: with as many items per line as fit."""
    return (line[-1:] == "," and ", " in line) or _STRING_ITEM.fullmatch(line) is not None


def _is_literal(opening: str) -> bool:
    """Whether a line may open a list of numbers or strings."""
    return opening[-1:] == "[" or (opening[-1:] == "{" and opening[-3:] not in (") {", "> {"))


def _closes(opening: str, closing: str) -> bool:
    """Whether the two lines open and close the inputs of a node or the arguments of a type."""
    if opening[-1:] not in "[(":
        return False
    if opening[-2:-1] != " ":
        return _TYPE.fullmatch(opening, opening.rfind(" ") + 1) is not None
    return opening[-1:] == "(" and opening[-5:] != " => (" and not closing.startswith(") =>")


def _back(printed: Sequence[str], index: int, indent: int) -> Iterator[int]:
    """Yield the indices of the printed lines above line `index` that belong to its statement.

    Line `index` begins with `=`.
    """
    for before in range(index - 1, -1, -1):
        yield before
        line = printed[before]
        if len(line) - len(line.lstrip(" ")) < indent and line.lstrip(" ")[:1] not in _CLOSING:
            return
