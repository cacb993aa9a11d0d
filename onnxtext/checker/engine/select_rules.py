# SPDX-License-Identifier: Apache-2.0
"""Determine which rules are enabled, and run them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from types import ModuleType

from onnxtext.checker.context.checked_model import CheckedModel
from onnxtext.checker.context.finding import Finding
from onnxtext.checker.context.registry import families, profiles, rules
from onnxtext.checker.engine.cascading_findings import without_cascades
from onnxtext.checker.engine.shared_attributes import FAMILIES, at_each_node
from onnxtext.checker.isolation.inference_client import start_worker

ALL = "all"


class UnknownRule(ValueError):
    """Raised for a code that is neither a rule nor a profile."""

    def __init__(self, code: str) -> None:
        super().__init__(f"there is no rule or profile `{code}`")
        self.code = code


def is_known(code: str) -> bool:
    """Whether `--select` and `--ignore` accept a code: a rule, a profile, or `all`."""
    return code in rules() or code in profiles() or code == ALL


def selected_rules(select: Sequence[str] | None) -> frozenset[str]:
    """Return the codes of the rules that `select` names, directly, by a profile, or by `all`.

    `all` stands for every rule that belongs to no profile.
    """
    codes: set[str] = set()
    for code in select or ():
        if code == ALL:
            codes |= {name for name, rule in rules().items() if not rule.profile}
        else:
            codes |= profiles().get(code, {code})
    return frozenset(codes)


def active_rules(select: Sequence[str] | None, ignore: Sequence[str] | None) -> frozenset[str]:
    """Return the codes of the enabled rules.

    Args:
        select: rules, profiles or `all`, to enable besides the rules enabled by default.
        ignore: rules and profiles to disable, even if `select` enables them. But `all` disables
            only the rules that `select` does not name.

    Raises:
        UnknownRule: a code is neither a rule nor a profile.
    """
    return _active_rules(tuple(select or ()), tuple(ignore or ()))


@lru_cache(maxsize=16)
def _active_rules(select: tuple[str, ...], ignore: tuple[str, ...]) -> frozenset[str]:
    for code in (*select, *ignore):
        if not is_known(code):
            raise UnknownRule(code)
    if ALL in ignore:
        on = selected_rules([code for code in select if code != ALL])
        return on - selected_rules([code for code in ignore if code != ALL])
    enabled = {code for code, rule in rules().items() if rule.level != "lint"}
    return (selected_rules(select) | enabled) - selected_rules(ignore)


def run_enabled_rules(subject: CheckedModel) -> list[Finding]:
    """Run the enabled rules, family by family; return their findings.

    Findings that follow from other findings are not returned, but stored in
    `CheckedModel.cascades`. All findings of the families are added to `CheckedModel.found`.
    """
    active = subject.options.active
    infers = subject.options.infers
    if infers and subject.active("shape-mismatch", "onnx-inference-failed"):
        start_worker()
    for family in _active_families(active):
        found = list(family.check(subject))
        if found and family.__name__.rpartition(".")[2] in FAMILIES:
            found = list(at_each_node(subject, found))
        subject.found += found
    active_findings = [finding for finding in subject.found if finding.code in active]
    kept = without_cascades(active_findings, subject.scopes)
    if len(kept) < len(active_findings):
        ids = {id(finding) for finding in kept}
        subject.cascades = [finding for finding in active_findings if id(finding) not in ids]
    return kept


@lru_cache(maxsize=16)
def _active_families(active: frozenset[str]) -> list[ModuleType]:
    """Return the families with an enabled rule, in order."""
    return [item for item in families() if not active.isdisjoint([r.code for r in item.RULES])]
