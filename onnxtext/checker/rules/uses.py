# SPDX-License-Identifier: Apache-2.0
"""Uses: every name that is used is defined before.

What: an input of a node is an input of the graph, an initializer, or an output of an earlier node,
here or in a graph around; an output of a graph is defined in that graph.
Why: nodes are executed in their order.
Fix: correct the name, or sort the nodes (`--fix` does).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from onnxtext.ast.model import Node
from onnxtext.checker.finding import Finding, Place, Repair, chain_of, counted, quoted
from onnxtext.checker.registry import Family, Rule
from onnxtext.checker.scopes import Scope
from onnxtext.checker.subject import Subject

Use = tuple[int, int]
"""The index of a node and of one of its inputs."""


def check(subject: Subject) -> Iterator[Finding]:
    """Find uses of what is not defined, or only later."""
    for scope in subject.scopes:
        undefined: dict[str, list[Use]] = {}
        late: list[Use] = []
        position = scope.position
        for index, number in scope.unresolved:
            name = scope.nodes[index].inputs[number]
            if name in position:
                late.append((index, number))
            else:
                undefined.setdefault(name, []).append((index, number))
        if undefined:
            yield from _undefined(subject, scope, undefined)
        if late:
            yield from _late(scope, late)
        yield from _outputs(subject, scope)


def _undefined(
    subject: Subject, scope: Scope, undefined: dict[str, list[Use]]
) -> Iterator[Finding]:
    outer = list(scope.outer())
    for name, uses in undefined.items():
        later: tuple[Scope, int] | None = None
        for around, limit in outer:
            at = around.position.get(name)
            if at is not None and at < limit:
                break
            if at is not None:
                later = later or (around, at)
        else:
            root = _root(scope).kind
            if root == "nodes":
                continue
            places = [Place(scope.nodes[i], ("inputs", n)) for i, n in uses]
            if later is not None:
                yield _defined_later(name, later, places, scope)
            elif root == "fragment":
                found = _nowhere(subject, scope, name, places)
                note = "a graph on its own may stand in another, which defines it"
                yield replace(found, severity="warning", notes=(*found.notes, note), repair=None)
            else:
                yield _nowhere(subject, scope, name, places)


def _root(scope: Scope) -> Scope:
    """The outermost scope around one."""
    while scope.parent is not None:
        scope = scope.parent
    return scope


def _defined_later(
    name: str, later: tuple[Scope, int], places: list[Place], scope: Scope
) -> Finding:
    around, at = later
    holder = around.nodes[at]
    return Finding(
        "node-order",
        f"{quoted(name)} is used in {scope.words()} before it is defined in {around.words()}",
        (*places, Place(holder, ("outputs", holder.outputs.index(name)), "defined only here")),
        help="move the node that defines it up",
    )


def _nowhere(subject: Subject, scope: Scope, name: str, places: list[Place]) -> Finding:
    near = subject.near(name, _visible(scope, places[0].item))
    # A value that is only defined later may depend on this node: not for a repair.
    later = subject.near(name, scope.position) if near is None else None
    notes: tuple[str, ...] = ()
    inner = _inner_definition(scope, name) if subject.patient else None
    if inner is not None:
        notes = (f"{inner.words()} defines it, which is seen only in there",)
    times = f", used {counted(len(places), 'time')}" if len(places) > 1 else ""
    return Finding(
        "value-undefined",
        f"{quoted(name)} is not defined{times}",
        tuple(places),
        help=f"there is a value {quoted(near or later or '')}"
        if near or later
        else "name an input, an initializer or an output of an earlier node",
        notes=notes,
        repair=Repair("rename", name, (near, tuple([(p.item, p.part[1]) for p in places])))
        if near
        else None,
    )


def _visible(scope: Scope, node: Node) -> Iterator[str]:
    """The names that a node could use."""
    index = next((i for i, item in enumerate(scope.nodes) if item is node), len(scope.nodes))
    yield from (name for name, at in scope.position.items() if at < index)
    for around, limit in scope.outer():
        yield from (name for name, at in around.position.items() if at < limit)


def _inner_definition(scope: Scope, name: str) -> Scope | None:
    for children in scope.children.values():
        for child in children:
            if name in child.position:
                return child
    return None


def _late(scope: Scope, late: list[Use]) -> Iterator[Finding]:
    """Nodes that use what is defined by themselves or behind them."""
    cyclic = _cycles(scope)
    for cycle in cyclic:
        nodes = [scope.nodes[index] for index in cycle]
        chain = [_link(nodes[i], nodes[(i + 1) % len(nodes)]) for i in range(len(nodes))]
        path = chain_of([*chain, chain[0]])
        yield Finding(
            "graph-cycle",
            f"nodes of {scope.words()} wait for each other: {path}",
            tuple(
                [
                    Place(node, ("outputs", node.outputs.index(name)), "" if i else "begins here")
                    for i, (node, name) in enumerate(zip(nodes, chain, strict=True))
                ]
            ),
            help="one of them has to use another value",
        )
    in_cycle = {index for cycle in cyclic for index in cycle}
    by_name: dict[str, list[Use]] = {}
    for index, number in late:
        name = scope.nodes[index].inputs[number]
        if not (index in in_cycle and scope.position[name] in in_cycle):
            by_name.setdefault(name, []).append((index, number))
    for name, uses in by_name.items():
        places = [Place(scope.nodes[i], ("inputs", n), "used here") for i, n in uses]
        yield Finding(
            "node-order",
            f"{quoted(name)} is used before the node that defines it",
            (places[0], Place(*scope.definition(name), "defined only here"), *places[1:]),
            help="sort the nodes: each stands behind those whose outputs it uses",
            repair=None if cyclic else Repair("sort", scope.place),
        )


def _link(node: Node, user: Node) -> str:
    """The output of a node that another uses."""
    names = set(used_names(user))
    return next(name for name in node.outputs if name in names)


def used_names(node: Node) -> Iterator[str]:
    """The names that a node and the graphs in it use, those defined in there included."""
    from onnxtext.ast.visit import walk_nodes

    if any(attribute.type in (5, 10) for attribute in node.attributes):
        for inner in walk_nodes(node):
            yield from inner.inputs
    else:
        yield from node.inputs


def _cycles(scope: Scope) -> list[list[int]]:
    """One cycle of each group of nodes that wait for each other (Tarjan's components)."""
    before: list[list[int]] = []
    for node in scope.nodes:
        ats = {scope.position.get(name, -1) for name in used_names(node) if name}
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
