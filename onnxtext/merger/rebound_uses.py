# SPDX-License-Identifier: Apache-2.0
"""Find uses of names that the other side has given to other values or parameters.

A node that one side adds may be valid in the merge, but not as intended: it reads another value, or
passes its arguments to other parameters.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from onnxtext.ast.model import Function, Graph, Model, Node
from onnxtext.ast.visit import walk_nodes
from onnxtext.checker.context.checked_model import FunctionKey, function_key, plain_domain
from onnxtext.checker.context.finding import Finding, Place, quote

_ARGUMENTS = "function-call-arguments"
_VALUE = "value-renumbered"


def find_rebound_uses(merged: Model, sides: Sequence[Model]) -> Iterator[Finding]:
    """Yield a finding for each node that one side adds and that has another meaning in the merge.

    The other side has given names that the node uses to other values or parameters.

    Args:
        merged: the syntax tree of the merge.
        sides: the syntax trees of ours and theirs.
    """
    together = _scopes(merged)
    before = [_scopes(side) for side in sides]
    for key, scope in together.items():
        for own, other in (before, before[::-1]):
            if key not in own:
                continue
            lacking = other[key].identities if key in other else set()
            added = [n for n in own[key].nodes if _identity(n) not in lacking]
            kept = {_identity(n) for n in added} & scope.identities if added else set()
            if kept:
                nodes = [node for node in scope.nodes if _identity(node) in kept]
                yield from _moved_arguments(nodes, own, together)
                if key in other:
                    yield from _renumbered_values(nodes, own[key], other[key], scope)


def describe_node(node: Node) -> str:
    """Return the subject of a message about a node: "the node of" and its first output."""
    return f"the node of {quote(node.outputs[0])}" if node.outputs else "a node"


class _Scope:
    """The nodes of a graph and of the graphs in it, or of a function.

    Attributes:
        nodes: all these nodes.
        function: the function; None for a graph.
    """

    def __init__(self, root: Graph | Function) -> None:
        self.nodes = list(walk_nodes(root))
        self.function = root if isinstance(root, Function) else None

    @cached_property
    def identities(self) -> set[tuple[object, ...]]:
        return set(map(_identity, self.nodes))

    @cached_property
    def makers(self) -> dict[str, Node]:
        """For each value, the node that computes it.

        Names that several nodes define, such as nodes of two branches, are left out.
        """
        counts = Counter(name for node in self.nodes for name in node.outputs)
        return {n: node for node in self.nodes for n in node.outputs if n and counts[n] == 1}

    @cached_property
    def uses(self) -> Mapping[str, Counter[tuple[str, int]]]:
        """For each value, the number of its uses by (operator, index of the input)."""
        result: Mapping[str, Counter[tuple[str, int]]] = defaultdict(Counter)
        for node in self.nodes:
            for index, name in enumerate(node.inputs):
                result[name][node.op_type, index] += 1
        return result

    def computation(self, name: str) -> tuple[str, ...] | None:
        """Describe how a value is computed: (output index, domain, operator, origin of each input).

        The origin of an input is the operator of the node that computes the input or, if no node
        computes it, the name of the input.
        Return None if no node computes the value.
        """
        node = self.makers.get(name)
        if node is None:
            return None
        inputs = [self.makers.get(name) for name in node.inputs]
        origins = [
            name if maker is None else f"{maker.op_type}()"
            for name, maker in zip(node.inputs, inputs, strict=True)
        ]
        return (str(node.outputs.index(name)), node.domain or "", node.op_type, *origins)

    @cached_property
    def by_operator(self) -> Mapping[tuple[str, ...], list[str]]:
        """Maps (output index, domain, operator) to the names of all matching outputs."""
        result: Mapping[tuple[str, ...], list[str]] = defaultdict(list)
        for node in self.nodes:
            for index, name in enumerate(node.outputs):
                result[str(index), node.domain or "", node.op_type].append(name)
        return result


def _scopes(model: Model) -> dict[FunctionKey | None, _Scope]:
    """Return the scopes of the main graph (None) and of the functions."""
    graphs: dict[FunctionKey | None, _Scope] = {None: _Scope(model.graph)}
    return graphs | {function_key(function): _Scope(function) for function in model.functions}


def _identity(node: Node) -> tuple[object, ...]:
    return node.op_type, node.inputs, node.outputs


def _moved_arguments(
    nodes: Sequence[Node],
    own: Mapping[FunctionKey | None, _Scope],
    together: Mapping[FunctionKey | None, _Scope],
) -> Iterator[Finding]:
    """Find calls of functions whose parameters are in another order in the merge.

    Calls of a function whose parameters were only renamed are not found, unless a parameter now has
    the old name of another parameter.
    """
    for node in nodes:
        key = plain_domain(node.domain), node.op_type, node.overload or ""
        if key not in own or key not in together:
            continue
        before, after = own[key].function, together[key].function
        assert before is not None
        assert after is not None
        lists = (
            (node.inputs, before.inputs, after.inputs),
            (node.outputs, before.outputs, after.outputs),
        )
        if any(
            _is_moved(arguments, [value.name for value in old], [value.name for value in new])
            for arguments, old, new in lists
        ):
            message = (
                f"{describe_node(node)} passes its arguments in the old order of the parameters "
                f"of {quote(node.op_type)}, which one side has changed"
            )
            yield Finding(_ARGUMENTS, message, (Place(node),), "change the order in the call")


def _is_moved(arguments: Sequence[str], old: Sequence[str], new: Sequence[str]) -> bool:
    """Whether a parameter that still exists would get another argument than before."""
    places = {name: index for index, name in enumerate(new)}
    return any(
        arguments[places[name] : places[name] + 1] != (argument,)
        for name, argument in zip(old, arguments, strict=False)
        if name in places
    )


def _renumbered_values(
    nodes: Sequence[Node], own: _Scope, other: _Scope, together: _Scope
) -> Iterator[Finding]:
    """Find uses of values that the other side has renamed, giving the old name to another value.

    Exporters use numbers as names, so that after a change many names denote other values.

    Args:
        nodes: the nodes of the merge that only one side has.
        own: the scope of these nodes in the side that has them.
        other: the same scope in the other side.
        together: the same scope in the merge.
    """
    for node in nodes:
        for name in dict.fromkeys(node.inputs):
            computation = own.computation(name)
            if computation is None or together.computation(name) in (None, computation):
                continue
            uses = own.uses[name] - Counter(_uses_of(name, nodes))
            new_name = _renumbered(name, computation, uses, own, other)
            if new_name is not None:
                message = (
                    f"{describe_node(node)} uses {quote(name)}, a value that the other side has "
                    f"renamed to {quote(new_name)}, giving its old name to another value"
                )
                yield Finding(_VALUE, message, (Place(node),), f"use {quote(new_name)}")
                break


def _uses_of(name: str, nodes: Sequence[Node]) -> Iterator[tuple[str, int]]:
    for node in nodes:
        yield from ((node.op_type, i) for i, read in enumerate(node.inputs) if read == name)


def _renumbered(
    name: str,
    computation: tuple[str, ...],
    uses: Counter[tuple[str, int]],
    own: _Scope,
    other: _Scope,
) -> str | None:
    """Return the new name of a value on the other side; None if no new name is found.

    If the other side has the same uses of the old name, the value was edited, not renamed.
    """
    if not uses or uses <= other.uses[name]:
        return None
    for found in other.by_operator[computation[:3]]:
        is_new = (own.computation(found) or ())[:3] != computation[:3]
        if found != name and is_new and uses <= other.uses[found]:
            return found
    return None
