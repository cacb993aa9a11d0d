# SPDX-License-Identifier: Apache-2.0
"""Report findings about an attribute at each node that shares the attribute.

The parser and the decoder may use one object for equal attributes of several nodes. Most rules for
values of attributes check each object once, and report it at the first node that has it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from operator import itemgetter

from onnxtext.ast.model import Node
from onnxtext.ast.tensors_and_attributes import Attribute
from onnxtext.checker.context.checked_model import CheckedModel, cache_in_memo
from onnxtext.checker.context.finding import Finding, Place

FAMILIES = frozenset(
    {"ir_versions", "declared_types", "attributes", "tensors", "tensor_values", "external_data",
     "sparse"}
)  # fmt: skip
"""The modules of rules that check an attribute object once."""
_JOINED = frozenset(
    {"needs-ir-version", "elem-type-undefined", "map-key-type", "dim-value-negative",
     "dim-param-empty"}
)  # fmt: skip
"""The rules whose findings join the places of equal types or constructs."""
_PER_NODE = frozenset(
    {"attribute-ref-outside-function", "attribute-ref-unknown", "external-file-missing"}
)
"""The rules whose findings are not copied.

The rules for references check each node already. `external-file-missing` has one finding for all
tensors with the same file.
"""

_Uses = dict[int, list[tuple[int, Node, int]]]


@cache_in_memo
def _uses(subject: CheckedModel) -> _Uses:
    """Map `id(attribute)` to its uses: (index of the node in the model, node, index in it)."""
    uses: _Uses = {}
    for number, (_, node) in enumerate(subject.nodes()):
        for index, attribute in enumerate(node.attributes):
            uses.setdefault(id(attribute), []).append((number, node, index))
    return uses


def at_each_node(subject: CheckedModel, findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield the findings of one of the `FAMILIES`, and copies for the nodes that share attributes.

    A finding that joins several places gets the places of these nodes instead.
    """
    for finding in findings:
        place = finding.places[0]
        of_record = _is_at_attribute(place) and len(place.part) == 2
        if finding.code in _JOINED and not of_record:
            yield finding._replace(places=_joined(subject, finding.places))
        elif finding.code in _PER_NODE or not _is_at_attribute(place):
            yield finding
        else:
            for _, node, index in _uses(subject)[id(_attribute(place))]:
                yield _moved(finding, node, index)


def _is_at_attribute(place: Place) -> bool:
    return isinstance(place.item, Node) and place.part[:1] == ("attributes",)


def _attribute(place: Place) -> Attribute:
    attribute: Attribute = place.item.attributes[place.part[1]]
    return attribute


def _joined(subject: CheckedModel, places: tuple[Place, ...]) -> tuple[Place, ...]:
    """Add the places of the nodes that share attributes, in the order of the nodes."""
    result = [place for place in places if not _is_at_attribute(place)]
    shared = {id(_attribute(place)): place for place in places if _is_at_attribute(place)}
    uses = [(*use, place) for key, place in shared.items() for use in _uses(subject)[key]]
    for _, node, index, place in sorted(uses, key=itemgetter(0, 2)):
        result.append(Place(node, ("attributes", index, *place.part[2:])))
    result[0] = result[0]._replace(label=places[0].label)
    return tuple(result)


def _moved(finding: Finding, node: Node, index: int) -> Finding:
    """Return a copy of a finding about an attribute, at another node that shares the attribute."""
    item = finding.places[0].item
    places = [
        place._replace(item=node, part=("attributes", index, *place.part[2:]))
        if place.item is item and _is_at_attribute(place)
        else place
        for place in finding.places
    ]
    repair = finding.repair
    if repair is not None and repair.item is item:
        repair = repair._replace(item=node)
    return finding._replace(places=tuple(places), repair=repair)
