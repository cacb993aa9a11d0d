# SPDX-License-Identifier: Apache-2.0
"""Convert the text that `onnxtext.show` returns to colored, foldable HTML without scripts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape

from onnxtext.plurals import count_noun
from onnxtext.show_model.annotate_text import Piece, escape_controls_in_lines, style_of

MAX_LINES = 5_000
"""Maximum number of lines of the HTML; browsers take seconds to show more."""

MAX_OPEN = 20
"""Maximum number of lines of a list in angle brackets that is initially unfolded."""

_COLORS = {
    "c": ("comment-color", "#6a737d"),
    "e": ("error-color", "#d73a49"),
    "k": ("keyword-color", "#8250df"),
    "n": ("number-color", "#0550ae"),
    "s": ("string-color", "#0a7d33"),
    "t": ("builtin-color", "#0a7285"),
    "a": ("attribute-color", "#953800"),
    "o": ("def-color", "#0349b4"),
}
"""For each CSS class: the color variable of JupyterLab's theme, and a default color."""

_LAYOUT = """\
.onnxtext-model.onnxtext-model{font-family:var(--jp-code-font-family,monospace);font-size:var(--jp-code-font-size,13px);\
line-height:1.35;white-space:pre;overflow:auto;max-height:45em;text-align:left;\
padding:0 0 0 1.2em!important}
.onnxtext-model summary{display:block;cursor:pointer;position:relative}
.onnxtext-model summary::before{content:"";position:absolute;left:-.9em;top:.35em;opacity:.6;\
border:.32em solid transparent;border-left-color:currentColor}
.onnxtext-model details[open]>summary::before{top:.5em;left:-1em;\
border-color:currentColor transparent transparent}
.onnxtext-model .b{font-weight:600}
"""
"""CSS rules. The doubled class selector takes precedence over the rules of JupyterLab.

The fold markers are drawn in the padding with CSS borders, because not every font has triangles.
"""


@dataclass(slots=True)
class _Line:
    """One line of the text without its line break, as plain text and as HTML.

    `continues` is true if the line begins inside a multi-line string.
    """

    text: str = ""
    html: str = ""
    continues: bool = False

    @property
    def indent(self) -> int:
        return len(self.text) - len(self.text.lstrip(" "))

    @property
    def opens(self) -> bool:
        """Whether the line ends with a bracket that can fold the lines below; false in strings."""
        return not self.continues and self.text[-1:] in tuple("([{<")


def to_html(pieces: Iterable[Piece]) -> str:
    """Return the HTML of a text in the canonical layout: a `<style>` and a `<pre>` element.

    `pieces` are its tokens, as from `annotate_text.add_statistics`.
    """
    lines = list(_lines(pieces))
    hidden = len(lines) - MAX_LINES
    if hidden > 0:
        more = count_noun(hidden, "more line")
        note = f"# {more}: show one graph, or the nodes between two values"
        lines[MAX_LINES:] = [_Line(note, f'<span class="c">{note}</span>')]
    rules = [
        f".onnxtext-model .{name}{{color:var(--jp-mirror-editor-{theme},{color})}}\n"
        for name, (theme, color) in _COLORS.items()
    ]
    # Where styles are not allowed, as in a notebook that is not trusted, `<pre>` keeps the layout.
    body = "".join(_fold_lines(lines))
    return f'<style>{_LAYOUT}{"".join(rules)}</style><pre class="onnxtext-model">{body}</pre>'


def _lines(pieces: Iterable[Piece]) -> Iterator[_Line]:
    line = _Line()
    for kind, piece in pieces:
        classes = style_of(kind).html
        for index, part in enumerate(piece.split("\n")):
            if index:
                yield line
                line = _Line(continues=kind.startswith("String"))
            if not part:
                continue
            line.text += part
            shown = escape(escape_controls_in_lines(part))
            plain = not classes or part.isspace()
            line.html += shown if plain else f'<span class="{classes}">{shown}</span>'
    if line.text:
        yield line


def _fold_lines(lines: list[_Line]) -> Iterator[str]:
    """Yield the HTML of the lines, with a `<details>` element around each foldable range."""
    ends = _ends(lines)
    closing: list[int] = []
    for index, line in enumerate(lines):
        while closing and closing[-1] == index:
            closing.pop()
            yield "</details>"
        end = ends.get(index)
        if end is None:
            yield f"{line.html}\n"
            continue
        is_long_list = line.text.endswith("<") and end - index > MAX_OPEN
        yield f"<details{'' if is_long_list else ' open'}><summary>{line.html}</summary>"
        closing.append(end)
    yield "</details>" * len(closing)


def _ends(lines: list[_Line]) -> dict[int, int]:
    """Map the index of each line that opens a foldable bracket to the index of the closing line."""
    ends: dict[int, int] = {}
    opened: list[int] = []
    for index, line in enumerate(lines):
        if line.continues or not line.text:
            continue
        while opened and lines[opened[-1]].indent >= line.indent:
            ends[opened.pop()] = index
        if line.opens:
            opened.append(index)
    ends.update(dict.fromkeys(opened, len(lines)))
    return {start: end for start, end in ends.items() if end > start + 1}
