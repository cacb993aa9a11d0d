# SPDX-License-Identifier: Apache-2.0
"""Format whole texts: header, graph, functions and sections."""

from __future__ import annotations

import re
from collections.abc import Callable

from onnxtext.format.attach_comments import ListItem, attach_items, find_list, required_list
from onnxtext.format.concrete_syntax_tree import Tree, build_tree, top_level
from onnxtext.format.records_and_decorators import number_list
from onnxtext.format.statements import StatementWriter
from onnxtext.format.token_text import (
    decode_token,
    dotted_text,
    name_text,
    numbers_of,
    only_token,
    string_text,
    word_text,
)
from onnxtext.format.tokens_with_comments import CommentedToken, read_tokens
from onnxtext.printer.layout import STEP, WIDTH
from onnxtext.printer.quoting import quote_string
from onnxtext.printer.resources import BASE64_WIDTH
from onnxtext.printer.statement_layout import column

_BLANKS = re.compile(r"\s+")


def write_document(source: str) -> str:
    """Format the text of a model in the canonical layout."""
    tokens = read_tokens(source)
    end = tokens[-1]
    items = [ListItem(tree) for tree in top_level(build_tree(tokens))]
    attach_items(items, end)
    for item in items:
        if item.tree.origin in ("function", "section"):
            _separate(item.first)
    writer = DocumentWriter(source)
    texts = [writer.top_level(item.tree) for item in items]
    lines = writer.item_lines(items, texts, "", "")
    lines += writer.lead_lines(end.lead, "", started=True)
    return "\n".join([*lines, ""])


def _separate(first: CommentedToken) -> None:
    """Add a blank line before an item, above its comments; `first` is its first token."""
    if first.lead:
        first.lead[0].blank = True
    else:
        first.blank = True


