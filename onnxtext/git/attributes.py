# SPDX-License-Identifier: Apache-2.0
"""Our lines in a file of git attributes, between two comments; every other byte stays as it is.

Source: gitattributes(5), DESCRIPTION: a line is a pattern and attributes, `#` begins a comment,
and a later line wins. So our lines go to the end.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_BEGIN = b"# onnxtext git install: begin"
_END = b"# onnxtext git install: end"
# What the file was like before, so that uninstall gives the very bytes back.
_NEW = b" (in a new file)"
_OPEN = b" (after a line without an end)"
_BLOCK = re.compile(
    rb"(?P<joint>\r?\n)?^(?P<begin>%b)(?P<note>%b|%b)?\r?\n(?P<lines>(?:(?!%b|%b).*\n)*)%b(?:\r?\n|\Z)"
    % tuple(map(re.escape, (_BEGIN, _NEW, _OPEN, _BEGIN, _END, _END))),
    re.MULTILINE,
)


class DamagedBlock(ValueError):
    """One of our comments stands there without the other."""


@dataclass(frozen=True, slots=True)
class AttributesFile:
    """The content of a file of attributes.

    Attributes:
        content: its bytes; None if there is no file.
    """

    content: bytes | None

    def lines(self) -> list[str]:
        """Our lines in it.

        Raises:
            DamagedBlock: where they end or begin cannot be told.
        """
        block = self._block()
        if block is None:
            return []
        ours = block["lines"].decode("utf-8", "surrogateescape").split("\n")[:-1]
        return [line.rstrip("\r") for line in ours]

    def with_lines(self, lines: list[str]) -> bytes | None:
        """The content with these lines as ours, in place of those that were; None for no file.

        Raises:
            DamagedBlock: where ours end or begin cannot be told.
        """
        block = self._block()
        content = self.content or b""
        if block is None:
            return content + self._rendered(lines, self._note()) if lines else self.content
        joint, note = block["joint"] or b"", block["note"] or b""
        if lines:
            return _spliced(content, block, joint + self._rendered(lines, note, joined=True))
        # The line end before the block is ours where the file had none, and still ends here.
        last = block.end() == len(content)
        rest = _spliced(content, block, b"" if note == _OPEN and last else joint)
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
                f"the lines between `{_BEGIN.decode()}` and `{_END.decode()}` are not whole: "
                "remove what is left of them, and both comments"
            )
        return found[0] if found else None

    def _note(self) -> bytes:
        if self.content is None:
            return _NEW
        return _OPEN if self.content and not self.content.endswith(b"\n") else b""

    def _rendered(self, lines: list[str], note: bytes, *, joined: bool = False) -> bytes:
        end = b"\r\n" if b"\r\n" in (self.content or b"") else b"\n"
        ours = [_BEGIN + note, *[line.encode("utf-8", "surrogateescape") for line in lines], _END]
        before = end if note == _OPEN and not joined else b""
        return before + b"".join(line + end for line in ours)


def _spliced(content: bytes, block: re.Match[bytes], new: bytes) -> bytes:
    return content[: block.start()] + new + content[block.end() :]
