# SPDX-License-Identifier: Apache-2.0
"""Select the rules that are on, and run them."""

from __future__ import annotations

from collections.abc import Sequence

from onnxtext.checker.context.finding import Finding
from onnxtext.checker.context.registry import families, rules
from onnxtext.checker.context.subject import Subject
from onnxtext.checker.engine.cascades import without_echoes
from onnxtext.checker.isolation.inference import start_worker

ALL = "all"


class UnknownRule(ValueError):
    """A slug that is no rule's; `slug` is it."""

    def __init__(self, slug: str) -> None:
        super().__init__(f"there is no rule `{slug}`")
        self.slug = slug


def active_rules(select: Sequence[str] | None, ignore: Sequence[str] | None) -> frozenset[str]:
    """The slugs of the rules that are on.

    Args:
        select: rules to turn on besides those that are on by default; `all` is every rule.
        ignore: rules to turn off; wins over `select`.

    Raises:
        UnknownRule: a slug is no rule's.
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
    """What breaks the rules that are on, in the order of the families."""
    active = subject.options.active
    if subject.active("shape-mismatch", "onnx-inference-failed"):
        start_worker()
    for family in families():
        if not active.isdisjoint([rule.slug for rule in family.rules]):
            subject.found += list(family.check(subject))
    told = [finding for finding in subject.found if finding.slug in active]
    kept = without_echoes(told, subject.scopes)
    if len(kept) < len(told):
        known = {id(finding) for finding in kept}
        subject.echoes = [finding for finding in told if id(finding) not in known]
    return kept
