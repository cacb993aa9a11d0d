# SPDX-License-Identifier: Apache-2.0
"""Check the pattern of `RegexFullMatch`, which must have the syntax of the library RE2.

Python parses the pattern, but its syntax differs from RE2's. Only errors that RE2 has, too, are
reported, and constructs of Python's syntax that RE2 lacks.
"""

from __future__ import annotations

import re
import warnings

from onnxtext.checker.symbolic.operator_call import OperatorCall


def check_pattern(call: OperatorCall) -> None:
    """Require the `pattern` of `RegexFullMatch`, and that it is a valid regular expression.

    onnx's schema does not mark the attribute as required.
    """
    pattern = call.attribute("pattern")
    if pattern is None:
        call.reject("the attribute `pattern` is missing")
    elif isinstance(pattern, bytes) and len(pattern) <= _LONGEST and rb"\Q" not in pattern:
        problem = _syntax_error(pattern.decode("utf-8", "replace"))
        if problem is not None:
            call.reject(f"`pattern` is not a valid regular expression: {problem}")
        elif _BEYOND_RE2.search(_OPAQUE.sub(b" ", pattern)):
            problem = "onnxruntime accepts neither lookarounds nor backreferences in `pattern`"
            call.reject(problem, specified=False)


_LONGEST = 1000
"""The maximum size of a pattern that is checked: Python may need long for longer patterns."""
_COMMON = re.compile(
    "missing [)], unterminated subpattern|unbalanced parenthesis|unterminated character set"
    "|min repeat greater than max repeat|bad character range"
)
"""Matches Python's messages about errors that are errors in RE2, too."""
_OPAQUE = re.compile(rb"\\[^1-9]|\[\^?\]?(?:\\.|[^\]\\])*\]")
"""Matches escaped characters and sets of characters, which contain no groups."""
_BEYOND_RE2 = re.compile(rb"\(\?<?[=!]|\\[1-9]")
"""Matches lookarounds and backreferences, which RE2 does not have."""


def _syntax_error(pattern: str) -> str | None:
    """Return Python's message about an error that RE2 reports, too; None if there is none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            re.compile(pattern)
        except re.error as error:
            return error.msg if _COMMON.match(error.msg) else None
        except (OverflowError, RecursionError):
            pass
    return None
