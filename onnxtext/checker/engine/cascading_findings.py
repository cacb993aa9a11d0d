# SPDX-License-Identifier: Apache-2.0
"""Drop cascading findings, so that each mistake in a model is reported once.

For example, if the output of a node is missing, later nodes use an undefined name. Only the missing
output is reported, because it is the cause.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

from onnxtext.checker.context.finding import Finding
from onnxtext.checker.context.scopes import Scope

_BY_ITEM = {
    "op-type-missing": ("value-undefined", "input-count"),
    "value-undefined": ("input-count", "function-call-arity", "optional-input-missing"),
    "input-count": ("optional-input-missing", "type-mismatch", "shape-mismatch"),
    "attribute-unknown": ("attribute-required",),
    "graph-output-undefined": ("graph-output-untyped",),
}
"""Maps the rule of a cause to the rules of its consequences at the same node or value."""
_BY_ITEMS = {"value-redefined": ("node-name-duplicate",)}
"""Maps the rule of a cause to the rules of its consequences at all the same nodes."""
_BY_NAME = {"value-undefined": ("graph-output-undefined", "function-output-undefined")}
"""Maps the rule of a cause to the rules of its consequences for the same name and graph."""
_BY_OWNER = {
    "input-duplicate": ("subgraph-arity",),
    "function-input-duplicate": ("function-call-arity",),
}
"""Maps the rule of a cause to the rules of its consequences for the same graph or function."""
_BY_FIRST_DECLARATION = {"tensor-data-size": ("value-info-conflict",)}
"""Maps the rule of a cause to the rules of its consequences with the same last place."""
_UNDEFINED = ("value-undefined", "graph-output-undefined", "function-output-undefined")
_DESCRIBED = ("value-info-unknown",)


def without_cascades(findings: list[Finding], scopes: Sequence[Scope]) -> list[Finding]:
    """Return the findings that do not follow from others; `scopes` are the scopes of the model."""
    if len(findings) < 2 or len({finding.code for finding in findings}) < 2:
        return findings
    scope_of = _scope_lookup(scopes)
    kept = _drop_implied(findings, _BY_ITEM, lambda finding: id(finding.places[0].item))
    kept = _drop_implied(
        kept, _BY_ITEMS, lambda finding: frozenset(id(p.item) for p in finding.places)
    )
    kept = _drop_implied(kept, _BY_NAME, lambda finding: (scope_of(finding), _name(finding)))
    owner_of = _owner_lookup(scopes)
    kept = _drop_implied(kept, _BY_OWNER, owner_of)
    kept = _drop_implied(kept, _BY_FIRST_DECLARATION, lambda finding: id(finding.places[-1].item))
    return _without_lost_outputs(kept, scope_of)


def _owner_lookup(scopes: Sequence[Scope]) -> Callable[[Finding], int]:
    """Return a function that maps a finding to the id of a scope; 0 if it belongs to none.

    A finding belongs to a scope if one of the finding's places is the graph or function of the
    scope, or an input of it.
    """
    owners = {id(scope.original): id(scope) for scope in scopes}
    owners |= {id(value): id(scope) for scope in scopes for value in scope.inputs}
    return lambda finding: next(
        (owners[id(place.item)] for place in finding.places if id(place.item) in owners), 0
    )


def _drop_implied(
    findings: list[Finding],
    implied: Mapping[str, tuple[str, ...]],
    key: Callable[[Finding], Hashable],
) -> list[Finding]:
    """Drop each finding that follows from another finding with the same `key`.

    `implied` maps the rule of the other finding (the cause) to the rules of the dropped findings.
    """
    causes = {
        (key(finding), code)
        for finding in findings
        if finding.severity is None  # a finding downgraded to a warning implies no error
        for code in implied.get(finding.code, ())
    }
    codes = {code for _, code in causes}
    return [
        finding
        for finding in findings
        if finding.code not in codes
        or (key(finding), finding.code) not in causes
        # Keep the finding of an undefined name that several nodes use: an error of one node is not
        # the cause at the other nodes.
        or (finding.code == "value-undefined" and len({id(p.item) for p in finding.places}) > 1)
    ]


def _without_lost_outputs(
    findings: list[Finding], scope_of: Callable[[Finding], int]
) -> list[Finding]:
    """For each node without outputs, drop the findings about one name, probably that of its output.

    Names are chosen in this order: undefined names that a `value_info` in the scope describes,
    other undefined names, other names of a `value_info`. `scope_of` returns the id of a finding's
    scope.
    """
    missing = Counter(scope_of(item) for item in findings if item.code == "node-no-output")
    if not missing:
        return findings
    used, described = [
        dict.fromkeys((scope_of(item), _name(item)) for item in findings if item.code in codes)
        for codes in (_UNDEFINED, _DESCRIBED)
    ]
    lost = set()
    for key in (*(key for key in used if key in described), *used, *described):
        if key not in lost and missing[key[0]]:
            missing[key[0]] -= 1
            lost.add(key)
    codes = (*_UNDEFINED, *_DESCRIBED)
    return [f for f in findings if f.code not in codes or (scope_of(f), _name(f)) not in lost]


def _name(finding: Finding) -> str | None:
    """Return the name that a finding is about; None if it has no `subject`."""
    return finding.subject and finding.subject.name


def _scope_lookup(scopes: Iterable[Scope]) -> Callable[[Finding], int]:
    """Return a function that maps a finding to the id of its scope.

    The function returns 0 if the first place of the finding is not a node, an output or a value
    info.
    """
    owners: dict[int, int] = {}
    for scope in scopes:
        for item in (*scope.nodes, *scope.outputs, *scope.infos):
            owners.setdefault(id(item), id(scope))
    return lambda finding: owners.get(id(finding.places[0].item), 0)
