# SPDX-License-Identifier: Apache-2.0
"""Symbolic dimensions.

What: a dimension's name stands for one size in the whole model; what the operators need to be equal
can be equal.
Why: readers take equal names for equal sizes, and no input has two.
Fix: give one of them another name, or correct the size.

Sizes are unknowns: every operator adds equations between them, and a name that would have to be two
numbers is told with the two places that say so.
"""

from __future__ import annotations

from collections.abc import Iterator

from onnxtext.ast.types import SparseTensorType, TensorType
from onnxtext.checker.finding import Finding, quoted
from onnxtext.checker.kinds import sizes_fit_by_kind
from onnxtext.checker.registry import Family, Rule
from onnxtext.checker.rules.value_infos import plain_dim
from onnxtext.checker.subject import Subject
from onnxtext.checker.symbolic.propagation import SymbolicShapes
from onnxtext.checker.symbolic.sizes import Conflict, symbol
from onnxtext.checker.walk import inner_types, type_uses


def check(subject: Subject) -> Iterator[Finding]:
    """Find names of dimensions that would have to be two numbers."""
    if any(finding.slug == "function-recursive" for finding in subject.found):
        return
    if not _has_symbols(subject) or sizes_fit_by_kind(subject):
        return
    for conflict in SymbolicShapes(subject).run():
        yield _told(conflict)


def _has_symbols(subject: Subject) -> bool:
    return any(
        isinstance(plain_dim(dim), str)
        for use in type_uses(subject)
        for type in inner_types(use.type)
        if isinstance(type, (TensorType, SparseTensorType))
        for dim in type.shape or ()
    )


def _told(conflict: Conflict) -> Finding:
    one, other = conflict.sizes
    name = symbol(conflict.name)
    before, now = conflict.places
    return Finding(
        "dim-variable-conflict",
        f"the dimension {quoted(name)} would have to be {one} and {other}",
        (
            now._replace(label=f"{quoted(name)} is {other} here"),
            before._replace(label=f"{quoted(name)} is {one} here"),
            *[place._replace(label="where sizes are equal") for place in conflict.joined],
        ),
        help="give one of them another name, or correct the size",
    )


FAMILY = Family(
    check,
    (
        Rule(
            "dim-variable-conflict",
            "warning",
            "a dimension's name stands for one size in the whole model",
            "IR Static shapes",
        ),
    ),
)
