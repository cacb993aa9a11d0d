# SPDX-License-Identifier: Apache-2.0
"""Find semantic conflicts in a merge of models, mark them as conflicts, and sort nodes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from onnxtext.ast.byte_strings import to_text
from onnxtext.ast.compact_form.list_order import is_dense, known_with_data
from onnxtext.ast.model import Function, Graph, Model, Node, ValueInfo
from onnxtext.ast.visit import walk_graphs
from onnxtext.checker.context.checked_model import CheckedModel
from onnxtext.checker.context.finding import Finding
from onnxtext.merger.models.canonical_models import DataMarks, lift, lower_one
from onnxtext.merger.models.merge_messages import FieldPath, ModelMerger
from onnxtext.merger.models.message_rules import GRAPH, first_payload, split_message
from onnxtext.merger.semantic_conflicts import (
    find_conflicts,
    find_new_errors,
    finding_key,
    issues_of,
    sorted_nodes,
    subject_of,
)
from onnxtext.wire.writer import LENGTH

Models = tuple[bytes, bytes, bytes]
_Owners = dict[int | str, tuple[FieldPath, int]]


def review_models(
    merger: ModelMerger,
    resolved: Models,
    versions: Sequence[bytes],
    trees: Sequence[Model],
    marks: DataMarks,
    notes: list[str],
) -> Models:
    """Turn items with semantic errors into conflicts, and sort misordered nodes.

    Errors that ours or theirs already has are ignored. `merger` has merged the models to
    `resolved`. `versions` are the base, ours and theirs as canonical bytes. `trees` are the syntax
    trees of the base (if there is a base), of ours and of theirs. `notes` receives warnings for the
    user.

    Returns:
        The merge, resolved to ours, to theirs and to the base.
    """
    base, ours, theirs = versions
    if ours in (base, theirs) or theirs == base:
        return resolved
    model = lift(resolved[0], marks, ())
    owners = _owners(model, resolved[0])
    subject = subject_of(model)
    sides = trees[-2:]
    findings = list(find_conflicts(subject, trees))
    old = issues_of(sides) if findings else set()
    new = [finding for finding in findings if finding_key(finding) not in old]
    late = [finding for finding in new if finding.code == "node-order"]
    marked = [finding for finding in new if finding.code != "node-order"]
    before = _outputs(base)
    in_order = bool(late) and _sort(model, subject, late, before)
    if late and not in_order:
        marked += late
    if not new:
        model = lift(resolved[0], marks, sides)
        owners = _owners(model, resolved[0])
        marked = find_new_errors(model, sides, marks.resources)
    names = both_defined(resolved[0], ours, theirs)
    if marked or names:
        notes += [
            f"{finding.message} (only in the merge, not in ours or theirs)" for finding in marked
        ]
        notes += [f"both sides define `{name.decode('utf-8', 'replace')}`" for name in names]
        merger.forced, placed = _places(owners, marked)
        for list_key, index in _defining_items(resolved[0], names):
            merger.forced.setdefault(list_key, set()).add(index)
        resolved = merger.model(base, ours, theirs)
        merger.ambiguous |= resolved[0] == resolved[1] or not placed
    if not in_order:
        return resolved
    if resolved[0] == resolved[1]:
        return (lower_one(model, marks),) * 3
    return tuple([_sort_nodes(version, sides, marks, before) for version in resolved])  # type: ignore[return-value]


# ---- Names ----------------------------------------------------------------------------------

_NAMES: dict[int, Callable[[bytes], Any]] = {
    number: GRAPH.lists[number].key for number in (5, 11, 15)
}
"""Maps a field number of `GraphProto` to the function that returns the name of an item.

