# SPDX-License-Identifier: Apache-2.0
"""Match the inputs, outputs, initializers and nodes of two graphs or functions."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field

from onnxtext.ast.model import ValueInfo
from onnxtext.ast.types import TensorType
from onnxtext.differ.collected_changes import NameMap
from onnxtext.differ.graph_lists import GraphLists
from onnxtext.differ.matching.match_derived import match_derived
from onnxtext.differ.matching.match_lists import (
    Pairs,
    by_new_index,
    match_keys,
    match_rest,
    unmatched_indices,
)
from onnxtext.differ.matching.match_nodes import NodeMatcher
from onnxtext.differ.matching.node_signatures import Interner, LeafKey, NodeKinds
from onnxtext.differ.model_side import ModelSide
from onnxtext.differ.tensor_data import TensorRef, digest_of
from onnxtext.differ.unmatched_nodes import MatchSide

_MAX_DIGESTS = 1 << 28
"""Maximum number of bytes to hash for finding renamed initializers by content."""


@dataclass(slots=True)
class GraphMatch:
    """Two graphs or functions and the pairs of their matching items.

    All pairs are (old, new) indices.

    Attributes:
        names: maps old value names to new ones.
        statements: the results of `NodeKinds.statements` for the old nodes and for the new nodes.
    """

    old: GraphLists
    new: GraphLists
    names: NameMap
    inputs: Pairs = field(default_factory=list)
    outputs: Pairs = field(default_factory=list)
    initializers: Pairs = field(default_factory=list)
    nodes: Pairs = field(default_factory=list)
    statements: tuple[list[int], list[int]] = field(default_factory=lambda: ([], []))


def match_graphs(
    old: GraphLists,
    new: GraphLists,
    outer: NameMap | None,
    sides: tuple[ModelSide, ModelSide],
    *,
    nested: bool,
) -> GraphMatch:
    """Match the inputs, outputs, initializers and nodes of two graphs or functions.

    `outer` maps the names of the enclosing graphs. In nested graphs and functions (`nested`),
    inputs and outputs are matched by position, even if one side has more unmatched values.

    Raises:
        LowerError: a statement cannot be encoded.
    """
    match = GraphMatch(old, new, NameMap(outer))
    match.inputs = _match_values(old.inputs, new.inputs, str, by_position=nested)
    match.initializers = _match_initializers(old, new, sides)
    for old_index, new_index in match.inputs:
        match.names.add(old.inputs[old_index].name, new.inputs[new_index].name)
    for old_index, new_index in match.initializers:
        match.names.add(old.initializers[old_index].name, new.initializers[new_index].name)
    match.nodes = _match_nodes(match, sides)
    for old_index, new_index in match.nodes:
        outputs, named = old.nodes[old_index].outputs, new.nodes[new_index].outputs
        if outputs != named or outer is not None:
            for slot, (name, other_name) in enumerate(zip(outputs, named, strict=False)):
                if old.producers.get(name) == (old_index, slot):
                    match.names.add(name, other_name)
    _match_by_use(match)
    derived = match_derived(old.initializers, new.initializers, match.initializers, sides)
    match.initializers = by_new_index([*match.initializers, *derived])
    match.outputs = _match_values(old.outputs, new.outputs, match.names.get, by_position=nested)
    return match


def _match_values(
    old: Sequence[ValueInfo],
    new: Sequence[ValueInfo],
    new_name: Callable[[str], str],
    *,
    by_position: bool,
) -> Pairs:
    """Match inputs or outputs by equal names, then by `new_name`, by type, and by position.

    `new_name` returns the expected new name of an old value. If `by_position` is False, values are
    matched by position only if both models have equally many unmatched values.
    """
    pairs = match_keys([value.name for value in old], [value.name for value in new])
    pairs = match_rest(pairs, old, new, lambda side, v: v.name if side else new_name(v.name))
    pairs = match_rest(pairs, old, new, lambda _, value: value.type)
    left, right = unmatched_indices(pairs, len(old), len(new))
    if by_position or len(left) == len(right):
        pairs += zip(left, right, strict=False)
    return by_new_index(pairs)


def _match_initializers(
    old: GraphLists, new: GraphLists, sides: tuple[ModelSide, ModelSide]
) -> Pairs:
    """Match initializers by name, then by content."""
    pairs = match_keys(
        [value.name for value in old.initializers], [value.name for value in new.initializers]
    )
    left, right = unmatched_indices(pairs, len(old.initializers), len(new.initializers))
    types = {old.initializers[i].type for i in left} & {new.initializers[i].type for i in right}
    budget = _MAX_DIGESTS

    def content(side: int, value: ValueInfo) -> Hashable:
        """Return the type and a digest of an initializer; a unique key if it is not hashed."""
        nonlocal budget
        digest = None
        if value.type in types and isinstance(value.type, TensorType) and budget >= 0:
            budget -= len(getattr(value.data, "data", b""))
            reader = sides[side].reader
            digest = digest_of(TensorRef(value.type, value.data, value.name, reader))  # type: ignore[arg-type]
        return (side, id(value)) if digest is None else (value.type, digest)

    return match_rest(pairs, old.initializers, new.initializers, content)


def _match_by_use(match: GraphMatch) -> None:
    """Match unmatched initializers that matching nodes use as inputs with the same index."""
    old, new = match.old, match.new
    left, right = unmatched_indices(
        match.initializers, len(old.initializers), len(new.initializers)
    )
    if not left or not right:
        return
    old_indices = {old.initializers[i].name: i for i in reversed(left)}
    new_indices = {new.initializers[i].name: i for i in reversed(right)}
    for old_index, new_index in match.nodes:
        names = zip(old.nodes[old_index].inputs, new.nodes[new_index].inputs, strict=False)
        for name, named in names:
            if name in old_indices and named in new_indices:
                match.initializers.append((old_indices.pop(name), new_indices.pop(named)))
                match.names.add(name, named)
    match.initializers = by_new_index(match.initializers)


def _match_nodes(match: GraphMatch, sides: tuple[ModelSide, ModelSide]) -> Pairs:
    numbers = Interner()
    matched = []
    for index, body in enumerate((match.old, match.new)):
        kinds = NodeKinds(sides[index].encoder, numbers)
        statements = kinds.statements(body.nodes)
        match.statements[index].extend(statements)
        matched.append(MatchSide(body, statements, kinds, _leaf_keys(match, index)))
    return NodeMatcher(matched[0], matched[1], numbers).run()


def _leaf_keys(match: GraphMatch, side: int) -> LeafKey:
    """Return a function that maps the name of a value without a producer to a key.

    `side` is 0 for names of the old graph, and 1 for names of the new graph. Matching values of the
    two graphs have equal keys.
    """
    body = (match.old, match.new)[side]
    keys: dict[str, Hashable] = {v.name: ("initializer", v.type) for v in body.initializers}
    for pair in match.initializers:
        keys[body.initializers[pair[side]].name] = ("initializer", pair[1])
    keys |= {body.inputs[pair[side]].name: ("input", pair[1]) for pair in match.inputs}
    new_name = match.names.get if side == 0 else str
    return lambda name: keys[name] if name in keys else ("free", new_name(name))
