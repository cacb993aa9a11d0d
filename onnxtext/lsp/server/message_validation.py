# SPDX-License-Identifier: Apache-2.0
"""Validate the parameters of messages; pygls would convert or drop invalid parameters."""

from __future__ import annotations

from typing import Any, TypeVar

_STRINGS = frozenset(
    ("uri", "newName", "query", "ch", "text", "languageId", "label", "name", "command", "title",
     "message", "previousResultId")
)  # fmt: skip
_NUMBERS = frozenset(("line", "character", "version", "tabSize"))
_FLAGS = frozenset(("includeDeclaration", "insertSpaces"))
_ANYTHING = frozenset(("data", "arguments", "settings"))
_DEEPEST = 20

CUSTOM: dict[str, dict[str, type | tuple[type, ...]]] = {
    "onnxtext/fromBinary": {"uri": str},
    "onnxtext/toBinary": {
        "text": str,
        "original": str,
        "target": (str, type(None)),
        "digest": (str, type(None)),
    },
    "onnxtext/convert": {"uri": str, "target": str, "direction": str, "force": (bool, type(None))},
    "onnxtext/verify": {"uri": str},
    "onnxtext/checked": {"uri": str},
    "onnxtext/graph": {
        "uri": str,
        "opened": (list, type(None)),
        "closed": (list, type(None)),
        "position": (dict, type(None)),
    },
    "onnxtext/graphPlace": {"uri": str, "position": (dict, type(None)), "id": (str, type(None))},
    "onnxtext/graphNode": {"uri": str, "id": str},
    "onnxtext/graphCompare": {"uri": str, "against": (str, type(None))},
    "onnxtext/graphFind": {"uri": str, "words": str},
}
"""The parameters of custom requests; a parameter that may be None may be missing."""


def check_types(params: Any, depth: int = 0) -> None:
    """Check the types of parameters whose names have a fixed type in the protocol, such as `uri`.

    Nested parameters are checked, too; `depth` counts the levels. pygls would convert wrong types
    without an error.

    Raises:
        TypeError: a parameter has the wrong type.
    """
    if isinstance(params, list) and depth < _DEEPEST:
        for item in params:
            check_types(item, depth + 1)
    elif isinstance(params, dict) and depth < _DEEPEST:
        for key, value in params.items():
            if key in _ANYTHING:
                continue
            if key in _STRINGS and not isinstance(value, str):
                raise TypeError(key)
            is_number = isinstance(value, int) and not isinstance(value, bool)
            if key in _NUMBERS and value is not None and not is_number:
                raise TypeError(key)
            if key in _FLAGS and not isinstance(value, bool):
                raise TypeError(key)
            check_types(value, depth + 1)


def check_custom(fields: dict[str, type | tuple[type, ...]], params: Any) -> None:
    """Check the parameters of a custom request.

    `fields` has the types of the request's parameters, as in `CUSTOM`.

    Raises:
        TypeError: a parameter is missing or has the wrong type.
    """
    if not isinstance(params, dict):
        raise TypeError("params")
    for key, kind in fields.items():
        if not isinstance(params.get(key), kind):
            raise TypeError(key)


def data_entry(data: Any, name: str) -> Any:
    """Return an entry of an item's `data`, which the server set and the editor sent back.

    Return None if it is missing.
    """
    return data.get(name) if isinstance(data, dict) else getattr(data, name, None)


Field = TypeVar("Field", str, int)


def data_field(data: Any, name: str, default: Field) -> Field:
    """Return an entry of `data`; return `default` if it is missing or its type differs."""
    value = data_entry(data, name)
    return value if isinstance(value, type(default)) else default
