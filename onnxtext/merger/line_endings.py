# SPDX-License-Identifier: Apache-2.0
"""Remove the byte order mark and the CRLF line endings of a text, and restore them."""

from __future__ import annotations

from typing import NamedTuple

_BOM = "\ufeff"


class LineEnds(NamedTuple):
    """The byte order mark and the line endings of a text.

    Attributes:
        mark: the byte order mark; "" if there is none.
        end: CRLF if all lines end with it; otherwise LF.
    """

    mark: str = ""
    end: str = "\n"

    def restore(self, text: str) -> str:
        """Add `mark` to a text, and replace each LF in the text by `end`."""
        return self.mark + (text if self.end == "\n" else text.replace("\n", self.end))


def plain_text(text: str) -> tuple[str, LineEnds]:
    """Return a text without byte order mark and CRLF, and the `LineEnds` that restore it.

    If the text has line ends other than CRLF, its line ends are not changed.
    """
    bom = _BOM if text.startswith(_BOM) else ""
    text = text.removeprefix(_BOM)
    if "\r\n" in text and text.count("\r\n") == text.count("\n"):
        return text.replace("\r\n", "\n"), LineEnds(bom, "\r\n")
    return text, LineEnds(bom)
