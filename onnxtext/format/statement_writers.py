# SPDX-License-Identifier: Apache-2.0
"""Format single statements of long lists, each in the first of these ways that works.

1. The printed syntax tree, if it has the same tokens.
2. Full formatting (`format_in_full`) for other spellings; the result is parsed and compared.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

from onnxtext.ast.model import Node, ValueInfo
from onnxtext.ast.tensors_and_attributes import GRAPH_TYPES
from onnxtext.diagnostics import OnnxTextError
from onnxtext.format.format_in_full import write_document
from onnxtext.format.source_spelling import SourceSpellingPrinter
from onnxtext.format.tokens_with_comments import comments_of
from onnxtext.format.trivia_spans import (
    code_before_trivia,
    same_tokens,
    without_comments,
)
from onnxtext.printer.layout import STEP
from onnxtext.source import Source
from onnxtext.syntax.parse import parse_start

MAX_STATEMENT_LENGTH = 10_000
"""Maximum number of characters of a statement that is fully formatted on its own."""

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
        self._printer = printer
        levels = (len(indent) // len(STEP) - 1) // 2  # the number of enclosing graphs
        opening, closing = self.brackets
        self._head = _OUTER * levels + f"g () => () {opening}\n{self.sibling.format(_FIRST)}"
        self._tail = f"{self.sibling.format(_LAST)}{closing}{_OUTER_END * levels}"
        self._changed: list[tuple[str, str]] = []

    @abstractmethod
    def printed(self, item: Node | ValueInfo) -> str:
        """Print a statement with its comma."""

    def print_same_tokens(self, item: Node | ValueInfo, code: str) -> str | None:
        """Print the syntax tree of a statement; None if the result has other tokens than `code`."""
        printed = self.printed(item).removesuffix(self.comma)
        return printed if same_tokens(code, printed) else None

    def write(self, source: str, item: Node | ValueInfo) -> FormattedStatement | None:
        """Format a statement; None if it must be formatted with its context.

        `source` is the text from the statement to the next statement.
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
        code = stripped
        if self.comma:
            if not stripped.endswith(self.comma):
                return None
            code = stripped[:-1].rstrip()
        formatted = self._format(code, item)
        if formatted is None:
            return None
        return FormattedStatement(formatted + self.comma, source[len(stripped) :])

    def _commented(self, source: str, item: Node | ValueInfo) -> FormattedStatement | None:
        """Format a statement that contains comments."""
        found = None if self.comma else without_comments(source)
        if found is None:
            return None
        code, comments, trivia = found
        formatted = self._format(code, item)
        return None if formatted is None else FormattedStatement(formatted, trivia, comments)

    def _format(self, code: str, item: Node | ValueInfo) -> str | None:
        """Format a statement without comments in it."""
        formatted = self.print_same_tokens(item, code)
        if formatted is None and len(code) <= MAX_STATEMENT_LENGTH:
            formatted = self.format_alone(code)
            if formatted is not None:
                if isinstance(item, Node):
                    self._printer.spell(item, formatted)
                self._changed.append((code, formatted))
        return formatted

    # ---- Full formatting --------------------------------------------------------------------

    def format_alone(self, code: str) -> str | None:
        """Format a single statement in full; None if it cannot be separated from its context."""
        document = write_document(f"{self._head}{code}{self.comma}\n{self._tail}")
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
        return super().print_same_tokens(item, code)

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
        return super().print_same_tokens(item, code)

    def printed(self, item: Node | ValueInfo) -> str:
        """Print a value with its comma."""
        assert isinstance(item, ValueInfo)
        return f"{self._printer.value_text(item, self.indent)},"
