# SPDX-License-Identifier: Apache-2.0
"""Find the name that a side gives to each value of the base, although names may be reused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from onnxtext.ast.model import Function, Graph, Node, ValueInfo
from onnxtext.ast.qualified_names import plain_domain
from onnxtext.ast.visit import walk_nodes
from onnxtext.checker.context.checked_model import operator_key
from onnxtext.merger.texts.match_items import ABSENT, node_match_rules, pair_items
from onnxtext.merger.texts.renumbered_nodes import NodeRules

Definition = tuple[Any, ...]
"""Describes where a value comes from, such as the operator and inputs of its node."""
_MAX_CHAIN = 100
"""Maximum number of values to visit when searching for a dependency."""
_MAX_COMPARED = 200
"""Maximum number of changed initializers whose data are compared."""


class ValueScope:
    """The values of a graph and of the graphs in it, or of a function.

    Attributes:
        nodes: the nodes of the graph and of the graphs in it, or of the function.
    """

    def __init__(self, root: Graph | Function) -> None:
        self.root = root
        self.nodes = list(walk_nodes(root))

    @cached_property
    def identities(self) -> set[Definition]:
        """The `node_identity` of each node."""
        return set(map(node_identity, self.nodes))

    @cached_property
    def initializers(self) -> dict[str, ValueInfo]:
        """The initializers of a graph by name."""
        if isinstance(self.root, Function):
            return {}
        values = (*self.root.inputs, *self.root.values)
        return {value.name: value for value in values if value.data is not None}

    @cached_property
    def definitions(self) -> dict[str, Definition]:
        """The definition of each value.

        Names that several nodes define, such as nodes of two branches, are left out.
        """
        counts = Counter(name for node in self.nodes for name in node.outputs)
        result: dict[str, Definition] = {
            name: (index, plain_domain(node.domain), node.op_type, node.inputs)
            for node in self.nodes
            for index, name in enumerate(node.outputs)
            if name and counts[name] == 1
        }
        for index, value in enumerate(self.root.inputs):
            result[value.name] = ("input", index if isinstance(self.root, Function) else -1)
        for name, value in self.initializers.items():
            result.setdefault(name, ("initializer", value.data))
        return result


class ValueNames:
    """The names that a side gives to the values of the base.

    The counterpart of a value is the same output of its node, the initializer with its name or
    data, or the same parameter. The value usually has the counterpart's name.

    If the side still defines the old name, the uses of the value decide. For example, `y = Relu
    (x)` has become `h = Relu (x)`, then `y = Neg (h)`. If a use has the old name, the value keeps
    this name. So does a value without uses, if the new `y` depends on `h`. If no use has either
    name, the name of the value is uncertain.

    If the side defines neither name, the value has the name that all its uses have.

    Attributes:
        partners: for each node of the side, its node in the base, by `id()`.
        matches: for each node of the base, its node in the side, by `id()`.
    """

    def __init__(self, base: ValueScope, side: ValueScope) -> None:
        self._base = base
        self._side = side
        found = pair_items(base.nodes, side.nodes, _RULES)
        pairs = [
            (base.nodes[index], node)
            for node, index in zip(side.nodes, found, strict=True)
            if index != ABSENT
        ]
        self.partners = {id(node): old for old, node in pairs}
        self.matches = {id(old): node for old, node in pairs}
        self._uses = _uses(base, side, pairs)
        self._candidates = dict(self._find_candidates(pairs))

    def _find_candidates(self, pairs: Sequence[tuple[Node, Node]]) -> Iterator[tuple[str, str]]:
        """Yield (name in the base, name in the side) of values with the same origin."""
        base, side = self._base, self._side
        before, after = [[value.name for value in scope.root.inputs] for scope in (base, side)]
        yield from self._parameters(before, after)
        yield from _same_data(base.initializers, side.initializers)
        for node, other in pairs:
            yield from zip(node.outputs, other.outputs, strict=False)

    def _parameters(self, before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield (name in the base, name in the side) of inputs, paired by position or by uses.

        If the number of inputs differs, no input counts as renamed. Inputs are paired by uses if
        all have new names, and the uses of each old input have the name of a different new input.
        Otherwise, they are paired by position.
        """
        if len(before) != len(after):
            yield from zip(before, before, strict=True)
            return
        used = [self._only_use(name) for name in before]
        if len(set(before) | set(after)) == 2 * len(before) and set(used) == set(after):
            yield from zip(before, [name for name in used if name is not None], strict=True)
        else:
            yield from zip(before, after, strict=True)

    @cached_property
    def _names(self) -> dict[str, str]:
        result = {}
        taken = {new for old, new in self._candidates.items() if new != old}
        for name in self._base.definitions:
            new_name = self._candidates.get(name)
            if name not in self._side.definitions and new_name not in self._side.definitions:
                new_name = self._only_use(name)
            if new_name != name and name in self._side.definitions:
                uses = self._uses.get(name, Counter())
                is_inserted = name not in taken and self._depends(name, new_name)
                if uses[name] or (not uses and is_inserted):
                    new_name = name  # no use was renamed
                elif uses and new_name is not None and not uses[new_name]:
                    new_name = None
            if new_name is not None:
                result[name] = new_name
        return result

    def _depends(self, name: str, other: str | None) -> bool:
        """Whether the value `name` of the side depends on the value `other`.

        Return True if `other` is None, or if the search visits more than `_MAX_CHAIN` values.
        """
        waiting, seen = [name], {name}
        while waiting and other is not None and len(seen) < _MAX_CHAIN:
            definition = self._side.definitions.get(waiting.pop(), ())
            new = (
                [read for read in definition[3] if read not in seen] if len(definition) > 3 else []
            )
            if other in new:
                return True
            seen.update(new)
            waiting += new
        return other is None or bool(waiting)

    def is_used_as(self, name: str, new_name: str) -> bool:
        """Whether a value has uses, and all of them have the name `new_name` on the side."""
        return set(self._uses.get(name, ())) == {new_name}

    def _only_use(self, name: str) -> str | None:
        """Return the name of a base value on the side if all of its uses there have the same name.

        Return None if the value has no uses, if their names differ, or if the base defines their
        name.
        """
        uses = [use for use in self._uses.get(name, ()) if use not in self._base.definitions]
        return uses[0] if len(uses) == 1 == len(self._uses[name]) else None

    def name_of(self, name: str) -> str | None:
        """Return the name on this side of the base value `name`; None if deleted or uncertain."""
        return self._names.get(name)

    @cached_property
    def _old_names(self) -> dict[str, str]:
        return {new: old for old, new in self._names.items()}

    def base_of(self, name: str) -> str | None:
        """Return the base name of the value `name` of this side; None if added or uncertain."""
        return self._old_names.get(name)


