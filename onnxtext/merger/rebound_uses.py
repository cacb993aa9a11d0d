# SPDX-License-Identifier: Apache-2.0
"""Find edits that use a name to which the other side has given another meaning.

An edit of one side may be valid in the merge, but not as intended: it refers to another value, or
passes arguments to other parameters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from onnxtext.ast.model import Function, Graph, Model, Node, ValueInfo
from onnxtext.checker.context.checked_model import operator_key
from onnxtext.checker.context.finding import Finding, Place, quote
from onnxtext.merger.reordered_parameters import ScopeKey, scopes_by_key
from onnxtext.merger.value_names import ValueNames, ValueScope, node_identity

_ARGUMENTS = "function-call-arguments"
_VALUE = "value-renumbered"
_INFO = "a value info describes"
_INITIALIZER = "an edited initializer is named"
_Scopes = Mapping[ScopeKey, ValueScope]
"""Maps the key of a function, or None for the main graph, to its values."""


def find_rebound_uses(merged: Model, versions: Sequence[Model]) -> Iterator[Finding]:
    """Yield a finding for each edit of one side that uses names with another meaning in the merge.

    This happens if the other side has given the names to other values or parameters. `versions` are
    the trees of the base (if there is a base), of ours and of theirs.
    """
    together = _scopes(merged)
    base, *before = [_scopes(model) for model in versions]
    if len(before) < 2:
        base, before = {}, [base, *before]
    shared = [together.keys() & side.keys() != {None} for side in before]
    for key, scope in together.items():
        for side, other, has_calls in zip(before, before[::-1], shared, strict=True):
            if key not in side:
                continue
            added = side[key].identities - (other[key].identities if key in other else set())
            calls = [(n, n) for n in scope.nodes if node_identity(n) in added] if added else []
            if key in base and has_calls:
                calls += _edited_nodes(scope, side[key], base[key])
            yield from _moved_arguments(calls, base, side, together)
        if key in base and key in before[0] and key in before[1]:
            yield from _rebound_in(scope, base[key], before[0][key], before[1][key])


def _edited_nodes(
    scope: ValueScope, side: ValueScope, base: ValueScope
) -> Iterator[tuple[Node, Node]]:
    """Yield (node of the merge, node of `side`) for each node whose inputs `side` changed."""
    before = {node.outputs: node for node in base.nodes}
    edited = {
        node.outputs: node
        for node in side.nodes
        if node.outputs in before and node.inputs != before[node.outputs].inputs
    }
    for node in scope.nodes if edited else ():
        if node.outputs in edited:
            yield node, edited[node.outputs]


def describe_node(node: Node) -> str:
    """Return the subject of a message about a node, with its first output if it has outputs."""
    return f"the node of {quote(node.outputs[0])}" if node.outputs else "a node"


def _scopes(model: Model) -> _Scopes:
    """Return the scopes of the main graph (key None) and of the functions."""
    return {key: ValueScope(scope) for key, scope in scopes_by_key(model).items()}


# ---- Parameters -----------------------------------------------------------------------------


def _moved_arguments(
    calls: Sequence[tuple[Node, Node]], base: _Scopes, side: _Scopes, together: _Scopes
) -> Iterator[Finding]:
    """Find calls whose arguments belong to other parameters in the merge.

    Calls are not reported if the parameters were only renamed. `calls` has (node of the merge
    `together`, the same node in `side`) for each call that `side` added or edited.
    """
    for node, call in calls:
        key = operator_key(node)
        if key not in side or key not in together:
            continue
        before, after = side[key].root, together[key].root
        lists = (
            (call.inputs, node.inputs, before.inputs, after.inputs),
            (call.outputs, node.outputs, before.outputs, after.outputs),
        )
        if all(old == new for *_, old, new in lists):
            continue
        names: ValueNames | None = None
        if key in base:
            if _only_renames(base[key], side[key], together[key]):
                continue
            names = ValueNames(base[key], together[key])
        if any(
            _is_moved(mine, merged, _new_names(old, names), [value.name for value in new])
            for mine, merged, old, new in lists
        ):
            message = (
                f"{describe_node(node)} passes its arguments at the old positions of the "
                f"parameters of {quote(node.op_type)}; one side has changed the positions"
            )
            yield Finding(_ARGUMENTS, message, (Place(node),), "")


def _only_renames(base: ValueScope, side: ValueScope, merged: ValueScope) -> bool:
    """Whether a merged function has the parameters of the base in their order, perhaps renamed.

    Names may be swapped if the body uses the swapped names accordingly. Return False if `side`
    itself changed the names or the order of the parameters.
    """
    names = ValueNames(base, merged)
    return all(
        [v.name for v in before] == [v.name for v in mine]
        and [names.name_of(value.name) for value in before] == [value.name for value in after]
        for before, mine, after in (
            (base.root.inputs, side.root.inputs, merged.root.inputs),
            (base.root.outputs, side.root.outputs, merged.root.outputs),
        )
    )


def _new_names(parameters: Sequence[ValueInfo], names: ValueNames | None) -> list[str]:
    """Return the names that the parameters of a side have in the merge.

    A deleted parameter keeps its name. If `names` is None, all parameters keep their names.
    """
    if names is None:
        return [value.name for value in parameters]
    return [names.name_of(value.name) or value.name for value in parameters]


def _is_moved(
    arguments: Sequence[str], merged: Sequence[str], old: Sequence[str], new: Sequence[str]
) -> bool:
    """Whether a parameter that still exists gets another argument in the merge than in a side.

    `arguments` and `merged` are the arguments of a call in the side and in the merge. `old` and
    `new` are the function's parameters in the side and in the merge, by their names in the merge.
    """
    places = {name: index for index, name in enumerate(new)}
    return any(
        tuple(merged[places[name] : places[name] + 1]) != (argument,)
        for name, argument in zip(old, arguments, strict=False)
        if name in places
    )


# ---- Values ---------------------------------------------------------------------------------


def _rebound_in(
    scope: ValueScope, base: ValueScope, ours: ValueScope, theirs: ValueScope
) -> Iterator[Finding]:
    """Find edits that refer to a different value in the merge (`scope`) than in the edited side."""
    left, right = ours.definitions, theirs.definitions
    if all(right.get(name, definition) == definition for name, definition in left.items()):
        return
    names = ValueNames(base, ours), ValueNames(base, theirs)
    for side, other, pair in ((ours, theirs, names), (theirs, ours, names[::-1])):
        yield from _Search(scope, base, side, other, *pair).find()


@dataclass(frozen=True)
class _Search:
    """A search for edits of the side `own` that refer to a different value in the merge."""

    merged: ValueScope
    base: ValueScope
    own: ValueScope
    other: ValueScope
    names: ValueNames
    other_names: ValueNames

    def find(self) -> Iterator[Finding]:
        """Yield a finding for each edit of `own` that refers to a different value in the merge."""
        yield from self._nodes()
        for name, subject, item in self._references():
            new_name = self._new_name(name)
            if new_name is not None:
                yield _finding(subject, name, new_name, item)

    def _new_name(self, name: str) -> str | None:
        """Return the name that the other side gives to the value called `name` on this side.

        Return "" if the value was deleted there, or its new name is uncertain. Return None if
        `name` still means this value in the merge, or if that is unknown.
        """
        merged, side, other = [
            scope.definitions.get(name) for scope in (self.merged, self.own, self.other)
        ]
        if None in (merged, side, other) or side == merged != other:
            return None  # the merge does not have the other side's value of this name
        old_name = self.names.base_of(name)
        if old_name is None:
            return None
        new_name = self.other_names.name_of(old_name)
        return None if new_name == name else new_name or ""

    def _nodes(self) -> Iterator[Finding]:
        by_identity = {node_identity(node): node for node in self.merged.nodes}
        by_outputs = {node.outputs: node for node in self.merged.nodes if node.outputs}
        for node in self.own.nodes:
            old = self.names.partners.get(id(node))
            match = None if old is None else self.other_names.matches.get(id(old))
            found = by_identity.get(node_identity(node))
            if found is None and match is not None:
                found = by_outputs.get(match.outputs)
            if found is None:
                continue
            for index, name in self._changed_inputs(node, old):
                new_name = self._new_name(name)
                if new_name is not None and found.inputs[index : index + 1] != (new_name,):
                    yield _finding(f"{describe_node(found)} uses", name, new_name, found)
                    break

    def _changed_inputs(self, node: Node, old: Node | None) -> Iterator[tuple[int, str]]:
        """Yield (index, name) of each input that is not the same value as in the base node `old`.

        Yield all inputs if `old` is None.
        """
        for index, name in enumerate(node.inputs):
            before = None if old is None else old.inputs[index : index + 1]
            if before is None or before != (self.names.base_of(name),):
                yield index, name

    def _references(self) -> Iterator[tuple[str, str, Any]]:
        """Yield (name, subject of a message, item of the merge) of each edited reference.

        Inputs of nodes are left out.
        """
        merged, base, side, other = [
            _declarations(scope.root) for scope in (self.merged, self.base, self.own, self.other)
        ]
        for key, (_, item) in merged.items():
            subject, name = key
            if key not in side or (key not in base and subject == _INITIALIZER):
                continue
            if key not in base or side[key][0] != base[key][0]:
                yield name, subject, item
        # The other side may have given the name of a deleted value info to another value.
        nodes = {name: node for node in self.merged.nodes for name in node.outputs}
        for key in base:
            subject, name = key
            deleted = key in other and key not in side and key not in merged
            if subject == _INFO and deleted and name in nodes:
                yield name, "a deleted value info described", nodes[name]


def _declarations(root: Graph | Function) -> dict[tuple[str, str], tuple[object, Any]]:
    """Map (subject of a message, name) to (content, item) of each reference to a value.

    Inputs of nodes are left out. The item of a typed output is (node of the output, new value
    info).
    """
    result: dict[tuple[str, str], tuple[object, Any]] = {}
    for value in root.values:
        result[_INFO if value.data is None else _INITIALIZER, value.name] = value, value
    for node in root.nodes:
        for name, type in zip(node.outputs, node.output_types or (), strict=False):
            if type is not None:
                result[_INFO, name] = type, (node, ValueInfo(name, type))
    if isinstance(root, Graph):
        for value in root.outputs:
            result["a graph output is", value.name] = "output", value
        for annotation in root.quantization:
            names = (annotation.tensor_name, *[name for _, name in annotation.entries])
            for name in names:
                result["a quantization annotation refers to", name] = annotation, annotation
    return result


def _finding(subject: str, name: str, new_name: str, item: Any) -> Finding:
    what = f"renamed to {quote(new_name)}" if new_name else "deleted"
    message = (
        f"{subject} {quote(name)}, a value that the other side has {what}, giving its old name to "
        "another value"
    )
    places = tuple(map(Place, item if isinstance(item, tuple) else (item,)))
    return Finding(_VALUE, message, places, "")
