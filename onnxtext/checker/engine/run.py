# SPDX-License-Identifier: Apache-2.0
"""Running the rules on a model, and making diagnostics of what they find."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from onnxtext.ast.model import Fragment, Model
from onnxtext.checker.context.finding import Finding, Place
from onnxtext.checker.context.registry import BACKSLASH_LOST, SEVERITIES, families, rules
from onnxtext.checker.context.subject import Options, Subject
from onnxtext.checker.engine.backslashes import lost_backslashes
from onnxtext.checker.engine.cascades import without_echoes
from onnxtext.checker.engine.model_paths import ModelPaths
from onnxtext.checker.engine.places import TextPlaces
from onnxtext.checker.engine.suppressions import Suppressions
from onnxtext.checker.isolation.inference import Answers, Inference, start_worker
from onnxtext.collector import paused_collector
from onnxtext.diagnostics import Diagnostic, Label, Severity
from onnxtext.source import Source

_MOST_FIXES = 100
"""For how many findings of one text the edits that mend them are planned."""
MOST_LABELS = 12
"""How many places of one finding are shown; how many more there are is told."""
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


def check_tree(
    root: Model | Fragment,
    *,
    source: Source | None = None,
    file: str | None = None,
    base_dir: Path | None = None,
    select: Sequence[str] | None = None,
    ignore: Sequence[str] | None = None,
    encoded: Callable[[], bytes | None] | None = None,
) -> list[Diagnostic]:
    """Check a model or a fragment.

    Args:
        root: what to check; not changed.
        source: the text it was read from; None for a binary.
        file: what to call a binary.
        base_dir: the directory of external data; None if there is none to look into.
        select: rules to turn on besides those that are on by default; `all` is every rule.
        ignore: rules to turn off.
        encoded: gives the model as bytes, for the inference of onnx.

    Returns:
        What was found, in the order of the text or of the model.

    Raises:
        UnknownRule: a slug is no rule's.
    """
    subject, findings = find_in(
        root, base_dir=base_dir, select=select, ignore=ignore, encoded=encoded
    )
    return diagnose(subject, findings, source=source, file=file)


def find_in(
    root: Model | Fragment,
    *,
    base_dir: Path | None = None,
    select: Sequence[str] | None = None,
    ignore: Sequence[str] | None = None,
    encoded: Callable[[], bytes | None] | None = None,
    answers: Answers | None = None,
) -> tuple[Subject, list[Finding]]:
    """What breaks the rules that are on, without places.

    Arguments are those of `check_tree`, and `answers`: what the inference of onnx said in checks
    before, which is added to.

    Raises:
        UnknownRule: a slug is no rule's.
    """
    active = active_rules(select, ignore)
    selected = active if ALL in (select or ()) else active & set(select or ())
    if encoded is not None and isinstance(root, Model):
        encoded = _with_implied_import(root, encoded)
    options = Options(base_dir, active, frozenset(selected), encoded, inference=Inference(answers))
    if isinstance(root, Fragment):
        from onnxtext.checker.engine.fragments import find_in_fragment

        return find_in_fragment(root, options)
    with paused_collector():
        subject = Subject(root, options)
        return subject, find(subject)


def _with_implied_import(
    model: Model, encoded: Callable[[], bytes | None]
) -> Callable[[], bytes | None]:
    """The bytes of a model with the import that is implied before IR version 3.

    The inference of onnx does not know of it, unlike its checker.
    """
    if model.opset_imports or model.ir_version not in (1, 2):
        return encoded

    def add() -> bytes | None:
        data = encoded()
        return None if data is None else data + _FIRST_OPSET

    return add


_FIRST_OPSET = b"\x42\x02\x10\x01"
"""The field `opset_import` of a model: version 1 of the standard operators."""


def diagnose(
    subject: Subject, findings: list[Finding], *, source: Source | None, file: str | None = None
) -> list[Diagnostic]:
    """Give findings their places, and drop those that the text silences."""
    if source is None:
        return _with_paths(subject, findings, file) if findings else []
    suppressions = Suppressions(source)
    lost: list[Diagnostic] = []
    if BACKSLASH_LOST.slug in subject.options.active:
        lost = [item for item in lost_backslashes(source) if not suppressions.silence_at(item)]
    if not findings and not suppressions:
        return lost
    from onnxtext.checker.engine.repair import fix_of

    if suppressions and subject.echoes:  # what is silenced explains nothing
        spoken = suppressions.spoken([*findings, *subject.echoes], subject)
        findings = without_echoes(spoken, subject.scopes)
    places = TextPlaces(source, subject)
    made: list[Diagnostic] = []
    for finding in findings:
        diagnostic = _in_text(finding, source, places)
        if finding.repair is not None and len(made) < _MOST_FIXES:
            fix = fix_of(source, subject, finding, diagnostic.labels)
            diagnostic = replace(diagnostic, fix=fix)
        if not suppressions or not suppressions.silence(finding, diagnostic, places):
            made.append(diagnostic)
    made += lost
    made += suppressions.unused(subject.options.active)
    made.sort(key=lambda item: item.labels[0].span.start if item.labels else -1)
    return made


def _in_text(finding: Finding, source: Source, places: TextPlaces) -> Diagnostic:
    labels = []
    seen = set()
    for place in finding.places[:MOST_LABELS]:
        label = Label(places.span(place), place.label)
        if label.span not in seen:
            labels.append(label)
            seen.add(label.span)
    return Diagnostic(
        finding.slug,
        finding.message,
        severity_of(finding),
        source=source,
        labels=tuple(labels),
        notes=(*finding.notes, *_left_out(finding.places), *_rule(finding)),
        help=finding.help,
    )


def _with_paths(subject: Subject, findings: list[Finding], file: str | None) -> list[Diagnostic]:
    paths = ModelPaths(subject)
    made = []
    for finding in findings:
        first, *others = finding.places[:MOST_LABELS]
        notes = [
            f"{paths.path(place)}: {place.label}" if place.label else f"also {paths.path(place)}"
            for place in others
        ]
        if first.label:
            notes.insert(0, f"{paths.path(first)}: {first.label}")
        made.append(
            Diagnostic(
                finding.slug,
                finding.message,
                severity_of(finding),
                path=paths.path(first) or "model",
                notes=(*notes, *_left_out(finding.places), *finding.notes, *_rule(finding)),
                help=finding.help,
                file=file,
            )
        )
    return made


def severity_of(finding: Finding) -> Severity:
    """How bad a finding is: its own severity, or that of its rule."""
    return finding.severity or SEVERITIES[rules()[finding.slug].level]


def _rule(finding: Finding) -> list[str]:
    """The rule itself."""
    rule = rules()[finding.slug]
    return [f"the rule: {rule.title} ({rule.source})" if rule.source != "-" else rule.title]


def _left_out(places: Iterable[Place]) -> list[str]:
    more = len(tuple(places)) - MOST_LABELS
    return [f"and {more} more places"] if more > 0 else []
