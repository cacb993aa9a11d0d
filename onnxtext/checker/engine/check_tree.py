# SPDX-License-Identifier: Apache-2.0
"""Run the rules on a model and turn their findings into diagnostics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from onnxtext.ast.model import Fragment, Model
from onnxtext.checker.context.checked_model import CheckedModel, Options
from onnxtext.checker.context.finding import Finding, Place
from onnxtext.checker.context.registry import BACKSLASH_LOST, SEVERITIES, rules
from onnxtext.checker.engine.cascading_findings import without_cascades
from onnxtext.checker.engine.finding_positions import TextPlaces
from onnxtext.checker.engine.fragments import find_in_fragment
from onnxtext.checker.engine.lost_backslashes import lost_backslashes
from onnxtext.checker.engine.model_paths import ModelPaths
from onnxtext.checker.engine.select_rules import (
    ALL,
    active_rules,
    run_enabled_rules,
    selected_rules,
)
from onnxtext.checker.engine.suppressions import Suppressions
from onnxtext.checker.isolation.inference_client import Answers, InferenceClient
from onnxtext.diagnostics import Diagnostic, Label, Severity
from onnxtext.io.memory import paused_collector
from onnxtext.plurals import count_noun
from onnxtext.source import Source, Span

_MAX_FIXES = 100
"""The maximum number of fixes to plan for the findings of a text."""
Then = Callable[[CheckedModel, Source | None], list[Diagnostic]]
"""A function that returns further diagnostics of a model without errors.

The second argument is the text of the model; None for a binary model.
"""
MAX_LABELS = 12
"""The maximum number of places to show for one finding; a note counts the others."""


def check_tree(
    root: Model | Fragment,
    *,
    source: Source | None = None,
    file: str | None = None,
    then: Then | None = None,
    **options: Any,
) -> list[Diagnostic]:
    """Check a model or a fragment, with the operator tables that `use_tables` sets.

    Return the diagnostics in the order of the text; for a binary model, in the order of the
    families of rules. The diagnostics of `then` come last.

    Args:
        root: the model or fragment, which is not changed.
        source: the text of `root`; None for a binary model.
        file: the name of a binary model in messages.
        then: returns further diagnostics. It is called only if no other diagnostic is an error.
        options: keyword arguments of `run_rules`.

    Raises:
        UnknownRule: `select` or `ignore` has a name that is neither a rule nor a profile.
    """
    subject, findings = run_rules(root, **options)
    result = diagnose(subject, findings, source=source, file=file)
    if then is not None and not any(item.severity == "error" for item in result):
        result += then(subject, source)
    for scope in subject.scopes:
        scope.children.clear()  # without cycles, no slow garbage collection is needed
    return result


def run_rules(
    root: Model | Fragment,
    *,
    base_dir: Path | None = None,
    select: Sequence[str] | None = None,
    ignore: Sequence[str] | None = None,
    encoded: Callable[[], bytes | None] | None = None,
    verified: bool = False,
    answers: Answers | None = None,
    infers: bool = True,
) -> tuple[CheckedModel, list[Finding]]:
    """Run the rules on a model or a fragment; return the subject of the check and its findings.

    Args:
        root: the model or fragment, which is not changed.
        base_dir: the directory that paths of external data are relative to; None if unknown.
        select: rules and profiles to enable besides the rules enabled by default; `all` enables
            every rule that belongs to no profile.
        ignore: rules and profiles to disable.
        encoded: a function that returns the model as protobuf bytes for onnx's inference, or None
            if the model cannot be encoded. Without it, onnx does not infer the whole model.
        verified: whether the model was encoded, which verified the digests of the blobs it uses.
        answers: a cache of results of onnx's inference, to which the check adds new results.
        infers: whether rules use onnx's inference.

    Raises:
        UnknownRule: `select` or `ignore` has a name that is neither a rule nor a profile.
    """
    active = active_rules(select, ignore)
    explicitly_selected = active if ALL in (select or ()) else active & selected_rules(select)
    options = Options(
        base_dir,
        active,
        frozenset(explicitly_selected),
        encoded,
        verified=verified,
        infers=infers,
        inference=InferenceClient(answers),
    )
    if isinstance(root, Fragment):
        return find_in_fragment(root, options)
    with paused_collector():
        subject = CheckedModel(root, options)
        return subject, run_enabled_rules(subject)


def diagnose(
    subject: CheckedModel,
    findings: list[Finding],
    *,
    source: Source | None,
    file: str | None = None,
) -> list[Diagnostic]:
    """Turn findings into diagnostics; skip findings that comments in the text suppress.

    For a text (`source`), also plan fixes, add the diagnostics of lost backslashes and of unused
    suppressions if these rules are enabled, and sort all diagnostics by their position in the text.
    For a binary model, `source` is None, and `file` is its name in messages.
    """
    if source is None:
        return _with_paths(subject, findings, file) if findings else []
    suppressions = Suppressions(source)
    lost: list[Diagnostic] = []
    if BACKSLASH_LOST.code in subject.options.active:
        lost = [
            item
            for offset, item in lost_backslashes(source)
            if not suppressions.suppresses(
                item.code, (offset, *(label.span.start for label in item.labels))
            )
        ]
    if not findings and not suppressions:
        return lost
    from onnxtext.checker.engine.fix_edits import fix_of

    if suppressions and subject.cascades:  # a suppressed finding must not hide its cascades
        remaining = suppressions.unsuppressed([*findings, *subject.cascades], subject)
        findings = without_cascades(remaining, subject.scopes)
    places = TextPlaces(source, subject)
    diagnostics: list[Diagnostic] = []
    planned = 0
    for finding in findings:
        diagnostic = _in_text(finding, source, places)
        if finding.repair is not None and planned < _MAX_FIXES:
            planned += 1
            fix = fix_of(source, subject, finding, diagnostic.labels)
            diagnostic = replace(diagnostic, fix=fix)
        start = diagnostic.labels[0].span.start
        if not suppressions or not suppressions.suppresses_finding(finding, start, places):
            diagnostics.append(diagnostic)
    diagnostics += lost
    diagnostics += suppressions.unused(subject.options.active)
    return in_text_order(diagnostics)


def in_text_order(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Sort diagnostics by their position in the text; those without a position come first."""
    return sorted(diagnostics, key=lambda item: item.span.start if item.span else -1)


