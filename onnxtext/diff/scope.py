# SPDX-License-Identifier: Apache-2.0
"""Which parts of two graphs or functions belong together, and what their values are called."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass, field

from onnxtext.ast.model import ValueInfo
from onnxtext.ast.types import TensorType
from onnxtext.diff.align import Aligner
from onnxtext.diff.body import Body
from onnxtext.diff.collector import Names
from onnxtext.diff.half import Half
from onnxtext.diff.lists import Pairs, match_keys, unmatched
from onnxtext.diff.side import Side
from onnxtext.diff.signatures import Kinds, Numbers
from onnxtext.diff.weights import Held, digest_of

_MOST_DIGESTS = 1 << 28
"""Of tensors whose names are gone, so many bytes are read to find them under other names."""


@dataclass(slots=True)
class Scope:
    """Two graphs or functions, and which of their parts belong together.

    Attributes:
        old: the old one.
        new: the new one.
        names: what its values are called now.
        inputs: pairs of indices.
        outputs: likewise.
        initializers: likewise.
        nodes: likewise, in the order of the new one.
        statements: what the nodes of both say.
    """

    old: Body
    new: Body
    names: Names
    inputs: Pairs = field(default_factory=list)
    outputs: Pairs = field(default_factory=list)
    initializers: Pairs = field(default_factory=list)
    nodes: Pairs = field(default_factory=list)
    statements: tuple[list[Hashable], list[Hashable]] = field(default_factory=lambda: ([], []))


def match_scopes(
    old: Body, new: Body, outer: Names | None, sides: tuple[Side, Side], *, nested: bool
) -> Scope:
    """Find out what belongs together.

    Args:
        old: the old graph or function.
        new: the new one.
        outer: names of the graphs around it.
        sides: the models.
        nested: whether inputs and outputs go by position rather than by name.

    Raises:
        LowerError: a text says what no model can hold.
    """
    scope = Scope(old, new, Names(outer))
    scope.inputs = match_values(old.inputs, new.inputs, by_position=nested)
    scope.initializers = _match_initializers(old, new, sides)
    for one, other in scope.inputs:
        scope.names.add(old.inputs[one].name, new.inputs[other].name)
    for one, other in scope.initializers:
        scope.names.add(old.initializers[one].name, new.initializers[other].name)
    scope.nodes = _match_nodes(scope, sides)
    for one, other in scope.nodes:
        outputs, named = old.nodes[one].outputs, new.nodes[other].outputs
        if outputs != named or outer is not None:
            for slot, (name, other_name) in enumerate(zip(outputs, named, strict=False)):
                if old.producers.get(name) == (one, slot):
                    scope.names.add(name, other_name)
    _match_by_use(scope)
    scope.outputs = _match_outputs(scope, nested)
    return scope


def match_values(old: Sequence[ValueInfo], new: Sequence[ValueInfo], *, by_position: bool) -> Pairs:
    """Inputs or outputs that belong together: by name, then by type, then by position."""
    pairs = match_keys([value.name for value in old], [value.name for value in new])
    for key in (_type_key, _no_key):
        left = unmatched(len(old), [one for one, _ in pairs])
        right = unmatched(len(new), [other for _, other in pairs])
        if (
            not left
            or not right
            or (key is _no_key and not by_position and len(left) != len(right))
        ):
            break
        more = match_keys([key(old[i]) for i in left], [key(new[i]) for i in right])
        pairs += [(left[one], right[other]) for one, other in more]
    return sorted(pairs, key=lambda pair: pair[1])


def _type_key(value: ValueInfo) -> Hashable:
    return value.type


def _no_key(value: ValueInfo) -> Hashable:
    return None


# ---- Initializers ---------------------------------------------------------------------------


def _match_initializers(old: Body, new: Body, sides: tuple[Side, Side]) -> Pairs:
    """Initializers by name; those whose names are gone by their content."""
    pairs = match_keys(
        [value.name for value in old.initializers], [value.name for value in new.initializers]
    )
    left = unmatched(len(old.initializers), [one for one, _ in pairs])
    right = unmatched(len(new.initializers), [other for _, other in pairs])
    if left and right:
        types = {old.initializers[i].type for i in left} & {new.initializers[i].type for i in right}
        budget = [_MOST_DIGESTS]
        keys = [
            [_content(body.initializers[i], side, types, budget) or (place, i) for i in part]
            for place, (body, side, part) in enumerate(
                zip((old, new), sides, (left, right), strict=True)
            )
        ]
        pairs += [(left[one], right[other]) for one, other in match_keys(*keys)]
    return sorted(pairs, key=lambda pair: pair[1])


def _content(
    value: ValueInfo, side: Side, types: Collection[object], budget: list[int]
) -> Hashable | None:
    """What tells the content of an initializer; None if it is not looked for."""
    if value.type not in types or not isinstance(value.type, TensorType) or budget[0] < 0:
        return None
    data = getattr(value.data, "data", b"")
    budget[0] -= len(data)
    digest = digest_of(Held(value.type, value.data, value.name, side.holder))  # type: ignore[arg-type]
    return None if digest is None else (value.type, digest)


def _match_by_use(scope: Scope) -> None:
    """Match initializers of other names and contents that stand in the same places."""
    old, new = scope.old, scope.new
    left = unmatched(len(old.initializers), [one for one, _ in scope.initializers])
    right = unmatched(len(new.initializers), [other for _, other in scope.initializers])
    if not left or not right:
        return
    olds = {old.initializers[i].name: i for i in reversed(left)}
    news = {new.initializers[i].name: i for i in reversed(right)}
    for one, other in scope.nodes:
        names = zip(old.nodes[one].inputs, new.nodes[other].inputs, strict=False)
        for name, named in names:
            if name in olds and named in news:
                scope.initializers.append((olds.pop(name), news.pop(named)))
                scope.names.add(name, named)
    scope.initializers.sort(key=lambda pair: pair[1])


# ---- Nodes and outputs ----------------------------------------------------------------------


def _match_nodes(scope: Scope, sides: tuple[Side, Side]) -> Pairs:
    numbers = Numbers()
    halves = []
    for index, body in enumerate((scope.old, scope.new)):
        kinds = Kinds(sides[index].facts, numbers)
        statements = kinds.statements(body.nodes)
        scope.statements[index].extend(statements)
        halves.append(Half(body, statements, kinds, _Given(scope, index)))
    return Aligner(halves[0], halves[1], numbers).run()


class _Given:
    """What the values are that no node makes: the same for those that belong together."""

    def __init__(self, scope: Scope, side: int) -> None:
        body = (scope.old, scope.new)[side]
        self._inputs = {body.inputs[pair[side]].name: pair[1] for pair in scope.inputs}
        self._tensors = {body.initializers[pair[side]].name: pair[1] for pair in scope.initializers}
        self._types = {value.name: value.type for value in body.initializers}
        self._names = scope.names if side == 0 else None

    def __call__(self, name: str) -> Hashable:
        if name in self._inputs:
            return ("input", self._inputs[name])
        if name in self._tensors:
            return ("initializer", self._tensors[name])
        if name in self._types:
            return ("initializer", self._types[name])
        return ("free", name if self._names is None else self._names.get(name))


def _match_outputs(scope: Scope, nested: bool) -> Pairs:
    """Outputs that are the same value, then by name, then as other values."""
    old, new = scope.old.outputs, scope.new.outputs
    get = scope.names.get
    named = match_keys([value.name for value in old], [value.name for value in new])
    left = unmatched(len(old), [one for one, _ in named])
    right = unmatched(len(new), [other for _, other in named])
    same = match_keys([get(old[i].name) for i in left], [new[i].name for i in right])
    pairs = named + [(left[one], right[other]) for one, other in same]
    left = unmatched(len(old), [one for one, _ in pairs])
    right = unmatched(len(new), [other for _, other in pairs])
    if left and right:
        rest = match_values([old[i] for i in left], [new[i] for i in right], by_position=nested)
        pairs += [(left[one], right[other]) for one, other in rest]
    return sorted(pairs, key=lambda pair: pair[1])
