# SPDX-License-Identifier: Apache-2.0
"""Format the statements of lists one by one.

A run of consecutive nodes or values is formatted with the printer's text of each statement. A short
placeholder statement takes the place of the run. Statements that the printer cannot format stay in
the text: for example, those with comments in their lists. Then the text with placeholders, which is
usually short, is formatted as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from onnxtext.ast.model import Function, Graph, Model, Node, ValueInfo
from onnxtext.format.lists import MARK, OFF, ON, SKIP
from onnxtext.format.source_spelling import SourceSpellingPrinter
from onnxtext.format.trivia_spans import (
    BLANK_LINE,
    COMMENTS,
    code_before_trivia,
    format_trivia,
    same_code,
    same_code_without_quotes,
    without_comments,
)
from onnxtext.source import Source
from onnxtext.syntax.parse import parse_model

_KEPT = "__kept_by_fmt_"


class FormattedStatement(NamedTuple):
    """A statement in the canonical layout.

    Attributes:
        statement: the formatted text, with its comma.
        trivia: the comments and whitespace in the source between this and the next statement.
        comments: comments from the statement, to write on lines above it.
    """

    statement: str
    trivia: str
    comments: Sequence[str] = ()


Respell = Callable[[Any, str, str], str | None]
"""Prints a statement with the spelling of its source; None if impossible.

The arguments are the syntax tree, the text in the source without comma, and the indentation.
"""


@dataclass(frozen=True, slots=True)
class ListedStatements:
    """Formats the statements of one list.

    Attributes:
        respell: prints a statement with the spelling of its source.
        comma: the separator after each statement.
    """

    respell: Respell
    indent: str
    comma: str

    def write(self, source: str, item: Node | ValueInfo, printed: str) -> FormattedStatement | None:
        """Format a statement; None if it must be formatted in full.

        `source` is the text from the statement to the next one, `item` its syntax tree, and
        `printed` the printed statement with its comma.
        """
        if source.startswith(printed) and COMMENTS.fullmatch(source, len(printed)):
            return FormattedStatement(printed, source[len(printed) :])
        found = _without_comments(source, in_statement=not self.comma)
        if found is None:
            return None
        code, trivia, comments = found
        if not code.endswith(self.comma):
            return None
        if not same_code(code, printed):
            bare = code[: len(code) - len(self.comma)].rstrip()
            respelled = self.respell(item, bare, self.indent)
            printed = printed if respelled is None else respelled + self.comma
            if not same_code(code, printed) and not same_code_without_quotes(code, printed):
                return None
        if "\n" in printed and BLANK_LINE.search(code):  # formatting may keep the blank line
            return None
        return FormattedStatement(printed, trivia, comments)


def _without_comments(source: str, *, in_statement: bool) -> tuple[str, str, Sequence[str]] | None:
    """Split the text from a statement to the next into code, trivia, and the comments in the code.

    Return None if it is unclear where comments begin, or if a comment may be in a list: the
    formatter leaves such comments there. Without `in_statement`, also return None if there are
    comments in the code.
    """
    if "#" not in source:
        code = source.rstrip()
        return code, source[len(code) :], ()
    if "\\" in source or '"""' in source:
        return None
    stripped = code_before_trivia(source)
    if stripped is not None:
        return stripped, source[len(stripped) :], ()
    return without_comments(source) if in_statement else None


def extract_lists(text: str, model: Model, printed: str) -> IncrementalText | None:
    """Format the lists of a text and replace them with placeholders.

    Return None if the text must be formatted in full. `printed` is the text that the printer writes
    for `model`, the syntax tree of `text`.
    """
    if _KEPT in text:
        return None
    twin = parse_model(Source(printed, ""))
    if twin != model:
        return None
    cut = IncrementalText(text, printed)
    cut.take_out_lists(model.graph, twin.graph)
    for function, other in zip(model.functions, twin.functions, strict=True):
        cut.take_out_lists(function, other)
    return cut if cut.has_all_marks() else None


