# SPDX-License-Identifier: Apache-2.0
"""Actions for headers: `<key: value, …>` before a model, a function or a fragment."""

from __future__ import annotations

from dataclasses import field
from functools import lru_cache
from typing import Any

from onnxtext.ast.model import EncodingHabit, OpsetImport, Presence
from onnxtext.quick_dataclass import dataclass
from onnxtext.suggestions import nearest_name
from onnxtext.syntax.actions.integers import int64
from onnxtext.syntax.actions.lists import list_items
from onnxtext.syntax.actions.registry import ACTIONS, LOCATED
from onnxtext.syntax.actions.semantic_error import SemanticError, from_literal
from onnxtext.syntax.grammar.lexer import Token
from onnxtext.tensor.number_spellings import not_an_int

LANGUAGE_VERSION = 1
"""The newest language version that this release reads, and the version that it writes."""

_KINDS: dict[str, type] = {
    **dict.fromkeys(("onnxtext", "ir_version", "model_version"), int),
    **dict.fromkeys(("producer_name", "producer_version", "domain", "doc_string", "overload"), str),
    **dict.fromkeys(("opset_import", "metadata_props", "explicit", "encoding"), list),
}
"""The type of each key's value."""
INTEGER_KEYS = frozenset(key for key, kind in _KINDS.items() if kind is int)
STRING_KEYS = frozenset(key for key, kind in _KINDS.items() if kind is str)
PRESENCE_KEYS = {"onnxtext", "explicit"}
MODEL_KEYS = {
    *PRESENCE_KEYS, "encoding", "ir_version", "opset_import", "producer_name", "producer_version",
    "domain", "model_version", "doc_string", "metadata_props",
}  # fmt: skip
FUNCTION_KEYS = {*PRESENCE_KEYS, "opset_import", "doc_string", "domain", "overload"}


@dataclass(slots=True)
class Header:
    """A header, `<key: value, …>`.

    If a key is repeated, its last value is used; lists are concatenated. The official parser does
    the same.
    """

    at: dict[str, int] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)

    def allow(self, keys: set[str], construct: str) -> None:
        """Check that the header has only keys in `keys`; messages name the `construct`: "a model".

        Raises:
            SemanticError: a key is not in `keys`.
        """
        if self.at.keys() <= keys:
            return
        errors = [
            _unknown_key(key, at, keys, construct) for key, at in self.at.items() if key not in keys
        ]
        if "ir_version" in self.at and "ir_version" not in keys:
            errors = errors[:1]  # a misplaced model header: report it once
            errors[0].help = "move the model's header before the graph, or a second model to a file"
        errors[0].others = tuple(errors[1:])
        raise errors[0]

    @property
    def presence(self) -> Presence:
        """What to store for omitted fields (SPEC 11): the keys `onnxtext` and `explicit` decide."""
        return presence_of(self.values.get("onnxtext"), tuple(self.values.get("explicit", ())))


@lru_cache(maxsize=16)
def presence_of(version: int | None, explicit: tuple[str, ...]) -> Presence:
    """Return the `Presence` for the values of the header's keys `onnxtext` and `explicit`."""
    return Presence(version, explicit)


def header(entries: list[tuple[int, str, Any]]) -> Header:
    """Return the header for a list of entries: (offset of the key, key, value).

    Raises:
        SemanticError: a value or list item has the wrong type for its key, or the language version
            is unknown.
    """
    result = Header()
    errors = []
    for offset, key, value in entries:
        expected = _KINDS.get(key)
        if expected is not None and type(value) is not expected:
            forms = {int: "an integer", str: 'a string, "…"', list: "a list, […]"}
            is_version = key == "opset_import" and type(value) is int
            help = f"write `[{value}]`" if is_version else None
            error = _error(f"the value of `{key}` must be {forms[expected]}", offset, key, help)
            error.item = -1
            errors.append(error)
            continue
        result.at[key] = offset
        if expected is list:
            _check_items(offset, key, value)
            result.values.setdefault(key, []).extend(value)
        else:
            result.values[key] = value
    if errors:
        errors[0].partial_value, errors[0].others = result, tuple(errors[1:])
        raise errors[0]
    version = result.values.get("onnxtext")
    if version is not None and not 1 <= version <= LANGUAGE_VERSION:
        is_newer = version > LANGUAGE_VERSION
        raise SemanticError(
            f"the text is written in version {version} of the language; this release reads "
            f"version {LANGUAGE_VERSION}",
            at=result.at["onnxtext"],
            length=len("onnxtext"),
            help="install a newer onnxtext" if is_newer else None,
            code="language-version-unknown",
        )
    return result


