# SPDX-License-Identifier: Apache-2.0
"""Find what to complete at an offset: the completion context.

An incomplete statement cannot be parsed. So the context is derived from the tokens between the last
valid node and the offset.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, field
from typing import Literal

from onnxtext.lsp.index.index import Index
from onnxtext.lsp.index.section_context import SectionContext, section_context
from onnxtext.lsp.index.section_names import split_overload
from onnxtext.source import Span, line_start
from onnxtext.syntax.actions.strings import name_of
from onnxtext.syntax.grammar.lexer import Token, load_lexer
from onnxtext.tensor.element_types import ELEMENTS

Kind = Literal[
    "operator", "inputs", "attribute", "attribute-value", "body", "declaration", "header",
    "header-value", "attribute-type", "decorator", "argument", "reference", "section", "top",
    "nothing",
]  # fmt: skip

_OPENING = ("(", "[", "{", "<")
_CLOSING = {")": "(", "]": "[", "}": "{", ">": "<"}
_WORD = re.compile(r'(?:b?"(?:[^"\\\n\r]|\\.)*|[A-Za-z_][A-Za-z0-9_]*)\Z')
_COMMENT = re.compile(r'^[^"#]*(?:"(?:[^"\\\n]|\\.)*"[^"#]*)*#')
_ESCAPE = re.compile(r"\\.")
_MAX_CHARACTERS = 200_000


@dataclass(slots=True)
class Context:
    """What to complete at an offset. Some attributes are only set for some kinds.

    Attributes:
        prefix: the part of the item that is already typed.
        operator: the name of the node's operator, split at the dots.
        outputs: the names before the `=` of the node.
        number: the index, from 0, of the input, list item or argument to complete.
        attribute: for a value, the name of its attribute or header key; for an argument, the name
            of its decorator, or of the list in the decorator.
        given: the names of the attributes, keys or arguments that the same list already has.
        in_list: whether the item is in a list `[…`, the value of an attribute or header key.
        key: in the list of a header key, the name before the `:` of the item; None without `:`.
        section: the completion context in a section; None outside of sections.
        is_free: whether an item may begin at the offset; False after a complete item.
    """

    kind: Kind
    prefix: str
    span: Span
    operator: list[str] = field(default_factory=list)
    overload: str = ""
    outputs: list[str] = field(default_factory=list)
    number: int = 0
    attribute: str = ""
    given: list[str] = field(default_factory=list)
    in_list: bool = False
    key: str | None = None
    section: SectionContext | None = None
    is_free: bool = True


def context_at(index: Index, offset: int) -> Context:
    """Return the completion context at an offset. The kind `nothing` means no completions."""
    text = index.source.text
    block = index.text_blocks.before(offset)
    line = max(line_start(text, offset), block.end)
    before = _ESCAPE.sub("__", text[line:offset])
    if offset < block.end or _COMMENT.match(before):
        return Context("nothing", "", Span(offset, offset))
    word = _WORD.search(before)
    # The quote that closes a string does not begin a prefix.
    if word is not None and before[: word.start()].count('"') % 2:
        word = re.search(r"[A-Za-z_][A-Za-z0-9_]*\Z", before)
        if word is None or before[: word.start()].count('"') % 2:
            word = None
    after_string = word is None and before.endswith('"')
    prefix = "" if word is None else text[line + word.start() : offset]
    start = offset - len(prefix)
    section = section_context(index, start)
    if section is not None:
        kind: Kind = "nothing" if after_string else "section"
        return Context(kind, prefix, Span(start, offset), section=section)
    node_end = _last_node_end(index, start)
    begin = max(start - _MAX_CHARACTERS, 0) if node_end is None else node_end
    tokens = load_lexer().tokens(text, begin, start)
    context = Context("nothing", prefix, Span(start, offset))
    context = _Reader(tokens, context, in_body=node_end is not None).read()
    context.is_free = context.is_free and not after_string
    return context


def _last_node_end(index: Index, end: int) -> int | None:
    """Return the end of the last valid node before `end`; None if there is none.

    Only nodes of outermost graphs and functions count: at their ends, only the brace of the body is
    open.
    """
    for number in range(bisect_left(index.starts, end) - 1, -1, -1):
        statement = index.statements[number]
        if statement.kind == "node" and statement.scope.parent is None:
            located = index.located(statement)
            if located is not None and located.span.end < end:
                return located.span.end
    return None


class _Reader:
    """Reads the tokens, tracks open brackets, and sets the fields of `context`."""

    def __init__(self, tokens: list[Token], context: Context, *, in_body: bool) -> None:
        self.tokens = tokens
        self.context = context
        self.in_body = in_body
        self.open: list[int] = []  # indices of the open brackets
        self.closed: dict[int, int] = {}  # indices: closing -> opening bracket

    def read(self) -> Context:
        """Return the context at the end of the tokens."""
        for index, token in enumerate(self.tokens):
            if token in _OPENING or (token.startswith("@") and token.endswith("(")):
                self.open.append(index)
            elif token in _CLOSING:
                self._close(index, _CLOSING[str(token)])
        last = str(self.tokens[-1]) if self.tokens else ""
        if last == "@":
            in_value = len(self.tokens) > 1 and self.tokens[-2] in ("=", "[", ",")
            self.context.kind = "reference" if in_value and self.open else "decorator"
            return self.context
        if self.open:
            self._inside(self.open[-1])
        else:
            self._statement(-1)
        return self.context

    def _close(self, index: int, opening: str) -> None:
        for depth in range(len(self.open) - 1, -1, -1):
            token = str(self.tokens[self.open[depth]])
            if token == opening or (opening == "(" and token.startswith("@")):
                self.closed[index] = self.open[depth]
                del self.open[depth:]
                return
        self.open.clear()

    def _inside(self, bracket: int) -> None:
        """Set the context of an offset inside the open bracket `bracket`, an index in `tokens`."""
        token = str(self.tokens[bracket])
        if token.startswith("@"):
            self._arguments(bracket, token[1:-1].strip())
        elif token == "{":
            if self._before(bracket) in (")", ">"):
                self._statement(bracket)
        elif token == "[":
            self._brackets(bracket)
        elif token == "(":
            outer = str(self.tokens[self.open[-2]]) if len(self.open) > 1 else ""
            if outer in ("<", "(") and self._before(bracket) == "external":
                self._arguments(bracket, "external")
            elif outer != "<" and self._operator_before(bracket):
                self.context.kind = "inputs"
                self.context.number = len(self._items(bracket)) - 1
                self.context.is_free = self.tokens[-1] in ("(", ",")
            elif self._before(bracket) not in ELEMENTS:  # `float(1)` is a literal
                self.context.kind = "declaration"
                self._type_or_name(bracket)
        elif not _is_name(self._before(bracket)) or self._operator_before(bracket):
            self._angles(bracket)  # otherwise, the bracket has the parameters of a function

    def _before(self, index: int) -> str:
        """Return the token before the token `index`; "" if there is none."""
        return str(self.tokens[index - 1]) if index > 0 else ""

    def _arguments(self, bracket: int, name: str) -> None:
        """Set the context of an offset in the arguments of a decorator or of `external(…)`.

        The offset may also be in a list among the arguments. `name` is the decorator, `external`,
        or the key of that list.
        """
        items = self._items(bracket)
        self.context.kind, self.context.attribute = ("nothing" if items[-1] else "argument"), name
        self.context.given = [name_of(item[0]) for item in items if item]
        self.context.number = len(items) - 1

    def _brackets(self, bracket: int) -> None:
        """Set the context of an offset in a list, the value of an attribute, key or argument."""
        outer = self.open[-2] if len(self.open) > 1 else -1
        before = self._before(bracket)
        if outer >= 0 and self.tokens[outer] == "<" and before in ("=", ":"):
            self._angles(outer, end=bracket)
            self._in_list(bracket)
        elif outer >= 0 and self.tokens[outer].startswith("@") and before == ":":
            self._arguments(bracket, name_of(self.tokens[bracket - 2]))

    def _in_list(self, bracket: int) -> None:
        """Set the context of a list item; `_angles` must have set the context of the list."""
        context, items = self.context, self._items(bracket)
        context.number, context.in_list = len(items) - 1, True
        context.is_free = self.tokens[-1] in ("[", ",")
        if context.kind == "declaration":  # in the literal of a tensor
            context.kind = "nothing"
        elif context.kind == "header-value" and len(items[-1]) == 2 and items[-1][1] == ":":
            context.key, context.is_free = name_of(items[-1][0]), True

    def _angles(self, bracket: int, end: int | None = None) -> None:
        """Set the context of an offset in `<…>`: attributes, a header, or values of a graph.

        Tokens from the index `end` on are ignored; None to read all tokens.
        """
        context = self.context
        context.is_free = self.tokens[-1] in ("<", ",", "=", ":")
        items = self._items(bracket, end)
        last = items[-1]
        if self._operator_before(bracket) or self._call_before(bracket):
            context.given = [name_of(item[0]) for item in items if item]
            if "=" in last:
                context.kind, context.attribute = "attribute-value", name_of(last[0])
                context.given = context.given[:-1]
            elif ":" in last:
                context.kind, context.attribute = "attribute-type", name_of(last[0])
            else:
                context.kind = "attribute"
        elif self._before(self._list_before(bracket)) == "=>":
            context.kind, context.is_free = "declaration", True
            self._type_or_name(bracket)
        else:
            context.given = [str(item[0]) for item in items if item]
            if ":" in last:
                context.kind, context.attribute = "header-value", str(last[0])
            else:
                context.kind = "header"

    def _items(self, bracket: int, end: int | None = None) -> list[list[Token]]:
        """Return the tokens of each item after `bracket`, without the contents of nested brackets.

        Tokens from the index `end` on are ignored; None to read all tokens.
        """
        end = len(self.tokens) if end is None else end
        items: list[list[Token]] = [[]]
        index = bracket + 1
        opened = {start: close for close, start in self.closed.items()}
        while index < end:
            token = self.tokens[index]
            if index in opened:
                index = opened[index]
            elif token == ",":
                items.append([])
            else:
                items[-1].append(token)
            index += 1
        return items

    def _type_or_name(self, bracket: int) -> None:
        """After a type, set the kind to `nothing`: the user is about to write a new name."""
        last = self._items(bracket)[-1]
        if last and last[-1] not in ("(", "<"):
            self.context.kind = "nothing"

    def _operator_before(self, bracket: int) -> bool:
        """Whether a bracket follows `outputs = operator`; if so, store both in `context`."""
        index = bracket - 1
        if index >= 0 and self.tokens[index] == ">" and index in self.closed:
            index = self.closed[index] - 1
        words, index = self._words_before(index, (".", ":"))
        if not words or index < 0 or self.tokens[index] != "=":
            return False
        self._take_operator(words)
        self._take_outputs(index)
        return True

    def _call_before(self, bracket: int) -> bool:
        """Whether a bracket follows the inputs of a node, where attributes may also be written."""
        return self._operator_before(self._list_before(bracket))

    def _list_before(self, bracket: int) -> int:
        """Return the index of the `(` of the list `(…)` before a bracket; 0 if there is none."""
        return self.closed.get(bracket - 1, 0) if self._before(bracket) == ")" else 0

    def _take_operator(self, words: list[Token]) -> None:
        names, self.context.overload = split_overload(words)
        self.context.operator = list(map(name_of, names))

    def _take_outputs(self, equals: int) -> None:
        words, _ = self._words_before(equals - 1, (",",))
        self.context.outputs = [name_of(word) for word in words if word != ","]

    def _words_before(
        self, last: int, signs: tuple[str, ...], start: int = -1
    ) -> tuple[list[Token], int]:
        """Return the names and `signs` after the token `start` that end at the token `last`.

        Also return the index of the token before them.
        """
        index = last
        while index > start and (self.tokens[index] in signs or _is_name(str(self.tokens[index]))):
            index -= 1
        return self.tokens[index + 1 : last + 1], index

    def _statement(self, bracket: int) -> None:
        """Set the context of an offset in a body or, if `bracket` is -1, outside of all brackets.

        After `=`, an operator follows; otherwise a node, an output or a top-level item.
        """
        words, index = self._words_before(len(self.tokens) - 1, (".",), bracket)
        if index > bracket and self.tokens[index] == "=" and (not words or words[-1] == "."):
            self._take_operator(words)
            self._take_outputs(index)
            self.context.kind = "operator"
            self.context.is_free = _is_name(self._before(index))  # False in `g () =`
        elif bracket < 0 and (self.tokens[-1] == "}" if self.tokens else not self.in_body):
            self.context.kind = "top"
        else:
            self.context.kind = "body" if self._may_begin_item(bracket) else "nothing"

    def _may_begin_item(self, bracket: int) -> bool:
        """Whether a statement, or a further output of a node, may begin after the tokens.

        `bracket` is the index of the opening brace of the body; -1 outside of braces.
        """
        last = len(self.tokens) - 1
        if last < 0 or self.tokens[last] not in (")", ">"):
            return last < 0 or self.tokens[last] in ("{", "}", "]", ",")
        opening = self.closed.get(last, -1)
        if self.tokens[last] == ">" and self._operator_before(opening):
            return False  # the inputs follow
        if bracket >= 0:
            return True
        if opening >= 0 and self.tokens[opening].startswith("@"):
            return self.in_body  # outside of a body, the name of a graph or function follows
        # Outside of braces, a header or the head of a graph may end here.
        return self._operator_before(opening) or self._call_before(opening)


def _is_name(token: str) -> bool:
    return bool(token) and (
        token[0] == '"' or token[:2] == 'b"' or token[0].isalpha() or token[0] == "_"
    )
