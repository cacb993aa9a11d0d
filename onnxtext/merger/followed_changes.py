# SPDX-License-Identifier: Apache-2.0
"""Apply the renames of one side to the other versions before a merge.

If a side only renamed a value or function, new uses of the old name on the other side mean the new
name. The merge follows a rename only if it is certain: if the side still computes the value in the
same way, and the name cannot mean anything else.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from onnxtext.ast.map_names import Scope, map_all_names
from onnxtext.ast.model import Fragment, Function, Graph, Model, Node, ValueInfo
from onnxtext.ast.visit import walk_nodes
from onnxtext.checker.context.checked_model import FunctionKey, function_key, plain_domain
from onnxtext.merger.value_names import ValueNames, ValueScope
from onnxtext.printer.models import print_fragment

ScopeKey = FunctionKey | None
"""The key of a function, or None for the main graph."""
Mapped = dict[str, str]
"""Maps old names to new names."""
Read = Callable[[int], Model]
"""Returns a new syntax tree of a version: 0 for the base, 1 for ours, 2 for theirs."""
_MAX_ROUNDS = 8


@dataclass
class Changes:
    """Certain renames, and functions with another order of inputs.

    Attributes:
        functions: maps the keys of functions to their new keys.
        values: maps the new key of each function, and None for the main graph, to renamed values.
        orders: maps the new keys of functions to their new inputs: the indices of the old ones.
    """

    functions: dict[FunctionKey, FunctionKey] = field(default_factory=dict)
    values: dict[ScopeKey, Mapped] = field(default_factory=dict)
    orders: dict[FunctionKey, list[int]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.functions or self.values or self.orders)

    def apply(self, model: Model) -> None:
        """Change a model in place."""
        _rename_functions(model, self.functions)
        for key, scope in _scopes(model).items():
            if mapping := self.values.get(key):
                _map(scope, mapping)
        if self.orders:
            _reorder(model, self.orders)


def certain_changes(read: Read) -> tuple[Changes, Changes]:
    """Return the certain changes of ours and of theirs that the other side does not have."""
    ours, theirs = Changes(), Changes()
    sides = ((ours, 1, 2), (theirs, 2, 1))

    def changed(version: int) -> Model:
        model = read(version)
        for changes, own, _ in sides:
            if own != version:
                changes.apply(model)
        return model

    for changes, own, other in sides:
        changes.functions = _renamed_functions(read, own, other)
    found: list[dict[ScopeKey, Mapped]] = []
    for _, own, other in sides:
        found.append(_renamed_values(changed, own, other))
    ours.values, theirs.values = found
    models = [changed(version) for version in range(3)]
    orders = [_new_orders(models[0], models[own], models[other]) for _, own, other in sides]
    ours.orders, theirs.orders = orders
    return ours, theirs


def _scopes(model: Model) -> dict[ScopeKey, Scope]:
    functions: dict[ScopeKey, Scope] = {function_key(item): item for item in model.functions}
    return {None: model.graph, **functions}


# ---- Functions ------------------------------------------------------------------------------


def _renamed_functions(read: Read, own: int, other: int) -> dict[FunctionKey, FunctionKey]:
    """Return the functions that the side `own` renamed and the side `other` kept.

    A renamed function differs from its base only in its name and in names of values.
    """
    found: dict[FunctionKey, FunctionKey] = {}
    for _ in range(_MAX_ROUNDS):  # the body of a function can call other renamed functions
        base, side, kept = read(0), read(own), read(other)
        for model in (base, kept):
            _rename_functions(model, found)
        before, after, others = [
            {function_key(function): function for function in model.functions}
            for model in (base, side, kept)
        ]
        still_used = {*after, *_called(side)}
        gone = [key for key in before if key not in still_used and key in others]
        taken = {*before, *others, *_called(base), *_called(kept)}
        new = [key for key in after if key not in taken]
        if not gone or not new:
            break
        old_keys, new_keys = (
            _keys_by_form({key: functions[key] for key in keys})
            for functions, keys in ((before, gone), (after, new))
        )
        pairs = {
            keys[0]: new_keys[form][0]
            for form, keys in old_keys.items()
            if len(keys) == len(new_keys.get(form, ())) == 1 and keys[0][0] == new_keys[form][0][0]
        }
        if not pairs:
            break
        found |= pairs
    return found


def _keys_by_form(functions: Mapping[FunctionKey, Scope]) -> dict[str, list[FunctionKey]]:
    """Group the keys of functions by what the functions compute; the functions are changed.

    Functions in a group differ only in their names, their metadata and the names of values.
    """
    result: dict[str, list[FunctionKey]] = defaultdict(list)
    for key, function in functions.items():
        result[print_fragment(Fragment(_form(function)[0]))].append(key)
    return result


def _called(model: Model) -> set[FunctionKey]:
    """Return the operators and functions that the nodes of a model call."""
    return {_operator(node) for node in walk_nodes(model)}


def _operator(node: Node) -> FunctionKey:
    return plain_domain(node.domain), node.op_type, node.overload or ""


def _rename_functions(model: Model, keys: Mapping[FunctionKey, FunctionKey]) -> None:
    """Rename functions and their calls in place."""
    if not keys:
        return
    for function in model.functions:
        if (new := keys.get(function_key(function))) is not None:
            function.name, overload = new[1:]
            if (function.overload or "") != overload:
                function.overload = overload or None
    for node in walk_nodes(model):
        if (new := keys.get(_operator(node))) is not None:
            node.op_type, overload = new[1:]
            if (node.overload or "") != overload:
                node.overload = overload or None


# ---- Values ---------------------------------------------------------------------------------


def _form(scope: Scope) -> tuple[Scope, list[str]]:
    """Return a graph or function with numbers instead of names, and the name of each number.

    Args:
        scope: the graph or function; changed in place.
    """
    numbers: dict[str, str] = {"": ""}
    map_all_names(scope, lambda name: numbers.setdefault(name, str(len(numbers))))
    if isinstance(scope, Function):
        return replace(scope, name="", domain=None, overload=None, metadata=()), list(numbers)
    return scope, list(numbers)


def _renamed_values(read: Read, own: int, other: int) -> dict[ScopeKey, Mapped]:
    """Return the values that the side `own` renamed, for each graph or function."""
    numbers = (0, own, other)
    base, side, kept = [_scopes(read(number)) for number in numbers]
    forms = [_scopes(read(number)) for number in numbers[:2]]
    has_training = any(read(number).training for number in numbers)
    result = {}
    for key in base:
        if key not in side or key not in kept or base[key] == side[key]:
            continue
        if key is None and has_training:  # trainings refer to the values of the main graph
            continue
        used = _names_in(read, other, key)
        old, new = [_form(scopes[key]) for scopes in forms]
        mapping = None
        if old[0] == new[0]:
            found = {a: b for a, b in zip(old[1], new[1], strict=True) if a != b}
            if _fits(found, set(old[1]), used, _interface(base[key], side[key])):
                mapping = found
        if mapping is None:
            mapping = _same_values(base[key], side[key], kept[key], set(old[1]), set(new[1]), used)
        if mapping:
            result[key] = mapping
    return result


def _names_in(read: Read, version: int, key: ScopeKey) -> set[str]:
    return set(_form(_scopes(read(version))[key])[1])


def _interface(*scopes: Scope) -> set[str]:
    """Return the names of inputs and outputs of main graphs, which have a meaning outside."""
    graphs = [scope for scope in scopes if isinstance(scope, Graph)]
    return {value.name for graph in graphs for value in (*graph.inputs, *graph.outputs)}


def _fits(mapping: Mapped, before: set[str], used: set[str], interface: set[str]) -> bool:
    """Whether all renames of a side can be applied to the other side, which uses the names `used`.

    Names may be swapped, except those in `interface`.
    """
    reused = {name for name in mapping.values() if name in before}
    fresh = {name for name in mapping.values() if name not in before}
    return not (
        reused & interface
        or {old for old, new in mapping.items() if new in reused} & interface
        or fresh & used
        or mapping.keys() - used
    )


def _same_values(
    base: Scope, side: Scope, kept: Scope, before: set[str], after: set[str], used: set[str]
) -> Mapped:
    """Return the renames of values that a side still computes in the same way.

    The side must not use the old names, and the other versions must not use the new names.

    Args:
        base: the graph or function in the base.
        side: the graph or function in the side that renamed values.
        kept: the graph or function in the other side.
        before: the names in the base.
        after: the names in `side`.
        used: the names in `kept`.
    """
    old, new = ValueScope(base), ValueScope(side)
    names = ValueNames(old, new)
    once = old.definitions.keys() & ValueScope(kept).definitions.keys()
    mapping = {
        name: new_name
        for name in once
        if name not in after
        and (new_name := names.name_of(name)) is not None
        and new_name not in before
        and new_name not in used
        and new_name in new.definitions
    }
    counts = Counter(mapping.values())
    mapping = {name: new_name for name, new_name in mapping.items() if counts[new_name] == 1}
    values = {value.name: value for value in _with_values(base)}
    others = {value.name: value for value in _with_values(side)}
    made = {name: (at, node) for node in old.nodes for at, name in enumerate(node.outputs)}
    for _ in range(_MAX_ROUNDS):  # a value is uncertain if its node uses another uncertain value
        _map(base, mapping)
        different = [
            name
            for name, new_name in mapping.items()
            if not (
                _same_node(made[name], names, new_name)
                if name in made
                else _same_value(values.get(name), others.get(new_name))
                and names.is_used_as(name, new_name)
            )
        ]
        _map(base, {new_name: name for name, new_name in mapping.items()})
        if not different:
            return mapping
        for name in different:
            del mapping[name]
    return {}


def _map(scope: Scope, mapping: Mapped) -> None:
    map_all_names(scope, lambda name: mapping.get(name, name))


def _with_values(scope: Scope) -> Sequence[ValueInfo]:
    """Return the inputs and initializers."""
    return (*scope.inputs, *[value for value in scope.values if value.data is not None])


def _same_value(old: ValueInfo | None, new: ValueInfo | None) -> bool:
    """Whether an input or initializer has the same type and data under another name."""
    return old is not None and new is not None and (old.type, old.data) == (new.type, new.data)


def _same_node(made: tuple[int, Node], names: ValueNames, new_name: str) -> bool:
    """Whether a renamed output belongs to a node that computes the same as in the base.

    Args:
        made: the index of the output, and its node in the base, with new names.
        names: the names on the side.
        new_name: the new name of the output.
    """
    at, node = made
    match = names.matches.get(id(node))
    if match is None or match.outputs[at : at + 1] != (new_name,):
        return False
    attributes = [
        sorted(one.attributes, key=lambda attribute: attribute.name) for one in (node, match)
    ]
    return (
        _operator(node) == _operator(match)
        and node.inputs == match.inputs
        and len(node.outputs) == len(match.outputs)
        and attributes[0] == attributes[1]
    )


# ---- Order of inputs ------------------------------------------------------------------------


def _new_orders(base: Model, side: Model, kept: Model) -> dict[FunctionKey, list[int]]:
    """Return the functions whose inputs a side reordered, together with all calls.

    The side must not have edited the functions otherwise.
    """
    result: dict[FunctionKey, list[int]] = {}
    before, after, others = map(_scopes, (base, side, kept))
    calls = [_calls_by_key(model) for model in (base, side, kept)]
    for key, function in before.items():
        if key is None or key not in after or key not in others:
            continue
        old, new, third = [
            [value.name for value in scopes[key].inputs] for scopes in (before, after, others)
        ]
        if old == new or old != third or sorted(old) != sorted(new) or len(set(old)) < len(old):
            continue
        order = [old.index(name) for name in new]
        inputs = [function.inputs[at] for at in order]
        if replace(function, inputs=inputs) == after[key] and _calls_follow(
            order, *[found.get(key, []) for found in calls]
        ):
            result[key] = order
    return result


def _calls_follow(
    order: list[int], old: Sequence[Node], new: Sequence[Node], others: Sequence[Node]
) -> bool:
    """Whether a side has reordered the inputs of all calls of a function, at least of one.

    Args:
        order: the new inputs of the function: the indices of the old ones.
        old: the calls in the base.
        new: the calls in this side.
        others: the calls in the other side.
    """
    if any(len(node.inputs) != len(order) for node in (*old, *new, *others)):
        return False
    by_outputs = {node.outputs: node for node in new}
    pairs = [(node, by_outputs[node.outputs]) for node in old if node.outputs in by_outputs]
    return all(
        tuple([node.inputs[at] for at in order]) == match.inputs for node, match in pairs
    ) and any(node.inputs != match.inputs for node, match in pairs)


def _calls_by_key(model: Model) -> dict[FunctionKey, list[Node]]:
    """Return the nodes of a model by the operator or function that they call."""
    result: dict[FunctionKey, list[Node]] = defaultdict(list)
    for node in walk_nodes(model):
        result[_operator(node)].append(node)
    return result


def _reorder(model: Model, orders: Mapping[FunctionKey, list[int]]) -> None:
    """Reorder the inputs of functions and calls in place."""
    for function in model.functions:
        if (order := orders.get(function_key(function))) is not None:
            function.inputs = [function.inputs[at] for at in order]
    for node in walk_nodes(model):
        if (order := orders.get(_operator(node))) is not None:
            node.inputs = tuple([node.inputs[at] for at in order])
