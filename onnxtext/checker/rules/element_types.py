# SPDX-License-Identifier: Apache-2.0
"""Types of values and what operators take.

What: inputs are of types that the operator takes; where it wants several of one type, they are;
what is declared is what is computed.
Why: no runtime has another operator.
Fix: insert a `Cast`, or correct the declaration.
"""

from __future__ import annotations

from collections.abc import Iterator

from onnxtext.checker.finding import Finding
from onnxtext.checker.inference import TypeInference
from onnxtext.checker.kinds import fits_by_kind
from onnxtext.checker.registry import Family, Rule
from onnxtext.checker.subject import Subject


def check(subject: Subject) -> Iterator[Finding]:
    """Find values whose types do not fit."""
    if not fits_by_kind(subject):
        yield from TypeInference.of(subject).findings


FAMILY = Family(
    check,
    (
        Rule(
            "type-mismatch",
            "error",
            "types satisfy the operator's constraints, one binding a type variable",
            "IR Nodes, schema",
        ),
    ),
)
