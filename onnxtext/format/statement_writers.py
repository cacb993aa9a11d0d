# SPDX-License-Identifier: Apache-2.0
"""The statements of long lists: each is formatted in the shortest way that serves for it.

What was found out about a statement like it is used again (`templates`). Otherwise the printer
prints it; if that has the same tokens, nothing is left to do. Only a statement with a spelling of
its own is formatted on the long way, `document`, and read again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

from onnxtext.ast.model import Node, ValueInfo
from onnxtext.ast.values import AttributeType
from onnxtext.diagnostics import OnnxTextError
from onnxtext.format.document import write_document
from onnxtext.format.source_spelling import SourceSpellingPrinter
from onnxtext.format.templates import Templates, interleaved
from onnxtext.format.tokens import comments_of
from onnxtext.format.trivia_spans import (
    COMMENTS,
    code_before_trivia,
    format_trivia,
    same_tokens,
    without_comments,
)
from onnxtext.printer.layout import STEP
from onnxtext.printer.strings import value_name
from onnxtext.source import Source
from onnxtext.syntax.parse import parse_start

LONGEST = 10_000
"""Longer statements are not formatted one by one on the long way."""

_MOST_QUICK = 10_000
_FIRST, _LAST = "first_of_fmt", "last_of_fmt"
_OUTER, _OUTER_END = "g () => () {\ny = K () <a = ", ">\n}"
_NESTING = (AttributeType.GRAPH, AttributeType.GRAPHS)


@dataclass(slots=True)
class Written:
    """A statement in the canonical layout.

    Attributes:
        statement: with its comma.
        trivia: the blanks and comments behind it, as they are in the text.
        comments: on lines above it, which stood inside of it.
    """

    statement: str
    trivia: str
    comments: list[str] = field(default_factory=list)


class Writer(ABC):
    """Formats the statements of one kind in one text.

    Attributes:
        indent: the indentation of the statements.
        comma: what stands behind each.
        quick: by the text outside of strings, from the beginning of a statement to that of the
            next one, if all its strings are names: what is to stand between them, None if it
            does; and how many line breaks there are.
    """

    comma = ""
    start = ""
    """The grammar's rule for one statement."""

    brackets = "", ""
    sibling = ""
    """What stands around a statement, and beside it, in a text of its own."""

    def __init__(self, printer: SourceSpellingPrinter, indent: str) -> None:
        self.indent = indent
        self.quick: dict[str, tuple[list[str] | None, int]] = {}
        self._printer = printer
        levels = (len(indent) // len(STEP) - 1) // 2
        opening, closing = self.brackets
        self._head = _OUTER * levels + f"g () => () {opening}\n{self.sibling.format(_FIRST)}"
        self._tail = f"{self.sibling.format(_LAST)}{closing}{_OUTER_END * levels}"
        self._templates = Templates(self.format_alone, self.parse_alone)
        self._changed: list[tuple[str, str]] = []

    @abstractmethod
    def short(self, item: Node | ValueInfo, code: str) -> str | None:
        """A statement on the short way; None if that is not enough."""

    def write_bare(self, source: str, item: Node | ValueInfo, printed: str) -> Written | None:
        """Format a statement that has the same tokens as it is printed.

        Args:
            source: as for `write`; it has no strings.
            item: its syntax tree.
            printed: what is printed of that.
        """
        if source.startswith(printed):
            trivia = source[len(printed) :]
            return (
                None
                if "#" in trivia and not COMMENTS.fullmatch(trivia)
                else Written(printed, trivia)
            )
        code = source.rstrip()
        if "#" in code or not same_tokens(code, printed):
            return None
        return Written(printed, source[len(code) :])

    @abstractmethod
    def printed(self, item: Node | ValueInfo) -> str:
        """A statement as it is printed, with its comma."""

    def write(self, source: str, item: Node | ValueInfo) -> Written | None:
        """Format a statement.

        Args:
            source: the text from its beginning to that of the next one.
            item: its syntax tree.

        Returns:
            None if it has to be formatted with what is around it.
        """
        if "#" not in source:
            bare = source.rstrip()
        elif "\\" in source or '"""' in source:
            return None
        else:
            found = code_before_trivia(source)
            if found is None:
                return self._commented(source, item)
            bare = found
        trivia = source[len(bare) :]
        code = bare
        if self.comma:
            if not bare.endswith(self.comma):
                return None
            code = bare[:-1].rstrip()
        parts = code.split('"')
        formatted = self._format(code, parts, item)
        if formatted is None:
            return None
        if "#" not in trivia:
            self._remember(source, parts, trivia)
        return Written(formatted + self.comma, trivia)

    def _commented(self, source: str, item: Node | ValueInfo) -> Written | None:
        """A statement with comments inside of it."""
        found = None if self.comma else without_comments(source)
        if found is None:
            return None
        code, comments, trivia = found
        formatted = self._format(code, code.split('"'), item)
        return None if formatted is None else Written(formatted, trivia, comments)

    def _format(self, code: str, parts: list[str], item: Node | ValueInfo) -> str | None:
        """A statement without comments inside of it."""
        simple = "\\" not in code
        key = '"'.join(parts[::2])
        if simple:
            texts = self._templates.find(key, parts)
            if texts is not None:
                parts = list(parts)
                parts[::2] = texts
                return "".join(parts)
        formatted = self.short(item, code)
        if formatted is None:
            if len(code) > LONGEST:
                return None
            formatted = self.format_alone(code)
            if formatted is None:
                return None
            self.note(item, formatted)
            self._changed.append((code, formatted))
        if simple:
            self._templates.learn(key, parts, item, formatted)
        return formatted

    def note(self, item: Node | ValueInfo, formatted: str) -> None:  # noqa: B027
        """Take to heart how a statement was formatted on the long way."""

    def _remember(self, source: str, parts: list[str], trivia: str) -> None:
        """Know the next statement like this one at once."""
        shape = self._templates.patterns.get('"'.join(parts[::2]))
        if shape is None or shape.fixed or shape.names is None or len(self.quick) > _MOST_QUICK:
            return
        *texts, last = shape.names
        texts.append(last + self.comma + format_trivia(trivia, self.indent))
        key = '"'.join(source.split('"')[::2])
        same = interleaved(texts, source.split('"')[1::2]) == source
        self.quick[key] = None if same else texts, key.count("\n")

    # ---- The long way -----------------------------------------------------------------------

    def format_alone(self, code: str) -> str | None:
        """A statement on its own in the canonical layout; None if that cannot be said."""
        whole = write_document(f"{self._head}{code}{self.comma}\n{self._tail}")
        head = f"{self.sibling.format(_FIRST)}{self.indent}"
        start = whole.find(head)
        end = whole.find(f"{self.comma}\n{self.indent}{self.sibling.format(_LAST)}", start)
        return whole[start + len(head) : end] if 0 <= start < end else None

    def parse_alone(self, code: str) -> Node | ValueInfo | None:
        """The syntax tree of a statement on its own; None if it is not of the language."""
        try:
            item: Node | ValueInfo = parse_start(Source(code, ""), f"{self.start}_fragment").item
        except OnnxTextError:
            return None
        return item

    def is_proven(self) -> bool:
        """Whether all that was formatted on the long way has the same syntax tree, read again."""
        return all(
            comments_of(code) == comments_of(formatted)
            and (tree := self.parse_alone(code)) is not None
            and tree == self.parse_alone(formatted)
            for code, formatted in self._changed
        )


class NodeWriter(Writer):
    """Formats nodes."""

    start = "node"
    brackets = "{", "}"
    sibling = "{} = K ()\n"

    def short(self, item: Node | ValueInfo, code: str) -> str | None:
        """A node as it is printed."""
        assert isinstance(item, Node)
        if len(code) > LONGEST and any(part.type in _NESTING for part in item.attributes):
            return None
        printed = self._printer.node_text(item, self.indent)
        return printed if same_tokens(code, printed) else None

    def printed(self, item: Node | ValueInfo) -> str:
        """A node as it is printed."""
        assert isinstance(item, Node)
        return self._printer.node_text(item, self.indent)

    def note(self, item: Node | ValueInfo, formatted: str) -> None:
        """Print the same attributes in the same spelling from now on."""
        assert isinstance(item, Node)
        self._printer.spell(item, formatted)


class ValueWriter(Writer):
    """Formats value infos and initializers."""

    comma = ","
    start = "value_info"
    brackets = "<", "> {}"
    sibling = "float {},\n"

    def short(self, item: Node | ValueInfo, code: str) -> str | None:
        """A value as it is printed, with its own numbers."""
        assert isinstance(item, ValueInfo)
        if item.name.isidentifier():
            code = code.replace(f'"{item.name}"', value_name(item.name), 1)
        if item.data is not None:
            spelled = self._printer.value_with_source_numbers(item, code, self.indent)
            if spelled is not None and same_tokens(code, spelled):
                return spelled
        printed = self._printer.value_text(item, self.indent)
        return printed if same_tokens(code, printed) else None

    def printed(self, item: Node | ValueInfo) -> str:
        """A value as it is printed, with its comma."""
        assert isinstance(item, ValueInfo)
        return f"{self._printer.value_text(item, self.indent)},"
