# SPDX-License-Identifier: Apache-2.0
"""The short way for texts that are canonical but for comments, blank lines and their indentation.

The printer prints what the text says; if the lines of the text are those lines, with comments and
blank lines between and behind them, only these have to be put right. It gives up where that is not
enough; what it does is what `document` would do, in a hundredth of the time.
"""

from __future__ import annotations

from onnxtext.printer.layout import STEP

_OPENING = ("(", "<", "[", "{")
_CLOSING = (")", ">", "]", "}")


def merge(text: str, printed: str) -> str | None:
    """The text with its comments in the canonical layout; None if that takes more.

    Args:
        text: the text.
        printed: what the printer makes of its syntax tree.
    """
    if "# fmt:" in text:
        return None
    return _Merger(printed.split("\n")[:-1]).merge(text.split("\n"))


class _Merger:
    """One run."""

    def __init__(self, printed: list[str]) -> None:
        self.printed = [*printed, ""]
        self.count = len(printed)
        self.at = 0  # the printed line that comes next
        self.out: list[str] = []
        self.inside = False  # whether that line is inside of a string of several lines
        self.blank = False  # whether a blank line is held back

    def merge(self, lines: list[str]) -> str | None:
        """The merged text; None if the lines do not fit together."""
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
        """Take a line that was not printed like this; False if it fits nowhere."""
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
        """Whether the next line may belong to the statement that the last one belongs to."""
        return self.at > 0 and (_is_row(self.printed[self.at]) or not self._ends_item(self.at - 1))

    def _ends_item(self, at: int) -> bool:
        """Whether a printed line surely ends an item, or opens a list."""
        line = self.printed[at]
        bare = line.lstrip(" ")
        if bare[:1] == "@" or _is_row(line):
            return False
        if bare[-1:] == ")":  # a node, or the end of a decorator
            return "= " in bare
        if line[:1] == "<" and line != "<":  # the header of a function
            return False
        if line == ">":  # the header of the model, or of a function
            return self.printed[0] == "<" and self.printed.index(">") == at
        return True

    def _flush(self, line: str) -> None:
        """Write the blank line that was held back, unless a bracket opens before or closes."""
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


def _is_row(line: str) -> bool:
    """Whether a line is several numbers of a list."""
    bare = line.lstrip(" ")
    return bare.startswith(_NUMBER) and ", " in bare and " = " not in bare and "[" not in bare


_NUMBER = tuple("-0123456789itfn")
