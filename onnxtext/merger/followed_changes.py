# SPDX-License-Identifier: Apache-2.0
"""Find the renames and the new parameter orders of one side, to apply them to other versions.

If a side only renamed a value or function, new uses of the old name on the other side mean the new
name. The merge follows a rename only if it is certain: if the side still computes the value in the
same way, and the name cannot mean anything else.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from onnxtext.ast.map_names import Names, Scope, map_all_names
from onnxtext.ast.model import Fragment, Function, Graph, Model, Node, ValueInfo
from onnxtext.ast.visit import walk_nodes
from onnxtext.checker.context.checked_model import FunctionKey, function_key, operator_key
from onnxtext.merger.reordered_parameters import Order, ScopeKey, new_orders, reorder, scopes_by_key
from onnxtext.merger.value_names import ValueNames, ValueScope
from onnxtext.printer.models import print_fragment

Mapped = dict[str, str]
"""Maps old names to new names."""
Read = Callable[[int], Model]
"""Returns a new syntax tree of a version: 0 for the base, 1 for ours, 2 for theirs."""
_MAX_ROUNDS = 8


@dataclass
class Changes:
    """The certain changes of one side: renames, and new orders of functions' parameters.

    Attributes:
        functions: maps the keys of functions to their new keys.
        values: maps the new key of a function, or None for the main graph, to its renamed values.
        orders: maps the new keys of functions to the new order of their inputs and outputs.
    """

    functions: dict[FunctionKey, FunctionKey] = field(default_factory=dict)
    values: dict[ScopeKey, Mapped] = field(default_factory=dict)
    orders: dict[FunctionKey, Order] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.functions or self.values or self.orders)

    def apply(self, model: Model) -> None:
        """Apply the changes to a model in place."""
        _rename_functions(model, self.functions)
        for key, scope in scopes_by_key(model).items():
            if mapping := self.values.get(key):
                _map(scope, mapping)
                if key is None:
                    _map_trainings(model, lambda name, to=mapping: to.get(name, name))  # type: ignore[misc]
        if self.orders:
            reorder(model, self.orders)


def certain_changes(read: Read) -> tuple[Changes, Changes]:
    """Return the certain changes: those that only ours made, and those that only theirs made."""
    ours, theirs = Changes(), Changes()
    sides = ((ours, 1, 2), (theirs, 2, 1))

    def changed(version: int) -> Model:
        model = read(version)
        for changes, own, _ in sides:
            if own != version:
                changes.apply(model)
        return model

    def find_values() -> None:
        found = [_renamed_values(changed, own, other) for _, own, other in sides]
        ours.values, theirs.values = found

    def find_orders(*, check_calls: bool) -> list[dict[FunctionKey, Order]]:
        for changes, *_ in sides:
            changes.orders = {}
        models = [changed(version) for version in range(3)]
        return [
            new_orders(models[0], models[own], models[other], check_calls=check_calls)
            for _, own, other in sides
        ]

    for changes, own, other in sides:
        changes.functions = _renamed_functions(read, own, other)
    find_values()
    plain = ours.values, theirs.values
    possible = find_orders(check_calls=False)
    if not any(possible):
        return ours, theirs
    # A parameter may be both renamed and moved: assume the possible orders, find the renames again,
    # then check the orders.
    ours.values, theirs.values = {}, {}
    ours.orders, theirs.orders = possible
    find_values()
    orders = find_orders(check_calls=True)
    if orders != possible:
        ours.values, theirs.values = plain
        orders = find_orders(check_calls=True)
    ours.orders, theirs.orders = orders
    return ours, theirs


# ---- Functions ------------------------------------------------------------------------------


def _renamed_functions(read: Read, own: int, other: int) -> dict[FunctionKey, FunctionKey]:
    """Return {old key: new key} of the functions that the side `own` renamed.

    Only functions that the side `other` kept are included. A renamed function differs from its base
    only in its name and overload, its metadata, the names of values, and the order of inputs and
    outputs.
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


def _keys_by_form(functions: Mapping[FunctionKey, Function]) -> dict[str, list[FunctionKey]]:
    """Group the keys of functions by what the functions compute.

    Functions in a group differ only in their keys, their metadata, the names of values, and the
    order of inputs and outputs. The functions are changed in place: numbers replace the names of
    their values.
    """
    result: dict[str, list[FunctionKey]] = defaultdict(list)
    for key, function in functions.items():
        result[print_fragment(Fragment(_form_in_any_order(function)))].append(key)
    return result


def _form_in_any_order(function: Function) -> Function:
    """Return the `_form` of a function, with its inputs and outputs in a canonical order.

    The function is changed in place.
    """
    numbers: dict[str, str] = {"": ""}

    def number(name: str) -> str:
        return numbers.setdefault(name, str(len(numbers)))

    def keep(name: str) -> str:
        number(name)
        return name

    # Number the names in the order of the body, which does not depend on the interface.
    map_all_names(Function("", nodes=function.nodes), keep)
    map_all_names(function, number)
    return replace(
        function,
        name="",
        domain=None,
        overload=None,
        metadata=(),
        inputs=sorted(function.inputs, key=lambda value: int(value.name or 0)),
        outputs=sorted(function.outputs, key=lambda value: int(value.name or 0)),
    )


