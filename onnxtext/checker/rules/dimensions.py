# SPDX-License-Identifier: Apache-2.0
"""Symbolic dimensions.

What: a dimension's name stands for one size in the whole model.
Why: readers take equal names for equal sizes.
Fix: give one of them another name, or correct the size.
"""

from __future__ import annotations

from collections.abc import Iterator

from onnxtext.ast.types import Dim, SparseTensorType, TensorType, Type
from onnxtext.checker.finding import Finding, Place, quoted
from onnxtext.checker.registry import Family, Rule
from onnxtext.checker.rules.value_infos import plain_dim
from onnxtext.checker.scopes import Scope
from onnxtext.checker.subject import Subject


def check(subject: Subject) -> Iterator[Finding]:
    """Find names of dimensions that would have to be two numbers."""
    sizes: dict[str, dict[int, Place]] = {}
    for scope in subject.scopes:
        if scope.function is None:  # functions are polymorphic: another size each call
            _scope(scope, sizes)
    for name, found in sizes.items():
        if len(found) > 1:
            (one, here), (other, there), *_ = found.items()
            yield Finding(
                "dim-variable-conflict",
                f"the dimension {quoted(name)} would have to be {one} and {other}",
                (
                    there._replace(label=f"{other} here"),
                    here._replace(label=f"{one} here"),
                ),
                help="give one of them another name",
            )


def _scope(scope: Scope, sizes: dict[str, dict[int, Place]]) -> None:
    """Find what has to be equal in a graph: all declarations of a value, and inner dimensions."""
    known: dict[str, Type] = {}
    for value in (*scope.inputs, *scope.initializers, *scope.infos, *scope.outputs):
        if value.type is not None:
            typed = scope.typed_output(value.name)
            first = known.setdefault(value.name, typed[2] if typed else value.type)
            if first is not value.type:
                _unify(first, value.type, Place(value, ("type",)), sizes)
    for node in scope.nodes:
        if node.op_type in _PRODUCTS and len(node.inputs) >= 2 and not node.attributes:
            left, right = [_type(scope, known, name) for name in node.inputs[:2]]
            if left is not None and right is not None:
                place = Place(node, ("op_type",))
                _equal(_inner(left), _inner(right, right=True), place, sizes)


_PRODUCTS = frozenset({"MatMul", "Gemm"})


def _type(scope: Scope, known: dict[str, Type], name: str) -> Type | None:
    found = known.get(name)
    if found is None:
        typed = scope.typed_output(name)
        found = typed[2] if typed is not None else None
    return found


def _unify(left: Type, right: Type, place: Place, sizes: dict[str, dict[int, Place]]) -> None:
    if not isinstance(left, (TensorType, SparseTensorType)) or not left.shape:
        return
    if not isinstance(right, (TensorType, SparseTensorType)) or not right.shape:
        return
    if len(left.shape) == len(right.shape):
        for one, other in zip(left.shape, right.shape, strict=True):
            _equal(one, other, place, sizes)


def _inner(type: Type, *, right: bool = False) -> Dim:
    shape = getattr(type, "shape", None)
    if not shape:
        return None
    dim: Dim = shape[-2] if right and len(shape) > 1 else shape[-1]
    return dim


def _equal(one: Dim, other: Dim, place: Place, sizes: dict[str, dict[int, Place]]) -> None:
    one, other = plain_dim(one), plain_dim(other)
    for name, size in ((one, other), (other, one)):
        if isinstance(name, str) and name and isinstance(size, int) and size >= 0:
            sizes.setdefault(name, {}).setdefault(size, place)


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