def _error(message: str, offset: int, key: str, help: str | None = None) -> SemanticError:
    """Return an error that marks a key."""
    return SemanticError(message, at=offset, length=len(key), help=help)


_OTHER_KEYS = {
    **dict.fromkeys(("opset", "opsets", "opset_version"), "opset_import"),
    **dict.fromkeys(("ir", "irVersion"), "ir_version"),
    "metadata": "metadata_props",
    "producer": "producer_name",
}
"""Maps words that are not keys to the key that is probably meant."""


def _unknown_key(key: str, offset: int, keys: set[str], construct: str) -> SemanticError:
    """Return the error for a key that is not in `keys`, the keys in the header of `construct`."""
    help = f"the keys are {', '.join(sorted(keys))}"
    error = _error(f"`{key}` is not a key of {construct}'s header", offset, key, help)
    meant = _OTHER_KEYS.get(key) or nearest_name(key, keys)
    error.instead = meant if meant in keys else None
    return error


_ITEMS = {
    "opset_import": (OpsetImport, '`21` or `"ai.onnx.ml": 5`'),
    "metadata_props": (tuple, '`"key": "value"`'),
    "explicit": (str, "`node.domain`"),
    "encoding": (EncodingHabit, "`packed(attribute.ints)`"),
}
"""Maps each key whose value is a list to the type of an item, and an example of an item."""


def _check_items(offset: int, key: str, items: list[Any]) -> None:
    expected, form = _ITEMS[key]
    for index, item in enumerate(items):
        if not isinstance(item, expected):
            error = _error(f"an item of `{key}` must be written like {form}", offset, key)
            error.item = index
            raise error


def header_entry(offset: int, key: str, value: Any) -> tuple[int, str, Any]:
    """Return the offset, key and value of the header entry `key: value`."""
    return offset, key, value


def header_numbers(token: Token) -> list[OpsetImport]:
    """Return the opset imports for the token `[21]`: versions without domains.

    Raises:
        SemanticError: an item is not an integer in the range of int64.
    """
    items, result = list(list_items(token)), []
    while items and not items[-1]:
        items.pop()  # after a trailing comma
    for item in items:
        if not item.removeprefix("-").isdigit():
            error = from_literal(not_an_int(item), item)
            if error.code == "syntax-error":
                problem = f"`{item}` is not an opset version"
                error.message = problem if item else "an opset version is missing"
                error.help = error.help or "write an integer"
            raise error
        result.append(bare_opset_item(item))
    return result


def opset_item(domain: str, version: str) -> OpsetImport:
    """Return the opset import for `"ai.onnx.ml": 5`."""
    return OpsetImport(domain, int64(version))


def bare_opset_item(version: str) -> OpsetImport:
    """Return the opset import for `21`, without a domain."""
    return OpsetImport(None, int64(version))


ACTIONS.update(
    header=header,
    header_entry=header_entry,
    header_int=int64,
    header_numbers=header_numbers,
    opset_item=opset_item,
    metadata_item=lambda key, value: (key, value),
    bare_opset_item=bare_opset_item,
    habit_field_name=".".join,
    encoding_habit=lambda name, arguments: EncodingHabit(str(name), tuple(arguments)),
)
LOCATED.add("header_entry")
