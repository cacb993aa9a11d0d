# SPDX-License-Identifier: Apache-2.0
"""Add colors and statistics of weights to the text of `onnxtext show`.

Statistics are computed while the text is written: the first page of a large model appears as soon
as the weights on that page are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from onnxtext.diagnostics.terminal_text import visible_char
from onnxtext.highlight import classify
from onnxtext.show_model.load_model import ReadableModel

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
"""The SGR parameters (terminal colors) of each token kind; other tokens have the default color."""

Piece = tuple[str, str]
"""(kind, text) of a token; kinds are spelled as in Pygments, such as `Name.Function`."""


def annotate(text: str, reading: ReadableModel, *, color: bool, terminal: bool) -> Iterator[str]:
    """Yield the pieces of a text for output: its tokens, and statistics of weights as comments.

    If `terminal`, characters that could control a terminal are escaped.
    """
    for kind, piece in add_statistics(text, reading):
        yield _colorize(escape_controls_in_lines(piece) if terminal else piece, kind, color)


def add_statistics(text: str, reading: ReadableModel) -> Iterator[Piece]:
    """Yield the tokens of a text; after blobs and external data, add comments with statistics.

    Numbers of blobs become digests (see `ReadableModel.digest`). Each comment is at the end of the
    line. Data that cannot be read gets no comment.
    """
    comments: list[str] = []
    arguments: list[str] | None = None  # the arguments of `external(…)`; None outside of it
    for _, kind, piece in classify(text):
        shown = piece
        if kind == "String.Other" and piece.startswith('blob"'):
            digest = piece[5:-1]
            shown = f'blob"{reading.digest(digest)}"'
            statistics = reading.statistics(digest)
            if statistics is not None:
                comments.append(statistics)
        elif piece == "external" and kind == "Name.Function":
            arguments = []
        elif arguments is not None and kind.startswith(("String", "Number")):
            arguments.append(piece)
        elif arguments is not None and piece == ")":
            statistics = reading.external_statistics(tuple(arguments))
            comments += [] if statistics is None else [statistics]
            arguments = None
        if comments and "\n" in piece and kind == "Whitespace":
            yield "Comment", f" # {'; '.join(comments)}"
            comments.clear()
        yield kind, shown
    if comments:
        yield "Comment", f" # {'; '.join(comments)}"


def _colorize(text: str, kind: str, color: bool) -> str:
    sgr = style_of(_COLORS, kind) if color else None
    if sgr is None or text.isspace():
        return text
    # Pagers display each line separately: repeat the color on each line.
    lines = text.split("\n")
    return "\n".join([f"\x1b[{sgr}m{line}\x1b[0m" if line else "" for line in lines])


def style_of(styles: Mapping[str, str], kind: str) -> str | None:
    """Return the style of a token kind, or else of its nearest parent with a style.

    The parent of `Name.Function` is `Name`. Return None if neither has a style.
    """
    while kind:
        if kind in styles:
            return styles[kind]
        kind = kind.rpartition(".")[0]
    return None


def escape_controls_in_lines(text: str) -> str:
    """Replace characters that could control a terminal by visible text; keep line breaks."""
    if text.isprintable():
        return text
    return "".join([c if c == "\n" or c.isprintable() else visible_char(c) for c in text])
