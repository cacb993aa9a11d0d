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
from onnxtext.ast.values import Attribute, Reference
from onnxtext.checker.finding import Finding, Place, Repair, counted, quoted
from onnxtext.checker.near import nearest
from onnxtext.checker.registry import Family, Rule
from onnxtext.checker.scopes import Scope
from onnxtext.checker.signatures import Signature
from onnxtext.checker.subject import Subject, plain_domain
from onnxtext.checker.targets import targets


def check(subject: Subject) -> Iterator[Finding]:
    """Find calls that do not fit the functions they call."""
    if not subject.functions:
        return
    resolved = targets(subject)
    needs = _Needs(subject, resolved)
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


class _Needs:
    """What the bodies of functions cannot do without."""

    def __init__(
        self, subject: Subject, resolved: dict[int, list[Signature | Scope | None]]
    ) -> None:
        self._resolved = resolved
        self._inputs: dict[int, set[str]] = {}
        self._attributes: dict[int, set[str]] = {}
        self._by_function: dict[int, list[Scope]] = {}
        for scope in subject.scopes:
            if scope.function is not None:
                self._by_function.setdefault(id(scope.function), []).append(scope)

    def inputs(self, function: Scope) -> set[str]:
        """The inputs that some node of the body uses where it needs one."""
        known = self._inputs.get(id(function))
        if known is None:
            known = self._inputs[id(function)] = set()
            for scope in self._by_function.get(id(function.function), ()):
                for node, target in zip(scope.nodes, self._resolved[id(scope)], strict=True):
                    if type(target) is Signature:
                        for index, name in enumerate(node.inputs):
                            formal = target.input(index)
                            if formal is not None and formal.option == "single":
                                known.add(name)
        return known

    def attributes(self, function: Scope) -> set[str]:
        """The attribute parameters that the body passes on where an attribute is required."""
        known = self._attributes.get(id(function))
        if known is None:
            known = self._attributes[id(function)] = set()
            for scope in self._by_function.get(id(function.function), ()):
                for node, target in zip(scope.nodes, self._resolved[id(scope)], strict=True):
                    if type(target) is Signature:
                        for attribute in node.attributes:
                            formal = target.attributes.get(attribute.name)
                            if (
                                isinstance(attribute.value, Reference)
                                and formal
                                and formal.required
                            ):
                                known.add(attribute.value.name)
        return known


def _call(node: Node, function: Scope, needs: _Needs) -> Iterator[Finding]:
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
    yield from _attributes(node, owner, definition, needs.attributes(function))


def _attributes(
    node: Node, function: Function, definition: Place, needed: set[str]
) -> Iterator[Finding]:
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
        elif (
            isinstance(formal, Attribute)
            and formal.type is not None
            and attribute.type is not None
            and formal.type != attribute.type
        ):
            yield Finding(
                "function-call-attribute",
                f"the attribute {quoted(attribute.name)} of {quoted(function.name)} is of type "
                f"`{formal.type.name.lower()}`, not `{attribute.type.name.lower()}`",
                (place, definition),
                help=f"write a value of type `{formal.type.name.lower()}`",
            )
    for name, formal in parameters.items():
        has_default = isinstance(formal, Attribute) and formal.value is not None
        if name in needed and name not in given and not has_default:
            yield Finding(
                "function-call-attribute",
                f"the function {quoted(function.name)} needs its attribute {quoted(name)}",
                (Place(node, ("op_type",)), definition),
                help="give the call that attribute, or give the parameter a default",
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
