# SPDX-License-Identifier: Apache-2.0
"""Format single statements of long lists, each in the first of these ways that works.

1. A template made from a similar statement (`templates`).
2. The printed syntax tree, if it has the same tokens.
3. Full formatting (`format_in_full`) for other spellings; the result is parsed and compared.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import partial

from onnxtext.ast.model import Node, ValueInfo
from onnxtext.ast.tensors_and_attributes import GRAPH_TYPES
from onnxtext.diagnostics import OnnxTextError
from onnxtext.format.format_in_full import write_document
from onnxtext.format.layout_cache import Templates, interleave
from onnxtext.format.source_spelling import SourceSpellingPrinter
from onnxtext.format.tokens_with_comments import comments_of
from onnxtext.format.trivia_spans import (
    COMMENTS,
    code_before_trivia,
    format_trivia,
    same_tokens,
    without_comments,
)
from onnxtext.printer.layout import STEP, WIDTH
from onnxtext.printer.statement_layout import NO_LIMIT
from onnxtext.source import Source
from onnxtext.syntax.parse import parse_start

MAX_STATEMENT_LENGTH = 10_000
"""Maximum number of characters of a statement that is fully formatted on its own."""

_MAX_REMEMBERED = 10_000
_FIRST, _LAST = "first_of_fmt", "last_of_fmt"
_OUTER, _OUTER_END = "g () => () {\ny = K () <a = ", ">\n}"


@dataclass(slots=True)
class FormattedStatement:
    """A statement in the canonical layout.

    Attributes:
        statement: the formatted text, with its comma.
        trivia: the comments and whitespace in the source between this and the next statement.
        comments: comments from the statement, to write on lines above it.
    """

    statement: str
    trivia: str
    comments: list[str] = field(default_factory=list)


class StatementFormatter(ABC):
    """Formats the statements of one kind in one text.

    Attributes:
        indent: the indentation of the statements.
        comma: the separator after each statement.
        remembered: a cache for statements in which each string is a name. The key is the source
            up to the next statement, without the contents of strings. The value is a pair. Its
            first item is the list of the formatted texts between the strings, or None if the source
            is already formatted. Its second item is the number of line breaks in the key.
    """

    comma = ""
    start = ""
    """The grammar's rule for one statement."""

    brackets = "", ""
    """The text between the outputs and the statements of a graph, and the text after these."""

    sibling = ""
    """A dummy statement to put before and after a statement that is formatted alone.

    It has `{}` in place of its name.
    """

    def __init__(self, printer: SourceSpellingPrinter, indent: str) -> None:
        self.indent = indent
        self.remembered: dict[str, tuple[list[str] | None, int]] = {}
        self._printer = printer
        levels = (len(indent) // len(STEP) - 1) // 2  # the number of enclosing graphs
        opening, closing = self.brackets
        self._head = _OUTER * levels + f"g () => () {opening}\n{self.sibling.format(_FIRST)}"
        self._tail = f"{self.sibling.format(_LAST)}{closing}{_OUTER_END * levels}"
        format_on_one_line = partial(self.format_alone, width=NO_LIMIT)
        self._templates = Templates(format_on_one_line, self.parse_alone)
        self._changed: list[tuple[str, str]] = []

    @abstractmethod
    def print_same_tokens(self, item: Node | ValueInfo, code: str) -> str | None:
        """Print the syntax tree of a statement; None if the result has other tokens than `code`."""

    @abstractmethod
    def printed(self, item: Node | ValueInfo) -> str:
        """Print a statement with its comma."""

    def write_without_strings(self, source: str, printed: str) -> FormattedStatement | None:
        """Format a statement that has no strings, given its printed syntax tree.

        Return None if the printed tree has other tokens than the source, or if comments may be
        in the statement.

        Args:
            source: the text from the statement to the next statement.
            printed: the printed syntax tree.
        """
        if source.startswith(printed):
            trivia = source[len(printed) :]
            is_complete = "#" not in trivia or COMMENTS.fullmatch(trivia)
            return FormattedStatement(printed, trivia) if is_complete else None
        code = source.rstrip()
        if "#" in code or not same_tokens(code, printed):
            return None
        return FormattedStatement(printed, source[len(code) :])

    def write(self, source: str, item: Node | ValueInfo) -> FormattedStatement | None:
        """Format a statement.

        Args:
            source: the text from the statement to the next statement.
            item: its syntax tree.

        Returns:
            The formatted statement; None if it must be formatted with its context.
        """
        if "#" not in source:
            stripped = source.rstrip()
        elif "\\" in source or '"""' in source:
            return None
        else:
            found = code_before_trivia(source)
            if found is None:
                return self._commented(source, item)
            stripped = found
        trivia = source[len(stripped) :]
        code = stripped
        if self.comma:
            if not stripped.endswith(self.comma):
                return None
            code = stripped[:-1].rstrip()
        parts = code.split('"')
        formatted = self._format(code, parts, item)
        if formatted is None:
            return None
        if "#" not in trivia:
            self._remember(source, parts, trivia)
        return FormattedStatement(formatted + self.comma, trivia)

    def _commented(self, source: str, item: Node | ValueInfo) -> FormattedStatement | None:
        """Format a statement that contains comments."""
        found = None if self.comma else without_comments(source)
        if found is None:
            return None
        code, comments, trivia = found
        formatted = self._format(code, code.split('"'), item)
        return None if formatted is None else FormattedStatement(formatted, trivia, comments)

    def _format(self, code: str, parts: list[str], item: Node | ValueInfo) -> str | None:
        """Format a statement without comments in it."""
        simple = "\\" not in code
        key = '"'.join(parts[::2])
        if simple:
            texts = self._templates.find(key, parts)
            if texts is not None:
                line = list(parts)
                line[::2] = texts
                statement = "".join(line)
                if self.fits(statement):
                    return statement
        formatted = self.print_same_tokens(item, code)
        if formatted is None:
            if len(code) > MAX_STATEMENT_LENGTH:
                return None
            formatted = self.format_alone(code)
            if formatted is None:
                return None
            if isinstance(item, Node):
                self._printer.spell(item, formatted)
            self._changed.append((code, formatted))
        if simple:
            self._templates.learn(key, parts, item, formatted)
        return formatted

    def _remember(self, source: str, parts: list[str], trivia: str) -> None:
        """Cache the formatted text for later statements that differ only in their names."""
        pattern = self._templates.patterns.get('"'.join(parts[::2]))
        if (
            pattern is None
            or pattern.fixed
            or pattern.names is None
            or len(self.remembered) > _MAX_REMEMBERED
        ):
            return
        *texts, last = pattern.names
        texts.append(last + self.comma + format_trivia(trivia, self.indent))
        key = '"'.join(source.split('"')[::2])
        same = interleave(texts, source.split('"')[1::2]) == source
        self.remembered[key] = None if same else texts, key.count("\n")

    # ---- Full formatting --------------------------------------------------------------------

    def fits(self, line: str) -> bool:
        """Whether a statement fits on one line with its indentation and comma."""
        return len(self.indent) + len(line) + len(self.comma) <= WIDTH

    def format_alone(self, code: str, width: int = WIDTH) -> str | None:
        """Format a single statement in full; None if it cannot be separated from its context."""
        document = write_document(f"{self._head}{code}{self.comma}\n{self._tail}", width)
        head = f"{self.sibling.format(_FIRST)}{self.indent}"
        start = document.find(head)
        end = document.find(f"{self.comma}\n{self.indent}{self.sibling.format(_LAST)}", start)
        return document[start + len(head) : end] if 0 <= start < end else None

    def parse_alone(self, code: str) -> Node | ValueInfo | None:
        """Parse a single statement; None if it does not parse."""
        try:
            item: Node | ValueInfo = parse_start(Source(code, ""), f"{self.start}_fragment").item
        except OnnxTextError:
            return None
        return item

    def is_proven(self) -> bool:
        """Whether full formatting kept the syntax tree and the comments of each statement."""
        return all(
            comments_of(code) == comments_of(formatted)
            and (tree := self.parse_alone(code)) is not None
            and tree == self.parse_alone(formatted)
            for code, formatted in self._changed
        )


class NodeWriter(StatementFormatter):
    """Formats nodes."""

    start = "node"
    brackets = "{", "}"
    sibling = "{} = K ()\n"

    def print_same_tokens(self, item: Node | ValueInfo, code: str) -> str | None:
        """Print a node; None if the result has other tokens than `code`."""
        assert isinstance(item, Node)
        if len(code) > MAX_STATEMENT_LENGTH and any(
            part.type in GRAPH_TYPES for part in item.attributes
        ):
            return None
        printed = self._printer.node_text(item, self.indent)
        return printed if same_tokens(code, printed) else None

    def printed(self, item: Node | ValueInfo) -> str:
        """Print a node."""
        assert isinstance(item, Node)
        return self._printer.node_text(item, self.indent)


class ValueWriter(StatementFormatter):
    """Formats value infos and initializers."""

    comma = ","
    start = "value_info"
    brackets = "<", "> {}"
    sibling = "float {},\n"

    def print_same_tokens(self, item: Node | ValueInfo, code: str) -> str | None:
        """Print a value, with its numbers spelled as in `code`; None if other tokens differ."""
        assert isinstance(item, ValueInfo)
        if item.data is not None:
            spelled = self._printer.value_with_source_numbers(item, code, self.indent)
            if spelled is not None and same_tokens(code, spelled):
                return spelled
        printed = self._printer.value_text(item, self.indent)
        return printed if same_tokens(code, printed) else None

    def printed(self, item: Node | ValueInfo) -> str:
        """Print a value with its comma."""
        assert isinstance(item, ValueInfo)
        return f"{self._printer.value_text(item, self.indent)},"
