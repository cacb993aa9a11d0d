# SPDX-License-Identifier: Apache-2.0
"""Select and run the enabled rules."""

from __future__ import annotations

from collections.abc import Sequence

from onnxtext.checker.context.finding import Finding
from onnxtext.checker.context.registry import families, rules
from onnxtext.checker.context.subject import Subject
from onnxtext.checker.engine.cascades import without_cascades
from onnxtext.checker.isolation.inference import start_worker

ALL = "all"


class UnknownRule(ValueError):
    """Raised for a slug that names no rule."""

    def __init__(self, slug: str) -> None:
        super().__init__(f"there is no rule `{slug}`")
        self.slug = slug


def active_rules(select: Sequence[str] | None, ignore: Sequence[str] | None) -> frozenset[str]:
    """Return the slugs of the enabled rules.

    Args:
        select: rules to enable besides those enabled by default; `all` is every rule.
        ignore: rules to disable; overrides `select`.

    Raises:
        UnknownRule: a slug names no rule.
    """
    known = rules()
    for slug in (*(select or ()), *(ignore or ())):
        if slug not in known and slug != ALL:
            raise UnknownRule(slug)
    on = {slug for slug, rule in known.items() if rule.level != "lint" or ALL in (select or ())}
    on |= set(select or ()) - {ALL}
    if ALL in (ignore or ()):
        return frozenset(set(select or ()) - {ALL})
    return frozenset(on - set(ignore or ()))


def find(subject: Subject) -> list[Finding]:
    """Run the enabled rules and return their findings, in the order of the families."""
    active = subject.options.active
    if subject.active("shape-mismatch", "onnx-inference-failed"):
        start_worker()
    for family in families():
        if not active.isdisjoint([rule.slug for rule in family.rules]):
            subject.found += list(family.check(subject))
    active_findings = [finding for finding in subject.found if finding.slug in active]
    kept = without_cascades(active_findings, subject.scopes)
    if len(kept) < len(active_findings):
        ids = {id(finding) for finding in kept}
        subject.cascades = [finding for finding in active_findings if id(finding) not in ids]
    return kept
