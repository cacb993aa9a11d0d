# SPDX-License-Identifier: Apache-2.0
"""Rule that finds unused initializers and nodes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from onnxtext.checker.context.checked_model import CheckedModel
from onnxtext.checker.context.finding import Finding, Place, Repair, quote
from onnxtext.checker.context.registry import Rule
from onnxtext.diagnostics import Subject


def check(subject: CheckedModel) -> Iterator[Finding]:
    """Find unused initializers that are not inputs, and nodes without a used output."""
    used = _used_by_scope(subject)
    for scope in subject.scopes:
        names = used[id(scope)]
        used_or_input = names.union(value.name for value in scope.inputs)
        for value in scope.initializers:
            if value.name and value.name not in used_or_input:
                yield Finding(
                    "value-unused",
                    f"the initializer {quote(value.name)} is not used",
                    (Place(value, ("name",)),),
                    help="remove it",
                    repair=Repair("remove", value),
                    subject=Subject("value", value.name),
                )
        for node in scope.nodes:
            outputs = [name for name in node.outputs if name]
            if outputs and names.isdisjoint(outputs):
                yield Finding(
                    "value-unused",
                    f"no output of this {quote(node.op_type)} is used",
                    (Place(node, ("outputs", node.outputs.index(outputs[0]))),),
                    help="remove the node",
                )


def _used_by_scope(subject: CheckedModel) -> dict[int, set[str]]:
    """Map `id(scope)` to the names of the scope's used values.

    A value is used if it is an output of its scope, an input of a node (also in a nested graph), or
    named by an entry of a quantization annotation or by a training binding.
    """
    used: dict[int, set[str]] = {id(scope): set() for scope in subject.scopes}
    for scope in subject.scopes:
        used[id(scope)].update(value.name for value in scope.outputs)
        entries = [entry for annotation in scope.quantization for entry in annotation.entries]
        for names in (*[node.inputs for node in scope.nodes], [name for _, name in entries]):
            for name in names:
                if name in scope.position:
                    used[id(scope)].add(name)
                else:
                    outer = scope.find_outer(name)
                    if outer is not None:
                        used[id(outer[0])].add(name)
    if subject.model is not None and subject.main is not None:
        for training in subject.model.training:
            bindings = (*training.initialization_binding, *training.update_binding)
            for scope in subject.scopes:
                if scope.kind in ("main", "algorithm", "initialization"):
                    used[id(scope)].update(chain.from_iterable(bindings))
    return used


RULES = (Rule("value-unused", level="lint", needs_valid_syntax=True),)
