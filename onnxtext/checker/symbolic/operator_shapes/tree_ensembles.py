# SPDX-License-Identifier: Apache-2.0
"""Check the attributes that describe the trees of a tree ensemble of `ai.onnx.ml`."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Container, Iterable

from onnxtext.ast.tensors_and_attributes import RawData, Tensor, TypedData
from onnxtext.checker.symbolic.operator_call import OperatorCall, Shapes, entries
from onnxtext.plurals import count_noun

_NODES = (
    "nodes_treeids", "nodes_nodeids", "nodes_featureids", "nodes_modes", "nodes_truenodeids",
    "nodes_falsenodeids", "nodes_values", "nodes_hitrates", "nodes_missing_value_tracks_true",
)  # fmt: skip
_NEEDED = _NODES[:7]
_LEAF = b"LEAF"
_MEMBER = 6
"""The largest valid number in `nodes_modes` of `TreeEnsemble`; it means membership in a set."""
_MODES = frozenset(
    (b"BRANCH_EQ", b"BRANCH_GT", b"BRANCH_GTE", b"BRANCH_LEQ", b"BRANCH_LT", b"BRANCH_NEQ", _LEAF)
)


def require_trees(call: OperatorCall, prefix: str, classes: int) -> None:
    """Reject a tree ensemble whose lists are missing, differ in length or have invalid entries.

    Some lists have an entry for each tree node, other lists have an entry for each leaf weight.
    `prefix` begins the names of leaf attributes: `class` or `target`. `classes` is the number of
    classes or targets; 0 if unknown.
    """
    weights = tuple(f"{prefix}_{name}" for name in ("treeids", "nodeids", "ids", "weights"))
    if _require_lengths(call, _NODES, _NEEDED) and _require_lengths(call, weights, weights):
        _require_nodes(call, weights[0], weights[1])
        chosen = call.listed(weights[2], ())
        wrong = next((i for i in chosen if i < 0 or (classes and i >= classes)), None)
        if wrong is not None:
            bound = "the number of class labels" if prefix == "class" else "`n_targets`"
            call.reject(
                f"`{weights[2]}` has the negative index {wrong}"
                if wrong < 0
                else f"`{weights[2]}` has the index {wrong}, which must be below "
                f"{bound} ({classes})"
            )


def tree_ensemble(call: OperatorCall) -> Shapes:
    """Reject a `TreeEnsemble` with wrong indices or modes; warn if `n_targets` is not positive.

    Each branch of a tree node leads to another tree node or to a leaf. The lengths of the lists are
    not checked here, because onnx checks them. The result is (): this function infers no shape.
    """
    nodes, leaves = call.length("nodes_featureids"), call.length("leaf_targetids")
    targets = call.integer("n_targets", 0)
    if targets > 0:
        leaf_targets = call.listed("leaf_targetids", ())
        _require_below(call, "leaf_targetids", leaf_targets, targets, "`n_targets`")
    else:
        call.reject("`n_targets` is missing or not positive; onnxruntime needs it", specified=False)
    _require_below(call, "tree_roots", call.listed("tree_roots", ()), nodes, "the number of nodes")
    for branch in ("true", "false"):
        name, others = f"nodes_{branch}nodeids", call.listed(f"nodes_{branch}leafs", ())
        children = call.listed(name, ())
        if not nodes == len(others) == len(children):
            continue
        inner = [child for child, leaf in zip(children, others, strict=True) if not leaf]
        last = [child for child, leaf in zip(children, others, strict=True) if leaf]
        _require_below(call, name, inner, nodes, "the number of nodes")
        _require_below(call, name, last, leaves, "the number of leaves")
        indexed = enumerate(zip(children, others, strict=True))
        if any(child == index and not leaf for index, (child, leaf) in indexed):
            call.reject(f"`{name}` has a node that is its own child")
    _require_modes(call)
    _require_features(call, list(range(nodes)))
    return ()  # onnx infers the shape


def _require_below(
    call: OperatorCall, name: str, indices: Iterable[int], size: int, size_name: str
) -> None:
    wrong = next((index for index in indices if not 0 <= index < size), None)
    if wrong is not None:
        bound = f"which must be below {size_name} ({size})"
        call.reject(
            f"`{name}` has the index {wrong}, {bound if wrong >= 0 else 'which is negative'}"
        )


def _require_modes(call: OperatorCall) -> None:
    """Reject unknown modes of `TreeEnsemble`, and membership modes without `membership_values`."""
    tensor = call.attribute("nodes_modes")
    if not isinstance(tensor, Tensor) or tensor.type.element != "uint8":
        return
    if isinstance(tensor.data, RawData):
        modes = set(bytes(tensor.data.data))
    elif isinstance(tensor.data, TypedData):
        modes = {mode for (mode,) in struct.iter_unpack("<i", tensor.data.entries)}
    else:
        return
    if modes and max(modes) > _MEMBER:
        call.reject(f"`nodes_modes` has the unknown mode {max(modes)}")
    elif _MEMBER in modes and call.attribute("membership_values") is None:
        call.reject(f"`nodes_modes` has the mode {_MEMBER}, but `membership_values` is missing")


def _require_lengths(call: OperatorCall, names: tuple[str, ...], needed: tuple[str, ...]) -> bool:
    """Check the lengths of the list attributes `names`; return whether the `needed` ones are valid.

    Reject the node if a needed list is missing or differs in length; warn if another list differs.
    If all lists are missing, only return False.
    """
    counts = {name: call.length(name) for name in names}
    first = next((name for name in names if counts[name]), None)
    if first is None:
        return False
    is_complete = True
    for name, count in counts.items():
        if not count and name in needed and call.attribute(f"{name}_as_tensor") is None:
            call.reject(f"`{name}` is missing")
            is_complete = False
        elif count and count != counts[first]:
            # onnxruntime accepts any length of a list that it does not need.
            is_complete = is_complete and name not in needed
            message = f"`{name}` has {entries(count)}, but `{first}` has {counts[first]}"
            call.reject(message, specified=name in needed)
    return is_complete


def _require_nodes(call: OperatorCall, leaf_trees: str, leaf_nodes: str) -> None:
    """Reject unknown modes, duplicate nodes, and invalid references to nodes or features.

    `leaf_trees` and `leaf_nodes` are the names of the attributes that list the tree and the node of
    each leaf weight.
    """
    trees = call.listed("nodes_treeids", ())
    nodes = list(zip(trees, call.listed("nodes_nodeids", ()), strict=False))
    counts = Counter(nodes)
    modes = call.attribute("nodes_modes")
    if not isinstance(modes, tuple):
        return
    unknown = next((mode for mode in modes if mode not in _MODES), None)
    if unknown is not None:
        shown = unknown.decode(errors="replace") if isinstance(unknown, bytes) else unknown
        call.reject(f"`nodes_modes` has the unknown mode `{shown}`")
        return
    repeated = next((node for node, count in counts.items() if count > 1), None)
    if repeated is not None:
        call.reject(f"tree {repeated[0]} has several nodes with the ID {repeated[1]}")
        return
    branches = [index for index, mode in enumerate(modes) if mode != _LEAF]
    for name in ("nodes_truenodeids", "nodes_falsenodeids"):
        children = call.listed(name, ())
        _require_known(call, name, ((trees[index], children[index]) for index in branches), counts)
        if any(nodes[index] == (trees[index], children[index]) for index in branches):
            call.reject(f"`{name}` has a node that is its own child")
    leaves = zip(call.listed(leaf_trees, ()), call.listed(leaf_nodes, ()), strict=False)
    _require_known(call, leaf_nodes, leaves, counts)
    _require_features(call, branches)


def _require_known(
    call: OperatorCall,
    name: str,
    used: Iterable[tuple[int, int]],
    defined: Container[tuple[int, int]],
) -> None:
    missing = next((node for node in used if node not in defined), None)
    if missing is not None:
        tree, node = missing
        call.reject(f"`{name}` refers to node {node} of tree {tree}, which does not exist")


def _require_features(call: OperatorCall, branches: list[int]) -> None:
    features, size = call.listed("nodes_featureids", ()), call.dim(0, -1)
    used = [features[index] for index in branches]
    if not used:
        return
    if min(used) < 0:
        call.reject(f"`nodes_featureids` has the negative index {min(used)}")
    if isinstance(size, int) and max(used) >= size:
        has = f"{{0}} has only {count_noun(size, 'feature')}"
        call.reject(f"`nodes_featureids` has the index {max(used)}, but {has}")
