# SPDX-License-Identifier: Apache-2.0
"""Calls of the model's functions.

What: a call names a function that exists, gives no more inputs and takes no more outputs than it
has, gives the inputs that its body cannot do without, and the attributes that have no default.
Why: the body is put in the place of the call.
Fix: give what is missing.
"""

from __future__ import annotations

from collections.abc import Iterator

from onnxtext.ast.model import Function, Node
from onnxtext.ast.values import Attribute, AttributeType, Reference
from onnxtext.checker.finding import Finding, Place, Repair, counted, quoted
from onnxtext.checker.near import nearest
from onnxtext.checker.needs import Needs, TypedUse, float_for_int
from onnxtext.checker.registry import Family, Rule
from onnxtext.checker.rules.attributes import EXAMPLES
from onnxtext.checker.scopes import Scope
from onnxtext.checker.subject import Subject, plain_domain
from onnxtext.checker.targets import targets


def check(subject: Subject) -> Iterator[Finding]:
    """Find calls that do not fit the functions they call."""
    if not subject.functions:
        return
    resolved = targets(subject)
    needs = Needs(subject)
    yield from _conflicts(subject, needs)
    by_name: dict[tuple[str, str], list[str]] = {}
    for domain, name, overload in subject.functions:
        by_name.setdefault((domain, name), []).append(overload)
    for scope in subject.scopes:
        for node, target in zip(scope.nodes, resolved[id(scope)], strict=True):
            if type(target) is Scope:
                yield from _call(node, target, needs)
            elif target is None or node.overload:
                overloads = by_name.get((plain_domain(node.domain), node.op_type))
                if overloads is not None:
                    yield _no_overload(node, overloads)


def _conflicts(subject: Subject, needs: Needs) -> Iterator[Finding]:
    """Find attribute parameters that a body uses as two types."""
    declared = {
        (id(scope.function), item.name)
        for scope in subject.functions.values()
        for item in (scope.function.attributes if scope.function else ())
        if isinstance(item, Attribute) and item.type is not None
    }
    for (function, _, name), (first, second) in needs.conflicts.items():
        if (function, name) not in declared:  # else one of them differs from the declaration
            one, other = first.type.name.lower(), second.type.name.lower()
            yield Finding(
                "attribute-ref-unknown",
                f"the parameter {quoted(name)} is used as `{other}` here, and as `{one}` elsewhere",
                (second.place, first.place._replace(label=f"used as `{one}`")),
                help="declare a parameter for each of the two",
            )


def _no_overload(node: Node, overloads: list[str]) -> Finding:
    near = nearest(node.overload or "", overloads)
    known = ", ".join(f"`{name}`" if name else "one without a name" for name in sorted(overloads))
    called = f"the overload {quoted(node.overload)}" if node.overload else "no plain overload"
    return Finding(
        "function-overload-unknown",
        f"the function {quoted(node.op_type)} has {called}" if not node.overload
        else f"the function {quoted(node.op_type)} does not have {called}",
        (Place(node, ("op_type",)),),
        help=f"there is {quoted(near)}" if near else "call one that exists, or define this one",
        notes=(f"its overloads: {known}",),
    )  # fmt: skip


def _call(node: Node, function: Scope, needs: Needs) -> Iterator[Finding]:
    owner = function.owner
    assert isinstance(owner, Function)
    definition = Place(function.place, ("name",), "defined here")
    for kind, actual, formal in (
        ("input", node.inputs, function.inputs),
        ("output", node.outputs, function.outputs),
    ):
        if len(actual) > len(formal):
            yield Finding(
                "function-call-arity",
                f"the function {quoted(owner.name)} has {counted(len(formal), kind)}, "
                f"not {len(actual)}",
                (Place(node, (f"{kind}s", len(formal))), definition),
                help=f"leave out what is behind the last {kind}, or add {kind}s to the function",
            )
    needed = needs.inputs(function)
    for index, value in enumerate(function.inputs):
        given = index < len(node.inputs) and node.inputs[index]
        if not given and value.name in needed:
            yield Finding(
                "function-call-arity",
                f"the function {quoted(owner.name)} needs its input {quoted(value.name)}",
                (Place(node, ("op_type",)), definition),
                help="give the call that input",
            )
    yield from _attributes(node, owner, definition, needs, function)


def _attributes(
    node: Node, function: Function, definition: Place, needs: Needs, scope: Scope
) -> Iterator[Finding]:
    needed = needs.attributes(scope)
    if not node.attributes and not needed:
        return
    parameters = {
        item if isinstance(item, str) else item.name: item for item in function.attributes
    }
    given = set()
    for index, attribute in enumerate(node.attributes):
        given.add(attribute.name)
        formal = parameters.get(attribute.name)
        place = Place(node, ("attributes", index))
        if formal is None:
            near = nearest(attribute.name, parameters)
            yield Finding(
                "function-call-attribute",
                f"the function {quoted(function.name)} has no attribute {quoted(attribute.name)}",
                (place, definition),
                help=f"there is {quoted(near)}"
                if near
                else "remove it, or add it to the attribute parameters of the function",
                severity="info" if attribute.name.startswith("__") else None,
                repair=Repair("respell", node, (attribute.name, near)) if near else None,
            )
        else:
            declared = formal.type if isinstance(formal, Attribute) else None
            used = needs.type(scope, attribute.name) if declared is None else None
            finding = _mistyped(node, index, function, definition, declared, used)
            if finding is not None:
                yield finding
    for name, formal in parameters.items():
        has_default = isinstance(formal, Attribute) and formal.value is not None
        if name in needed and name not in given and not has_default:
            yield Finding(
                "function-call-attribute",
                f"the function {quoted(function.name)} needs its attribute {quoted(name)}",
                (Place(node, ("op_type",)), definition),
                help="give the call that attribute, or give the parameter a default",
            )


def _mistyped(
    node: Node,
    index: int,
    function: Function,
    definition: Place,
    declared: AttributeType | None,
    used: TypedUse | None,
) -> Finding | None:
    """An attribute of a call that has not the type of the default, or that the body needs."""
    attribute = node.attributes[index]
    wanted = declared or (used.type if used is not None else None)
    if wanted is None or attribute.type is None or attribute.type == wanted:
        return None
    type, given = wanted.name.lower(), attribute.type.name.lower()
    what = f"the attribute {quoted(attribute.name)} of {quoted(function.name)}"
    said = "is of type" if used is None else "is used as"
    place = Place(node, ("attributes", index, "value"))
    others = [definition]
    if used is not None:
        others = [used.place._replace(label=f"used as `{type}` here")]
    return Finding(
        "function-call-attribute",
        f"{what} {said} `{type}`, not `{given}`",
        (place, *others),
        help=f"refer to a parameter of type `{type}`"
        if isinstance(attribute.value, Reference)
        else f"write a value of type `{type}`{EXAMPLES.get(type, '')}",
        repair=float_for_int(node, attribute, wanted),
    )


FAMILY = Family(
    check,
    (
        Rule(
            "function-call-arity",
            "error",
            "calls fit the inputs and outputs of a function",
            "IR Functions",
        ),
        Rule(
            "function-call-attribute",
            "error",
            "calls fit the attributes of a function",
            "IR Functions",
        ),
        Rule(
            "function-overload-unknown",
            "error",
            "the overload that is called exists",
            "IR Functions",
        ),
    ),
)
