# SPDX-License-Identifier: Apache-2.0
"""Compare the drawing of a document with the drawing of another version of its model.

The diff of the models lists the nodes that differ. A removed node is drawn if its graph still
exists, in the group that has the name of its old group. The node has edges from the producers of
its inputs and to the former users of its outputs.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from onnxtext.checker.context.scopes import Scope
from onnxtext.differ import ItemChange, ItemPosition, ModelDiff, ModelSide, compare
from onnxtext.lsp.graph.module_groups import ModuleGroup, Path
from onnxtext.lsp.graph.stubs import shorten

if TYPE_CHECKING:
    from onnxtext.lsp.graph.drawing import Drawing

Key = tuple[int, str]
NEW = "<new version>"
"""The name of the new version in messages about errors in it."""
_MAX_NOTES = 8
_MAX_TEXT_LENGTH = 120
_BEFORE = " (before)"
"""The suffix of the names of removed nodes' outputs: new values may have the original names."""


@dataclass(slots=True)
class Changes:
    """The differences between two versions, for a drawing of the new version.

    `producers` and `users` identify a value by (number of its graph or function, name). The name of
    a removed node's output has the suffix ` (before)`.

    Attributes:
        status: `added`, `removed` or `changed`, by the id of the node.
        notes: descriptions of the fields that differ, by the id of the node.
        removed: (index, id, group path) of each removed node, by the number of its graph. The index
            counts the inputs of the old graph, then its nodes.
        producers: for each value that a removed node computed, the id of the node.
        users: (value, id of the user) for each use of a value by a removed node, and for each use
            of a removed node's output.
        items: the removed nodes in the format for the client, by id.
    """

    label: str
    status: dict[str, str] = field(default_factory=dict)
    notes: dict[str, list[str]] = field(default_factory=dict)
    removed: dict[int, list[tuple[int, str, Path]]] = field(default_factory=dict)
    producers: dict[Key, str] = field(default_factory=dict)
    users: list[tuple[Key, str]] = field(default_factory=list)
    items: dict[str, dict[str, Any]] = field(default_factory=dict)

    def members(self, scope_number: int, members: list[tuple[str, Path]]) -> list[tuple[str, Path]]:
        """Return the members of a graph with the removed nodes inserted at their old positions.

        `members` has the (id, group path) of each input and node of the graph, in order.
        """
        result = list(members)
        for index, identity, path in self.removed.get(scope_number, ()):
            result.insert(min(index, len(result)), (identity, path))
        return result

    def mark(self, item: dict[str, Any], member: ModuleGroup | str) -> dict[str, Any]:
        """Add the fields `change` and `changes` to an item with changes, and return the item.

        `member` is a group, or the id of a node or value. `changes` describes the changes of a
        node; for a group, it has counts such as `2 added`.
        """
        if isinstance(member, str):
            if member in self.status:
                item["change"] = self.status[member]
                item["changes"] = self.notes.get(member, [])
            return item
        counts = Counter(self.status[name] for name in member.leaves() if name in self.status)
        if counts:
            only = next(iter(counts))
            is_complete = only != "changed" and counts[only] == member.count
            item["change"] = only if is_complete else "changed"
            item["changes"] = [f"{count} {change}" for change, count in sorted(counts.items())]
        return item

    def within(self, group: ModuleGroup) -> bool:
        """Whether any node in a group differs."""
        return any(name in self.status for name in group.leaves())

    def edge(self, source: str, target: str) -> dict[str, str]:
        """Return `{"change": …}` for an edge of an added or removed node; {} for other edges."""
        ends = [self.status.get(source), self.status.get(target)]
        return next(({"change": end} for end in ("removed", "added") if end in ends), {})


def diff_of(old: Drawing, new: Drawing, label: str) -> ModelDiff:
    """Return the differences between the models of two drawings.

    In messages, the old version has the name `label`, and the new version the name `NEW`.

    Raises:
        OnnxTextError: a document has errors.
    """
    sides = []
    for drawing, name in ((old, label), (new, NEW)):
        path = drawing.document.path
        base = None if path is None else path.parent
        sides.append(ModelSide.of_text(drawing.version.text, label=name, base=base))
    return compare(*sides)


def changes_of(old: Drawing, new: Drawing, diff: ModelDiff, label: str) -> Changes:
    """Convert the differences between two models to changes for the new drawing.

    Nodes are added, removed or changed; users of an added or changed initializer count as changed.
    Other differences are left out, as are those in encodings, doc strings and metadata of nodes.
    `label` is the name of the old version.
    """
    diff = diff.without(("encoding", "doc", "metadata"))
    result = Changes(label)
    ids = _ids_by_place(old), _ids_by_place(new)
    removed: set[str] = set()
    for item in diff.items:
        if item.kind == "node":
            if "removed" in item.actions:
                name = _find(ids[0], item.old)
                if name:
                    removed.add(name)
            else:
                name = _find(ids[1], item.new)
                if name and item.actions != ("moved",):
                    result.status[name] = "added" if "added" in item.actions else "changed"
                    result.notes[name] = _notes(item)
        elif item.kind == "initializer" and item.new is not None and item.actions[0] != "moved":
            _mark_users(new, result, item)
    names = {rename.old: rename.new for rename in diff.renames if rename.kind != "node"}
    _Removed(old, new, result, removed, names).add()
    return result


