# SPDX-License-Identifier: Apache-2.0
"""Write types, records and decorators."""

from __future__ import annotations

from collections.abc import Sequence

from onnxtext.ast.compact_form.list_order import ORDERS
from onnxtext.format.attach_comments import find_list, has_comments, required_list
from onnxtext.format.concrete_syntax_tree import Tree
from onnxtext.format.lists import ListWriter
from onnxtext.format.token_text import (
    decode_token,
    dotted_text,
    numbers_of,
    only_token,
    string_text,
    word_text,
)
from onnxtext.format.tokens_with_comments import CommentedToken
from onnxtext.printer.layout import STEP, WIDTH, fill_list
from onnxtext.printer.quoting import quote_string, quote_word, value_name
from onnxtext.printer.records import MIN_RESERVE, reserved_columns
from onnxtext.printer.statement_layout import Decorators


class RecordWriter(ListWriter):
    """Writes records, decorators, and types, which may contain decorators."""

    # ---- Records ----------------------------------------------------------------------------

    def record(self, tree: Tree, indent: str, reserved: int = MIN_RESERVE) -> str:
        """Write a record: on one line with commas, or one field per line without commas.

        `reserved` is the number of columns to leave free on one line for a key and a comma.
        """
        listing = required_list(tree)
        texts = [self.field(item.tree, indent + STEP) for item in listing.items]
        flat = f"{{{', '.join(texts)}}}"
        if not tree.commented and "\n" not in flat and len(flat) + len(indent) <= WIDTH - reserved:
            return flat
        return self.broken(listing, texts, "{}", indent, comma="")

    def field(self, tree: Tree, indent: str, *, quoted_key: bool = False) -> str:
        """Write `key: value`, or only the value if there is no key.

        `quoted_key` puts the key in quotes, unless it is a number.
        """
        value = tree.trees()[-1]
        key = tree.child("field_key")
        if key is None:
            return self.field_value(value, indent)
        token = only_token(key)
        if token.terminal == "INT":
            name = token.text
        else:
            name = (
                quote_string(decode_token(token)) if quoted_key else quote_word(decode_token(token))
            )
        return f"{name}: {self.field_value(value, indent, reserved_columns(name))}"

    def field_value(self, tree: Tree, indent: str, reserved: int = MIN_RESERVE) -> str:
        """Write the value of a field; for `reserved`, see `record`."""
        inner = tree.parts[0]
        listing = find_list(tree)
        budget = WIDTH - reserved - len(indent)
        if listing is not None:
            texts = [self.field_value(item.tree, indent + STEP) for item in listing.items]
            return self.bracketed(tree, listing, texts, "[]", indent, budget)
        if isinstance(inner, CommentedToken):
            is_list = inner.terminal == "NUMBERS"
            return number_list(inner, indent, budget) if is_list else inner.text
        match inner.origin:
            case "string":
                return string_text(inner, indent)
            case "record":
                return self.record(inner, indent, reserved)
            case "number":
                return only_token(inner).text
        return dotted_text(inner)

    # ---- Decorators -------------------------------------------------------------------------

    def decorator(self, tree: Tree, indent: str) -> str:
        """Write `@name(arguments)`."""
        listing = required_list(tree)
        opening = listing.opening.text
        if not listing.items:
            return self.bracketed(tree, listing, [], f"{opening})", indent, WIDTH)
        only = listing.items[0].tree
        if len(listing.items) == 1 and not tree.commented and only.child("field_key") is None:
            return f"{opening}{self.field(only, indent)})"
        meta = opening.endswith("meta(")
        budget = WIDTH - 20 - len(indent) + 1
        if opening[1:-1] in ORDERS and not tree.commented:
            texts = [self._order_argument(item.tree, indent + STEP) for item in listing.items]
            return opening[:-1] + fill_list(texts, "()", indent, budget - len(opening))
        texts = [self.field(item.tree, indent + STEP, quoted_key=meta) for item in listing.items]
        return self.bracketed(tree, listing, texts, f"{opening})", indent, budget)

    def _order_argument(self, tree: Tree, indent: str) -> str:
        """Write an argument of `@value_info(…)` or `@initializers(…)`.

        A line holds as many names as fit.
        """
        value = tree.trees()[-1]
        listing = find_list(value)
        key = tree.child("field_key")
        if listing is None or key is None:
            return self.field(tree, indent)
        head = f"{quote_word(decode_token(only_token(key)))}: "
        texts = [self.field_value(item.tree, indent + STEP) for item in listing.items]
        return head + fill_list(texts, "[]", indent, WIDTH - len(indent) - len(head) - 3)

    def decorators(self, tree: Tree | None, indent: str) -> list[str]:
        """Return the text of each decorator."""
        if tree is None:
            return []
        return [self.decorator(part, indent) for part in tree.trees()]

    def decorator_lines(self, tree: Tree | None, indent: str) -> str:
        """Write decorators before a statement, each on its own line except a single `@unset(…)`."""
        texts = self.decorators(tree, indent)
        if len(texts) == 1 and texts[0].startswith("@unset("):
            return f"{texts[0]} "
        return "".join([f"{text}\n{indent}" for text in texts])

    def value_decorators(self, tree: Tree | None, indent: str) -> Decorators:
        """Return the decorators before a value or attribute, in two layouts (see `Decorators`)."""
        return Decorators.of(self.decorators(tree, indent), indent)

    def inline_decorators(self, tree: Tree | None, indent: str) -> str:
        """Write decorators before a type: on its line if they are short, else one per line."""
        texts = self.value_decorators(tree, indent)
        return texts.inline or texts.lines

    def type_decorators(self, tree: Tree | None) -> str:
        """Write decorators of a part of a type: on one line if they have no comments."""
        if tree is not None and has_comments(tree):
            return self.inline_decorators(tree, "")
        return "" if tree is None else "".join([f"{_flat(part)} " for part in tree.trees()])

    # ---- Types ------------------------------------------------------------------------------

    def type(self, tree: Tree) -> str:
        """Write a type without its decorators."""
        first = tree.parts[0]
        if isinstance(first, Tree):
            return self.type(first)
        if first.terminal == "TYPE":
            element, _, dims = first.text[:-1].partition("[")
            return f"{element}[{', '.join(map(str.strip, dims.split(',')))}]"
        if first.terminal == "CONTAINER":
            arguments = tree.child("type_arguments")
            items = [] if arguments is None else arguments.trees()
            return f"{first.text}({', '.join(map(self._type_argument, items))})"
        dims_tree = tree.child("dims")
        if dims_tree is None:
            return first.text
        return f"{first.text}[{', '.join(self.dims(dims_tree))}]"

    def _type_argument(self, tree: Tree) -> str:
        inner = tree.child("type")
        if inner is not None:
            return self.type_decorators(tree.child("decorators")) + self.type(inner)
        name = tree.required("opaque_name")
        parts = [decode_token(token) for token in name.tokens() if token.text != "."]
        return value_name(".".join(parts))

    def dims(self, tree: Tree) -> Sequence[str]:
        """Return the text of each dimension."""
        items = tree.child("dim_items")
        if items is None:
            first = tree.parts[0]
            assert isinstance(first, CommentedToken)
            return numbers_of(first) if first.terminal == "NUMBERS" else []
        return [self._dim(item) for item in items.trees()]

    def _dim(self, tree: Tree) -> str:
        before = self.type_decorators(tree.child("decorators"))
        last = tree.parts[-1]
        return before + (last.text if isinstance(last, CommentedToken) else word_text(last))


