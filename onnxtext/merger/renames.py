# SPDX-License-Identifier: Apache-2.0
"""Recognize renamed values and functions, and decide whether two edits of a node contradict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

from onnxtext.ast.map_names import defined_names
from onnxtext.ast.model import Model
from onnxtext.ast.visit import walk_graphs
from onnxtext.checker.context.checked_model import FunctionKey, function_key
from onnxtext.checker.context.compare_declared_types import plain_dim
from onnxtext.checker.context.model_items import inner_types


class NodeMeaning(NamedTuple):
    """The operator, inputs and attributes of a node, which must fit together.

    Attributes:
        operator: (domain, operator, overload); the standard domain is `""`.
        inputs: the names of its inputs.
        attributes: its attributes without the contents of graphs, in any comparable form.
    """

    operator: FunctionKey
    inputs: Sequence[str]
    attributes: Any


class Renames:
    """The values and functions that one side of a merge has renamed.

    A name counts as renamed if, compared with the base, fewer values have the old name and more
    values have the new name.
    """

    def __init__(self, base: Model | None, side: Model) -> None:
        self._base = base
        self._side = side

    @cached_property
    def _surplus(self) -> Counter[str]:
        """Maps each name to how many more values have it on this side than in the base."""
        result = _defined_names(self._side)
        if self._base is not None:
            result.subtract(_defined_names(self._base))
        return result

    @cached_property
    def _functions(self) -> tuple[set[FunctionKey], set[FunctionKey]]:
        """The keys of functions that only the base has, and of functions that only the side has."""
        before = set() if self._base is None else set(map(function_key, self._base.functions))
        after = set(map(function_key, self._side.functions))
        return before - after, after - before

    def inputs_differ_only_by_renames(self, before: Sequence[str], after: Sequence[str]) -> bool:
        """Whether two lists of names differ at most in renamed values."""
        return len(before) == len(after) and all(
            old_name == new_name or self._surplus[old_name] < 0 < self._surplus[new_name]
            for old_name, new_name in zip(before, after, strict=True)
        )

    def is_same_or_renamed_operator(self, before: FunctionKey, after: FunctionKey) -> bool:
        """Whether two operators are equal, or may be one function before and after a rename."""
        gone, new = self._functions
        return before == after or (before in gone and after in new)

    def without_renames(self, base: NodeMeaning, side: NodeMeaning) -> NodeMeaning:
        """Return `side`, a version of the node `base`, without its renames.

        Renamed inputs and a renamed operator get their names in the base.
        """
        operator, inputs, attributes = side
        if self.is_same_or_renamed_operator(base.operator, operator):
            operator = base.operator
        return NodeMeaning(
            operator,
            base.inputs if self.inputs_differ_only_by_renames(base.inputs, inputs) else inputs,
            attributes,
        )


def find_renames(models: Sequence[Model]) -> tuple[Renames, Renames]:
    """Return the renames of ours and of theirs; `models` begins with the base, if there is one."""
    base = models[0] if len(models) > 2 else None
    ours, theirs = models[-2:]
    return Renames(base, ours), Renames(base, theirs)


def are_contradictory(
    renames: tuple[Renames, Renames], base: NodeMeaning, ours: NodeMeaning, theirs: NodeMeaning
) -> bool:
    """Whether one side changed the operator, and the other side the inputs or attributes.

    Changes that both sides made, and renames, are ignored.
    """
    ours, theirs = (
        side.without_renames(base, node) for side, node in zip(renames, (ours, theirs), strict=True)
    )
    if ours.operator == theirs.operator or ours[1:] == theirs[1:]:
        return False
    return (base.operator != ours.operator and base[1:] != theirs[1:]) or (
        base.operator != theirs.operator and base[1:] != ours[1:]
    )


def dimension_notes(models: Sequence[Model], labels: Sequence[str]) -> list[str]:
    """Return a note for each dimension that one side renamed and the other side uses in new types.

    The merge is valid, but the old and the new name may stand for the same size. `models` are the
    base, ours and theirs, and `labels` their names in messages.
    """
    base, *sides = [_dimensions(model) for model in models]
    notes = []
    for side, other, name, by in zip(sides, sides[::-1], labels[1:], labels[:0:-1], strict=True):
        gone, new = base.keys() - side.keys(), side.keys() - base.keys()
        notes += [
            f"{name} no longer has the dimension `{symbol}`, which {by} uses in new types"
            for symbol in sorted(gone)
            if new and other[symbol] > base[symbol]
        ]
    return notes


def _dimensions(model: Model) -> Counter[str]:
    """Count how often each symbol occurs as a dimension in the types of values."""
    result: Counter[str] = Counter()
    for scope in walk_graphs(model):
        types = [value.type for value in (*scope.inputs, *scope.outputs, *scope.values)]
        types += [type for node in scope.nodes for type in node.output_types]
        for inner in [inner for type in types if type is not None for inner in inner_types(type)]:
            dims = map(plain_dim, getattr(inner, "shape", None) or ())
            result.update([dim for dim in dims if isinstance(dim, str)])
    return result


def _defined_names(model: Model) -> Counter[str]:
    """Count the values of a model by name, in all graphs and functions."""
    return Counter([name for scope in walk_graphs(model) for name in defined_names(scope)])
