# SPDX-License-Identifier: Apache-2.0
"""Render a diagnostic for terminals: message, underlined source lines, notes, help and fix.

error[syntax-error]: expected `,` or `)`, found `=`
 --> model.onnxtxt:3:12
  |
3 |   y = Add (x = z)
  |              ^
  = help: write `,`
3 -   y = Add (x = z)
3 +   y = Add (x, z)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from onnxtext.diagnostics.fix_lines import MAX_FIX_LINES, FixLine, changed_lines
from onnxtext.diagnostics.model import Diagnostic
from onnxtext.diagnostics.terminal_text import escape_controls, terminal_width, visible_char
from onnxtext.source import Source

_SGR = {
    "error": "1;31", "warning": "1;33", "note": "1;36", "info": "1;36", "hint": "1;32",
    "help": "1;32", "secondary": "1;34", "gutter": "1;34", "strong": "1",
}  # fmt: skip
_NARROWEST = 20
_FARTHEST = 20
"""Maximum number of lines above an error to search for a nonempty line to show."""
_BOM = "\ufeff"


def render(diagnostic: Diagnostic, *, color: bool = False, columns: int = 100) -> str:
    """Render a diagnostic in several lines, without a final line end.

    A source line has at most `columns` columns; only a part of a longer line is shown.
    """
    paint = _Paint(color)
    snippets = list(_snippets(diagnostic))
    source, fix = diagnostic.source, diagnostic.fix
    changed = changed_lines(source, fix) if source is not None and fix is not None else []
    numbers = [
        *(item.number for item in snippets),
        *(item.number for item in changed[:MAX_FIX_LINES]),
    ]
    digits = len(str(max(numbers, default=0)))
    rows = [_headline(diagnostic, paint)]
    location = _place(diagnostic)
    if location:
        rows.append(" " * digits + paint("--> ", "gutter") + escape_controls(location))
    bar = " " * digits + paint(" |", "gutter")
    previous = 0
    for snippet in snippets:
        if not previous:
            rows.append(bar)
        elif snippet.number > previous + 1:
            rows.append(paint("...", "gutter"))
        previous = snippet.number
        rows += _snippet_rows(snippet, diagnostic.severity, paint, digits, columns)
    for kind, text in diagnostic.remarks():
        rows += _remark(kind, text, paint, digits)
    if changed and not diagnostic.help and fix is not None:
        rows += _remark("help", fix.title, paint, digits)
    rows += _change_rows(changed, paint, digits, columns)
    return "\n".join(row.rstrip() for row in rows)


@dataclass(frozen=True, slots=True)
class _Paint:
    on: bool

    def __call__(self, text: str, role: str) -> str:
        return f"\x1b[{_SGR[role]}m{text}\x1b[0m" if self.on and role in _SGR else text


@dataclass(frozen=True, slots=True)
class _Mark:
    """An underlined range of one line, in 0-based characters."""

    start: int
    end: int
    message: str
    primary: bool


@dataclass(frozen=True, slots=True)
class _Snippet:
    """A source line to show, and its underlined ranges."""

    number: int
    line: str
    marks: tuple[_Mark, ...]


class _Row:
    """A line of colored characters to which text can be written at any column."""

    def __init__(self) -> None:
        self._cells: list[tuple[str, str]] = []

    def put(self, column: int, text: str, role: str) -> None:
        missing = column + len(text) - len(self._cells)
        self._cells += [(" ", "")] * missing
        self._cells[column : column + len(text)] = [(character, role) for character in text]

    def painted(self, paint: _Paint) -> str:
        runs = groupby(self._cells, itemgetter(1))
        return "".join(paint("".join(cell[0] for cell in cells), role) for role, cells in runs)


def _headline(diagnostic: Diagnostic, paint: _Paint) -> str:
    kind = paint(f"{diagnostic.severity}[{diagnostic.code}]", diagnostic.severity)
    return kind + paint(f": {escape_controls(diagnostic.message)}", "strong")


def _place(diagnostic: Diagnostic) -> str:
    # Without a position in the file, the message itself names the file.
    has_place = diagnostic.path or diagnostic.offset is not None
    return diagnostic.where() if diagnostic.source is not None or has_place else ""


def _remark(kind: str, text: str, paint: _Paint, digits: int) -> Iterator[str]:
    first, *others = text.split("\n")
    lead = " " * digits + paint(" = ", "gutter")
    yield (
        lead
        + paint(f"{kind}:", kind if kind == "help" else "strong")
        + f" {escape_controls(first)}"
    )
    for line in others:
        yield " " * (digits + len(f" = {kind}: ")) + escape_controls(line)


def _snippets(diagnostic: Diagnostic) -> Iterator[_Snippet]:
    """Yield the source lines to show, in order: lines with labels, and lines of context."""
    source = diagnostic.source
    if source is None or not diagnostic.labels:
        return
    marks: dict[int, list[_Mark]] = {}
    for index, label in enumerate(diagnostic.labels):
        position = source.position(label.span.start)
        start = position.column - 1
        # If a label spans several lines, only its first line is underlined.
        end = min(start + label.span.end - label.span.start, len(source.line(position.line)))
        mark = _Mark(start, end, escape_controls(label.message), index == 0)
        marks.setdefault(position.line, []).append(mark)
    for line_number in sorted(_with_context(source, marks, diagnostic.labels[0].span.start)):
        yield _Snippet(line_number, source.line(line_number), tuple(marks.get(line_number, ())))


def _with_context(source: Source, marked: Iterable[int], primary: int) -> set[int]:
    """Return the numbers of the lines to show: lines with labels, and lines of context.

    `marked` has the numbers of the lines with labels; `primary` is the offset of the first label.
    """
    shown = set(marked)
    position = source.position(primary)
    if not source.line(position.line)[: position.column - 1].strip():
        # The cause of an error at the start of a line, or at the end of the text, is usually above.
        earlier_lines = range(position.line - 1, max(position.line - 1 - _FARTHEST, 0), -1)
        shown.update([line for line in earlier_lines if source.line(line).strip()][:1])
    return shown | {line + 1 for line in shown if line + 2 in shown}


def _snippet_rows(
    snippet: _Snippet, severity: str, paint: _Paint, digits: int, columns: int
) -> Iterator[str]:
    """Yield the line, and below it the rows with its underlines and messages.

    `digits` is the width of the line numbers; for `columns`, see `render`. A line that is too long
    is cut. It is repeated, with another part visible, until each of its marks has been shown.
    """
    room = max(columns - digits - 3, _NARROWEST)
    gutter = paint(f"{snippet.number:>{digits}} |", "gutter")
    bar = " " * digits + paint(" |", "gutter")
    waiting = list(snippet.marks)
    while True:
        window = _window(snippet.line, waiting[0].start if waiting else 0, room)
        yield f"{gutter} {window.text}"
        # A mark after the end of the line, such as after `\r`, fits into no window: show it anyway.
        shown = [mark for mark in waiting if mark is waiting[0] or window.shows(mark)]
        waiting = [mark for mark in waiting[1:] if not window.shows(mark)]
        for row in _mark_rows(window, shown, severity):
            yield f"{bar} {row.painted(paint)}"
        if not waiting:
            return


def _change_rows(changed: list[FixLine], paint: _Paint, digits: int, columns: int) -> Iterator[str]:
    """Yield the changed lines of a fix as a diff; long lines are cut around the difference."""
    room = max(columns - digits - 3, _NARROWEST)
    for change in changed[:MAX_FIX_LINES]:
        sign, role = ("+", "help") if change.added else ("-", "error")
        text = _window(change.line, change.column, room).text
        yield f"{paint(f'{change.number:>{digits}}', 'gutter')} {paint(f'{sign} {text}', role)}"
    if len(changed) > MAX_FIX_LINES:
        yield paint("...", "gutter")


@dataclass(frozen=True, slots=True)
class _Window:
    """The visible part of a line.

    Attributes:
        first: index of the first visible character.
        ends: the column of each visible character, and the column after the last.
    """

    text: str
    first: int
    ends: tuple[int, ...]

    def shows(self, mark: _Mark) -> bool:
        return self.first <= mark.start < self.first + len(self.ends)

    def column(self, character: int) -> int:
        return self.ends[max(0, min(character - self.first, len(self.ends) - 1))]


def _window(line: str, offset: int, room: int) -> _Window:
    """Return the part of a line around the character `offset` that fits into `room` columns."""
    first, last = 0, len(line)
    if last > room or terminal_width("".join(map(visible_char, line))) > room:
        first, last = _around(line, offset, room - 2)
    # The byte order mark is invisible.
    cells = ["" if character == _BOM else visible_char(character) for character in line[first:last]]
    before = "…" if first else ""
    ends = [len(before)]
    for cell in cells:
        ends.append(ends[-1] + terminal_width(cell))
    after = "…" if last < len(line) else ""
    return _Window(before + "".join(cells) + after, first, tuple(ends))


def _around(line: str, offset: int, room: int) -> tuple[int, int]:
    """Return (start, end) of the characters around `offset` that fit into `room` columns.

    About a third of the columns are before `offset`, more if the line ends soon.
    """
    first = last = offset
    used = 0

    def fits(index: int, limit: int) -> bool:
        return 0 <= index < len(line) and used + terminal_width(visible_char(line[index])) <= limit

    while fits(first - 1, room // 3):
        first -= 1
        used += terminal_width(visible_char(line[first]))
    while fits(last, room):
        used += terminal_width(visible_char(line[last]))
        last += 1
    while fits(first - 1, room):
        first -= 1
        used += terminal_width(visible_char(line[first]))
    return first, last


def _mark_rows(window: _Window, marks: list[_Mark], severity: str) -> Iterator[_Row]:
    """Yield the rows below a line: a row of underlines, then rows for messages.

    The message of the mark that starts last is in the row of underlines, unless another mark ends
    further right. The other messages follow from right to left, each below the start of its mark.
    """
    if not marks:
        return
    row = _Row()
    ordered = sorted(marks, key=lambda mark: (mark.start, mark.end))
    for mark in sorted(marks, key=lambda mark: mark.primary):
        start = window.column(mark.start)
        length = max(window.column(mark.end) - start, 1)
        row.put(start, ("^" if mark.primary else "-") * length, _role(mark, severity))
    last = ordered[-1]
    waiting = [mark for mark in ordered if mark.message]
    if last.message and last.end == max(mark.end for mark in marks):
        waiting.pop()
        end_column = max(window.column(last.end), window.column(last.start) + 1)
        row.put(end_column + 1, last.message, _role(last, severity))
    yield row
    if waiting:
        yield _connectors(window, waiting, severity)
    while waiting:
        mark = waiting.pop()
        row = _connectors(window, waiting, severity)
        row.put(window.column(mark.start), mark.message, _role(mark, severity))
        yield row


def _connectors(window: _Window, marks: Iterable[_Mark], severity: str) -> _Row:
    """Return a row with a `|` at the start of each mark."""
    row = _Row()
    for mark in marks:
        row.put(window.column(mark.start), "|", _role(mark, severity))
    return row


def _role(mark: _Mark, severity: str) -> str:
    return severity if mark.primary else "secondary"
