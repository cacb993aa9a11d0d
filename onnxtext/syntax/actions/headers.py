# SPDX-License-Identifier: Apache-2.0
"""Actions for headers: keys and values before a model, a function or a fragment."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from onnxtext.ast.model import (
    EncodingHabit,
    OpsetImport,
    Presence,
)
from onnxtext.syntax.actions.integers import int64
from onnxtext.syntax.actions.registry import ACTIONS, LOCATED
from onnxtext.syntax.actions.semantic_error import SemanticError

LANGUAGE_VERSION = 1
"""The newest version of the language that this release reads, and the version it writes."""

_KINDS: dict[str, type] = {
    **dict.fromkeys(("onnxtext", "ir_version", "model_version"), int),
    **dict.fromkeys(("producer_name", "producer_version", "domain", "doc_string", "overload"), str),
    **dict.fromkeys(("opset_import", "metadata_props", "explicit", "encoding"), list),
}
"""The type of each key's value."""
PRESENCE_KEYS = {"onnxtext", "explicit"}
MODEL_KEYS = {
    *PRESENCE_KEYS, "encoding", "ir_version", "opset_import", "producer_name", "producer_version",
    "domain", "model_version", "doc_string", "metadata_props",
}  # fmt: skip
FUNCTION_KEYS = {*PRESENCE_KEYS, "opset_import", "doc_string", "domain", "overload"}


@dataclass(slots=True)
class Header:
    """`<key: value, …>`; repeated keys resolve as officially: the last value, or all items.

    Attributes:
        at: the offset of each key.
        values: the value of each key.
    """

    at: dict[str, int] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)

    def allow(self, keys: set[str], what: str) -> None:
        """Reject unknown keys.

        Raises:
            SemanticError: a key is not in `keys`.
        """
        if self.at.keys() <= keys:
            return
        errors = []
        for key, at in self.at.items():
            if key not in keys:
                errors.append(error_at(at, key, f"`{key}` is not a key of {what}'s header"))
                errors[-1].help = f"one of {', '.join(sorted(keys))}"
        errors[0].others = tuple(errors[1:])
        raise errors[0]

    @property
    def presence(self) -> Presence:
        """The presence defaults that the header declares."""
        return _presence(self.values.get("onnxtext"), tuple(self.values.get("explicit", ())))


@lru_cache(maxsize=16)
def _presence(version: int | None, explicit: tuple[str, ...]) -> Presence:
    """Return the presence defaults, cached: most texts have equal ones."""
    return Presence(version, explicit)


def header(entries: list[tuple[int, str, Any]]) -> Header:
    """Return a header with these entries.

    Raises:
        SemanticError: a value has the wrong type for its key, or the language version is unknown.
    """
    made = Header()
    errors = []
    for at, key, value in entries:
        wanted = _KINDS.get(key)
        if wanted is not None and type(value) is not wanted:
            forms = {int: "an integer", str: 'a string, "…"', list: "a list, […]"}
            errors.append(error_at(at, key, f"the value of `{key}` must be {forms[wanted]}"))
            continue
        made.at[key] = at
        if wanted is list:
            _check_items(at, key, value)
            made.values.setdefault(key, []).extend(value)
        else:
            made.values[key] = value
    if errors:
        errors[0].made, errors[0].others = made, tuple(errors[1:])
        raise errors[0]
    version = made.values.get("onnxtext")
    if version is not None and not 1 <= version <= LANGUAGE_VERSION:
        error = error_at(
            made.at["onnxtext"],
            "onnxtext",
            f"the text is written in version {version} of the language; this release reads "
            f"version {LANGUAGE_VERSION}",
        )
        error.code = "language-version-unknown"
        error.help = "upgrade onnxtext: pip install --upgrade onnxtext"
        raise error
    return made


def error_at(at: int, key: str, message: str) -> SemanticError:
    """Return the error for a key or name at an offset."""
    error = SemanticError(message)
    error.at, error.length = at, len(key)
    return error


_ITEMS = {
    "opset_import": (OpsetImport, '21 or "ai.onnx.ml": 5'),
    "metadata_props": (tuple, '"key": "value"'),
    "explicit": (str, "node.domain"),
    "encoding": (EncodingHabit, "packed(attribute.ints)"),
}
"""The type and an example of the items of each key with a list."""


def _check_items(at: int, key: str, items: list[Any]) -> None:
    wanted, form = _ITEMS[key]
    for item in items:
        if not isinstance(item, wanted):
            raise error_at(at, key, f"the items of `{key}` are written like {form}")


def header_entry(at: int, key: str, value: Any) -> tuple[int, str, Any]:
    """`key: value`."""
    return at, key, value


def header_int(text: str) -> int:
    """An integer value."""
    return int64(text)


def header_numbers(token: str) -> list[OpsetImport]:
    """`[21]`: opset numbers without domains, as one token."""
    items = token[1:-1].rstrip(" \t\n\v\f\r,").split(",")
    made = []
    for item in items:
        text = item.strip()
        if not text.removeprefix("-").isdigit():
            raise SemanticError(
                f"`{text}` is not an opset version", token=token, help="write a whole number"
            )
        made.append(bare_opset_item(text))
    return made


def opset_item(domain: str, version: str) -> OpsetImport:
    """`"ai.onnx.ml": 5`."""
    return OpsetImport(domain, int64(version))


def bare_opset_item(version: str) -> OpsetImport:
    """`21`: no domain is stored."""
    return OpsetImport(None, int64(version))


def habit_item(parts: list[str]) -> str:
    """`node.domain`."""
    return ".".join(parts)


ACTIONS.update(
    header=header,
    header_entry=header_entry,
    header_string=lambda value: value,
    header_int=header_int,
    header_numbers=header_numbers,
    header_list=lambda items: items,
    opset_item=opset_item,
    metadata_item=lambda key, value: (key, value),
    bare_opset_item=bare_opset_item,
    habit_item=habit_item,
    encoding_habit=lambda name, arguments: EncodingHabit(str(name), tuple(arguments)),
)
LOCATED.add("header_entry")
