# SPDX-License-Identifier: Apache-2.0
"""Edit onnxtext's block of lines in a git attributes file; every other byte is kept.

Source: gitattributes(5), DESCRIPTION: a line is a pattern and attributes, `#` begins a comment, and
later lines override earlier ones. So our block goes to the end.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_BEGIN = b"# onnxtext git install: begin"
_END = b"# onnxtext git install: end"
# Suffixes of the begin comment: the state of the file before `install`, for `uninstall`.
_NEW = b" (in a new file)"
_OPEN = b" (after a line without an end)"
_BLOCK = re.compile(
    rb"(?P<joint>\r?\n)?^(?P<begin>%b)(?P<note>%b|%b)?\r?\n(?P<lines>(?:(?!%b|%b).*\n)*)%b(?:\r?\n|\Z)"
    % tuple(map(re.escape, (_BEGIN, _NEW, _OPEN, _BEGIN, _END, _END))),
    re.MULTILINE,
)


class DamagedBlock(ValueError):
    """The begin and end comments of onnxtext's block do not form exactly one block."""


@dataclass(frozen=True, slots=True)
class AttributesFile:
    """The content of an attributes file.

    Attributes:
        content: its bytes; None if there is no file.
    """

    content: bytes | None

    def lines(self) -> list[str]:
        """Return the lines of onnxtext's block; empty without a block.

        Raises:
            DamagedBlock: the block is incomplete or occurs twice.
        """
        block = self._block()
        if block is None:
            return []
        ours = block["lines"].decode("utf-8", "surrogateescape").split("\n")[:-1]
        return [line.rstrip("\r") for line in ours]

    def with_lines(self, lines: list[str]) -> bytes | None:
        """Return the content of the file after replacing the lines of onnxtext's block.

        Args:
            lines: the new lines; if empty, the block is removed.

        Returns:
            The new content; None if there should be no file.

        Raises:
            DamagedBlock: the block is incomplete or occurs twice.
        """
        block = self._block()
        content = self.content or b""
        if block is None:
            return content + self._rendered(lines, self._note()) if lines else self.content
        joint, note = block["joint"] or b"", block["note"] or b""
        if lines:
            return _replace_block(
                content, block, joint + self._rendered(lines, note, after_line_end=True)
            )
        # Remove the line end before the block if `install` added it and the block is still last.
        last = block.end() == len(content)
        rest = _replace_block(content, block, b"" if note == _OPEN and last else joint)
        return None if note == _NEW and not rest else rest

    def _block(self) -> re.Match[bytes] | None:
        content = self.content or b""
        found = list(_BLOCK.finditer(content))
        if (
            len(found) > 1
            or content.count(_BEGIN) != len(found)
            or content.count(_END) != len(found)
        ):
            raise DamagedBlock(
                f"the block between `{_BEGIN.decode()}` and `{_END.decode()}` is damaged: "
                "remove both comments and the lines between them"
            )
        return found[0] if found else None

    def _note(self) -> bytes:
        if self.content is None:
            return _NEW
        return _OPEN if self.content and not self.content.endswith(b"\n") else b""

    def _rendered(self, lines: list[str], note: bytes, *, after_line_end: bool = False) -> bytes:
        end = b"\r\n" if b"\r\n" in (self.content or b"") else b"\n"
        ours = [_BEGIN + note, *[line.encode("utf-8", "surrogateescape") for line in lines], _END]
        before = end if note == _OPEN and not after_line_end else b""
        return before + b"".join(line + end for line in ours)


def _replace_block(content: bytes, block: re.Match[bytes], new: bytes) -> bytes:
    return content[: block.start()] + new + content[block.end() :]
