# SPDX-License-Identifier: Apache-2.0
"""Rules for names of graphs, values and nodes: missing, duplicate, or not identifiers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TypeVar

from onnxtext.ast.model import Node, ValueInfo
from onnxtext.ast.tensors_and_attributes import SparseTensor
from onnxtext.checker.context.checked_model import CheckedModel
from onnxtext.checker.context.finding import Finding, Place, quote
from onnxtext.checker.context.registry import Rule, style_rule
from onnxtext.checker.context.scopes import Scope

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
Named = TypeVar("Named", ValueInfo, Node)


def check(subject: CheckedModel) -> Iterator[Finding]:
    """Find missing and duplicate names, and names that are not C identifiers."""
    for scope in subject.scopes:
        if scope.is_graph and not scope.name:
            yield Finding(
                "graph-name-missing",
                "the graph has no name",
                (Place(scope.original, ("name",)),),
                help="write a name before its inputs",
            )
        yield from _unnamed_values(scope)
        yield from _duplicates(scope, "input", scope.inputs)
        yield from _duplicates(scope, "output", scope.outputs)
        yield from repeated_names(
            scope.nodes,
            f"nodes of {scope.describe()}",
            "node-name-duplicate",
            "rename or remove one of the names",
        )
    if subject.active("name-not-identifier"):
        yield from _identifiers(subject)


def _unnamed_values(scope: Scope) -> Iterator[Finding]:
    for kind, values in (
        ("an input", scope.inputs),
        ("an output", scope.outputs),
        ("a value info", scope.infos),
        ("an initializer", scope.initializers),
    ):
        unnamed = [v for v in values if not v.name and not isinstance(v.data, SparseTensor)]
        if unnamed:
            message = f"{kind} of {scope.describe()} has no name"
            places = tuple([Place(value, ("name",)) for value in unnamed])
            help = "name it: nodes refer to values by name"
            yield Finding("value-name-missing", message, places, help)


def _duplicates(scope: Scope, kind: str, values: list[ValueInfo]) -> Iterator[Finding]:
    for name, same in _items_by_repeated_name(values):
        labels = ["first occurrence", "second occurrence", *["repeated here"] * (len(same) - 2)]
        places = [Place(value, ("name",), label) for value, label in zip(same, labels, strict=True)]
        yield Finding(
            f"{kind}-duplicate" if scope.is_graph else f"function-{kind}-duplicate",
            f"{scope.describe()} has {len(same)} {kind}s named {quote(name)}",
            (*places[1:2], places[0], *places[2:]),
            help="rename one of them" if kind == "input" else "remove one of them",
        )


def _items_by_repeated_name(items: Sequence[Named]) -> list[tuple[str, list[Named]]]:
    """Return (name, items) for each name that several items have; items are values or nodes."""
    names = [item.name for item in items if item.name]
    if len(set(names)) == len(names):
        return []
    by_name: dict[str, list[Named]] = {}
    for item in items:
        if item.name:
            by_name.setdefault(item.name, []).append(item)
    return [(name, same) for name, same in by_name.items() if len(same) > 1]


def repeated_names(items: Sequence[Named], kind: str, code: str, help: str) -> Iterator[Finding]:
    """Report each name that several items have, as a finding of the rule `code`.

    `kind` describes the items, in the plural. `help` is the help of the findings.
    """
    for name, same in _items_by_repeated_name(items):
        first, second, *others = [Place(item, ("name",)) for item in same]
        yield Finding(
            code,
            f"{len(same)} {kind} are named {quote(name)}",
            (second, first._replace(label="first occurrence"), *others),
            help=help,
        )


def _identifiers(subject: CheckedModel) -> Iterator[Finding]:
    matches = _IDENTIFIER.fullmatch
    for scope in subject.scopes:
        identifiers: list[tuple[str, str, Place]] = []
        if scope.name:
            identifiers.append(("graph", scope.name, Place(scope.original, ("name",))))
        identifiers += [("value", name, Place(*scope.definition(name))) for name in scope.position]
        for node in scope.nodes:
            if node.name:
                identifiers.append(("node", node.name, Place(node, ("name",))))
            for index, attribute in enumerate(node.attributes):
                place = Place(node, ("attributes", index))
                identifiers.append(("attribute", attribute.name, place))
        for value in (*scope.inputs, *scope.outputs, *scope.infos):
            shape = getattr(value.type, "shape", None) or ()
            identifiers += [
                ("dim", d, Place(value, ("type",))) for d in shape if isinstance(d, str) and d
            ]
        for kind, name, place in identifiers:
            if name and not matches(name):
                message = f"the {kind} name {quote(name)} is not a C identifier"
                help = "use letters, digits and underscores, and do not begin with a digit"
                yield Finding("name-not-identifier", message, (place,), help)


RULES = (
    Rule("graph-name-missing"),
    Rule("value-name-missing"),
    Rule("input-duplicate"),
    Rule("output-duplicate", level="warning"),
    Rule("function-input-duplicate"),
    Rule("function-output-duplicate"),
    Rule("node-name-duplicate", level="warning"),
    style_rule("name-not-identifier"),
)
