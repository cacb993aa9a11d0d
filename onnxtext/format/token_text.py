# SPDX-License-Identifier: Apache-2.0
"""Names, strings and types: tokens whose spelling is kept, but for quotes that are not needed."""

from __future__ import annotations

from onnxtext.format.tokens import Token
from onnxtext.format.tree import Tree
from onnxtext.printer.layout import STEP
from onnxtext.printer.strings import quoted, string_value, value_name, word
from onnxtext.syntax.strings import byte_string, escaped, plain, triple

_DECODERS = {
    "STRING": plain,
    "ESCAPED_STRING": escaped,
    "BYTES": byte_string,
    "TRIPLE": triple,
}


def decoded(token: Token) -> str:
    """What a name or string says."""
    decoder = _DECODERS.get(token.terminal)
    return token.text if decoder is None else decoder(token.text)


def only_token(tree: Tree | Token) -> Token:
    """The token of a construct that has one."""
    while isinstance(tree, Tree):
        (tree,) = tree.parts
    return tree


def word_text(tree: Tree | Token) -> str:
    """A name where any word may stand bare."""
    return word(decoded(only_token(tree)))


def name_text(tree: Tree | Token) -> str:
    """A name where a type might stand."""
    return value_name(decoded(only_token(tree)))


def string_text(tree: Tree | Token, indent: str) -> str:
    """The value of a string: as it is spelled, unless plain quotes say the same.

    Args:
        tree: the string.
        indent: the indentation of the statement it stands in.
    """
    token = only_token(tree)
    if token.terminal not in ("BYTES", "TRIPLE"):
        return token.text
    value = decoded(token)
    if value.isprintable():
        return quoted(value)
    if token.terminal == "BYTES":
        return token.text
    if "\n" not in value:
        return string_value(value, indent)
    return _indented(token.text.replace("\r\n", "\n"), indent + STEP)


def _indented(token: str, indent: str) -> str:
    """A text of several lines with another indentation."""
    _, *lines, last = token.split("\n")
    old = last[:-3]
    kept = [line[len(old) :] if line.startswith(old) else "" for line in lines]
    body = [indent + line if line else "" for line in kept]
    return "\n".join(['"""', *body, f'{indent}"""'])


def numbers_of(token: Token) -> list[str]:
    """The numbers of a flat list that is one token, as they are spelled."""
    return [item for item in map(str.strip, token.text[1:-1].split(",")) if item]


def operator_text(tree: Tree) -> str:
    """An operator with its domain."""
    *domain, operator = [decoded(only_token(part)) for part in tree.trees()]
    if not domain:
        return f"{'.' if isinstance(tree.parts[0], Token) else ''}{word(operator)}"
    whole = ".".join(domain)
    if any(word(part) != part for part in whole.split(".")):
        whole = quoted(whole)
    return f"{whole}.{word(operator)}"


def dotted_text(tree: Tree) -> str:
    """Words with points between them, and nothing else."""
    return "".join([token.text for token in tree.tokens()])
