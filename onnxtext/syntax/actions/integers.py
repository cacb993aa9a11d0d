# SPDX-License-Identifier: Apache-2.0
"""Parse integers within protobuf's ranges."""

from __future__ import annotations

from onnxtext.syntax.actions.semantic_error import SemanticError

INT64_MIN = -(1 << 63)
INT64_MAX = (1 << 63) - 1
_MAX_DIGITS = 4000  # int() raises for more than 4300 digits, and no int64 is that long


def int64(text: str) -> int:
    """Return the value of a decimal integer literal.

    Raises:
        SemanticError: the integer does not fit in an int64.
    """
    if len(text) < _MAX_DIGITS:
        value = int(text)
        if INT64_MIN <= value <= INT64_MAX:
            return value
    raise SemanticError(
        "the integer does not fit in 64 bits",
        token=text,
        help=f"it must be between {INT64_MIN} and {INT64_MAX}",
        code="integer-out-of-range",
    )


def field_number(text: str) -> int:
    """Return the value of a protobuf field number; accept 0, which unknown groups may have.

    Raises:
        SemanticError: the number is not between 0 and 2**29 - 1.
    """
    if len(text) < 12 and 0 <= int(text) < 1 << 29:
        return int(text)
    raise SemanticError("a field number must be between 1 and 536870911", token=text)
