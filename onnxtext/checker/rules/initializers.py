# SPDX-License-Identifier: Apache-2.0
"""Rules for initializers and for inputs with the name of an initializer.

An initializer with the name of an input is the default value of the input, except in nested graphs.
"""

from __future__ import annotations

from collections.abc import Iterator

from onnxtext.ast.model import ValueInfo
from onnxtext.ast.tensors_and_attributes import SparseTensor
from onnxtext.checker.context.checked_model import CheckedModel
from onnxtext.checker.context.finding import Finding, Place, quote
from onnxtext.checker.context.registry import Rule
from onnxtext.checker.context.scopes import Scope
from onnxtext.checker.rules.names import repeated_names


def check(subject: CheckedModel) -> Iterator[Finding]:
    """Find duplicate initializers, and initializers that must be inputs or must not be inputs."""
    for scope in subject.scopes:
        if not scope.initializers or not scope.is_graph:
            continue
        if not scope.distinct:
            values, help = scope.initializers, "remove or rename one of them"
            yield from repeated_names(values, "initializers", "initializer-duplicate", help)
        inputs = {value.name: value for value in scope.inputs}
        if 0 < subject.ir_version < 4:
            for value in scope.initializers:
                if value.name and value.name not in inputs:
                    why = f"because `ir_version` is {subject.ir_version}"
                    message = f"the initializer {quote(value.name)} must also be an input, {why}"
                    help = "add it to the inputs, or raise `ir_version` to 4"
                    places = (Place(value, ("name",)),)
                    yield Finding("initializer-not-input", message, places, help)
        if scope.kind == "nested":
            yield from _nested_graph(scope, inputs, subject.ir_version)


def _nested_graph(scope: Scope, inputs: dict[str, ValueInfo], ir_version: int) -> Iterator[Finding]:
    """Find initializers of a nested graph that are also inputs.

    Before IR version 4, such initializers are allowed, but must be the last inputs.
    """
    both = [value for value in scope.initializers if value.name in inputs]
    if ir_version >= 4 or not ir_version:
        for value in both:
            yield Finding(
                "subgraph-initializer-is-input",
                f"{quote(value.name)} is both an input and an initializer of a nested graph",
                (Place(value, ("name",)), Place(inputs[value.name], ("name",))),
                help="remove it from the inputs",
            )
        return
    names = {value.name for value in both if not isinstance(value.data, SparseTensor)}
    first = next((i for i, value in enumerate(scope.inputs) if value.name in names), None)
    if first is not None and any(value.name not in names for value in scope.inputs[first:]):
        yield Finding(
            "subgraph-initializer-is-input",
            "inputs with initializers must come after the other inputs of a nested graph",
            (Place(scope.inputs[first], ("name",)),),
            help="move the inputs with initializers to the end",
        )


RULES = (
    Rule("initializer-duplicate"),
    Rule("initializer-not-input", needs_valid_syntax=True),
    Rule("subgraph-initializer-is-input"),
)
