# SPDX-License-Identifier: Apache-2.0
"""Training information (IR version 7).

What: the initialization takes nothing; bindings set initializers to outputs; the algorithm, put
behind the inference graph, makes a graph that breaks no rule.
Why: a runtime runs the initialization once, then both graphs as one for every step.
Fix: correct the names in the bindings.
"""

from __future__ import annotations

from collections.abc import Iterator

from onnxtext.ast.model import Training
from onnxtext.checker.finding import Finding, Place, quoted
from onnxtext.checker.registry import Family, Rule
from onnxtext.checker.scopes import Scope
from onnxtext.checker.subject import Subject


def check(subject: Subject) -> Iterator[Finding]:
    """Find what is wrong with training information."""
    if subject.model is None:
        return
    by_owner = {id(scope.place): scope for scope in subject.scopes}
    bound: dict[str, Training] = {}
    for training in subject.model.training:
        start = by_owner.get(id(training.initialization))
        step = by_owner.get(id(training.algorithm))
        if start is not None and start.inputs:
            yield Finding(
                "training-init-inputs",
                "the initialization of a training has inputs",
                tuple([Place(value, ("name",)) for value in start.inputs]),
                help="make them constants or random: nothing is given to it",
            )
        if start is None and training.initialization_binding:
            yield Finding(
                "training-init-omitted",
                "there is an `initialization_binding`, but no `initialization`",
                (Place(training, ("initialization_binding",)),),
                help="add an `initialization` whose outputs it names, or remove the binding",
            )
        yield from _keys(subject, training, step, bound)
        yield from _values(subject, training, start, step)
        if step is not None and subject.main is not None:
            yield from _combined(subject.main, step)


def _keys(
    subject: Subject, training: Training, step: Scope | None, bound: dict[str, Training]
) -> Iterator[Finding]:
    initializers = {
        value.name
        for scope in (subject.main, step)
        if scope is not None
        for value in scope.initializers
    }
    for field, pairs in (
        ("initialization_binding", training.initialization_binding),
        ("update_binding", training.update_binding),
    ):
        seen: set[str] = set()
        for key, _ in pairs:
            place = Place(training, (field, f'"{key}"'))
            if key not in initializers:
                near = subject.near(key, initializers)
                yield Finding(
                    "training-binding-key",
                    f"the `{field}` sets {quoted(key)}, which is no initializer",
                    (place,),
                    help=f"there is {quoted(near)}"
                    if near
                    else "name an initializer of the graph or of the algorithm",
                )
            if key in seen:
                message = f"the `{field}` sets {quoted(key)} twice"
                yield Finding("training-binding-key", message, (place,), help="remove one of them")
            seen.add(key)
            other = bound.setdefault(f"{field}:{key}", training)
            if other is not training:
                yield Finding(
                    "training-binding-key",
                    f"two trainings set {quoted(key)} in their `{field}`",
                    (place,),
                    help="let one of them set it",
                    severity="warning",
                )


def _values(
    subject: Subject, training: Training, start: Scope | None, step: Scope | None
) -> Iterator[Finding]:
    made = {value.name for value in start.outputs} if start is not None else set()
    updated = {
        value.name for scope in (step, subject.main) if scope is not None for value in scope.outputs
    }
    for field, pairs, outputs, where in (
        ("initialization_binding", training.initialization_binding, made, "the initialization"),
        ("update_binding", training.update_binding, updated, "the algorithm or the graph"),
    ):
        if field == "initialization_binding" and start is None:
            continue
        for _, name in pairs:
            if name not in outputs:
                near = subject.near(name, outputs)
                yield Finding(
                    "training-binding-value",
                    f"the `{field}` takes {quoted(name)}, which is no output of {where}",
                    (Place(training, (field, f'"{name}"')),),
                    help=f"there is {quoted(near)}" if near else f"name an output of {where}",
                )


def _combined(main: Scope, step: Scope) -> Iterator[Finding]:
    """What goes wrong when the algorithm is put behind the inference graph."""
    for name in step.position:
        if name in main.position:
            yield Finding(
                "training-graph-combined",
                f"{quoted(name)} is defined in the graph and in the training's algorithm, "
                "which are run as one",
                (
                    Place(*step.definition(name)),
                    Place(*main.definition(name), "defined there too"),
                ),
                help="rename one of them",
            )
    names = {node.name for node in main.nodes if node.name}
    for node in step.nodes:
        if node.name and node.name in names:
            yield Finding(
                "training-graph-combined",
                f"a node of the graph and one of the algorithm are named {quoted(node.name)}",
                (Place(node, ("name",)),),
                help="rename one of them",
                severity="warning",
            )
    for index, node in enumerate(main.nodes):
        for number, name in enumerate(node.inputs):
            if name and name not in main.position and name in step.position:
                yield Finding(
                    "training-graph-combined",
                    f"a node of the graph uses {quoted(name)}, a value of the training's algorithm",
                    (Place(main.nodes[index], ("inputs", number)), Place(*step.definition(name))),
                    help="compute it in the graph, or move the node into the algorithm",
                )


FAMILY = Family(
    check,
    (
        Rule(
            "training-init-inputs",
            "error",
            "the initialization has no inputs",
            "proto TrainingInfoProto",
        ),
        Rule(
            "training-binding-key", "error", "bindings set initializers, each once", "IR Training"
        ),
        Rule(
            "training-binding-value", "error", "bindings take outputs of their graph", "IR, proto"
        ),
        Rule("training-init-omitted", "error", "what is bound is initialized", "IR Training"),
        Rule(
            "training-graph-combined",
            "error",
            "graph and algorithm together break no rule",
            "proto",
        ),
    ),
)
