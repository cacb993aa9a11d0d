# SPDX-License-Identifier: Apache-2.0
"""Parse texts with both cores and compare the results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from onnxtext.select_core import Core, core
from onnxtext.source import Source
from onnxtext.syntax import parse
from onnxtext.syntax.actions import section_binding
from onnxtext.syntax.parse import parse_partial
from tests.running import using


def outcome(text: str, start: str, by: Core) -> Any:
    """Return the AST or its valid part, the offsets of its statements, and the diagnostics."""
    with using(by, parse, section_binding):
        result, diagnostics = parse_partial(Source(text), start)
    return result, list(places(result)), diagnostics


def places(item: Any) -> Iterator[int]:
    """Yield the offsets of all statements in a fixed order."""
    if isinstance(item, (list, tuple)):
        for inner in item:
            yield from places(inner)
    elif is_dataclass(item):
        if hasattr(item, "at"):
            yield item.at
        for field in fields(item):
            yield from places(getattr(item, field.name))


def assert_same_in_both(text: str, start: str = "model") -> Any:
    """Return the result of parsing a text, which must be the same with both cores."""
    expected = outcome(text, start, "python")
    if core() == "native":
        assert outcome(text, start, "native") == expected
    return expected
