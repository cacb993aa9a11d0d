# SPDX-License-Identifier: Apache-2.0
"""Group the nodes of a graph by the module paths that exporters write into labels and metadata.

A node's path is, for example, `model/layers.3/self_attn`. It comes from the first of these:

- the metadata of PyTorch's dynamo exporter (`namespace`, `pkg.torch.onnx.namespace` or
  `pkg.torch.onnx.name_scopes`), which also has the class of each module;
- a label or first output with slashes (PyTorch's TorchScript exporter, tf2onnx, onnxruntime's
  optimizer and quantizer);
- if no node of the graph has such metadata or slashes: a label with dots.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from onnxtext.ast.model import Node
from onnxtext.checker.context.scopes import Scope
from onnxtext.sequences import common_prefix

Path = tuple[str, ...]

MIN_GROUP_SIZE = 3
"""Minimum number of nodes and values in a group; smaller groups are not kept as groups."""
MAX_MEMBERS = 150
"""Maximum number of members of a group; larger groups are divided into parts."""
PART = 100
"""Number of members of each part of a divided group, except the last."""
MAX_VALUES = 16
"""Maximum number of inputs, and of outputs, that a graph shows without a group for them."""

_NAMESPACES = ("pkg.torch.onnx.namespace", "namespace")
_NAME_SCOPES, _CLASSES = "pkg.torch.onnx.name_scopes", "pkg.torch.onnx.class_hierarchy"
_NO_MODULE = "_empty_nn_module_stack_from_metadata_hook"
_QUOTED = re.compile(r"'([^']*)'")
_MAX_PATH_LENGTH = 16
_ID = re.compile("g([0-9]{1,9})([nior])([0-9]{1,9})")


@dataclass(slots=True)
class ModuleGroup:
    """A group of nodes and values. The root of a graph's tree of groups is the graph itself.

    Attributes:
        id: its id, such as `g0/model/layers.3`, unique in the model. Later versions of the text
            keep it as long as a node has this path. A part of a divided group has an id such as
            `g0#1.0`.
        name: the part of its path below its parent, or `part 1 of 3`; the graph's title for a root.
        kind: the class of its module; "" if unknown.
        parent: the enclosing group; None for a root.
        members: groups, and ids of nodes and values, in the order of the text.
        count: the number of nodes and values in the group and its subgroups.
    """

    id: str
    name: str
    kind: str = ""
    parent: ModuleGroup | None = None
    members: list[ModuleGroup | str] = field(default_factory=list)
    count: int = 0

    def chain(self) -> tuple[str, ...]:
        """Return the ids of the groups from the root to this group."""
        ids = [self.id]
        group = self.parent
        while group is not None:
            ids.append(group.id)
            group = group.parent
        return tuple(reversed(ids))

    def groups(self) -> Iterator[ModuleGroup]:
        """Yield this group and all of its subgroups, each one before the groups in it."""
        yield self
        for member in self.members:
            if isinstance(member, ModuleGroup):
                yield from member.groups()

    def leaves(self) -> Iterator[str]:
        """Yield the ids of the nodes and values in this group and in its subgroups."""
        for member in self.members:
            if isinstance(member, ModuleGroup):
                yield from member.leaves()
            else:
                yield member


def parse_id(name: str) -> tuple[int, str, int] | None:
    """Split the id of a node or value: `g0n12` → (0, "n", 12); return None for other ids.

    The parts are the number of the graph or function, the kind, and the index. The kind is `n` for
    a node, `i` for an input, `o` for an output, `r` for a removed node.
    """
    match = _ID.fullmatch(name)
    return None if match is None else (int(match[1]), match[2], int(match[3]))


def closed_group(path: Path, drawn: Collection[str]) -> str:
    """Return the id of the first group in `path` that is closed (not in `drawn`), or ""."""
    return next((part for part in path if part not in drawn and parse_id(part) is None), "")


def value_group(names: Sequence[str], group: str) -> Path:
    """Return the group path of inputs or outputs: `(group,)` if there are many, else ()."""
    return (group,) if len(names) > MAX_VALUES else ()


def scope_paths(scope: Scope, constants: Collection[str]) -> tuple[list[Path], dict[Path, str]]:
    """Return the module path of each node of a graph, and the class of each module by its path.

    If a node has no path and depends only on constants, it gets the longest common prefix of its
    users' paths.

    `constants` has the names of the values that are constants.
    """
    classes: dict[Path, str] = {}
    labels: dict[str, Path] = {}
    paths = [_path(node, classes, labels) for node in scope.nodes]
    if not any(paths):
        paths = [_dotted_path(node) for node in scope.nodes]
    _inherit_paths(scope, paths, constants)
    return paths, classes


def _path(node: Node, classes: dict[Path, str], labels: dict[str, Path]) -> Path:
    """Return the path of the module that contains a node.

    `classes` receives the class name of each module on the path, if the metadata has it. `labels`
    caches the paths in labels and in names of outputs.
    """
    if node.metadata or node.decorators:
        entries = dict(node.metadata)
        for decorator in node.decorators:
            if decorator.name == "meta":
                for item in decorator.arguments:
                    if isinstance(item.value, bytes):
                        entries[str(item.key)] = item.value.decode("utf-8", "replace")
        path = _module_path(entries, classes)
        if path is not None:
            return path
    around = (node.name or "").rpartition("/")[0]
    if not around and node.outputs:  # nodes that optimizers add have a path only in outputs
        around = node.outputs[0].rpartition("/")[0]
    path = labels.get(around)
    if path is None:
        path = tuple([part for part in around.split("/") if part])[:_MAX_PATH_LENGTH]
        labels[around] = path
    return path


def _module_path(entries: Mapping[str, str], classes: dict[Path, str]) -> Path | None:
    """Return the path in the metadata of the dynamo exporter; None without such metadata.

    `classes` receives the class name of each module on the path, if the metadata has it.
    """
    names: list[str]
    kinds: list[str]
    namespace = next((entries[key] for key in _NAMESPACES if key in entries), None)
    if namespace is not None:
        pairs = [part.partition(": ") for part in namespace.split("/")]
        names, kinds = [pair[0].strip() for pair in pairs], [pair[2] for pair in pairs]
    elif _NAME_SCOPES in entries:
        names = _QUOTED.findall(entries[_NAME_SCOPES])
        kinds = _QUOTED.findall(entries.get(_CLASSES, ""))
    else:
        return None
    path: Path = ()
    before = ""
    for index, name in enumerate(names[:_MAX_PATH_LENGTH]):
        if not name or name == _NO_MODULE:
            continue
        # The name of a module begins with the name of the module around it.
        path = (*path, name[len(before) + 1 :] if name.startswith(f"{before}.") else name)
        before = name
        if index < len(kinds) and kinds[index]:
            classes.setdefault(path, kinds[index].removesuffix(".default"))
    return path


def _dotted_path(node: Node) -> Path:
    label = node.name or ""
    return tuple([part for part in label.split(".")[:-1] if part])[:_MAX_PATH_LENGTH]


def _inherit_paths(scope: Scope, paths: list[Path], constants: Collection[str]) -> None:
    """Give a path to each node that has none and depends only on constants.

    It is the longest common prefix of the paths of the node's users, if any.
    """
    constant = set(constants)
    unplaced: list[int] = []
    for index, node in enumerate(scope.nodes):
        if all(not name or name in constant for name in node.inputs):
            constant.update(node.outputs)
            if not paths[index]:
                unplaced.append(index)
    if not unplaced:
        return
    producers = {name: index for index in unplaced for name in scope.nodes[index].outputs if name}
    users: dict[int, list[int]] = {}
    for index, node in enumerate(scope.nodes):
        for name in node.inputs:
            producer = producers.get(name)
            if producer is not None:
                users.setdefault(producer, []).append(index)
    for index in reversed(unplaced):
        inherited = [paths[user] for user in users.get(index, ())]
        if inherited:
            paths[index] = common_path(inherited)


def common_path(paths: Sequence[Path]) -> Path:
    """Return the longest common prefix of one or more paths."""
    low, high = min(paths), max(paths)
    return low[: common_prefix(low, high)]


def group_tree(
    name: str, title: str, members: Sequence[tuple[str, Path]], classes: Mapping[Path, str]
) -> ModuleGroup:
    """Return the tree of groups of a graph or function.

    `name` is the id of the graph, such as `g0`; `title` is its name. `members` has the id and path
    of each node or value, in the order of the text.
    """
    root = ModuleGroup(name, title)
    groups: dict[Path, ModuleGroup] = {(): root}
    for identity, path in members:
        group = groups.get(path)
        if group is None:
            group = root
            for end in range(1, len(path) + 1):
                inner = groups.get(path[:end])
                if inner is None:
                    key = f"{name}/{'/'.join(path[:end])}"
                    kind = classes.get(path[:end], "").rpartition(".")[2]
                    inner = groups[path[:end]] = ModuleGroup(key, path[end - 1], kind)
                    group.members.append(inner)
                group = inner
        group.members.append(identity)
    _simplify(root)
    _divide(root)
    _set_parents(root)
    return root


def _simplify(group: ModuleGroup) -> int:
    """Simplify the subgroups of a group, at all levels; return its number of nodes and values.

    Replace each subgroup that has fewer than `MIN_GROUP_SIZE` nodes and values by its members.
    Replace a subgroup whose only member is a group by that group, with both names: `encoder/0`.
    """
    members: list[ModuleGroup | str] = []
    total = 0
    for member in group.members:
        if isinstance(member, str):
            members.append(member)
            total += 1
            continue
        count = _simplify(member)
        total += count
        if count < MIN_GROUP_SIZE:
            members += member.members
            continue
        inner = member.members[0]
        if len(member.members) == 1 and isinstance(inner, ModuleGroup):
            inner.name = f"{member.name}/{inner.name}"
            members.append(inner)
        else:
            members.append(member)
    group.members = members
    return total


def _divide(group: ModuleGroup) -> None:
    """Divide long lists of members into parts of consecutive members."""
    for member in group.members:
        if isinstance(member, ModuleGroup):
            _divide(member)
    level = 0
    while len(group.members) > MAX_MEMBERS:
        level += 1
        chunks = [group.members[at : at + PART] for at in range(0, len(group.members), PART)]
        group.members = [
            ModuleGroup(
                f"{group.id}#{level}.{index}", f"part {index + 1} of {len(chunks)}", members=chunk
            )
            for index, chunk in enumerate(chunks)
        ]


def _set_parents(group: ModuleGroup) -> None:
    """Set the parents and the counts of groups."""
    group.count = 0
    for member in group.members:
        if isinstance(member, ModuleGroup):
            member.parent = group
            _set_parents(member)
            group.count += member.count
        else:
            group.count += 1
