# SPDX-License-Identifier: Apache-2.0
"""Format large texts incrementally: the statements of long lists one by one.

A run of consecutive nodes or values is formatted statement by statement. A short placeholder
statement takes the place of the run while the rest of the text is formatted in full. In a run, only
statements with unusual spellings are formatted in full.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from onnxtext.ast.model import Function, Graph, Model, Node, ValueInfo
from onnxtext.format.fmt_off import MARK, OFF, ON
from onnxtext.format.source_spelling import SourceSpellingPrinter
from onnxtext.format.statement_writers import (
    MAX_STATEMENT_LENGTH,
    FormattedStatement,
    NodeWriter,
    StatementFormatter,
    ValueWriter,
)
from onnxtext.format.trivia_spans import COMMENTS, code_before_trivia, format_trivia
from onnxtext.printer.layout import STEP

MIN_STATEMENTS = 100
"""A text with fewer statements and fewer than `MIN_CHARACTERS` characters is formatted in full."""

MIN_CHARACTERS = 10_000
"""A text with at least so many characters is formatted incrementally in any case."""

_KEPT = "__kept_by_fmt_"


def extract_lists(text: str, model: Model) -> IncrementalText | None:
    """Format the long lists of a text and replace them with placeholders.

    Return None if the text must be formatted in full.
    """
    owners: list[Graph | Function] = [model.graph, *model.functions]
    count = sum(len(owner.nodes) + len(owner.values) for owner in owners)
    if _KEPT in text or (count < MIN_STATEMENTS and len(text) < MIN_CHARACTERS):
        return None
    cut = IncrementalText(text)
    for owner in owners:
        cut.take_out_lists(owner, 0)
    return cut if cut.is_whole() else None


class IncrementalText:
    """A text with placeholders for runs of formatted statements."""

    def __init__(self, source: str) -> None:
        self.source = source
        self._printer = SourceSpellingPrinter()
        self._writers: list[tuple[ValueWriter, NodeWriter]] = []
        self._marked = MARK in source
        self._offs = 0  # number of `# fmt: off` comments in lists
        self._parts: list[str] = []  # the text with placeholders, as far as it is written
        self._at = 0  # the offset in `source` up to which `_parts` is written
        self._runs: list[str] = []  # for each placeholder, the statements that it replaces
        self._indents: list[str] = []  # for each placeholder, the indentation of the statements

    def take_out_lists(self, owner: Graph | Function, depth: int) -> None:
        """Format the statements of a graph or function, and replace them by placeholders.

        `depth` is the number of graphs around `owner`.
        """
        while len(self._writers) <= depth:
            indent = STEP * (1 + 2 * len(self._writers))
            self._writers.append(
                (ValueWriter(self._printer, indent), NodeWriter(self._printer, indent))
            )
        values, nodes = self._writers[depth]
        self._take_out(owner.values, values, depth)
        self._take_out(owner.nodes, nodes, depth)

    def _take_out(
        self, items: Sequence[Node | ValueInfo], writer: StatementFormatter, depth: int
    ) -> None:
        """Format the statements of a list except the last one; replace them by placeholders."""
        source, marked = self.source, self._marked
        line_end = f"\n{writer.indent}"
        ends: dict[str, str] = {}  # maps whitespace after statements to its formatted form
        run = StatementRun(source, writer)
        kept = False  # whether `# fmt: off` is in effect
        for item, following in pairwise(items):
            offset = item.at
            text = source[offset : following.at]
            if marked and (kept or MARK in text):
                kept = self._is_kept(text, kept=kept)
                self._add(run, offset)
                continue
            if len(text) <= MAX_STATEMENT_LENGTH:
                printed = writer.printed(item)
                if text == printed + line_end:
                    if run.same < 0:
                        run.same = offset
                    continue
                trailing = text[len(printed) :]
                end = ends.get(trailing)
                if end is None and trailing.isspace():
                    end = ends[trailing] = format_trivia(trailing, writer.indent)
                if text.startswith(printed) and (end is not None or COMMENTS.fullmatch(trailing)):
                    if end is None:
                        run.take(offset, FormattedStatement(printed, trailing))
                        continue
                    if run.same >= 0 or run.start < 0:
                        run.begin(offset)
                    run.texts.append(printed + end)
                    run.trivia = None
                    continue
            written = writer.write(text, item)
            if written is not None:
                run.take(offset, written)
                continue
            self._add(run, offset)
            if isinstance(item, Node) and len(text) > MAX_STATEMENT_LENGTH:
                self._enter(item, depth)
        if items:
            self._add(run, items[-1].at)
            if isinstance(items[-1], Node):
                self._enter(items[-1], depth)

    def _is_kept(self, text: str, *, kept: bool) -> bool:
        """Whether `# fmt: off` is in effect after a statement.

        `kept` says whether it is in effect at the statement.
        """
        offs = text.count(OFF)
        self._offs += offs
        if offs:
            return True
        code = code_before_trivia(text)
        return kept and (code is None or ON not in text[len(code) :])

    def _enter(self, node: Node, depth: int) -> None:
        """Format the statements of the graphs in a node; replace them by placeholders."""
        for attribute in node.attributes:
            if isinstance(attribute.value, Graph) and not self._marked:
                self.take_out_lists(attribute.value, depth + 1)

    def _add(self, run: StatementRun, end: int) -> None:
        """Put a placeholder in place of the run that ends at `end`, and start a new run."""
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

    def is_whole(self) -> bool:
        """Whether every `# fmt: off` was found in a list, so that no region is split."""
        return self.source.count(OFF) == self._offs

    def is_proven(self) -> bool:
        """Whether all extracted statements certainly have the same syntax tree as their source."""
        return all(writer.is_proven() for writers in self._writers for writer in writers)

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
        writer: formats the statements.
        start: offset of the first statement of `texts`; -1 if there is none.
        same: offset of the first statement at the end of the run that the source already has in the
            canonical layout. From there, the source will be copied to `texts` in one slice. -1 if
            there is no such statement.
        texts: the formatted texts of the statements before `same`, each with the trivia (comments
            and whitespace) after it.
        trivia: the source between the last statement of `texts` and the next statement; None if
            it is only whitespace.
    """

    def __init__(self, source: str, writer: StatementFormatter) -> None:
        self.writer = writer
        self.same = -1
        self._source = source
        self.texts: list[str] = []
        self.start = -1
        self.trivia: str | None = None
        self._commented = False

    def begin(self, offset: int) -> None:
        """Copy the statements from `same` to `offset` to `texts`, so that others can be added."""
        if self.same >= 0:
            start, self.same = self.same, -1
            if self.start < 0:
                self.start = start
            self.texts.append(self._source[start:offset])
            self.trivia = None
        elif self.start < 0:
            self.start = offset

    def take(self, offset: int, written: FormattedStatement) -> None:
        """Add a formatted statement, whose source begins at `offset`."""
        if self.same >= 0:
            self.begin(offset)
        indent = self.writer.indent
        comment_above = ""
        if written.comments:
            comment_above = f"\n{indent}".join(written.comments) + f"\n{indent}"
        self._commented |= bool(written.comments or (self.trivia and "#" in self.trivia))
        self.begin(offset)
        self.texts.append(comment_above + written.statement + format_trivia(written.trivia, indent))
        self.trivia = written.trivia

    def end(self, end: int) -> tuple[int, int, str, bool] | None:
        """Finish the run, without the trivia after its last statement, and start a new one.

        `end` is the offset of the next statement.

        Returns:
            Start and end offset of the run in the source, the text of its formatted statements, and
            whether they have comments. None if there are no statements.
        """
        if self.same >= 0:
            self.begin(end)
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
