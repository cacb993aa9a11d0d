# SPDX-License-Identifier: Apache-2.0
"""Cache the layout of statements that differ only in their names.

If a statement fits on one line, its layout does not depend on the text of a name, except that some
names need quotes. So two such statements share a layout if they differ only in names, and each name
needs quotes in both statements or in neither. A new template is verified: with probe names, the
source and the formatted statement must have the same syntax tree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from onnxtext.ast.model import Node, ValueInfo
from onnxtext.printer.quoting import value_name

MAX_KEY_LENGTH = 2000
"""Maximum length of a cached statement in characters; the contents of strings do not count."""

MAX_TEMPLATES = 1000
"""Maximum number of templates per text."""

MAX_KEYS = 5000
"""Maximum number of keys that wait for their second occurrence."""

_QUOTED, _BARE = 0, 1
"""Classes of names: quotes are required, or unnecessary."""

Parts = Sequence[str]
Signature = tuple[str | int, ...]


@dataclass(slots=True)
class StatementLayout:
    """The layouts of statements that are equal except for the contents of their strings.

    Attributes:
        fixed: 0-based indices of the strings that are not names. A layout is valid only for the
            same texts of these strings.
        texts: maps a result of `signature` to the formatted texts between the strings.
        names: the entry of `texts` for statements whose strings are all names that require
            quotes; None if there is no such entry yet.
    """

    fixed: frozenset[int]
    texts: dict[Signature, list[str]] = field(default_factory=dict)
    names: list[str] | None = None

    def signature(self, strings: Sequence[str]) -> Signature:
        """Return the key in `texts` for a statement with these strings.

        The key has one item for each string. For most names, the item only says whether the name
        requires quotes. For a name such as `float`, an empty name, or a string that is not a name,
        the item is the string itself.
        """
        return tuple(
            [text if index in self.fixed else _kind(text) for index, text in enumerate(strings)]
        )


def _kind(name: str) -> str | int:
    """Return whether a name is written with quotes (`_QUOTED`) or without (`_BARE`).

    Return the name itself if it belongs to neither class: an identifier that needs quotes in some
    places, an empty name, or a name with unprintable characters.
    """
    if name.isidentifier():
        return _BARE if value_name(name) == name else name
    return _QUOTED if name and name.isprintable() else name


def are_names(strings: Sequence[str]) -> bool:
    """Whether each string, used as a name, certainly requires quotes but no escapes."""
    return not any(map(str.isidentifier, strings)) and "".join(strings).isprintable()


class Templates:
    """The templates of the statements of one kind in one text.

    A template consists of the formatted texts between the strings of a statement.

    Args:
        format_code: formats a single statement in full, on one line however long it is.
        parse_code: parses a single statement; returns None if it does not parse.
    """

    def __init__(
        self,
        format_code: Callable[[str], str | None],
        parse_code: Callable[[str], Node | ValueInfo | None],
    ) -> None:
        self.patterns: dict[str, StatementLayout] = {}
        self._format = format_code
        self._parse = parse_code
        self._seen: set[str] = set()
        self._made = 0

    def find(self, key: str, parts: Parts) -> list[str] | None:
        """Return the template for a statement; None if there is none.

        Args:
            key: the text of the statement without the contents of its strings.
            parts: the text of the statement, split at the quotes.
        """
        pattern = self.patterns.get(key)
        if pattern is None:
            return None
        strings = parts[1::2]
        if pattern.names is not None and are_names(strings):
            return pattern.names
        return pattern.texts.get(pattern.signature(strings))

    def learn(self, key: str, parts: Parts, item: Node | ValueInfo, formatted: str) -> None:
        """Add a template for a statement if its key occurs for the second time.

        Args:
            key: the text of the statement without the contents of its strings.
            parts: the text of the statement, which has no backslash, split at the quotes.
            item: the syntax tree of the statement.
            formatted: the formatted statement.
        """
        if len(key) > MAX_KEY_LENGTH or '""' in key or not len(parts) & 1 or "\n" in formatted:
            return
        strings = parts[1::2]
        pattern = self.patterns.get(key)
        if pattern is None:
            if not self._met_before(key):
                return
            pattern = self.patterns[key] = StatementLayout(_constant_indices(strings, item))
        signature = pattern.signature(strings)
        if self._made == MAX_TEMPLATES or signature in pattern.texts:
            return
        if pattern.fixed and not self._met_before(f"{key}{signature}"):
            return
        self._made += 1
        texts = self._template(parts, signature)
        if texts is None or interleave(texts, strings) != formatted:
            return
        pattern.texts[signature] = texts
        if not any(signature):
            pattern.names = texts

    def _met_before(self, key: str) -> bool:
        """Whether a key occurs for the second time."""
        if key in self._seen:
            return True
        if len(self._seen) < MAX_KEYS:
            self._seen.add(key)
        return False

    def _template(self, parts: Parts, signature: Signature) -> list[str] | None:
        """Find the formatted texts between the strings with probe names; None if they are wrong."""
        marks = [
            text if isinstance(text, str) else (f"q{index}_{text}" if text else f"/{index}/")
            for index, text in enumerate(signature)
        ]
        probe = '"'.join(interleaved_list(parts[::2], marks))
        result = self._format(probe)
        if result is None or self._parse(probe) != self._parse(result):
            return None
        texts: list[str] = []
        offset = 0
        for mark, sign in zip(marks, signature, strict=True):
            shown = mark if sign == _BARE else f'"{mark}"'
            place = result.find(shown, offset)
            if place < 0 or (sign in (_QUOTED, _BARE) and result.count(shown) != 1):
                return None
            start = place + (sign != _BARE)
            texts.append(result[offset:start])
            offset = start + len(mark)
        return [*texts, result[offset:]]


def _constant_indices(strings: Sequence[str], item: Node | ValueInfo) -> frozenset[int]:
    """Return the indices of the constant strings: those other than value names and the label."""
    if isinstance(item, Node):
        names = [*item.inputs, *item.outputs]
        if item.name is not None:
            names.append(item.name)
    else:
        names = [item.name]
    return frozenset(
        index
        for index, text in enumerate(strings)
        if text not in names or strings.count(text) > names.count(text)
    )


def interleaved_list(between: Sequence[str], strings: Sequence[str]) -> list[str]:
    """Return texts and strings in alternation; the first and the last item are texts.

    Args:
        between: the texts, one more than `strings`.
        strings: the strings.
    """
    parts = [""] * (len(between) + len(strings))
    parts[::2] = between
    parts[1::2] = strings
    return parts


def interleave(between: Sequence[str], strings: Sequence[str]) -> str:
    """Join strings with the texts between them, which contain the quotes."""
    return "".join(interleaved_list(between, strings))
