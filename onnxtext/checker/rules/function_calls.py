# SPDX-License-Identifier: Apache-2.0
"""Rules for calls of the model's own functions.

A runtime replaces a call by the function's body.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from onnxtext.ast.model import Node
from onnxtext.ast.qualified_names import plain_domain
from onnxtext.ast.tensors_and_attributes import Attribute, Reference
from onnxtext.checker.context.checked_model import CheckedModel
from onnxtext.checker.context.finding import Finding, Place, did_you_mean, quote
from onnxtext.checker.context.operator_resolution import resolve_targets
from onnxtext.checker.context.registry import Rule
from onnxtext.checker.context.scopes import Scope
from onnxtext.checker.inference.function_needs import FunctionNeeds, float_for_int
from onnxtext.checker.rules.node_attributes import EXAMPLES, rename_repair
from onnxtext.plurals import count_noun

_MOST = 20
"""Maximum number of overloads in a note, and of missing inputs and attributes that are reported."""


def check(subject: CheckedModel) -> Iterator[Finding]:
    """Compare calls with the called functions, and find calls of overloads that do not exist.

    Also find attribute parameters that a function body uses with two types.
    """
    if not subject.functions:
        return
    resolved = resolve_targets(subject)
    needs = FunctionNeeds(subject)
    yield from _conflicts(subject, needs)
    by_name: dict[tuple[str, str], list[str]] = {}
    for domain, name, overload in sorted(subject.functions):
        by_name.setdefault((domain, name), []).append(overload)
    for scope in subject.scopes:
        for node, target in zip(scope.nodes, resolved[id(scope)], strict=True):
            if type(target) is Scope:
                yield from _call(subject, node, target, needs)
            elif target is None or node.overload:
                overloads = by_name.get((plain_domain(node.domain), node.op_type))
                if overloads is not None:
                    yield _no_overload(subject, node, overloads)


def _conflicts(subject: CheckedModel, needs: FunctionNeeds) -> Iterator[Finding]:
    """Find attribute parameters that a function body uses with two different types."""
    declared = {
        (id(scope.function), item.name)
        for scope in subject.functions.values()
        for item in (scope.function.attributes if scope.function else ())
        if isinstance(item, Attribute) and item.type is not None
    }
    for (function, _, name), (first, second) in needs.conflicts.items():
        if (function, name) in declared:
            continue  # `rules.attributes` compares each use with the declared type
        left, right = first.type.name.lower(), second.type.name.lower()
        yield Finding(
            "attribute-ref-unknown",
            f"the parameter {quote(name)} is used as `{right}` here, but as `{left}` elsewhere",
            (second.place, first.place._replace(label=f"used as `{left}`")),
            help="replace it by two parameters, one for each type",
        )


def _no_overload(subject: CheckedModel, node: Node, overloads: list[str]) -> Finding:
    shown = [quote(name) if name else "an unnamed overload" for name in overloads[:_MOST]]
    ending = f" and {len(overloads) - _MOST} more" if len(overloads) > _MOST else ""
    listing = ", ".join(shown) + ending
    lacks = "has no unnamed overload"
    if node.overload:
        lacks = f"does not have the overload {quote(node.overload)}"
    message = f"the function {quote(node.op_type)} {lacks}"
    help = "call an overload that exists, or define this overload"
    help = did_you_mean(subject.nearest(node.overload or "", overloads), help)
    places, notes = (Place(node, ("op_type",)),), (f"its overloads: {listing}",)
    return Finding("function-overload-unknown", message, places, help, notes)


def _call(
    subject: CheckedModel, node: Node, function: Scope, needs: FunctionNeeds
) -> Iterator[Finding]:
    definition = Place(function.original, ("name",), "defined here")
    for kind, actual, formal in (
        ("input", node.inputs, function.inputs),
        ("output", node.outputs, function.outputs),
    ):
        extra = len(actual) - len(formal)
        if extra > 0:
            has = f"the function {quote(function.name)} has {len(formal)}"
            message = f"the call has {count_noun(len(actual), kind)}, but {has}"
            places = (Place(node, (f"{kind}s", len(formal))), definition)
            remove = f"remove {count_noun(extra, f'extra {kind}')} from the call"
            help = f"{remove}, or add {count_noun(extra, kind)} to the function"
            yield Finding("function-call-arity", message, places, help)
    lacking = (
        name
        for index, name in needs.interface(function).inputs
        if index >= len(node.inputs) or not node.inputs[index]
    )
    places = (Place(node, ("op_type",)), definition)
    for name in islice(lacking, _MOST):
        message = f"the call lacks the input {quote(name)} of the function {quote(function.name)}"
        yield Finding("function-call-arity", message, places, f"pass a value for {quote(name)}")
    yield from _attributes(subject, node, function, definition, needs)


def _attributes(
    subject: CheckedModel, node: Node, function: Scope, definition: Place, needs: FunctionNeeds
) -> Iterator[Finding]:
    parameters, _, needed = needs.interface(function)
    present: set[str | None] = {attribute.name for attribute in node.attributes}
    for index, attribute in enumerate(node.attributes):
        place = Place(node, ("attributes", index))
        if attribute.name not in parameters:
            free = (name for name in parameters if name not in present)
            suggestion = subject.nearest(attribute.name, free)
            present.add(suggestion)  # a misspelled attribute is not reported as missing, too
            yield Finding(
                "function-call-attribute",
                f"the function {quote(function.name)} has no attribute {quote(attribute.name)}",
                (place, definition),
                help=did_you_mean(
                    suggestion,
                    "remove the attribute, or add it to the attribute parameters of the function",
                ),
                severity="info" if attribute.name.startswith("__") else None,
                repair=rename_repair(node, attribute.name, suggestion),
            )
        else:
            yield from _mistyped(node, index, function, definition, needs)
    for name in islice((name for name in needed if name not in present), _MOST):
        yield Finding(
            "function-call-attribute",
            f"the function {quote(function.name)} requires the attribute {quote(name)}",
            (Place(node, ("op_type",)), definition),
            help="add the attribute to the call, or give the parameter a default",
        )


def _mistyped(
    node: Node, index: int, function: Scope, definition: Place, needs: FunctionNeeds
) -> Iterator[Finding]:
    """Report a call's attribute whose type differs from the type in the function.

    If the function declares no type, use the type that the function body requires. `definition` is
    the place of the function.
    """
    attribute = node.attributes[index]
    formal = needs.interface(function).parameters[attribute.name]
    declared = None if formal is None else formal.type
    used = needs.type(function, attribute.name) if declared is None else None
    expected = declared if used is None else used.type
    if expected is None or attribute.type is None or attribute.type == expected:
        return
    type, actual = expected.name.lower(), attribute.type.name.lower()
    subject = f"the attribute {quote(attribute.name)} of {quote(function.name)}"
    must = "must have the type" if used is None else "is used as"
    place = Place(node, ("attributes", index, "value"))
    others = [definition]
    if used is not None:
        others = [used.place._replace(label=f"used as `{type}` here")]
    help = f"write a value of type `{type}`{EXAMPLES.get(type, '')}"
    if isinstance(attribute.value, Reference):
        help = f"refer to a parameter of type `{type}`"
    yield Finding(
        "function-call-attribute",
        f"{subject} {must} `{type}`, but has the type `{actual}`",
        (place, *others),
        help=help,
        repair=float_for_int(node, attribute, expected),
    )


RULES = (
    Rule("function-call-arity"),
    Rule("function-call-attribute"),
    Rule("function-overload-unknown"),
)
