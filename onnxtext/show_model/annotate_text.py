# SPDX-License-Identifier: Apache-2.0
"""Add colors and statistics of weights to the text of `onnxtext show`.

Statistics are computed while the text is written: the first page of a large model appears as soon
as the weights on that page are read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from onnxtext.diagnostics.terminal_text import visible_char
from onnxtext.highlight import classify
from onnxtext.show_model.load_model import ReadableModel


class Style(NamedTuple):
    """How to show the tokens of a kind; "" for the default color.

    Attributes:
        terminal: SGR parameters, for terminals.
        html: CSS classes of `html.py`.
        page: the CSS class of the pages of `onnxtext view`.
    """

    terminal: str = ""
    html: str = ""
    page: str = ""


STYLES = {
    "Comment": Style("2", "c", "comment"),
    "Error": Style("31", "e", "error"),
    "Keyword.Constant": Style("35", "n", "number"),
    "Keyword.Namespace": Style("1", "k b", "section"),
    "Keyword.Type": Style("36", "t", "type"),
    "Name.Attribute": Style("33", "a", "attribute"),
    "Name.Class": Style("1", "b", "graph"),
    "Name.Decorator": Style("2", "c", "decorator"),
    "Name.Function": Style("1;34", "o b", "operator"),
    "Name.Label": Style("36", "t", "dimension"),
    "Name.Namespace": Style(page="domain"),
    "Name.Tag": Style("34", "k", "domain"),
    "Name.Variable": Style(page="name"),
    "Number": Style("35", "n", "number"),
    "String": Style("32", "s", "string"),
    "String.Other": Style("2", "c", "blob"),
}
"""The style of each kind of token, and of the kinds below it: `Number` is also for `Number.Hex`."""

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
    sgr = style_of(kind).terminal if color else ""
    if not sgr or text.isspace():
        return text
    # Pagers display each line separately: repeat the color on each line.
    lines = text.split("\n")
    return "\n".join([f"\x1b[{sgr}m{line}\x1b[0m" if line else "" for line in lines])


def style_of(kind: str) -> Style:
    """Return the style of a token kind, or else of its nearest parent with a style.

    The parent of `Name.Function` is `Name`.
    """
    while kind and kind not in STYLES:
        kind = kind.rpartition(".")[0]
    return STYLES.get(kind, Style())


def escape_controls_in_lines(text: str) -> str:
    """Replace characters that could control a terminal by visible text; keep line breaks."""
    if text.isprintable():
        return text
    return "".join([c if c == "\n" or c.isprintable() else visible_char(c) for c in text])