def node_identity(node: Node) -> Definition:
    """Return the operator type, inputs and outputs of a node."""
    return node.op_type, node.inputs, node.outputs


def _uses(
    base: ValueScope, side: ValueScope, pairs: Sequence[tuple[Node, Node]]
) -> dict[str, Counter[str]]:
    """For each value of the base, count the names that its uses have on the side.

    Uses are the inputs of matched nodes and the outputs of the graph.
    """
    lists = [(old.inputs, new.inputs) for old, new in pairs]
    before, after = [tuple([v.name for v in scope.root.outputs]) for scope in (base, side)]
    if isinstance(base.root, Graph):  # outputs of functions may be renamed
        lists.append((before, after))
    result: dict[str, Counter[str]] = {}
    for old, new in lists:
        if len(old) == len(new):
            for name, other in zip(old, new, strict=True):
                result.setdefault(name, Counter())[other] += 1
    return result


def _same_data(base: dict[str, ValueInfo], side: dict[str, ValueInfo]) -> Iterator[tuple[str, str]]:
    """Yield (name in the base, name in the side) of initializers with the same name or data.

    Data is compared only if at most `_MAX_COMPARED` initializers have changed. Data that several
    new initializers have is ignored.
    """
    changed, new = [
        [name for name in one if name not in other or one[name].data != other[name].data]
        for one, other in ((base, side), (side, base))
    ]
    yield from [(name, name) for name in base if name in side]
    if max(len(changed), len(new)) > _MAX_COMPARED:
        return
    for name in changed:
        same = [n for n in new if side[n].data == base[name].data]
        if len(same) == 1:
            yield name, same[0]


def _outputs(node: Node) -> tuple[str, ...] | None:
    return node.outputs or None


def _form(node: Node) -> Definition:
    return *operator_key(node), tuple([attribute.name for attribute in node.attributes])


def _content(node: Node) -> Definition:
    return *_form(node), node.inputs


def _whole(node: Node) -> Definition:
    return *_content(node), node.outputs


def _label(node: Node) -> str | None:
    return node.name or None


_RULES = node_match_rules(
    NodeRules(
        outputs=_outputs,
        reads=lambda node: node.inputs,
        label=_label,
        operator=operator_key,
        content=_content,
        form=_form,
        whole=_whole,
    )
)
