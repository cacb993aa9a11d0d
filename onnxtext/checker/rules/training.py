# SPDX-License-Identifier: Apache-2.0
"""Rules for training information (IR version 7).

A runtime runs the initialization once, then the main graph and the algorithm in every step.
"""

from __future__ import annotations

from collections.abc import Iterator

from onnxtext.ast.model import Training
from onnxtext.checker.context.checked_model import CheckedModel
from onnxtext.checker.context.finding import Finding, Place, did_you_mean, quote
from onnxtext.checker.context.registry import Rule
from onnxtext.checker.context.scopes import Scope


def check(subject: CheckedModel) -> Iterator[Finding]:
    """Check the initialization, the algorithm and the bindings of each `TrainingInfoProto`."""
    if subject.model is None:
        return
    by_owner = {id(scope.original): scope for scope in subject.scopes}
    bound: dict[tuple[str, str], Training] = {}
    for training in subject.model.training:
        start = by_owner.get(id(training.initialization))
        step = by_owner.get(id(training.algorithm))
        if start is not None and start.inputs:
            yield Finding(
                "training-init-inputs",
                "the `initialization` graph has inputs, but nothing passes values to them",
                tuple([Place(value, ("name",)) for value in start.inputs]),
                help="replace them by constants or random values",
            )
        if start is None and training.initialization_binding:
            yield Finding(
                "training-init-omitted",
                "there is an `initialization_binding`, but no `initialization`",
                (Place(training, ("initialization_binding",)),),
                help="add an `initialization` graph with the outputs that the binding names, "
                "or remove the binding",
            )
        both = [scope for scope in (step, subject.main) if scope is not None]
        initializers = {value.name for scope in both for value in scope.initializers}
        yield from _keys(subject, training, initializers, bound)
        if start is not None:
            field = "initialization_binding"
            yield from _values(subject, training, field, [start], "the initialization")
        yield from _values(subject, training, "update_binding", both, "the algorithm or the graph")
        if step is not None and subject.main is not None:
            yield from _combined_conflicts(subject.main, step)


def _keys(
    subject: CheckedModel,
    training: Training,
    initializers: set[str],
    bound: dict[tuple[str, str], Training],
) -> Iterator[Finding]:
    for field in ("initialization_binding", "update_binding"):
        seen: set[str] = set()
        for key, _ in getattr(training, field):
            place = Place(training, (field, f'"{key}"'))
            if key not in initializers:
                message = f"the `{field}` sets {quote(key)}, which is not an initializer"
                help = "name an initializer of the graph or of the algorithm"
                help = did_you_mean(subject.nearest(key, initializers), help)
                yield Finding("training-binding-key", message, (place,), help)
            if key in seen:
                message = f"the `{field}` sets {quote(key)} twice"
                yield Finding("training-binding-key", message, (place,), "remove one of them")
            seen.add(key)
            if bound.setdefault((field, key), training) is not training:
                message = f"two entries of `training_info` set {quote(key)} in their `{field}`"
                help = "remove one of the two entries"
                yield Finding("training-binding-key", message, (place,), help, severity="warning")


def _values(
    subject: CheckedModel, training: Training, field: str, graphs: list[Scope], graph_name: str
) -> Iterator[Finding]:
    outputs = {value.name for graph in graphs for value in graph.outputs}
    for _, name in getattr(training, field):
        if name not in outputs:
            yield Finding(
                "training-binding-value",
                f"the `{field}` uses {quote(name)}, which is not an output of {graph_name}",
                (Place(training, (field, f'"{name}"')),),
                help=did_you_mean(subject.nearest(name, outputs), f"use an output of {graph_name}"),
            )


def _combined_conflicts(main: Scope, step: Scope) -> Iterator[Finding]:
    """Find conflicts between the main graph and the algorithm, which run as one graph."""
    for name in step.position:
        if name in main.position:
            both = "both the graph and the training's algorithm, which run as one graph"
            message = f"{quote(name)} is defined in {both}"
            in_graph = Place(*main.definition(name), "defined in the graph")
            places = (Place(*step.definition(name)), in_graph)
            yield Finding("training-graph-combined", message, places, "rename one of them")
    names = {node.name for node in main.nodes if node.name}
    for node in step.nodes:
        if node.name and node.name in names:
            yield Finding(
                "training-graph-combined",
                f"a node of the graph and a node of the algorithm are named {quote(node.name)}",
                (Place(node, ("name",)),),
                help="rename one of them",
                severity="warning",
            )
    for node in main.nodes:
        for index, name in enumerate(node.inputs):
            if name and name not in main.position and name in step.position:
                yield Finding(
                    "training-graph-combined",
                    f"a node of the graph uses {quote(name)}, a value of the training's algorithm",
                    (Place(node, ("inputs", index)), Place(*step.definition(name))),
                    help="compute the value in the graph, or move the node to the algorithm",
                )


RULES = (
    Rule("training-init-inputs"),
    Rule("training-binding-key"),
    Rule("training-binding-value"),
    Rule("training-init-omitted"),
    Rule("training-graph-combined"),
)
