# SPDX-License-Identifier: Apache-2.0
"""Write tensors and their data, with numbers as spelled in the source."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

from onnxtext.format.attach_comments import find_list, required_list
from onnxtext.format.concrete_syntax_tree import Tree
from onnxtext.format.records_and_decorators import RecordWriter
from onnxtext.format.token_text import numbers_of, only_token, string_text, word_text
from onnxtext.format.tokens_with_comments import CommentedToken
from onnxtext.printer.layout import STEP, WIDTH, fill_list
from onnxtext.printer.statement_layout import Literal, column, tensor_lines
from onnxtext.printer.types_and_tensors import fill_fields, flat_rows, nested_lines, row_line
from onnxtext.tensor.element_count import count_elements

_TOKENS = re.compile(r"[\[\]]|[^\[\], \t\n\v\f\r]+")


class LiteralWriter(RecordWriter):
    """Writes the literals of tensors."""

    def tensor(self, tree: Tree, decorators_tree: Tree | None, indent: str, budget: int) -> str:
        """Write a tensor in an attribute, with the decorators before it."""
        decorators = self.value_decorators(decorators_tree, indent)
        first = tree.parts[0]
        if isinstance(first, CommentedToken):  # as in `float(1.5)`
            literal = tree.required("literal")
            before = decorators.inline or decorators.lines
            return f"{before}{first.text}({self.scalar(literal, indent)})"
        type = self.type(first)
        name_tree = tree.child("tensor_name")
        name = "" if name_tree is None else word_text(name_tree)
        data = tree.child("data", "braces", "brackets", "stored", "call")
        equals = any(isinstance(part, CommentedToken) and part.text == "=" for part in tree.parts)
        write: Literal = empty_literal
        if data is not None:
            write = self.repeatable(partial(self.data, data, dims_of(type)))
        head = (type, name, " =" if equals else "")
        return tensor_lines(decorators, head, write, indent, budget)

    def data(self, tree: Tree, dims: Sequence[str], indent: str, budget: int) -> str:
        """Write the data of a tensor with the dimensions `dims`."""
        match tree.origin:
            case "data":
                inner = tree.trees()[0]
                return self.data(inner, dims, indent, budget)
            case "braces":
                return self._braces(tree, indent, budget)
            case "brackets":
                return self._brackets(tree, dims, indent, budget)
            case "stored":
                return only_token(tree).text
            case "call":
                return self._call(tree, indent, budget)
            case "fields":
                return self._fields(tree, indent, budget)
        return self.scalar(tree, indent)

    def scalar(self, tree: Tree, indent: str) -> str:
        """Write a number, a Boolean or a string."""
        inner = tree.parts[0]
        if isinstance(inner, Tree) and inner.origin == "string":
            return string_text(inner, indent)
        return only_token(tree).text

    def _braces(self, tree: Tree, indent: str, budget: int) -> str:
        first = tree.parts[0]
        assert isinstance(first, CommentedToken)
        if first.terminal == "BRACES":
            return fill_list(numbers_of(first), "{}", indent, budget)
        listing = required_list(tree)
        texts = [self.scalar(item.tree, indent + STEP) for item in listing.items]
        if tree.commented:
            return self.filled(listing, texts, "{}", indent)
        if texts and texts[0].startswith('blob"'):  # `{blob…}` is never split over lines
            return f"{{{texts[0]}}}"
        return fill_list(texts, "{}", indent, budget)

    def _brackets(self, tree: Tree, dims: Sequence[str], indent: str, budget: int) -> str:
        listing = find_list(tree)
        if listing is not None and any(item.tree.origin == "pair" for item in listing.items):
            texts = [self.pair(item.tree, indent) for item in listing.items]
            return self.bracketed(tree, listing, texts, "[]", indent, budget)
        if listing is not None and tree.commented:
            return self._commented(tree, indent)
        return self._numbers("".join([p.text for p in tree.tokens()]), dims, indent, budget)

    def _numbers(self, text: str, dims: Sequence[str], indent: str, budget: int) -> str:
        """Write numbers in brackets, nested as the printer does: by dimensions that are not 1."""
        texts = _TOKENS.findall(text)
        items = [item for item in texts if item not in "[]"]
        if not items:
            return "[]" if len(texts) == 2 else text.replace(",", ", ")
        shape = [int(dim) for dim in dims if dim.isdigit() and dim != "1"]
        if len(shape) < 2 or count_elements(shape) != len(items) or "..." in items:
            if "..." in items and len(texts) > len(items) + 2:
                return text.replace(",", ", ")
            return items_text(items, indent, budget)
        size = shape[-1]
        rows = [", ".join(items[index : index + size]) for index in range(0, len(items), size)]
        if len(items) <= budget:
            flat = flat_rows(rows, shape[:-1])
            if len(flat) <= budget:
                return flat
        return "\n".join(nested_lines(rows, shape[:-1], indent))[len(indent) :]

    def _commented(self, tree: Tree, indent: str) -> str:
        """Write a list with comments, or an item of such a list, nested as in the source."""
        listing = find_list(tree)
        if listing is not None and tree.commented:
            texts = [self._commented(item.tree, indent + STEP) for item in listing.items]
            nested = any(text.startswith("[") for text in texts)
            write = self.broken if nested else self.filled
            return write(listing, texts, "[]", indent)
        text = "".join([token.text for token in tree.tokens()])
        if not text.startswith("["):
            return text
        return "\n".join(_nested_as_in_source(_TOKENS.findall(text), indent))[len(indent) :]

    def _call(self, tree: Tree, indent: str, budget: int) -> str:
        listing = required_list(tree)
        name = only_token(tree.parts[0]).text
        texts = [self._argument(item.tree, indent) for item in listing.items]
        if name == "external" and not tree.commented:
            return name + fill_list(texts, "()", indent, budget - len(name))
        if name == "sparse" or tree.commented:
            return self.bracketed(tree, listing, texts, f"{name}()", indent, budget)
        return f"{name}({', '.join(texts)})"

    def _argument(self, tree: Tree, indent: str) -> str:
        tensor = tree.child("tensor")
        if tensor is None:
            return string_text(tree.parts[-1], indent)
        inner = indent + STEP
        return self.tensor(tensor, tree.child("decorators"), inner, WIDTH - len(inner) - 1)

    def _fields(self, tree: Tree, indent: str, budget: int) -> str:
        """Write data that does not fit its type, as named fields of `TensorProto`."""

        def write(part: Tree, indent: str, budget: int) -> str:
            braces = part.child("braces")
            if braces is None:
                return self._call(part.trees()[0], indent, budget)
            name = only_token(part.parts[0]).text
            return name + self._braces(braces, indent, budget - len(name))

        writers = (self.repeatable(partial(write, part)) for part in tree.trees())
        return fill_fields(writers, indent, budget)

    def pair(self, tree: Tree, indent: str) -> str:
        """Write `"key": "value"`."""
        key, value = tree.trees()
        return f"{string_text(key, indent)}: {string_text(value, indent)}"

    def pairs(self, head: str, tree: Tree, indent: str) -> str:
        """Return `head` followed by a list of pairs in brackets."""
        listing = required_list(tree)
        texts = [self.pair(item.tree, indent + STEP) for item in listing.items]
        budget = WIDTH - column(head, len(indent))
        return head + self.bracketed(tree, listing, texts, "[]", indent, budget)


def empty_literal(indent: str, budget: int) -> str:
    """Return the literal of a tensor without data."""
    return ""


def items_text(items: Sequence[str], indent: str, budget: int) -> str:
    """Return a list in brackets.

    A repeated element, as in `[0, ...]`, stays on one line unless it is a string of several lines.
    """
    if len(items) <= 2 and items[-1] == "..." and "\n" not in items[0]:
        return f"[{', '.join(items)}]"
    return fill_list(items, "[]", indent, budget)


def dims_of(type: str) -> list[str]:
    """Return the dimensions of a type that is given as text."""
    start = type.find("[")
    return [] if start < 0 else type[start + 1 : type.rindex("]")].split(", ")


def _nested_as_in_source(texts: list[str], indent: str) -> list[str]:
    """Return the lines of a nested list, with one row of elements per line.

    `texts` are the brackets and elements of the list.
    """
    lines: list[str] = []
    row: list[str] = []
    depth = 0
    for index, text in enumerate(texts):
        before = indent + STEP * depth
        if text == "[":
            if depth or index == 0:
                row = []
                if texts[index + 1 : index + 2] == ["["]:
                    lines.append(f"{before}[")
            depth += 1
        elif text == "]":
            depth -= 1
            before = indent + STEP * depth
            comma = "," if depth else ""
            if texts[index - 1] == "]":
                lines.append(f"{before}]{comma}")
            else:
                lines.append(row_line(", ".join(row), before) + comma)
        else:
            row.append(text)
    return lines