def _ids_by_place(drawing: Drawing) -> dict[tuple[int, int], str]:
    result = {}
    source = drawing.version.source
    for statement in drawing.index.statements:
        if statement.group == "node":
            place = source.position(statement.at)
            scope_number = drawing.index.number(statement.scope)
            result[place.line, place.column] = f"g{scope_number}n{statement.number}"
    return result


def _find(ids: dict[tuple[int, int], str], place: ItemPosition | None) -> str | None:
    if place is None or place.line is None or place.column is None:
        return None
    return ids.get((place.line, place.column))


def _notes(item: ItemChange) -> list[str]:
    notes = []
    for change in item.fields:
        text = f"{change.path}: {change.old or '—'} → {change.new or '—'}"
        if change.weights is not None and change.weights.max_abs is not None:
            text = f"{change.path}: max |Δ| {change.weights.max_abs:.3g}"
        notes.append(shorten(text, _MAX_TEXT_LENGTH))
    left = len(notes) - _MAX_NOTES
    return [*notes[:_MAX_NOTES], f"and {left} more"] if left > 0 else notes


def _mark_users(new: Drawing, changes: Changes, item: ItemChange) -> None:
    """Mark the nodes that use the added or changed weight `item` as changed."""
    for scope in new.index.scopes:
        if new.initializer(scope, item.name) is not None:
            for user in new.users_of(scope, item.name):
                changes.status.setdefault(user, "changed")
                notes = changes.notes.setdefault(user, [])
                notes += [f"{item.name}: {note}" for note in _notes(item)]


class _Removed:
    """Adds removed nodes to `changes`.

    `removed` has the ids of the removed nodes in the old drawing; `names` maps the old names of
    renamed values to the new names.
    """

    def __init__(
        self, old: Drawing, new: Drawing, changes: Changes, removed: set[str], names: dict[str, str]
    ) -> None:
        self._old, self._new, self._changes = old, new, changes
        self._removed, self._names = removed, names
        self._numbers: dict[int, int] = {}

    def add(self) -> None:
        """Add all removed nodes whose graph still exists."""
        scopes = {_identity(scope): scope for scope in self._new.index.scopes}
        for scope in self._old.index.scopes:
            other = scopes.get(_identity(scope))
            if other is not None:
                scope_number = self._old.index.number(scope)
                self._numbers[scope_number] = self._new.index.number(other)
        for scope in self._old.index.scopes:
            if self._old.index.number(scope) in self._numbers:
                self._scope(scope)

    def _scope(self, scope: Scope) -> None:
        """Add the removed nodes of a graph of the old version, with their edges."""
        before = self._old.index.number(scope)
        scope_number = self._numbers[before]
        other = self._new.index.scopes[scope_number]
        removed = {
            place: f"g{scope_number}r{place}"
            for place in range(len(scope.nodes))
            if f"g{before}n{place}" in self._removed
            and self._old.chain(f"g{before}n{place}") is not None
        }
        producers = {name: at for at in removed for name in scope.nodes[at].outputs if name}
        changes = self._changes
        for place, node in enumerate(scope.nodes):
            identity = removed.get(place) or self._counterpart(other, scope_number, node.outputs)
            for name in dict.fromkeys(node.inputs):
                if name in producers:
                    if identity is not None:
                        changes.users.append(((scope_number, name + _BEFORE), identity))
                elif place in removed and name:
                    new_name = self._names.get(name, name)
                    owner = self._new.index.resolve(other, new_name)
                    changes.users.append(
                        ((self._new.index.number(owner), new_name), removed[place])
                    )
        for index, value in enumerate(scope.outputs):
            if value.name in producers and index < len(other.outputs):
                changes.users.append(
                    ((scope_number, value.name + _BEFORE), f"g{scope_number}o{index}")
                )
        for name, place in producers.items():
            changes.producers[scope_number, name + _BEFORE] = removed[place]
        for place, identity in removed.items():
            old_id = f"g{before}n{place}"
            changes.status[identity] = "removed"
            item = self._old.leaf(old_id)
            changes.items[identity] = {**item, "id": identity, "bodies": [], "uses": []}
            row = (place + len(scope.inputs), identity, self._path(old_id, before))
            changes.removed.setdefault(scope_number, []).append(row)

    def _counterpart(self, scope: Scope, scope_number: int, outputs: tuple[str, ...]) -> str | None:
        """Return the id of the new version's node that computes the first of the old `outputs`.

        Return None if there is no such node, or if it was added.
        """
        name = next(filter(None, outputs), "")
        index = scope.position.get(self._names.get(name, name), -1)
        identity = f"g{scope_number}n{index}"
        return None if index < 0 or self._changes.status.get(identity) == "added" else identity

    def _path(self, identity: str, scope_number: int) -> Path:
        """Return the group path of the old node `identity` in the old graph `scope_number`."""
        chain = [
            part for part in self._old.chain(identity) or () if part.startswith(f"g{scope_number}/")
        ]
        path = chain[-1].partition("/")[2] if chain else ""
        return tuple(path.partition("#")[0].split("/")) if path else ()


def _identity(scope: Scope) -> tuple[Any, ...]:
    """Return a key that is equal for the same graph or function in both versions."""
    if scope.parent is None or scope.holder is None:
        name = "" if scope.function is None else f"{scope.function.domain}.{scope.function.name}"
        return scope.kind, name
    output = next(filter(None, scope.holder.outputs), "")
    return (*_identity(scope.parent), output, scope.attribute)
