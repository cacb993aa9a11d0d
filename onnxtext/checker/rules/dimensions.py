# SPDX-License-Identifier: Apache-2.0
"""Rules for symbolic dimensions: a name has one size, and inputs are not secretly fixed.

What: a symbolic dimension has the same size everywhere in the model, and one of an input can have
more than one size.
Why: equal names mean equal sizes, and a caller may choose the size of a symbolic dimension.
Fix: rename one of the dimensions, or correct the size.

Sizes are unknowns of a system of equations, to which each operator contributes. A finding shows the
two places that need different sizes, or the node that fixes the size of an input's dimension.
"""

from __future__ import annotations

from collections.abc import Iterator

from onnxtext.ast.model import Node, ValueInfo
from onnxtext.ast.types import SparseTensorType, TensorType, Type
from onnxtext.checker.context.declarations import plain_dim
from onnxtext.checker.context.finding import Finding, Place, quoted
from onnxtext.checker.context.registry import Family, Rule
from onnxtext.checker.context.scopes import Scope
from onnxtext.checker.context.subject import Subject
from onnxtext.checker.context.walk import inner_types, type_uses
from onnxtext.checker.inference.node_kinds import sizes_fit_by_kind
from onnxtext.checker.inference.symbolic.expressions import sized
from onnxtext.checker.inference.symbolic.propagation import SymbolicShapes
from onnxtext.checker.inference.symbolic.sizes import Conflict, Forced, Sizes, symbol


def check(subject: Subject) -> Iterator[Finding]:
    """Find symbolic dimensions with contradictory sizes, and those of inputs with only one."""
    if any(finding.slug == "function-recursive" for finding in subject.found):
        return
    if not _has_symbols(subject) or sizes_fit_by_kind(subject):
        return
    shapes = SymbolicShapes(subject)
    for conflict in shapes.run():
        yield _conflict(conflict)
    if shapes.learned and subject.main is not None:
        yield from _forced(subject.main, shapes.sizes)


def _forced(main: Scope, sizes: Sizes) -> Iterator[Finding]:
    """Find symbolic dimensions of inputs that the model restricts to one size.

    Sizes that weights determine are normal. Reported are sizes that look fixed by mistake: by a
    constant shape, by a 1 in place of the batch size, by a declaration that differs from inference.
    """
    seen: set[str] = set()
    # The default of an input restricts nothing: a caller may pass another value.
    given = {id(value) for value in (*main.inputs, *main.initializers)}
    for value in main.inputs:
        for name in _symbols(value.type):
            if name in seen:
                continue
            seen.add(name)
            forced = sizes.forced(name)
            if forced is None or id(forced.place.item) in given:
                continue
            if forced.number == 1 or _is_fixed_shape(main, forced.place, name, sizes):
                yield _only(value, name, forced)


def _is_fixed_shape(main: Scope, place: Place, name: str, sizes: Sizes) -> bool:
    """Whether a constant shape fixes a size, or inference where the symbol is declared."""
    node, part = place.item, place.part
    if not isinstance(node, Node):
        return False
    if part == ("op_type",):
        return node.op_type == "Reshape"
    index = int(part[1])
    declared = [node.output_types[index]] if node.output_types else []
    values = (*main.outputs, *main.infos)
    declared += [value.type for value in values if value.name == node.outputs[index]]
    root = sizes.root(sized(name))
    return any(sizes.root(sized(symbol)) == root for type in declared for symbol in _symbols(type))


def _symbols(type: Type | None) -> list[str]:
    shape = type.shape if isinstance(type, TensorType) else None
    return [name for name in map(plain_dim, shape or ()) if isinstance(name, str) and name]


def _only(value: ValueInfo, name: str, forced: Forced) -> Finding:
    item, part = forced.place.item, forced.place.part
    size = f"{quoted(name)} can only be {forced.number}"
    help = f"write {forced.number} instead of {quoted(name)}"
    if isinstance(item, Node) and part == ("op_type",):
        why = f"`{item.op_type}` accepts no other size"
        other = (
            "-1 for it in the shape" if item.op_type == "Reshape" else "make the node accept any"
        )
    else:
        declared = item.outputs[int(part[1])] if isinstance(item, Node) else item.name
        why = f"the declared type of {quoted(declared)} allows no other size"
        other = f"{quoted(name)} in that type"
    return Finding(
        "dim-forced",
        f"the dimension {size}: {why}",
        (
            forced.place._replace(label=f"{size} here"),
            Place(value, ("type",), f"declared as {quoted(name)}"),
            *[place._replace(label="these sizes are equal") for place in forced.joined],
        ),
        help=f"{help}, or {other}",
    )


def _has_symbols(subject: Subject) -> bool:
    return any(
        isinstance(plain_dim(dim), str)
        for use in type_uses(subject)
        for type in inner_types(use.type)
        if isinstance(type, (TensorType, SparseTensorType))
        for dim in type.shape or ()
    )


def _conflict(conflict: Conflict) -> Finding:
    one, other = conflict.sizes
    name = symbol(conflict.name)
    before, now = conflict.places
    return Finding(
        "dim-variable-conflict",
        f"the dimension {quoted(name)} would have to be both {one} and {other}",
        (
            now._replace(label=f"{quoted(name)} is {other} here"),
            before._replace(label=f"{quoted(name)} is {one} here"),
            *[place._replace(label="these sizes are equal") for place in conflict.joined],
        ),
        help="rename one of the dimensions, or correct the size",
    )


FAMILY = Family(
    check,
    (
        Rule(
            "dim-variable-conflict",
            "warning",
            "a symbolic dimension has the same size everywhere in the model",
            "IR Static shapes",
        ),
        Rule(
            "dim-forced",
            "warning",
            "a symbolic dimension of an input can have more than one size",
            "IR Static shapes",
        ),
    ),
)