class IncrementalText:
    """A text with placeholders for runs of formatted statements.

    The syntax trees of the text and of the printed text differ only in the offsets of the
    statements.
    """

    def __init__(self, source: str, printed: str) -> None:
        self.source = source
        self._printed = printed
        self._printer = SourceSpellingPrinter()
        self._marked = MARK in source
        self._marks = 0  # number of `# fmt: off` and `# fmt: skip` comments in lists
        self._parts: list[str] = []  # the beginning of the text with placeholders
        self._at = 0  # the offset in `source` at which `_parts` ends
        self._runs: list[str] = []  # for each placeholder, the statements that it replaces
        self._indents: list[str] = []  # for each placeholder, the indentation of the statements

    def take_out_lists(self, owner: Graph | Function, twin: Graph | Function) -> None:
        """Format statements of a graph or function, and replace runs of them by placeholders.

        `twin` is the same graph or function in the printed text.
        """
        printer = self._printer
        self._take_out(owner.values, twin.values, printer.value_with_source_numbers, ",")
        self._take_out(owner.nodes, twin.nodes, printer.node_with_source_attributes, "")
        if owner.nodes:
            self._enter(owner.nodes[-1], twin.nodes[-1])

    def _take_out(
        self,
        items: Sequence[Node | ValueInfo],
        twins: Sequence[Node | ValueInfo],
        respell: Respell,
        comma: str,
    ) -> None:
        """Format the statements of a list, and replace runs of them by placeholders.

        The last statement, and statements that cannot be formatted alone, stay in the text. `twins`
        are the same statements in the printed text. For the other parameters, see
        `ListedStatements`.
        """
        if len(items) < 2:
            return
        source, printed, marked = self.source, self._printed, self._marked
        start = printed.rfind("\n", 0, twins[0].at)
        line_end = printed[start : twins[0].at]
        writer = ListedStatements(respell, line_end[1:], comma)
        run = StatementRun(source, writer)
        kept = False  # whether `# fmt: off` is in effect
        for (item, following), (twin, next_twin) in zip(
            pairwise(items), pairwise(twins), strict=True
        ):
            offset = item.at
            text = source[offset : following.at]
            if marked and (kept or MARK in text):
                kept = self._read_marks(text, kept=kept)
                self._add(run, offset)
                continue
            canonical = printed[twin.at : next_twin.at]
            if text == canonical:
                if run.same < 0:
                    run.same = offset
                continue
            written = writer.write(text, item, canonical[: -len(line_end)])
            if written is not None:
                run.take(offset, written)
                continue
            self._add(run, offset)
            if isinstance(item, Node) and isinstance(twin, Node):
                self._enter(item, twin)
        self._add(run, items[-1].at)

    def _read_marks(self, text: str, *, kept: bool) -> bool:
        """Count `# fmt: off` and `# fmt: skip`; return whether `# fmt: off` applies at the end.

        `text` is the source from a statement to the next. `kept` tells whether `# fmt: off` applies
        at its start.
        """
        offs = text.count(OFF)
        self._marks += offs + text.count(SKIP)
        if offs:
            return True
        code = code_before_trivia(text)
        return kept and (code is None or ON not in text[len(code) :])

    def _enter(self, node: Node, twin: Node) -> None:
        """Call `take_out_lists` for the graphs in a node, unless the text has `# fmt:` comments.

        `twin` is the same node in the printed text.
        """
        for attribute, other in zip(node.attributes, twin.attributes, strict=True):
            graph, twin_graph = attribute.value, other.value
            if isinstance(graph, Graph) and isinstance(twin_graph, Graph) and not self._marked:
                self.take_out_lists(graph, twin_graph)

    def _add(self, run: StatementRun, end: int) -> None:
        """End the run at `end`; if it has statements, put a placeholder in their place."""
        taken = run.end(end)
        if taken is None:
            return
        start, end, statements, commented = taken
        mark = f"{_KEPT}{len(self._runs)}"
        # Comments in a list affect where later comments move. So a placeholder for statements with
        # comments has a comment, too.
        comment_above = f"# {mark}\n" if commented else ""
        if commented and self.source[self.source.rfind("\n", 0, start) + 1 : start].strip():
            comment_above = "\n" + comment_above
        rest = "" if run.writer.comma else " = K ()"
        self._parts += [self.source[self._at : start], f"{comment_above}{mark}{rest}"]
        self._at = end
        self._runs.append(statements)
        self._indents.append(run.writer.indent)

    def has_all_marks(self) -> bool:
        """Whether every `# fmt: off` and `# fmt: skip` is in a list whose statements were read.

        Elsewhere, a `# fmt: off` may keep a region of the text that contains placeholders.
        """
        return self.source.count(OFF) + self.source.count(SKIP) == self._marks

    def text(self) -> str:
        """Return the text with placeholders."""
        return "".join([*self._parts, self.source[self._at :]])

    def is_aligned(self, formatted: str) -> bool:
        """Whether each placeholder is indented like the statements that will replace it.

        The indentation differs if a node in the formatted text has its outputs on lines of their
        own: the graphs in such a node are indented further.
        """
        marks = re.finditer(rf"^( *){_KEPT}(\d+)", formatted, re.MULTILINE)
        return all(mark[1] == self._indents[int(mark[2])] for mark in marks)

    def put_back(self, formatted: str) -> str:
        """Replace the placeholders in the formatted text by the statements."""
        return re.sub(
            rf"(?:# {_KEPT}\d+\n *)?{_KEPT}(\d+)(?: = K \(\))?",
            lambda found: self._runs[int(found[1])],
            formatted,
        )


