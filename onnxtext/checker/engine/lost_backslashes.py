# SPDX-License-Identifier: Apache-2.0
r"""Find backslashes that parsing drops from plain strings (`"…"`): `"c:\temp"` becomes `c:temp`.

In the official syntax, `\X` stands for X, whatever the character X is. The parsed string no longer
has the backslash, so this rule reads the text. `from-binary` never prints such a string.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from onnxtext.checker.context.registry import BACKSLASH_LOST
from onnxtext.diagnostics import Diagnostic, Edit, Fix, Label
from onnxtext.source import STRING_OR_COMMENT, Source, Span

_CANDIDATE = re.compile(r'\\[^\\"]')
_PREFIX = re.compile(r"(?<!\w)b\Z")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_NAMED = {"n": "a line break", "r": "a carriage return", "t": "a tab"}


def lost_backslashes(source: Source) -> Iterator[tuple[int, Diagnostic]]:
    """Yield (offset, diagnostic) for each plain string (`"…"`) that loses a backslash.

    The text must be valid.
    """
    text = source.text
    if "\\" not in text or _CANDIDATE.search(text) is None:
        return
    for match in STRING_OR_COMMENT.finditer(text):
        token, offset = match[0], match.start()
        if "\\" not in token or token.startswith(("#", '"""')):
            continue
        if _PREFIX.search(text, max(offset - 1, 0), offset):  # a byte string
            continue
        lost = [item for item in _ESCAPE.finditer(token) if item[1] not in '\\"']
        if lost:
            yield offset, _finding(source, offset, token, lost)


def _finding(source: Source, offset: int, token: str, lost: list[re.Match[str]]) -> Diagnostic:
    spans = [Span(offset + item.start(), offset + item.end()) for item in lost]
    message = "the string loses a backslash"
    if lost[0][1].isprintable():
        message += f": `{lost[0][0]}` stands for `{lost[0][1]}`"
    help = "write `\\\\` for a backslash"
    meant = next((item[1] for item in lost if item[1] in _NAMED), None)
    if meant is not None:
        help += f', or `b"…"`, in which `\\{meant}` is {_NAMED[meant]}'
    edits = tuple([Edit(Span(span.start, span.start + 1), "\\\\") for span in spans])
    has_fix = all(item[1] != "\n" for item in lost) and len(token) < _MAX_FIXED_LENGTH
    return Diagnostic(
        BACKSLASH_LOST.code,
        message,
        "warning",
        source=source,
        labels=tuple(map(Label, spans[:_MOST])),
        notes=(BACKSLASH_LOST.note,),
        help=help,
        fix=Fix("write `\\\\` for `\\`", edits, "unsafe") if has_fix else None,
    )


_MOST = 12
"""The maximum number of backslashes to show for one string."""
_MAX_FIXED_LENGTH = 10_000
"""Strings of this many characters or more get no fix."""
