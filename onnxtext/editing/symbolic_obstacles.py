# SPDX-License-Identifier: Apache-2.0
"""Find nodes that accept only the old size of a dimension that was made symbolic."""

from __future__ import annotations

from collections.abc import Iterator

from onnxtext.ast.model import Model, Node
from onnxtext.ast.qualified_names import plain_domain
from onnxtext.checker.context.compare_declared_types import plain_dim
from onnxtext.checker.context.scopes import used_names
from onnxtext.checker.isolation.inference_client import Answers
from onnxtext.checker.rules import dimension_conflicts
from onnxtext.editing.infer_from_inputs import InferredShapes, infer_shapes

_MAX_SHOWN = 8
_OTHERS = 6
"""When sizes of one symbolic dimension are tried, all other symbolic dimensions have this size."""


class Obstacle(str):
    """A message about a node that may need the old size of a symbolic dimension."""

    __slots__ = ()


def size_obstacles(
    model: Model, inferred: InferredShapes, symbol: str, old: int, names: set[str], answers: Answers
) -> list[str]:
    """Return an `Obstacle` for each node that accepts only the old size of a dimension.

    If no node does, return the messages of `_unverified` on nodes that may need the old size. After
    `_MAX_SHOWN` obstacles, the list ends with the number of further obstacles.

    Args:
        model: the edited model.
        inferred: the shapes inferred for the model.
        symbol: the name of the dimension that was made symbolic.
        old: the old size of the dimension.
        names: the names of the inputs that have the dimension.
        answers: a cache of results of onnx's inference; new results are added.
    """
    obstacles = list(restrictions(inferred, symbol))
    failing: dict[str, str] = {}
    for node, message in trial_failures(model, symbol, old, answers):
        failing.setdefault(node, message)
    for node, message in failing.items():
        if not any(f"({node})" in other for other in obstacles):
            obstacles.append(message)
    if not obstacles:
        obstacles = list(_unverified(inferred, names))
    hidden = len(obstacles) - _MAX_SHOWN
    shown: list[str] = [Obstacle(item) for item in obstacles[:_MAX_SHOWN]]
    return [*shown, Obstacle(f"and {hidden} more")] if hidden > 0 else shown


def restrictions(inferred: InferredShapes, symbol: str) -> Iterator[str]:
    """Yield a message for each finding of `dimension_conflicts` that names the symbol `symbol`."""
    for finding in dimension_conflicts.check(inferred.subject):
        if finding.subject is not None and symbol in finding.subject[1:]:
            item = finding.places[0].item
            location = f" ({_node_text(item)})" if isinstance(item, Node) else ""
            yield f"{finding.message}{location}; {finding.help}"


def trial_failures(
    model: Model, symbol: str, old: int, answers: Answers
) -> Iterator[tuple[str, str]]:
    """Try other sizes of a dimension; yield (node, message) for each node that rejects a size.

    `node` is a text that describes the node. Nodes that also reject the old size `old` are left
    out. `answers` is a cache of results of onnx's inference; new results are added.
    """
    others = {name: _OTHERS for name in _symbols(model) if name != symbol}
    failing_before: set[str] | None = None  # nodes that reject the old size, too
    for size in (2 * old, 3 * old, 2 * old + 3):
        for node, why in _rejecting_nodes(infer_shapes(model, {**others, symbol: size}, answers)):
            if failing_before is None:
                before = infer_shapes(model, {**others, symbol: old}, answers)
                failing_before = {rejecting for rejecting, _ in _rejecting_nodes(before)}
            if node not in failing_before:
                message = f"{node} accepts the size {old} of `{symbol}`, but not {size}"
                yield node, message + (why and f": {why}")


def _symbols(model: Model) -> set[str]:
    """Return the names of the symbolic dimensions of the inputs."""
    shapes = [getattr(value.type, "shape", None) or () for value in model.graph.inputs]
    return {dim for shape in shapes for dim in map(plain_dim, shape) if isinstance(dim, str)}


def _rejecting_nodes(inferred: InferredShapes) -> Iterator[tuple[str, str]]:
    """Yield (description of the node, reason) for each node that rejects the sizes of its inputs.

    The reason is "" if only the checker rejects the sizes, and onnx's inference accepts them.
    """
    for finding in inferred.inference.findings:
        if finding.code != "onnx-inference-failed":
            item = finding.places[0].item
            yield _node_text(item) if isinstance(item, Node) else "the model", finding.message
    for finding in dimension_conflicts.check(inferred.subject):
        item = finding.places[0].item
        if finding.code == "shape-mismatch" and isinstance(item, Node):
            yield _node_text(item), ""


def _node_text(node: Node) -> str:
    name = next(filter(None, node.outputs), node.name or "")
    return f"`{node.op_type}` of `{name}`"


def _unverified(inferred: InferredShapes, names: set[str]) -> Iterator[str]:
    """Yield messages on nodes that depend on the edited inputs and may reject other sizes.

    In nested graphs and functions, all nodes count as dependent.
    On each path of nodes, the first node with outputs of unknown sizes gets a message. A node whose
    input sizes are not all checked (see `_is_checked`) also gets a message.
    """
    for scope in inferred.subject.scopes:
        reached = set(names) if scope is inferred.subject.main else None
        unknown: set[str] = set()
        for node in scope.nodes:
            used = set(used_names(node))
            if reached is not None:
                if reached.isdisjoint(used):
                    continue
                reached.update(filter(None, node.outputs))
            new = [name for name in node.outputs if name and not inferred.is_known(scope, name)]
            if new and unknown.isdisjoint(used):
                problem = f"the sizes after {_node_text(node)} are unknown"
                yield f"{problem}, so later nodes may need the old size"
            elif not _is_checked(node):
                yield f"{_node_text(node)} may need the old size: not all input sizes are checked"
            unknown.update(new)


_CHECKED_DOMAINS = frozenset(("", "ai.onnx.ml", "ai.onnx.preview.training"))
_CHECKED_OPERATORS = frozenset(
    (
        "BiasGelu", "FastGelu", "FusedMatMul", "Gelu", "QLinearAdd", "QLinearAveragePool",
        "QLinearGlobalAveragePool", "QLinearLeakyRelu", "QLinearMul", "QLinearSigmoid",
        "QLinearSoftmax", "QuickGelu",
    )
)  # fmt: skip
"""Operators of `com.microsoft` whose input sizes are all checked; see `_is_checked`."""


def _is_checked(node: Node) -> bool:
    """Whether onnx's inference and the checker together check all input sizes of a node."""
    domain = plain_domain(node.domain)
    return domain in _CHECKED_DOMAINS or (
        domain == "com.microsoft" and node.op_type in _CHECKED_OPERATORS
    )
