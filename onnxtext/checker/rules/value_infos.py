# SPDX-License-Identifier: Apache-2.0
"""Rules for `value_info`: duplicates, unknown values, contradictory declarations."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from onnxtext.ast.compact_form.list_order import INITIALIZERS, ValueInfoError, unknown_names
from onnxtext.ast.model import Graph, ValueInfo
from onnxtext.ast.types import Type
from onnxtext.checker.context.checked_model import CheckedModel
from onnxtext.checker.context.compare_declared_types import declared_type, describe_contradiction
from onnxtext.checker.context.finding import Finding, Place, Repair, did_you_mean, quote, respelling
from onnxtext.checker.context.registry import Rule
from onnxtext.checker.context.scopes import Scope
from onnxtext.diagnostics import Subject
from onnxtext.plurals import count_noun

_MAX_LABEL_LENGTH = 60
"""The maximum number of characters of a type in a label; labels leave out longer types."""


def check(subject: CheckedModel) -> Iterator[Finding]:
    """Find invalid `value_info` entries, and values whose declared types contradict each other."""
    for scope in subject.scopes:
        yield from _duplicates(scope)
        yield from _unknown(subject, scope)
        yield from _unknown_in_order(scope)
        yield from _conflicts(scope)


def _duplicates(scope: Scope) -> Iterator[Finding]:
    if not scope.infos:
        return
    by_name: dict[str, list[Place]] = {}
    for value in scope.infos:
        if value.name:
            by_name.setdefault(value.name, []).append(Place(value, ("name",)))
    for node in scope.nodes:
        for index, type in enumerate(node.output_types):
            if type is not None and node.outputs[index]:
                place = Place(node, ("output_types", index))
                by_name.setdefault(node.outputs[index], []).append(place)
    if all(len(places) == 1 for places in by_name.values()) and scope.is_graph:
        return
    if not scope.is_graph:
        for value in (*scope.inputs, *scope.outputs):
            if value.type is not None and value.name in by_name:
                by_name[value.name].append(Place(value, ("name",)))
    for name, places in by_name.items():
        if len(places) > 1:
            entries = [_entry(place) for place in places]
            same = all(entry == entries[0] for entry in entries[1:])
            original_ids = set(map(id, scope.original.values)) if same else set()
            removable = [place.item for place in reversed(places) if id(place.item) in original_ids]
            yield Finding(
                "value-info-duplicate",
                f"`value_info` of {scope.describe()} has {len(places)} entries for {quote(name)}",
                (places[-1], places[0]._replace(label="first occurrence"), *places[1:-1]),
                help="keep one entry, and remove the others",
                notes=("the entries are equal",) if same else (),
                # onnx's checker and onnxruntime accept types that do not contradict each other.
                severity="warning" if same or _fit_together(entries) else None,
                repair=Repair("remove", removable[0]) if removable else None,
                subject=Subject("value", name),
            )


def _fit_together(entries: list[ValueInfo]) -> bool:
    """Whether no two of the types contradict each other; missing types fit all types."""
    types = [entry.type for entry in entries if entry.type is not None]
    return not any(describe_contradiction(*pair) for pair in combinations(types[:_MAX_COMPARED], 2))


_MAX_COMPARED = 16
"""The maximum number of entries for one value that are compared with each other."""


def _entry(place: Place) -> ValueInfo:
    """Return the `value_info` entry at a place: an entry itself, or the typed output of a node."""
    if isinstance(place.item, ValueInfo):
        return place.item
    index = int(place.part[1])
    return ValueInfo(place.item.outputs[index], place.item.output_types[index])


def _unknown(subject: CheckedModel, scope: Scope) -> Iterator[Finding]:
    declared = {value.name for value in (*scope.inputs, *scope.infos, *scope.outputs)}
    for value in scope.infos:
        if value.name and value.name not in scope.position:
            untyped = (name for name in scope.position if name not in declared)
            suggestion = subject.nearest(value.name, untyped)
            yield Finding(
                "value-info-unknown",
                f"`value_info` describes {quote(value.name)}, "
                f"which {scope.describe()} does not define",
                (Place(value, ("name",)),),
                help=did_you_mean(suggestion, "remove it"),
                severity="warning" if scope.is_graph else "error",
                repair=respelling(value, value.name, suggestion)
                if suggestion
                else Repair("remove", value),
                subject=Subject("value", value.name, suggestion),
            )


def _unknown_in_order(scope: Scope) -> Iterator[Finding]:
    """Report the unknown names in `@value_info(…)` or `@initializers(…)`, in one finding.

    `@value_info(…)` may list names with a declared type, `@initializers(…)` names with data.
    """
    graph = scope.original
    if not isinstance(graph, Graph) or not graph.decorators:
        return
    try:
        unknown = list(unknown_names(graph))
    except ValueInfoError:  # the encoder reports the error
        return
    if unknown:
        decorator, name = unknown[0]
        owner = scope.describe()
        problem = f"for which {owner} declares no type"
        if decorator == INITIALIZERS:
            problem = f"which is neither an initializer of {owner} nor an input with a default"
        if len(unknown) > 1:
            problem += f" (and {count_noun(len(unknown) - 1, 'more name')})"
        message, places = (
            f"`@{decorator}` names {quote(name)}, {problem}",
            (Place(graph, ("name",)),),
        )
        yield Finding("value-info-unknown", message, places, "remove the name", severity="warning")


def _conflicts(scope: Scope) -> Iterator[Finding]:
    """Find declarations of one value that contradict each other."""
    if not (scope.inputs or scope.infos or scope.outputs):
        return
    declared: dict[str, tuple[Type, Place]] = {}
    reported: set[str] = set()
    candidates = [(v.name, v.type, v) for v in (*scope.inputs, *scope.infos, *scope.outputs)]
    names = {name for name, _, _ in candidates}
    for value in scope.initializers:
        if value.name in names:
            type = declared_type(value)
            if type is not None and value.name:
                declared.setdefault(value.name, (type, Place(value, ("type",))))
    # The rules of `names` report duplicate inputs and outputs.
    inputs, outputs = set(map(id, scope.inputs)), set(map(id, scope.outputs))
    for name, type, value in candidates:
        if type is None or not name:
            continue
        typed = scope.typed_output(name)
        if typed is not None:
            declared.setdefault(name, (typed[2], Place(typed[0], ("output_types", typed[1]))))
        first = declared.setdefault(name, (type, Place(value, ("type",))))
        if first[0] is type or name in reported:
            continue
        both = {id(value), id(first[1].item)}
        if both <= inputs or both <= outputs:
            continue
        difference = describe_contradiction(type, first[0])
        if difference is not None:
            reported.add(name)
            message = f"{quote(name)} is declared with conflicting types: {difference}"
            place = Place(value, ("type",), _type_phrase(type))
            places = (place, first[1]._replace(label=_type_phrase(first[0])))
            help = "write the same type in both places"
            yield Finding("value-info-conflict", message, places, help)


def _type_phrase(type: Type) -> str:
    from onnxtext.printer import print_type

    text = print_type(type)
    return f"declared as `{text}`" if len(text) <= _MAX_LABEL_LENGTH else "declared here"


RULES = (
    Rule("value-info-duplicate"),
    Rule("value-info-unknown", level="warning", needs_valid_syntax=True),
    Rule("value-info-conflict"),
)