def number_list(token: CommentedToken, indent: str, budget: int) -> str:
    """Write a list of numbers: on one line if it fits, otherwise with one number per line."""
    numbers = numbers_of(token)
    flat = f"[{', '.join(numbers)}]"
    if len(flat) <= budget:
        return flat
    lines = [f"\n{indent}{STEP}{number}," for number in numbers]
    return f"[{''.join(lines)}\n{indent}]"


def _flat(tree: Tree) -> str:
    """Return a decorator, a field or its value on one line."""
    listing = find_list(tree)
    if listing is not None:
        texts = [_flat(item.tree) for item in listing.items]
        return f"{listing.opening.text}{', '.join(texts)}{listing.closing.text}"
    inner = tree.parts[0]
    if isinstance(inner, CommentedToken):
        return f"[{', '.join(numbers_of(inner))}]" if inner.terminal == "NUMBERS" else inner.text
    match inner.origin:
        case "field_key":
            key = only_token(inner)
            name = key.text if key.terminal == "INT" else quote_word(decode_token(key))
            return f"{name}: {_flat(tree.trees()[-1])}"
        case "string":
            token = only_token(inner)
            return (
                quote_string(decode_token(token))
                if token.terminal == "TRIPLE"
                else string_text(token, "")
            )
        case "dotted":
            return dotted_text(inner)
    return _flat(inner)
