# SPDX-License-Identifier: Apache-2.0
"""Uses: every name that is used is defined before.

What: an input of a node is an input of the graph, an initializer, or an output of an earlier node,
here or in a graph around; an output of a graph is defined in that graph.
Why: nodes are executed in their order.
Fix: correct the name, or sort the nodes (`--fix` does).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from onnxtext.ast.model import Node
from onnxtext.checker.finding import Finding, Place, Repair, chain_of, counted, quoted
from onnxtext.checker.registry import Family, Rule
from onnxtext.checker.scopes import Scope
from onnxtext.checker.subject import Subject

Use = tuple[int, int]
"""The index of a node and of one of its inputs."""


class Late(NamedTuple):
    """A use of a value in a graph that a node holds, before the value is defined around it.

    Attributes:
        holder: the index of the node in the graph that defines the value.
        name: of the value.
        scope: the graph that uses it.
        places: where.
    """

    holder: int
    name: str
    scope: Scope
    places: list[Place]


def check(subject: Subject) -> Iterator[Finding]:
    """Find uses of what is not defined, or only later."""
    nested: dict[int, list[Late]] = {}
    undefined: dict[int, list[Finding]] = {}
    first: dict[tuple[int, str], tuple[list[Finding], int]] = {}
    for scope in subject.scopes:
        if not scope.unresolved:
            continue
        told = undefined[id(scope)] = []
        for name, finding in _undefined(subject, scope, nested):
            findings, index = first.setdefault((id(_root(scope)), name), (told, len(told)))
            together = _together(findings[index], finding, name) if index < len(findings) else None
            if together is None:
                told.append(finding)
            else:
                findings[index] = together
    for scope in subject.scopes:
        yield from undefined.get(id(scope), ())
        late = [use for use in scope.unresolved if _used(scope, use) in scope.position]
        if late or id(scope) in nested:
            yield from _late(scope, late, nested.get(id(scope), []))
        yield from _outputs(subject, scope)


def _used(scope: Scope, use: Use) -> str:
    return scope.nodes[use[0]].inputs[use[1]]


def _together(first: Finding, other: Finding, name: str) -> Finding | None:
    """One finding of a name that is defined nowhere, and used in two graphs of one model.

    None if another name is meant in one of them.
    """
    repair = first.repair
    if repair is not None:
        if other.repair is None or other.repair.argument[0] != repair.argument[0]:
            return None
        near, uses = repair.argument
        repair = replace(repair, argument=(near, uses + other.repair.argument[1]))
    elif other.repair is not None:
        return None
    places = first.places + other.places
    return replace(first, message=_nowhere_words(name, places), places=places, repair=repair)


def _undefined(
    subject: Subject, scope: Scope, nested: dict[int, list[Late]]
) -> Iterator[tuple[str, Finding]]:
    """Find names that are nowhere defined; collect those that are defined later, around."""
    uses: dict[str, list[Use]] = {}
    for use in scope.unresolved:
        name = _used(scope, use)
        if name not in scope.position:
            uses.setdefault(name, []).append(use)
    outer = list(scope.outer()) if uses else []
    for name, found in uses.items():
        later: tuple[Scope, int] | None = None
        for around, limit in outer:
            at = around.position.get(name)
            if at is not None and at < limit:
                break
            if at is not None:
                later = later or (around, limit)
        else:
            root = _root(scope).kind
            if root == "nodes":
                continue
            places = [Place(scope.nodes[i], ("inputs", n)) for i, n in found]
            if later is not None:
                around, limit = later
                nested.setdefault(id(around), []).append(Late(limit, name, scope, places))
            elif root == "fragment":
                missing = _nowhere(subject, scope, name, places)
                note = "a graph on its own may stand in another, which defines it"
                notes = (*missing.notes, note)
                yield name, replace(missing, severity="warning", notes=notes, repair=None)
            else:
                yield name, _nowhere(subject, scope, name, places)


def _root(scope: Scope) -> Scope:
    """The outermost scope around one."""
    while scope.parent is not None:
        scope = scope.parent
    return scope


def _nowhere(subject: Subject, scope: Scope, name: str, places: list[Place]) -> Finding:
    near, later = _meant(subject, scope, name, places[0].item)
    notes: tuple[str, ...] = ()
    inner = _inner_definition(scope, name) if subject.patient else None
    if inner is not None:
        notes = (f"{inner.words()} defines it, which is seen only in there",)
    return Finding(
        "value-undefined",
        _nowhere_words(name, places),
        tuple(places),
        help=f"there is a value {quoted(near or later or '')}"
        if near or later
        else "name an input, an initializer or an output of an earlier node",
        notes=notes,
        repair=Repair("rename", name, (near, tuple([(p.item, p.part[1]) for p in places])))
        if near
        else None,
    )


def _meant(subject: Subject, scope: Scope, name: str, node: Node) -> tuple[str | None, str | None]:
    """The visible name that was probably meant; or else one that is only defined later.

    A value that is defined later may depend on this node, so no repair names it.
    """
    if not subject.patient:
        return None, None
    visible = list(_visible(scope, node))
    near = subject.near(name, [*visible, *_later(scope, node)])
    if near is None:  # two may be equally near
        return subject.near(name, visible), None
    return (near, None) if near in visible else (None, near)


def _nowhere_words(name: str, places: Sequence[Place]) -> str:
    times = f", used {counted(len(places), 'time')}" if len(places) > 1 else ""
    return f"{quoted(name)} is not defined{times}"


def _visible(scope: Scope, node: Node) -> Iterator[str]:
    """The names that a node could use."""
    index = next((i for i, item in enumerate(scope.nodes) if item is node), len(scope.nodes))
    yield from (name for name, at in scope.position.items() if at < index)
    for around, limit in scope.outer():
        yield from (name for name, at in around.position.items() if at < limit)


def _later(scope: Scope, node: Node) -> Iterator[str]:
    """The names that the nodes behind a node define in the same graph."""
    index = next((i for i, item in enumerate(scope.nodes) if item is node), len(scope.nodes))
    return (name for name, at in scope.position.items() if at > index)


def _inner_definition(scope: Scope, name: str) -> Scope | None:
    for children in scope.children.values():
        for child in children:
            if name in child.position:
                return child
    return None


def _late(scope: Scope, late: list[Use], nested: list[Late]) -> Iterator[Finding]:
    """Find nodes that use what is defined by themselves or behind them, in graphs they hold too."""
    needed = [_free_names(scope, index) for index in range(len(scope.nodes))]
    cyclic = _cycles(scope, needed)
    for cycle in cyclic:
        yield _cycle(scope, cycle, needed, nested)
    in_cycle = {index: number for number, cycle in enumerate(cyclic) for index in cycle}

    def is_told(user: int, name: str) -> bool:
        return user in in_cycle and in_cycle[user] == in_cycle.get(scope.position[name])

    places: dict[str, list[Place]] = {}
    inner: dict[str, Scope] = {}
    for index, number in late:
        name = scope.nodes[index].inputs[number]
        if not is_told(index, name):
            place = Place(scope.nodes[index], ("inputs", number), "used here")
            places.setdefault(name, []).append(place)
    for use in nested:
        if not is_told(use.holder, use.name):
            if use.name not in places:
                inner[use.name] = use.scope
            found = [place._replace(label="used here") for place in use.places]
            places.setdefault(use.name, []).extend(found)
    for name, (first, *others) in places.items():
        message = f"{quoted(name)} is used before the node that defines it"
        if name in inner:
            message = (
                f"{quoted(name)} is used in {inner[name].words()} before it is defined in "
                f"{scope.words()}"
            )
        yield Finding(
            "node-order",
            message,
            (first, Place(*scope.definition(name), "defined only here"), *others),
            help="sort the nodes: each stands behind those whose outputs it uses",
            repair=None if cyclic else Repair("sort", scope.place),
        )


def _cycle(scope: Scope, cycle: list[int], needed: list[set[str]], nested: list[Late]) -> Finding:
    """The finding of nodes that depend on each other."""
    nodes = [scope.nodes[index] for index in cycle]
    chain = [
        next(name for name in node.outputs if name in needed[cycle[(i + 1) % len(cycle)]])
        for i, node in enumerate(nodes)
    ]
    places = [
        Place(node, ("outputs", node.outputs.index(name)), "" if i else "begins here")
        for i, (node, name) in enumerate(zip(nodes, chain, strict=True))
    ]
    for use in nested:
        if use.holder in cycle and use.name in chain:
            label = f"used in {use.scope.words()}, which its node holds"
            places += [place._replace(label=label) for place in use.places]
    path = chain_of([*chain, chain[0]])
    return Finding(
        "graph-cycle",
        f"nodes of {scope.words()} wait for each other: {path}"
        if len(nodes) > 1
        else f"{quoted(chain[0])} depends on itself: {path}",
        tuple(places),
        help="one of them has to use another value" if len(nodes) > 1 else "use another value",
    )


def _free_names(scope: Scope, index: int) -> set[str]:
    """The names that a node and the graphs it holds use of the graph around."""
    found = set(scope.nodes[index].inputs)
    children = scope.children.get(index, ())
    hidden: list[tuple[Scope, frozenset[str]]] = [(child, frozenset()) for child in children]
    while hidden:
        child, defined = hidden.pop()
        defined |= child.position.keys()
        for number, node in enumerate(child.nodes):
            found.update([name for name in node.inputs if name not in defined])
            hidden += [(inner, defined) for inner in child.children.get(number, ())]
    return found


def used_names(node: Node) -> Iterator[str]:
    """The names that a node and the graphs in it use, those defined in there included."""
    from onnxtext.ast.visit import walk_nodes

    if any(attribute.type in (5, 10) for attribute in node.attributes):
        for inner in walk_nodes(node):
            yield from inner.inputs
    else:
        yield from node.inputs


def _cycles(scope: Scope, needed: list[set[str]]) -> list[list[int]]:
    """One cycle of each group of nodes that wait for each other (Tarjan's components)."""
    before: list[list[int]] = []
    for names in needed:
        ats = {scope.position.get(name, -1) for name in names if name}
        before.append([at for at in ats if at >= 0])
    found = []
    for group in _components(before):
        if len(group) > 1 or group[0] in before[group[0]]:
            found.append(_one_cycle(group, before))
    return found


def _components(before: list[list[int]]) -> list[list[int]]:
    number = [-1] * len(before)
    low = [0] * len(before)
    on_stack = [False] * len(before)
    stack: list[int] = []
    groups: list[list[int]] = []
    count = 0
    for root in range(len(before)):
        if number[root] >= 0:
            continue
        work = [(root, 0)]
        while work:
            node, at = work.pop()
            if not at:
                number[node] = low[node] = count
                count += 1
                stack.append(node)
                on_stack[node] = True
            for index in range(at, len(before[node])):
                other = before[node][index]
                if number[other] < 0:
                    work += [(node, index + 1), (other, 0)]
                    break
                if on_stack[other]:
                    low[node] = min(low[node], number[other])
            else:
                if low[node] == number[node]:
                    group: list[int] = []
                    while not group or group[-1] != node:
                        group.append(stack.pop())
                        on_stack[group[-1]] = False
                    groups.append(group)
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
    return groups


def _one_cycle(group: list[int], before: list[list[int]]) -> list[int]:
    """A cycle in a component, in the direction of the data."""
    members = set(group)
    path: list[int] = []
    seen: dict[int, int] = {}
    node = min(group)
    while node not in seen:
        seen[node] = len(path)
        path.append(node)
        node = next(other for other in before[node] if other in members)
    cycle = list(reversed(path[seen[node] :]))
    first = cycle.index(min(cycle))
    return cycle[first:] + cycle[:first]


def _outputs(subject: Subject, scope: Scope) -> Iterator[Finding]:
    missing = [v for v in scope.outputs if v.name and v.name not in scope.position]
    for value in missing:
        outer = scope.find_outer(value.name) if scope.parent is not None else None
        near = None if outer else subject.near(value.name, scope.position)
        notes: tuple[str, ...] = ()
        help = f"there is a value {quoted(near)}" if near else "name a value that is computed in it"
        if outer is not None:
            notes = (f"it is a value of {outer[0].words()} around it, which does not do",)
            help = f"add a node: {value.name} = Identity (…)"
        yield Finding(
            "graph-output-undefined" if scope.is_graph else "function-output-undefined",
            f"the output {quoted(value.name)} of {scope.words()} is not defined in it",
            (Place(value, ("name",)),),
            notes=notes,
            help=help,
        )


FAMILY = Family(
    check,
    (
        Rule(
            "value-undefined",
            "error",
            "a node uses inputs, initializers, outputs of nodes, or outer values",
            "IR Nodes",
        ),
        Rule("node-order", "error", "nodes are in topological order", "IR Nodes"),
        Rule("graph-cycle", "error", "nodes do not depend on each other in a circle", "IR Nodes"),
        Rule(
            "graph-output-undefined",
            "error",
            "every output of a graph is defined in that graph",
            "IR Nodes, checker",
        ),
        Rule(
            "function-output-undefined",
            "error",
            "every output of a function is defined in its body",
            "IR Functions",
        ),
    ),
)