class StatementRun:
    """Consecutive formatted statements that one placeholder replaces.

    Attributes:
        start: offset of the first statement of `texts`; -1 if `texts` is empty.
        same: offset of the first of the last statements whose source is already canonical, to copy
            them to `texts` in one slice; -1 if there are none.
        texts: the formatted texts of the statements before `same`, each with the trivia (comments
            and whitespace) after it.
        trivia: the source between the last statement of `texts` and the next statement; None after
            a copied statement, which only whitespace follows.
    """

    def __init__(self, source: str, writer: ListedStatements) -> None:
        self.writer = writer
        self.same = -1
        self._source = source
        self.texts: list[str] = []
        self.start = -1
        self.trivia: str | None = None
        self._commented = False

    def _flush(self, offset: int) -> None:
        """Append the canonical statements, which are between `same` and `offset`, to `texts`."""
        start, self.same = self.same, -1
        if self.start < 0:
            self.start = start
        self.texts.append(self._source[start:offset])
        self.trivia = None

    def take(self, offset: int, written: FormattedStatement) -> None:
        """Add a formatted statement, whose source begins at `offset`."""
        if self.same >= 0:
            self._flush(offset)
        elif self.start < 0:
            self.start = offset
        statement, trivia, comments = written
        indent = self.writer.indent
        if comments:
            statement = f"\n{indent}".join([*comments, statement])
        self._commented |= bool(comments) or (self.trivia is not None and "#" in self.trivia)
        self.texts.append(statement + format_trivia(trivia, indent))
        self.trivia = trivia

    def end(self, end: int) -> tuple[int, int, str, bool] | None:
        """Finish the run, without the trivia after its last statement, and start a new one.

        `end` is the offset of the next statement. Return start and end offset of the run in the
        source, the text of its formatted statements, and whether they have comments; None without
        statements.
        """
        if self.same >= 0:
            self._flush(end)
        if self.start < 0:
            return None
        source, comma = self._source, self.writer.comma
        trivia = self.trivia
        if trivia is None:
            before = source[self.start : end]
            trivia = before[len(before.rstrip()) :]
        self.texts[-1] = self.texts[-1].removesuffix(
            comma + format_trivia(trivia, self.writer.indent)
        )
        taken = self.start, end - len(trivia) - len(comma), "".join(self.texts), self._commented
        self.texts, self.start, self.trivia, self._commented = [], -1, None, False
        return taken
