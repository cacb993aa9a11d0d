# SPDX-License-Identifier: Apache-2.0
"""Rules of static single assignment: no name is redefined or shadowed.

An initializer may have the name of an input: it is then the default value of the input.
"""

from __future__ import annotations

from collections.abc import Iterator

from onnxtext.checker.context.checked_model import CheckedModel
from onnxtext.checker.context.finding import Finding, Place, quote
from onnxtext.checker.context.registry import Rule
from onnxtext.checker.context.scopes import GIVEN, Scope

_MAX_NAMES = 5


def check(subject: CheckedModel) -> Iterator[Finding]:
    """Find names that are defined twice, and names that shadow names of outer graphs."""
    for scope in subject.scopes:
        if scope.redefinitions:
            yield from _redefined(scope)
        if scope.parent is not None:
            yield from _shadowing(scope, subject.ir_version)


def _redefined(scope: Scope) -> Iterator[Finding]:
    """Report names with several definitions.

    Names that the same nodes define, such as the outputs of a duplicated node, share a finding.
    """
    by_name: dict[str, list[Place]] = {}
    for index, slot, name in scope.redefinitions:
        place = Place(scope.nodes[index], ("outputs", slot), "defined again here")
        by_name.setdefault(name, []).append(place)
    groups: dict[tuple[str, tuple[int, ...]], list[str]] = {}
    for name, places in by_name.items():
        first = scope.definition(name)[0]
        key: tuple[int, ...] = (len(groups),)  # a separate group for each name
        if scope.position[name] == GIVEN:
            definitions = "an input or initializer, and an output of a node"
        elif first is places[0].item:
            definitions = "two outputs of one node"
        else:
            definitions = "an output of more than one node"
            key = (id(first), *(id(place.item) for place in places))
        groups.setdefault((definitions, key), []).append(name)
    for (definitions, _), names in groups.items():
        verb = "is" if len(names) == 1 else "are each"
        message = f"{_name_list(names)} {verb} {definitions} of {scope.describe()}"
        again, *others = by_name[names[0]]
        others += [place._replace(label="") for name in names[1:] for place in by_name[name]]
        first_place = Place(*scope.definition(names[0]), "first defined here")
        help = "rename one of them and its uses"
        yield Finding("value-redefined", message, (again, first_place, *others), help)


def _name_list(names: list[str]) -> str:
    """Return a phrase that lists names: `a`, `a and b`, or for too many, `a, b and 3 others`."""
    shown = names if len(names) <= _MAX_NAMES else names[: _MAX_NAMES - 1]
    words = [quote(name) for name in shown]
    if len(shown) < len(names):
        words.append(f"{len(names) - len(shown)} others")
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _shadowing(scope: Scope, ir_version: int) -> Iterator[Finding]:
    """Find names of a nested graph that shadow names of an outer graph.

    Up to IR version 8, the specification forbids this only for outputs of nodes. From IR version 9
    on, it also forbids this for inputs and initializers.
    """
    names = scope.position.keys()
    if all(names.isdisjoint(outer.position.keys()) for outer, _ in scope.outer()):
        return
    for name, position in scope.position.items():
        found = scope.find_outer(name)
        if found is None:
            continue
        outer, owner = found[0], scope.describe()
        message = f"{quote(name)} is defined in {owner}, and also in {outer.describe()}"
        places = (
            Place(*scope.definition(name)),
            Place(*outer.definition(name), "the outer definition"),
        )
        yield Finding(
            "value-shadows-outer",
            f"{message}, which encloses it",
            places,
            help="rename the inner value",
            severity="warning" if position == GIVEN and 0 < ir_version <= 8 else None,
        )


RULES = (Rule("value-redefined"), Rule("value-shadows-outer"))
