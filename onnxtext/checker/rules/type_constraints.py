# SPDX-License-Identifier: Apache-2.0
"""Rule that checks value types against the type constraints of the operators."""

from __future__ import annotations

from collections.abc import Iterator

from onnxtext.checker.context.checked_model import CheckedModel
from onnxtext.checker.context.finding import Finding
from onnxtext.checker.context.registry import Rule
from onnxtext.checker.inference.check_by_kind import fits_by_kind
from onnxtext.checker.inference.element_types import TypeInference


def check(subject: CheckedModel) -> Iterator[Finding]:
    """Find values whose types violate a constraint of an operator."""
    if not fits_by_kind(subject):
        yield from TypeInference.of(subject).findings


RULES = (Rule("type-mismatch"),)
