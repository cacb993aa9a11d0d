# SPDX-License-Identifier: Apache-2.0
"""Write names and strings: the spelling of tokens is kept, unnecessary quotes are removed."""

from __future__ import annotations

from onnxtext.format.concrete_syntax_tree import Tree
from onnxtext.format.tokens_with_comments import CommentedToken
from onnxtext.printer.layout import STEP
from onnxtext.printer.quoting import quote_string, quote_word, string_value, value_name
from onnxtext.syntax.actions.strings import byte_string, escaped, plain, triple

_DECODERS = {"STRING": plain, "ESCAPED_STRING": escaped, "BYTES": byte_string, "TRIPLE": triple}


def decode_token(token: CommentedToken) -> str:
    """Return the value of a name or string."""
    decoder = _DECODERS.get(token.terminal)
    return token.text if decoder is None else decoder(token.text)


def only_token(tree: Tree | CommentedToken) -> CommentedToken:
    """Return the token of a construct with a single token."""
    while isinstance(tree, Tree):
        (tree,) = tree.parts
    return tree


def word_text(tree: Tree | CommentedToken) -> str:
    """Write a name at a position where keywords need no quotes."""
    return quote_word(decode_token(only_token(tree)))


def name_text(tree: Tree | CommentedToken) -> str:
    """Write a name at a position where a type may also stand, so that type names need quotes."""
    return value_name(decode_token(only_token(tree)))


def string_text(tree: Tree | CommentedToken, indent: str) -> str:
    """Write a string as spelled; turn bytes and multi-line strings into `"…"` if possible."""
    token = only_token(tree)
    if token.terminal not in ("BYTES", "TRIPLE"):
        return token.text
    value = decode_token(token)
    if value.isprintable():
        return quote_string(value)
    if token.terminal == "BYTES":
        return token.text
    if "\n" not in value:
        return string_value(value, indent)
    return _indent(token.text.replace("\r\n", "\n"), indent + STEP)


def _indent(token: str, indent: str) -> str:
    """Return a multi-line string whose lines and closing quotes are indented by `indent`."""
    _, *lines, last = token.split("\n")
    old = last[:-3]
    kept = [line[len(old) :] if line.startswith(old) else "" for line in lines]
    body = [indent + line if line else "" for line in kept]
    return "\n".join(['"""', *body, f'{indent}"""'])


def numbers_of(token: CommentedToken) -> list[str]:
    """Return the numbers of a list that is a single token, such as `[1, 2]`, as spelled."""
    return [item for item in map(str.strip, token.text[1:-1].split(",")) if item]


def operator_text(tree: Tree) -> str:
    """Write an operator with its domain."""
    *domain, operator = [decode_token(only_token(part)) for part in tree.trees()]
    dotted = isinstance(tree.parts[0], CommentedToken)
    if not domain:
        return f"{'.' if dotted else ''}{quote_word(operator)}"
    if domain[0] == "" and len(domain) > 1 and not dotted:
        del domain[0]  # the parser reads `"".a.B` as `.a.B`
    dotted_name = ".".join(domain)
    if any(quote_word(part) != part for part in dotted_name.split(".")):
        dotted_name = quote_string(dotted_name)
    return f"{dotted_name}.{quote_word(operator)}"


def dotted_text(tree: Tree) -> str:
    """Write words separated by dots."""
    return "".join([token.text for token in tree.tokens()])