The fields are the dense initializers, the inputs and the sparse initializers.
"""


def _defined_names(data: bytes) -> dict[bytes, set[int]]:
    """Map each name of an input or initializer of the main graph to the fields that define it."""
    result: dict[bytes, set[int]] = defaultdict(set)
    fields = split_message(first_payload(data, 7) or b"")
    for number, name_of in _NAMES.items():
        for item in fields.get(number << 3 | LENGTH, ()):
            result[name_of(item)].add(number)
    return result


def both_defined(merged: bytes, ours: bytes, theirs: bytes) -> list[bytes]:
    """Return the names whose definitions in the merge come from both sides.

    For example, one side adds an input `x`, and the other side an initializer `x`: only the merge
    has `x` in both lists. The lists are the inputs, the dense initializers and the sparse
    initializers of the main graph.
    """
    if merged in (ours, theirs):
        return []
    in_merged, our_names, their_names = map(_defined_names, (merged, ours, theirs))
    none: set[int] = set()
    return [
        name
        for name, kinds in in_merged.items()
        if kinds not in (our_names.get(name, none), their_names.get(name, none))
        and name is not None
    ]


def _defining_items(data: bytes, names: Sequence[bytes]) -> Iterator[tuple[FieldPath, int]]:
    """Find items of the main graph that define `names`; yield (path of the list, index in it)."""
    fields = split_message(first_payload(data, 7) or b"")
    for number, name_of in _NAMES.items():
        for index, item in enumerate(fields.get(number << 3 | LENGTH, ())):
            if name_of(item) in names:
                yield (7, number), index


# ---- Places ---------------------------------------------------------------------------------


def _owners(model: Model, data: bytes) -> _Owners:
    """Map the `id()` of each statement to (list, index) of the top-level item that contains it.

    Value infos are also mapped by name, because a typed output is no statement of its own. `data`
    is the model as bytes.
    """
    owners: _Owners = {}
    graph = model.graph
    lists: list[tuple[FieldPath, Sequence[Node | Function]]] = [
        ((7, 1), graph.nodes),
        ((0, 25), model.functions),
    ]
    for list_key, items in lists:
        for index, item in enumerate(items):
            owners[id(item)] = list_key, index
            for owner in walk_graphs(item):
                for inner in (*owner.inputs, *owner.outputs, *owner.values, *owner.nodes):
                    owners[id(inner)] = list_key, index
    for number, values in _values(graph).items():
        for index, value in enumerate(values):
            owners.setdefault(id(value), ((7, number), index))
    infos = {value.name: value for value in graph.values if value.data is None}
    for index, info in enumerate(
        split_message(first_payload(data, 7) or b"").get(13 << 3 | LENGTH, ())
    ):
        name = to_text(first_payload(info, 1) or b"")
        if (value := infos.get(name)) is not None:
            owners.setdefault(id(value), ((7, 13), index))
        owners[name] = (7, 13), index
    return owners


def _places(owners: _Owners, findings: Sequence[Finding]) -> tuple[dict[FieldPath, set[int]], bool]:
    """Find the top-level items with findings.

    Returns:
        (the indices of these items in each list, whether every finding is in a top-level item)
    """
    places: dict[FieldPath, set[int]] = defaultdict(set)
    complete = True
    for finding in findings:
        match [place.item for place in finding.places]:
            case [Node(), ValueInfo(name)] if name in owners:
                found = [owners[name]]  # the value info of a typed output is a separate item
            case items:
                found = [owners[id(item)] for item in items if id(item) in owners]
        complete = complete and bool(found)
        for list_key, index in found:
            places[list_key].add(index)
    return places, complete


def _values(graph: Graph) -> dict[int, Sequence[Any]]:
    """Return lists of values and annotations of a graph by field number, in their encoded order."""
    data = known_with_data(graph)
    return {
        11: graph.inputs,
        12: graph.outputs,
        5: [value for value in data if is_dense(value)],  # initializer
        14: graph.quantization,
        15: [value for value in data if not is_dense(value)],  # sparse_initializer
    }


# ---- Order ----------------------------------------------------------------------------------


def _outputs(data: bytes) -> set[str]:
    """Return the names of the first outputs of all nodes in the main graph of a model."""
    if not data:
        return set()
    nodes = split_message(first_payload(data, 7) or b"").get(1 << 3 | LENGTH, ())
    return {to_text(first_payload(node, 2) or b"") for node in nodes}


def _sort(
    model: Model, subject: CheckedModel, findings: Sequence[Finding], base_names: set[str]
) -> bool:
    """Sort each graph with a node in `findings`; return False if a graph cannot be sorted.

    If False, nothing is changed. A node is new if its first output is not in `base_names`. New
    nodes move before their users.
    """
    marked = {id(place.item) for finding in findings for place in finding.places}
    owners = {id(owner.nodes[0]): owner for owner in walk_graphs(model) if owner.nodes}
    changes = []
    for scope in subject.scopes:
        if not any(id(node) in marked for node in scope.nodes):
            continue
        new = {
            index
            for index, n in enumerate(scope.nodes)
            if n.outputs and n.outputs[0] not in base_names
        }
        order = sorted_nodes(scope, new)
        owner = owners.get(id(scope.nodes[0]))
        if order is None or owner is None:
            return False
        changes.append((owner, [owner.nodes[at] for at in order]))
    for owner, nodes in changes:
        owner.nodes[:] = nodes
    return True


def _sort_nodes(
    data: bytes, sides: Sequence[Model], marks: DataMarks, base_names: set[str]
) -> bytes:
    """Sort the misordered nodes of a merge.

    Return `data` unchanged if no node is misordered, or if a graph cannot be sorted.
    """
    model = lift(data, marks, ())
    subject = subject_of(model)
    late = [finding for finding in find_conflicts(subject, sides) if finding.code == "node-order"]
    if not late or not _sort(model, subject, late, base_names):
        return data
    return lower_one(model, marks)
