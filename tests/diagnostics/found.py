# SPDX-License-Identifier: Apache-2.0
"""Find the errors of a text."""

from __future__ import annotations

import onnxtext
from onnxtext.diagnostics import Diagnostic
from onnxtext.source import Source
from onnxtext.syntax.parse import parse_partial


def errors(text: str) -> list[Diagnostic]:
    """Return the errors that `onnxtext check` finds in a text."""
    return [item for item in onnxtext.check(text) if item.severity == "error"]


def syntax_errors(text: str) -> list[Diagnostic]:
    """Return the syntax errors of a model."""
    return list(parse_partial(Source(text, "t"), "model")[1])