def _in_text(finding: Finding, source: Source, places: TextPlaces) -> Diagnostic:
    labels: dict[Span, Label] = {}
    for place in finding.places[:MAX_LABELS]:
        span = places.span(place)
        labels.setdefault(span, Label(span, place.label))
    notes = (*finding.notes, *_hidden_places_note(finding.places))
    return _diagnostic(finding, notes, source=source, labels=tuple(labels.values()))


def _with_paths(
    subject: CheckedModel, findings: list[Finding], file: str | None
) -> list[Diagnostic]:
    paths = ModelPaths(subject)
    diagnostics = []
    for finding in findings:
        shown = [(paths.path(place), place.label) for place in finding.places[:MAX_LABELS]]
        notes = [f"{path}: {label}" if label else f"also {path}" for path, label in shown]
        first, label = shown[0]
        notes = [*notes[0 if label else 1 :], *_hidden_places_note(finding.places), *finding.notes]
        diagnostics.append(_diagnostic(finding, notes, path=first or "model", file=file))
    return diagnostics


def _diagnostic(finding: Finding, notes: Iterable[str], **place: Any) -> Diagnostic:
    return Diagnostic(
        finding.code,
        finding.message,
        severity_of(finding),
        notes=(*notes, rules()[finding.code].note),
        help=finding.help,
        subject=finding.subject,
        **place,
    )


def severity_of(finding: Finding) -> Severity:
    """Return the severity of a finding: its own, or else the severity of its rule."""
    return finding.severity or SEVERITIES[rules()[finding.code].level]


def _hidden_places_note(places: tuple[Place, ...]) -> list[str]:
    """Return a note that counts the places that are not shown; [] if all are shown."""
    hidden = len(places) - MAX_LABELS
    return [f"and {count_noun(hidden, 'more place')}"] if hidden > 0 else []