class DocumentWriter(StatementWriter):
    """Writes top-level constructs."""

    def top_level(self, tree: Tree) -> str:
        """Write a header, a graph, a function or a section."""
        match tree.origin:
            case "head":
                decorators, header = tree.trees()
                return self.decorator_lines(decorators, "") + self.header(header)
            case "header":
                return self.header(tree)
            case "graph":
                return self.main_graph(tree)
            case "function":
                return self.function(tree)
        return self.section(tree)

    def header(self, tree: Tree) -> str:
        """Write the header of a model, one entry per line."""
        listing = required_list(tree)
        texts = [self._entry(item.tree) for item in listing.items]
        return self.broken(listing, texts, "<>", "")

    def function(self, tree: Tree) -> str:
        """Write a function with its header."""
        head = self.decorator_lines(tree.child("decorators"), "")
        header = tree.child("header")
        if header is not None:
            listing = required_list(header)
            texts = [self._entry(item.tree) for item in listing.items]
            head += self.bracketed(header, listing, texts, "<>", "", WIDTH - 20) + "\n"
        return head + self.function_rest(tree, column(head, 0))

    def _entry(self, tree: Tree) -> str:
        key, value = tree.trees()
        return f"{only_token(key).text}: {self._entry_value(value)}"

    def _entry_value(self, tree: Tree) -> str:
        listing = find_list(tree)
        if listing is not None:
            texts = [self._header_item(item.tree) for item in listing.items]
            return self.bracketed(tree, listing, texts, "[]", STEP, WIDTH - 20)
        token = only_token(tree)
        if token.terminal == "NUMBERS":
            return number_list(token, STEP, WIDTH - 20)
        return string_text(token, STEP)

    def _header_item(self, tree: Tree) -> str:
        if tree.alias == "encoding_habit":
            arguments = tree.required("habit_arguments")
            texts = [dotted_text(part) for part in arguments.trees()]
            return f"{only_token(tree.parts[0]).text}({', '.join(texts)})"
        if tree.alias == "habit_field_name":
            return dotted_text(tree)
        parts = [part for part in tree.parts if isinstance(part, Tree) or part.text != ":"]
        return ": ".join([string_text(part, STEP * 2) for part in parts])

    def section(self, tree: Tree) -> str:
        """Write a section."""
        word = only_token(tree.parts[0]).text
        listing = find_list(tree)
        if listing is None:
            last = tree.parts[-1]
            if isinstance(last, CommentedToken):
                return f"{word} {last.text}"
            name = tree.child("name")
            head = (
                word if name is None else f"{word} {quote_string(decode_token(only_token(name)))}"
            )
            return self._block(last, head, "", self.field if word != "encoding" else self._encoding)
        writers = {
            "metadata": self._metadata,
            "quantization": self._annotation,
            "training": self._training,
            "order": self.decorator,
            "resources": self._resource,
        }
        return self._block(tree, word, "", writers[word])

    def _block(self, tree: Tree, head: str, indent: str, write: Callable[[Tree, str], str]) -> str:
        """Write `head`, then the items of `tree` in braces: one per line, without commas."""
        listing = required_list(tree)
        if not listing.items and not tree.commented and head != "training":
            return f"{head} {{}}"
        texts = [write(item.tree, indent + STEP) for item in listing.items]
        return f"{head} {self.broken(listing, texts, '{}', indent, comma='')}"

    def _metadata(self, tree: Tree, indent: str) -> str:
        """Write an entry of metadata, or a block of entries."""
        if tree.alias == "repeated_entry":
            key, *_, word = tree.parts
            return f"{word_text(key)}: {only_token(word).text}"
        if tree.alias == "metadata_entry":
            key, value = tree.trees()
            return f"{word_text(key)}: {string_text(value, indent)}"
        head = only_token(tree.parts[0]).text
        path, overload = tree.child("path"), tree.child("name")
        if path is not None:
            head += f" {_path(path)}"
        if overload is not None:
            head += f":{word_text(overload)}"
        return self._block(tree, head, indent, self._metadata)

    def _annotation(self, tree: Tree, indent: str) -> str:
        return self.pairs(f"{_path(tree.required('path'))}: ", tree, indent)

    def _training(self, tree: Tree, indent: str) -> str:
        key = f"{only_token(tree.parts[0]).text}: "
        graph = tree.child("graph")
        if graph is None:
            return self.pairs(key, tree, indent)
        return key + self.graph(graph, graph.child("decorators"), indent, len(indent) + len(key))

    def _encoding(self, tree: Tree, indent: str) -> str:
        key, value = tree.child("field_key"), tree.child("field_value")
        if key is None or value is None or decode_token(only_token(key)) != "patch":
            return self.field(tree, indent)
        return f"patch: {_base64(only_token(value), indent + STEP)}"

    def _resource(self, tree: Tree, indent: str) -> str:
        if tree.alias == "resource_place":
            kind, _, path = tree.parts
            return f"{only_token(kind).text}: {string_text(path, indent)}"
        digest, _, encoding, content = tree.parts
        head = f"{string_text(digest, indent)}: {only_token(encoding).text}"
        return f"{head} {_base64(only_token(content), indent + STEP)}"


def _base64(token: CommentedToken, indent: str) -> str:
    """Write base64 data as a multi-line string, wrapped at `BASE64_WIDTH` columns."""
    text = token.text[3:-3] if token.terminal == "TRIPLE" else decode_token(token)
    data = _BLANKS.sub("", text)
    rows = range(0, len(data), BASE64_WIDTH)
    lines = [f"{indent}{data[offset : offset + BASE64_WIDTH]}\n" for offset in rows]
    return f'"""\n{"".join(lines)}{indent}"""'


def _path(tree: Tree) -> str:
    """Write a path in a section, such as `[fc].then_branch.y`."""
    steps = []
    for step in tree.trees():
        if step.alias == "label_step":
            steps.append(f"[{word_text(step.trees()[0])}]")
            continue
        name, *index = step.parts
        if index:
            steps.append(f"{name_text(name)}[{numbers_of(only_token(index[0]))[0]}]")
        else:
            steps.append(word_text(name))
    return ".".join(steps)
