# SPDX-License-Identifier: Apache-2.0
"""Find the errors of a text, and what they must have."""

from __future__ import annotations

import onnxtext
from onnxtext.diagnostics import Diagnostic, Fix
from onnxtext.source import Source
from onnxtext.syntax.parse import parse_partial


def errors(text: str) -> list[Diagnostic]:
    """Return the errors that `onnxtext check` finds in a text."""
    return [item for item in onnxtext.check(text) if item.severity == "error"]


def syntax_errors(text: str) -> list[Diagnostic]:
    """Return the syntax errors of a model."""
    return list(parse_partial(Source(text, "t"), "model")[1])


def fix_of(item: Diagnostic) -> Fix:
    """Return the fix of a finding, which must have one."""
    assert item.fix is not None, item.message
    return item.fix


def help_of(item: Diagnostic) -> str:
    """Return the help of a finding, which must have one."""
    assert item.help is not None, item.message
    return item.help


def line_of(item: Diagnostic) -> int:
    """Return the line of a finding, which must have a position."""
    assert item.position is not None, item.message
    return item.position.line
