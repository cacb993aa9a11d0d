# SPDX-License-Identifier: Apache-2.0
"""Rules for the definitions of the model's functions; for calls see `function_calls`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from onnxtext.ast.model import Function, Node
from onnxtext.ast.qualified_names import plain_domain
from onnxtext.ast.tensors_and_attributes import Attribute
from onnxtext.checker.context.checked_model import (
    CheckedModel,
    FunctionKey,
    function_key,
    operator_key,
)
from onnxtext.checker.context.directed_graphs import cyclic_groups, one_cycle
from onnxtext.checker.context.finding import Finding, Place, chain_of, quote
from onnxtext.checker.context.operator_resolution import resolve_targets
from onnxtext.checker.context.registry import Rule
from onnxtext.checker.context.scopes import Scope
from onnxtext.checker.context.signatures import Signature
from onnxtext.plurals import count_noun


def check(subject: CheckedModel) -> Iterator[Finding]:
    """Check the definitions of functions."""
    bodies = [(s, s.function) for s in subject.scopes if s.kind == "function" and s.function]
    if not bodies:
        return
    yield from _keys(subject, bodies)
    for scope, function in bodies:
        yield from _parameters(scope, function)
    yield from _recursion(subject)
    yield from _conflicts(subject)
    if subject.model is not None:
        yield from _usage(subject, bodies)


def _keys(subject: CheckedModel, bodies: list[tuple[Scope, Function]]) -> Iterator[Finding]:
    by_key: dict[tuple[str, ...], Scope] = {}
    for scope, function in bodies:
        place = Place(scope.original, ("name",))
        if not function.name:
            yield Finding(
                "function-name-missing",
                "the function has no name",
                (place,),
                help="name the function: nodes call it by its name",
            )
        if function.domain is None and subject.model is not None:  # "" is the standard domain
            yield Finding(
                "function-domain-missing",
                f"the function {quote(function.name)} has no domain",
                (place,),
                help='add a domain: `<domain: "my.ops", …>`',
            )
        key: tuple[str, ...] = function_key(function)
        if 0 < subject.ir_version < 10:
            key = key[:2]
        first = by_key.setdefault(key, scope)
        if first is not scope:
            message = f"there are two functions {quote('.'.join(filter(None, key[:2])))}"
            help = "rename one of them"
            if len(key) == 2:
                help += ", or give it an overload (IR version 10)"
            elif key[2]:
                message += f", overload {quote(key[2])}"
            earlier = Place(first.original, ("name",), "first occurrence")
            yield Finding("function-duplicate", message, (place, earlier), help)


def _parameters(scope: Scope, function: Function) -> Iterator[Finding]:
    seen: set[str] = set()
    for index, item in enumerate(function.attributes):
        name = item.name if isinstance(item, Attribute) else item
        if name in seen:
            yield Finding(
                "function-attribute-duplicate",
                f"the function {quote(function.name)} has two attributes {quote(name)}",
                (Place(scope.original, ("attributes", index)),),
                help="remove one of them",
            )
        seen.add(name)


def _calls(subject: CheckedModel) -> dict[FunctionKey, dict[FunctionKey, Node]]:
    """Map each function to its callees, and each callee to the first node that calls it."""
    calls: dict[FunctionKey, dict[FunctionKey, Node]] = {key: {} for key in subject.functions}
    for scope in subject.scopes:
        if scope.function is None:
            continue
        key = function_key(scope.function)
        for node in scope.nodes:
            called = operator_key(node)
            if called in subject.functions:
                calls[key].setdefault(called, node)
    return calls


def _recursion(subject: CheckedModel) -> Iterator[Finding]:
    """Report one cycle of each group of functions that call each other."""
    calls = _calls(subject)
    keys = list(calls)
    index = {key: i for i, key in enumerate(keys)}
    callers: list[list[int]] = [[] for _ in keys]
    for caller, called in calls.items():
        for callee in called:
            callers[index[callee]].append(index[caller])
    for group in cyclic_groups(callers):
        cycle = one_cycle(group, callers, keys)
        path = [keys[i] for i in (*cycle, cycle[0])]
        nodes = [calls[caller][callee] for caller, callee in pairwise(path)]
        kind = "recursive function" if len(cycle) == 1 else "recursive functions"
        message = f"{kind}: {chain_of([name for _, name, _ in path])}"
        calling = [Place(node, ("op_type",), "calls the next function") for node in nodes]
        places = (Place(subject.functions[path[0]].original, ("name",)), *calling)
        help = "remove a call from the cycle: functions are inlined, so they cannot be recursive"
        yield Finding("function-recursive", message, places, help)


def _conflicts(subject: CheckedModel) -> Iterator[Finding]:
    """Find operators that differ between the versions that the model and its functions import."""
    resolved = resolve_targets(subject)
    function_scopes = [
        (scope, scope.function, scope.opsets)
        for scope in subject.scopes
        if scope.function is not None and scope.opsets is not None
    ]
    imports: dict[str, tuple[int, Scope]] = {}  # the first import of each domain
    if subject.main is not None and subject.main.opsets is not None:
        imports = {d: (v, subject.main) for d, v in subject.main.opsets.items()}
    for scope, _, versions in function_scopes:
        for domain, version in versions.items():
            imports.setdefault(domain, (version, scope))
    found: dict[tuple[int, str], tuple[str, dict[str, Place]]] = {}
    for scope, function, versions in function_scopes:
        for node, target in zip(scope.nodes, resolved[id(scope)], strict=True):
            domain = plain_domain(node.domain)
            if type(target) is Scope or domain not in versions:
                continue
            own_version, (version, importer) = versions[domain], imports[domain]
            if version == own_version or min(version, own_version) < 1:
                continue
            other = subject.schemas.find(domain, node.op_type, version)
            function_since = target.since if type(target) is Signature else None
            model_since = other.since if other is not None else None
            if function_since != model_since:
                own = f"version {own_version}, which the function {quote(function.name)} imports"
                others = f"version {version}, which {importer.describe()} imports"
                _, places = found.setdefault(
                    (id(function), domain), (f"between {own}, and {others}", {})
                )
                places.setdefault(node.op_type, Place(node, ("op_type",)))
    for versions_text, places in found.values():
        names = sorted(places)
        differ = f"`{names[0]}` differs"
        if len(names) > 1:
            differ = f"`{names[0]}` and {count_noun(len(names) - 1, 'other operator')} differ"
        yield Finding(
            "function-opset-conflict",
            f"{differ} {versions_text}",
            tuple([places[name] for name in names]),
            help="import the same version in both",
        )


def _usage(subject: CheckedModel, bodies: list[tuple[Scope, Function]]) -> Iterator[Finding]:
    called_keys: set[FunctionKey] = set()
    if subject.active("function-unused"):
        called_keys = {operator_key(node) for _, node in subject.nodes()}
    for scope, function in bodies:
        key = function_key(function)
        place = Place(scope.original, ("name",))
        if subject.schemas.knows(key[0]) and subject.schemas.history(key[0], key[1]):
            yield Finding(
                "function-shadows-operator",
                f"the function {quote(key[1])} has the name of a standard operator",
                (place,),
                help="rename the function, unless it is meant to replace the operator",
            )
        if key not in called_keys:
            message = f"no node calls the function {quote(key[1])}"
            yield Finding("function-unused", message, (place,), help="remove it")


RULES = (
    Rule("function-name-missing"),
    Rule("function-domain-missing"),
    Rule("function-duplicate"),
    Rule("function-attribute-duplicate"),
    Rule("function-recursive"),
    Rule("function-opset-conflict"),
    Rule("function-shadows-operator", level="info"),
    Rule("function-unused", level="lint", needs_valid_syntax=True),
)