def _called(model: Model) -> set[FunctionKey]:
    """Return the keys of the operators and functions that the nodes of a model call."""
    return {operator_key(node) for node in walk_nodes(model)}


def _rename_functions(model: Model, keys: Mapping[FunctionKey, FunctionKey]) -> None:
    """Rename functions and their calls in place; `keys` maps old keys to new keys."""
    if not keys:
        return
    for function in model.functions:
        if (new := keys.get(function_key(function))) is not None:
            function.name, overload = new[1:]
            if (function.overload or "") != overload:
                function.overload = overload or None
    for node in walk_nodes(model):
        if (new := keys.get(operator_key(node))) is not None:
            node.op_type, overload = new[1:]
            if (node.overload or "") != overload:
                node.overload = overload or None


# ---- Values ---------------------------------------------------------------------------------


def _form(scope: Scope) -> tuple[Scope, list[str]]:
    """Replace the names in a graph or function by numbers; return the result and the names.

    The graph or function is changed in place. A returned function lacks its name, domain, overload
    and metadata.
    """
    numbers: dict[str, str] = {"": ""}
    map_all_names(scope, lambda name: numbers.setdefault(name, str(len(numbers))))
    if isinstance(scope, Function):
        return replace(scope, name="", domain=None, overload=None, metadata=()), list(numbers)
    return scope, list(numbers)


def _renamed_values(read: Read, own: int, other: int) -> dict[ScopeKey, Mapped]:
    """Return the certain renames by the side `own`, by function key (None: the main graph)."""
    numbers = (0, own, other)
    base, side, kept = [scopes_by_key(read(number)) for number in numbers]
    forms = [scopes_by_key(read(number)) for number in numbers[:2]]
    trainings = [_names_in_trainings(read(number)) for number in numbers]
    result = {}
    for key in base:
        if key not in side or key not in kept or base[key] == side[key]:
            continue
        old, new = [_form(scopes[key]) for scopes in forms]
        names = [set(old[1]), set(new[1]), set(_form(scopes_by_key(read(other))[key])[1])]
        has_training = key is None and any(trainings)
        if has_training:
            names = [own_names | more for own_names, more in zip(names, trainings, strict=True)]
        mapping = None
        if old[0] == new[0] and not has_training:
            found = {a: b for a, b in zip(old[1], new[1], strict=True) if a != b}
            if _fits(found, names[0], names[2], _interface(base[key], side[key])):
                mapping = found
        if mapping is None:
            mapping = _same_values(base[key], side[key], kept[key], *names)
        if mapping:
            result[key] = mapping
    return result


def _names_in_trainings(model: Model) -> set[str]:
    """Return the names in `training_info` that may refer to values of the main graph."""
    found: set[str] = set()

    def keep(name: str) -> str:
        found.add(name)
        return name

    _map_trainings(model, keep)
    return found


def _map_trainings(model: Model, names: Names) -> None:
    """Rename, in `training_info`, all names that may refer to values of the main graph."""
    for training in model.training:
        first, update = training.initialization_binding, training.update_binding
        if training.algorithm is not None:
            map_all_names(training.algorithm, names)
        first[:] = [(names(key), value) for key, value in first]
        update[:] = [(names(key), names(value)) for key, value in update]


def _interface(*scopes: Scope) -> set[str]:
    """Return the names of the inputs and outputs of graphs; programs refer to these names."""
    graphs = [scope for scope in scopes if isinstance(scope, Graph)]
    return {value.name for graph in graphs for value in (*graph.inputs, *graph.outputs)}


def _fits(mapping: Mapped, before: set[str], used: set[str], interface: set[str]) -> bool:
    """Whether all renames of a side can be applied to the other side.

    The other side must use each old name, and no new name that the base lacks. If the base has a
    new name, as in a swap, neither that name nor the old one may be in `interface`.

    `before` are the names in the base, `used` those in the other side.
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

    A renamed input or initializer must have the same type, data and uses. The side must not use the
    old names, and neither the base nor the other version (`kept`) may use the new names.

    `before`, `after` and `used` are the names in `base`, `side` and `kept`.
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
    outputs = {name: (at, node) for node in old.nodes for at, name in enumerate(node.outputs)}
    for _ in range(_MAX_ROUNDS):  # a value is uncertain if its node uses another uncertain value
        _map(base, mapping)
        different = [
            name
            for name, new_name in mapping.items()
            if not (
                _same_node(outputs[name], names, new_name)
                if name in outputs
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
    """Whether both values exist and have the same type and data; names are ignored."""
    return old is not None and new is not None and (old.type, old.data) == (new.type, new.data)


def _same_node(output: tuple[int, Node], names: ValueNames, new_name: str) -> bool:
    """Whether a renamed output belongs to a node that computes the same as in the base.

    `output` is (index of the output, node in the base); the node already has the new names.
    `new_name` is the new name of the output.
    """
    at, node = output
    match = names.matches.get(id(node))
    if match is None or match.outputs[at : at + 1] != (new_name,):
        return False
    attributes = [
        sorted(one.attributes, key=lambda attribute: attribute.name) for one in (node, match)
    ]
    return (
        operator_key(node) == operator_key(match)
        and node.inputs == match.inputs
        and len(node.outputs) == len(match.outputs)
        and attributes[0] == attributes[1]
    )
