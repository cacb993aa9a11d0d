# SPDX-License-Identifier: Apache-2.0
"""How statements are laid out that differ from one another in their names only.

Names do not count in the layout. So what was found out about one statement serves for all others
that have the same text outside of their strings. Each template is proven when it is made: with
names of its own in their places, the text before and the text behind it have the same syntax tree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from onnxtext.ast.model import Node, ValueInfo
from onnxtext.printer.strings import value_name

LONGEST = 2000
"""Statements with more characters than this are not remembered."""

MOST = 1000
"""So many templates are made for one text at most."""

MOST_KEYS = 5000
"""So many texts outside of strings are waited for to come a second time."""

_NAME, _WORD = 0, 1
"""The signs of names that need their quotes, and of those that do not."""

Parts = Sequence[str]
Signature = tuple[str | int, ...]


@dataclass(slots=True)
class Pattern:
    """What is known of the statements with the same text outside of their strings.

    Attributes:
        fixed: the strings that are no names, by their number.
        texts: what stands between the strings in the canonical layout; by the strings that are
            no names, and by what the names are like.
        names: the same for statements all of whose strings are names that need their quotes.
    """

    fixed: frozenset[int]
    texts: dict[Signature, list[str]] = field(default_factory=dict)
    names: list[str] | None = None

    def signature(self, strings: Sequence[str]) -> Signature:
        """What of some strings the layout depends on."""
        return tuple(
            [text if number in self.fixed else _sign(text) for number, text in enumerate(strings)]
        )


def _sign(name: str) -> str | int:
    """What a name is like: the name itself if it is like no other."""
    if name.isidentifier():
        return _WORD if value_name(name) == name else name
    return _NAME if name and name.isprintable() else name


def are_names(strings: Sequence[str]) -> bool:
    """Whether all of some names surely need their quotes, and nothing else."""
    return not any(map(str.isidentifier, strings)) and "".join(strings).isprintable()


class Templates:
    """The templates of the statements of one kind in one text.

    Args:
        format_code: formats a statement on its own, on the long way.
        parse_code: gives the syntax tree of one; None if it is not of the language.
    """

    def __init__(
        self,
        format_code: Callable[[str], str | None],
        parse_code: Callable[[str], Node | ValueInfo | None],
    ) -> None:
        self.patterns: dict[str, Pattern] = {}
        self._format = format_code
        self._parse = parse_code
        self._seen: set[str] = set()
        self._made = 0

    def find(self, key: str, parts: Parts) -> list[str] | None:
        """What is to stand between the strings of a statement; None if that is not known.

        Args:
            key: its text outside of the strings.
            parts: its text, split at the quotes.
        """
        shape = self.patterns.get(key)
        if shape is None:
            return None
        strings = parts[1::2]
        if shape.names is not None and are_names(strings):
            return shape.names
        return shape.texts.get(shape.signature(strings))

    def learn(self, key: str, parts: Parts, item: Node | ValueInfo, formatted: str) -> None:
        """Remember how a statement was formatted, if one with the same key was met before.

        Args:
            key: its text outside of the strings.
            parts: its text, split at the quotes.
            item: its syntax tree.
            formatted: in the canonical layout.

        It has no backslashes: these would hide where its strings end.
        """
        if len(key) > LONGEST or '""' in key or not len(parts) & 1:
            return
        strings = parts[1::2]
        shape = self.patterns.get(key)
        if shape is None:
            if not self._met_before(key):
                return
            shape = self.patterns[key] = Pattern(_fixed(strings, item))
        signature = shape.signature(strings)
        if self._made == MOST or signature in shape.texts:
            return
        if shape.fixed and not self._met_before(f"{key}{signature}"):
            return
        self._made += 1
        texts = self._template(parts, signature)
        if texts is None or interleaved(texts, strings) != formatted:
            return
        shape.texts[signature] = texts
        if not any(signature):
            shape.names = texts

    def _met_before(self, key: str) -> bool:
        """Whether a key is met for the second time."""
        if key in self._seen:
            return True
        if len(self._seen) < MOST_KEYS:
            self._seen.add(key)
        return False

    def _template(self, parts: Parts, signature: Signature) -> list[str] | None:
        """What stands between the strings, found and proven with names of its own."""
        marks = [
            text if isinstance(text, str) else (f"q{number}_{text}" if text else f"/{number}/")
            for number, text in enumerate(signature)
        ]
        probe = '"'.join(interleaved_list(parts[::2], marks))
        result = self._format(probe)
        if result is None or self._parse(probe) != self._parse(result):
            return None
        texts: list[str] = []
        at = 0
        for mark, sign in zip(marks, signature, strict=True):
            shown = mark if sign == _WORD else f'"{mark}"'
            place = result.find(shown, at)
            if place < 0 or (sign in (_NAME, _WORD) and result.count(shown) != 1):
                return None
            start = place + (sign != _WORD)
            texts.append(result[at:start])
            at = start + len(mark)
        return [*texts, result[at:]]


def _fixed(strings: Sequence[str], item: Node | ValueInfo) -> frozenset[int]:
    """The strings of a statement that are not just names of values or its label."""
    if isinstance(item, Node):
        names = [*item.inputs, *item.outputs]
        if item.name is not None:
            names.append(item.name)
    else:
        names = [item.name]
    return frozenset(
        number
        for number, text in enumerate(strings)
        if text not in names or strings.count(text) > names.count(text)
    )


def interleaved_list(between: Sequence[str], strings: Sequence[str]) -> list[str]:
    """A text's parts in order, from what stands between the strings, and the strings."""
    parts = [""] * (len(between) + len(strings))
    parts[::2] = between
    parts[1::2] = strings
    return parts


def interleaved(between: Sequence[str], strings: Sequence[str]) -> str:
    """The text of strings and what stands between them, quotes included."""
    return "".join(interleaved_list(between, strings))
