# SPDX-License-Identifier: Apache-2.0
"""Rules for uses of values: undefined names, node order, cycles, undefined outputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from onnxtext.ast.model import Node
from onnxtext.checker.context.checked_model import CheckedModel
from onnxtext.checker.context.directed_graphs import cyclic_groups, one_cycle
from onnxtext.checker.context.finding import (
    Finding,
    Place,
    Repair,
    chain_of,
    did_you_mean,
    quote,
    respelling,
)
from onnxtext.checker.context.registry import Rule
from onnxtext.checker.context.scopes import GIVEN, Scope
from onnxtext.diagnostics import Subject
from onnxtext.plurals import count_noun
from onnxtext.suggestions import is_clear_correction

Use = tuple[int, int]
"""A use of a value by a node: (index of the node, index of the input)."""


class NestedUse(NamedTuple):
    """The uses of a value in a nested graph, before an outer graph defines the value.

    Attributes:
        holder: the 0-based index, in the outer graph, of the node that contains the nested graph.
        places: the node inputs in the nested graph that use the value.
    """

    holder: int
    name: str
    scope: Scope
    places: list[Place]


def check(subject: CheckedModel) -> Iterator[Finding]:
    """Find undefined values and outputs, uses of values before their definition, and cycles."""
    nested: dict[int, list[NestedUse]] = {}
    undefined: dict[int, list[Finding]] = {}
    # Maps (id of an outermost scope, undefined name) to the first finding, as (list, index). Later
    # findings with the same key are merged into it, if possible.
    first: dict[tuple[int, str], tuple[list[Finding], int]] = {}
    for scope in subject.scopes:
        if not scope.unresolved:
            continue
        reported = undefined[id(scope)] = []
        for name, finding in _undefined(subject, scope, nested):
            key = id(scope.outermost), name
            findings, index = first.setdefault(key, (reported, len(reported)))
            merged = (
                _merge_findings(findings[index], finding, name) if index < len(findings) else None
            )
            if merged is None:
                reported.append(finding)
            else:
                findings[index] = merged
    for scope in subject.scopes:
        yield from undefined.get(id(scope), ())
        nodes, position = scope.nodes, scope.position
        late = [(i, n) for i, n in scope.unresolved if nodes[i].inputs[n] in position]
        if late or id(scope) in nested:
            yield from _late(scope, late, nested.get(id(scope), []))
        yield from _outputs(subject, scope)


def _merge_findings(first: Finding, other: Finding, name: str) -> Finding | None:
    """Merge two findings about the same undefined name in different graphs.

    Return None if their repairs write different names, or if only one finding has a repair.
    """
    repair = first.repair
    if repair is not None:
        if other.repair is None or other.repair.argument[0] != repair.argument[0]:
            return None
        suggestion, uses = repair.argument
        repair = repair._replace(argument=(suggestion, uses + other.repair.argument[1]))
    elif other.repair is not None:
        return None
    places = first.places + other.places
    return first._replace(message=_undefined_message(name, places), places=places, repair=repair)


def _undefined(
    subject: CheckedModel, scope: Scope, nested: dict[int, list[NestedUse]]
) -> Iterator[tuple[str, Finding]]:
    """Yield each undefined name of a scope with its finding; none in a fragment of nodes.

    Names that an outer scope defines later are added to `nested[id(outer scope)]` instead. `_late`
    reports them.
    """
    uses: dict[str, list[Use]] = {}
    for index, slot in scope.unresolved:
        name = scope.nodes[index].inputs[slot]
        if name not in scope.position:
            uses.setdefault(name, []).append((index, slot))
    outer_scopes = list(scope.outer()) if uses else []
    for name, found in uses.items():
        later: tuple[Scope, int] | None = None
        for outer, limit in outer_scopes:
            position = outer.position.get(name)
            if position is not None and position < limit:
                break
            if position is not None:
                later = later or (outer, limit)
        else:
            root = scope.outermost.kind
            if root == "nodes":
                continue
            places = [Place(scope.nodes[i], ("inputs", n)) for i, n in found]
            if later is not None:
                outer, limit = later
                nested.setdefault(id(outer), []).append(NestedUse(limit, name, scope, places))
                continue
            missing = _undefined_value(subject, scope, name, places)
            if root == "fragment":
                note = "an outer graph may define it: this is only a fragment of a model"
                notes = (*missing.notes, note)
                missing = missing._replace(severity="warning", notes=notes, repair=None)
            yield name, missing


def _undefined_value(
    subject: CheckedModel, scope: Scope, name: str, places: list[Place]
) -> Finding:
    suggestion, later = _suggestions(subject, scope, name, places[0].item)
    notes: tuple[str, ...] = ()
    nested = chain.from_iterable(scope.children.values()) if subject.may_suggest else ()
    inner = next((child for child in nested if name in child.position), None)
    if inner is not None:
        notes = (f"it is defined inside {inner.describe()} and visible only there",)
    return Finding(
        "value-undefined",
        _undefined_message(name, places),
        tuple(places),
        help=did_you_mean(
            suggestion or later, "name an input, an initializer or an output of an earlier node"
        ),
        notes=notes,
        repair=_rename(scope, name, suggestion, places) if suggestion else None,
        subject=Subject("value", name, suggestion or later),
    )


def _rename(scope: Scope, name: str, suggestion: str, places: list[Place]) -> Repair:
    """Return the repair that replaces the undefined `name` by the similar name `suggestion`.

    The repair is only a guess (kind `respell`) if another name is equally similar. It is also a
    guess if several nodes use `name` but no node uses `suggestion`: then the definition may be
    misspelled.
    """
    users = {id(place.item) for place in places}
    is_used = len(users) == 1 or any(suggestion in node.inputs for node in scope.nodes)
    if is_used and is_clear_correction(name, suggestion, _names(scope, places[0].item)):
        return Repair("rename", name, (suggestion, tuple([(p.item, p.part[1]) for p in places])))
    return respelling(places[0].item, name, suggestion)


def _suggestions(
    subject: CheckedModel, scope: Scope, name: str, node: Node
) -> tuple[str | None, str | None]:
    """Return (visible, later): names that are similar to the undefined `name`, or None.

    The node may use `visible`; `later` is defined after the node. At least one of them is None. The
    value `later` may depend on this node, so no repair writes its name.
    """
    suggestion = subject.nearest(name, _names(scope, node, later=True))
    if suggestion is None:  # perhaps a visible and a later name are equally similar
        return subject.nearest(name, _names(scope, node)), None
    return (suggestion, None) if suggestion in _names(scope, node) else (None, suggestion)


def _names(scope: Scope, node: Node, *, later: bool = False) -> Iterator[str]:
    """Yield the names that a node may use and, if `later`, the names that later nodes define.

    This is a generator because `nearest` reads only a limited number of names.
    """
    index = next(i for i, item in enumerate(scope.nodes) if item is node)
    yield from (name for name, at in scope.position.items() if at < index)
    for outer, limit in scope.outer():
        yield from (name for name, at in outer.position.items() if at < limit)
    if later:
        yield from (name for name, at in scope.position.items() if at > index)


def _undefined_message(name: str, places: Sequence[Place]) -> str:
    times = f", used {count_noun(len(places), 'time')}" if len(places) > 1 else ""
    return f"{quote(name)} is not defined{times}"


def _late(scope: Scope, late: list[Use], nested: list[NestedUse]) -> Iterator[Finding]:
    """Report cycles of nodes in a graph, and nodes that use a value before its definition.

    `late` has the uses by nodes of the graph, `nested` the uses by nodes of nested graphs.
    """
    needed = [set(node.inputs) for node in scope.nodes]
    for index, children in scope.children.items():
        needed[index].update(*[child.free_names() for child in children])
    producers = [{scope.position.get(name, GIVEN) for name in names} for names in needed]
    before = [[at for at in indices if at != GIVEN] for indices in producers]
    groups = cyclic_groups(before)
    outputs = [tuple(node.outputs) for node in scope.nodes]
    by_holder: dict[int, list[NestedUse]] = {}
    for use in nested:
        by_holder.setdefault(use.holder, []).append(use)
    for group in groups:
        yield _cycle(scope, one_cycle(group, before, outputs), needed, by_holder)
    group_of = {index: number for number, group in enumerate(groups) for index in group}

    def is_in_cycle(user: int, name: str) -> bool:
        return user in group_of and group_of[user] == group_of.get(scope.position[name])

    places: dict[str, list[Place]] = {}
    inner: dict[str, Scope] = {}
    for index, slot in late:
        name = scope.nodes[index].inputs[slot]
        if not is_in_cycle(index, name):
            place = Place(scope.nodes[index], ("inputs", slot), "used here")
            places.setdefault(name, []).append(place)
    for use in nested:
        if not is_in_cycle(use.holder, use.name):
            if use.name not in places:
                inner[use.name] = use.scope
            found = [place._replace(label="used here") for place in use.places]
            places.setdefault(use.name, []).extend(found)
    for name, (first, *others) in places.items():
        message = f"{quote(name)} is used before the node that defines it"
        if name in inner:
            used = f"{quote(name)} is used in {inner[name].describe()}"
            message = f"{used} before it is defined in {scope.describe()}"
        yield Finding(
            "node-order",
            message,
            (first, Place(*scope.definition(name), "defined here, after its use"), *others),
            help="sort the nodes: a node comes after the nodes whose outputs it uses",
            repair=None if groups else Repair("sort", scope.original),
            subject=Subject("value", name),
        )


def _cycle(
    scope: Scope, cycle: list[int], needed: list[set[str]], by_holder: dict[int, list[NestedUse]]
) -> Finding:
    """Report a cycle of nodes, in which each node uses an output of the previous node.

    `needed` has, for each node of the graph, the names that it and its nested graphs use.
    `by_holder` maps the index of a node to the uses of values in its nested graphs.
    """
    nodes = [scope.nodes[index] for index in cycle]
    names = [
        next(name for name in node.outputs if name in needed[cycle[(i + 1) % len(cycle)]])
        for i, node in enumerate(nodes)
    ]
    places = [
        Place(node, ("outputs", node.outputs.index(name)), "" if i else "the cycle begins here")
        for i, (node, name) in enumerate(zip(nodes, names, strict=True))
    ]
    for index in cycle:
        for use in by_holder.get(index, ()):
            if use.name in names:
                label = f"used in {use.scope.describe()}, which is nested in a node of the cycle"
                places += [place._replace(label=label) for place in use.places]
    problem = f"nodes of {scope.describe()} depend on each other"
    help = "break the cycle: change an input of one of these nodes"
    if len(nodes) == 1:
        problem, help = f"{quote(names[0])} depends on itself", "change this input of the node"
    path = chain_of([*names, names[0]])
    return Finding("graph-cycle", f"{problem}: {path}", tuple(places), help)


def _outputs(subject: CheckedModel, scope: Scope) -> Iterator[Finding]:
    for value in scope.outputs:
        if not value.name:
            continue
        output = f"the output {quote(value.name)} of {scope.describe()}"
        places = (Place(value, ("name",)),)
        if value.name in scope.position:
            if not scope.is_graph and any(value.name == given.name for given in scope.inputs):
                message = f"{output} is one of its inputs"
                copy = "output a copy that a node `Identity` computes"
                help = f"{copy}; onnxruntime rejects this function"
                code = "function-output-undefined"
                yield Finding(code, message, places, help, severity="warning")
            continue
        outer = scope.find_outer(value.name) if scope.parent is not None else None
        suggestion = None if outer else subject.nearest(value.name, scope.position)
        notes: tuple[str, ...] = ()
        help = did_you_mean(suggestion, "name a value that a node computes")
        if outer is not None:
            owner = outer[0].describe()
            notes = (f"it is defined in {owner}, but a graph cannot output values of outer graphs",)
            help = f"copy {quote(value.name)} with `Identity`, and output the copy under a new name"
        yield Finding(
            "graph-output-undefined" if scope.is_graph else "function-output-undefined",
            f"{output} is not defined in it",
            places,
            notes=notes,
            help=help,
            subject=Subject("value", value.name, suggestion),
        )


RULES = (
    Rule("value-undefined", needs_valid_syntax=True),
    Rule("node-order", needs_valid_syntax=True),
    Rule("graph-cycle"),
    Rule("graph-output-undefined", needs_valid_syntax=True),
    Rule("function-output-undefined", needs_valid_syntax=True),
)
