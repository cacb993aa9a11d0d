# SPDX-License-Identifier: Apache-2.0
"""Write a reading text: colored, with the statistics of weights as comments.

Everything is done while the text is written: who reads the first page of a large model waits for
the weights of that page only.
"""

from __future__ import annotations

from collections.abc import Iterator

from onnxtext.diagnostics.safe import visible
from onnxtext.highlight import classify
from onnxtext.show.reading import Reading

_COLORS = {
    "Comment": "2",
    "Error": "31",
    "Keyword.Constant": "35",
    "Keyword.Namespace": "1",
    "Keyword.Type": "36",
    "Name.Attribute": "33",
    "Name.Class": "1",
    "Name.Decorator": "2",
    "Name.Function": "1;34",
    "Name.Label": "36",
    "Name.Tag": "34",
    "Number": "35",
    "String": "32",
    "String.Other": "2",
}
"""The SGR parameters of each kind of text; others have the color of the terminal."""


def annotate(text: str, reading: Reading, *, color: bool, terminal: bool) -> Iterator[str]:
    """Yield a text in parts, with statistics at the end of each line that names weights.

    Args:
        text: a printed model or a part of one.
        reading: the model.
        color: whether to color it.
        terminal: whether to escape characters that could control a terminal.
    """
    comments: list[str] = []
    for _, kind, piece in classify(text):
        shown = piece
        if kind == "String.Other" and piece.startswith('blob"'):
            digest = piece[5:-1]
            shown = f'blob"{reading.digest(digest)}"'
            found = reading.statistics(digest)
            if found is not None:
                comments.append(found)
        if comments and "\n" in piece and kind == "Whitespace":
            yield _colored(f" # {'; '.join(comments)}", "Comment", color)
            comments.clear()
        yield _colored(_escaped(shown) if terminal else shown, kind, color)
    if comments:
        yield _colored(f" # {'; '.join(comments)}", "Comment", color)


def _colored(text: str, kind: str, color: bool) -> str:
    if not color:
        return text
    sgr = _sgr(kind)
    if sgr is None or text.isspace():
        return text
    # Pagers color each line on its own.
    lines = text.split("\n")
    return "\n".join([f"\x1b[{sgr}m{line}\x1b[0m" if line else "" for line in lines])


def _sgr(kind: str) -> str | None:
    while kind:
        if kind in _COLORS:
            return _COLORS[kind]
        kind = kind.rpartition(".")[0]
    return None


def _escaped(text: str) -> str:
    """Escape what could control a terminal."""
    if text.isprintable():
        return text
    return "".join([c if c == "\n" or c.isprintable() else visible(c) for c in text])
