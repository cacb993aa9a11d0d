# SPDX-License-Identifier: Apache-2.0
"""Implement `check --fix`: correct a text repeatedly, without causing new errors."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from onnxtext.ast.model import Fragment, Graph, Model
from onnxtext.checker.context.checked_model import CheckedModel
from onnxtext.checker.context.finding import Finding
from onnxtext.checker.engine.check_source import encode_for_checks, parse_any
from onnxtext.checker.engine.check_tree import run_rules, severity_of
from onnxtext.checker.engine.fix_edits import RepairResult, apply_repairs
from onnxtext.checker.engine.suppressions import Suppressions
from onnxtext.diagnostics import Diagnostic, OnnxTextError
from onnxtext.diagnostics.model import apply_edits, safe_fixes
from onnxtext.io.text_or_binary import decode_text
from onnxtext.recursion_limit import room_for_nesting
from onnxtext.source import Source

_MAX_ROUNDS = 100
"""The maximum number of rounds of syntax fixes, and then of rounds of repairs."""

_MAX_SYNTAX_ERRORS = 1_000
"""The maximum number of syntax errors to find in one round."""

_UNCERTAIN = ("import", "rename")
"""The kinds of repairs that may be wrong, and so may cause new errors."""
_MAX_UNCERTAIN = 20
"""Maximum number of uncertain repairs to try one by one if all together cause new errors."""


@dataclass(frozen=True, slots=True)
class _Checked:
    """A text, its findings, and the number of errors of each rule."""

    source: Source
    subject: CheckedModel
    findings: list[Finding]
    errors: Counter[str]


def fix_text(data: bytes, *, name: str, **options: Any) -> RepairResult:
    """Apply the safe fixes of syntax errors; if no error remains, apply the repairs of findings.

    Repeat each step, at most `_MAX_ROUNDS` times. Drop repairs that cause new errors. Repairs do
    not change what a valid model computes. Return the new text, or "" if `data` cannot be decoded,
    and the titles of the fixes and repairs.

    `options` are `base_dir`, `select` and `ignore`, as for `engine.check_tree.check_tree`.

    Raises:
        UnknownRule: `select` or `ignore` has a name that is neither a rule nor a profile.
    """
    # `value-unused` is disabled by default, but `--fix` repairs its findings, too.
    options["select"] = (*(options.get("select") or ()), "value-unused")
    done: list[str] = []
    text = ""
    with contextlib.suppress(OnnxTextError), room_for_nesting():
        text = decode_text(data, name)
        try:
            checked = _check(text, name, options)
        except OnnxTextError:
            text, done = _fix_syntax(text, name)
            checked = _check(text, name, options)
        # A repair may reveal another: a node with a corrected name may be out of order.
        for _ in range(_MAX_ROUNDS):
            step = _repair(checked, options)
            if step is None:
                break
            repaired, checked = step
            text = repaired.text
            done += repaired.done
    return RepairResult(text, tuple(done))


def _fix_syntax(text: str, name: str) -> tuple[str, list[str]]:
    """Apply the safe fixes of syntax errors; repeat while the number of errors falls.

    Return the new text and the titles of the fixes.
    """
    done: list[str] = []
    errors = _syntax_errors(text, name)
    for _ in range(_MAX_ROUNDS):
        fixes = safe_fixes(errors)
        if not fixes:
            break
        fixed = apply_edits(text, [edit for fix in fixes for edit in fix.edits])
        after = _syntax_errors(fixed, name)
        comparable = after
        if len(errors) >= _MAX_SYNTAX_ERRORS and errors[-1].span is not None:
            # The parser stopped at the last error: errors further below are not new.
            rest = len(text) - errors[-1].span.end
            comparable = [e for e in after if e.span and len(fixed) - e.span.end >= rest]
        if len(comparable) >= len(errors):
            break
        codes = {item.fix: item.code for item in errors}
        done += [f"{fix.title} [{codes[fix]}]" for fix in fixes]
        text, errors = fixed, after
    return text, done


def _syntax_errors(text: str, name: str) -> Sequence[Diagnostic]:
    try:
        parse_any(Source(text, name), _MAX_SYNTAX_ERRORS)
    except OnnxTextError as error:
        return error.diagnostics
    return ()


def _check(text: str, name: str, options: dict[str, Any]) -> _Checked:
    source = Source(text, name)
    root = parse_any(source)
    fragment = root if isinstance(root, Fragment) else None
    encoded = None
    if isinstance(root, Model):  # onnx's inference detects wrong repairs
        encoded, _ = encode_for_checks(root, source, options.get("base_dir"))
    if isinstance(root, Fragment) and isinstance(root.item, Graph):
        root = Model(root.item, presence=root.presence)
    subject, findings = run_rules(root, encoded=encoded, **options)
    judged = findings
    if fragment is not None:
        # The repair `import` would add a header, which turns a graph into a model.
        findings = [item for item in findings if not _is_kind(item, ("import",))]
        # As a model, the fragment imports no operators, so they are unknown. Only the second check,
        # as a fragment, finds errors about operators.
        judged = [*findings, *run_rules(fragment, **options)[1]]
    errors = Counter([item.code for item in judged if severity_of(item) == "error"])
    return _Checked(source, subject, findings, errors)


def _is_kind(finding: Finding, kinds: tuple[str, ...]) -> bool:
    return finding.repair is not None and finding.repair.kind in kinds


def _repair(checked: _Checked, options: dict[str, Any]) -> tuple[RepairResult, _Checked] | None:
    """Apply the repairs that cause no new errors, and check the new text with the same options.

    Return the result of the repairs, and the new text with its findings. Return None if no repair
    can be applied.
    """
    remaining = Suppressions(checked.source).unsuppressed(checked.findings, checked.subject)
    repairable = [item for item in remaining if item.repair is not None]
    if any(severity_of(item) == "error" and not _is_kind(item, ("remove",)) for item in remaining):
        # A value may only seem unused because of an error, such as a wrong name.
        repairable = [item for item in repairable if not _is_kind(item, ("remove",))]
    for chosen in _choices(repairable):
        repaired = apply_repairs(checked.source, checked.subject, chosen)
        if repaired.done:
            after = _check(repaired.text, checked.source.name, options)
            if not after.errors - checked.errors:
                return repaired, after
    return None


def _choices(repairable: list[Finding]) -> Iterator[list[Finding]]:
    """Yield the lists of findings to try to repair together.

    The first list is `repairable`. If some findings have uncertain repairs (`_UNCERTAIN`), the
    second list lacks these findings. Up to `_MAX_UNCERTAIN` further lists have one of them each.
    """
    yield repairable
    uncertain = [item for item in repairable if _is_kind(item, _UNCERTAIN)]
    if uncertain:
        yield [item for item in repairable if not _is_kind(item, _UNCERTAIN)]
        yield from [[item] for item in uncertain[:_MAX_UNCERTAIN]]
