# SPDX-License-Identifier: Apache-2.0
"""What takes longer than a keystroke may: the rules of the checker, and inference.

It is computed by another process (`worker`) on a snapshot of the text; only plain data comes back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from onnxtext.ast.model import Fragment, Model
from onnxtext.checker.context.subject import Subject
from onnxtext.checker.isolation.inference import Answers
from onnxtext.collector import paused_collector
from onnxtext.diagnostics import Diagnostic, Label
from onnxtext.source import Source, Span

DEPEND_ON_ALL = frozenset(
    (
        "value-undefined", "graph-output-undefined", "function-output-undefined", "node-order",
        "op-unknown", "op-unknown-domain", "function-unused", "value-unused", "value-info-unknown",
        "initializer-not-input", "metadata-dangling", "opset-import-unused", "graph-missing",
        "opset-import-missing", "opset-domain-not-imported", "ir-version-missing",
        "producer-missing", "subgraph-arity", "quantization-annotation", "attribute-required",
        "input-count", "output-count", "attribute-ref-unknown", "optional-input-missing",
    )
)  # fmt: skip
"""Rules that tell of what is missing. In a text with mistakes it may stand where these are."""

MOST_FINDINGS = 1000
"""So many findings of one document are sent to the editor, errors first."""


Tell = Callable[[list[Diagnostic]], None]
"""Is told what the checker found."""


@dataclass(slots=True)
class Analysis:
    """What was found out about one version of a text.

    Attributes:
        diagnostics: what the checker found, without sources.
        types: the types of values, as the language writes them: for each graph or body, by the
            offset it begins at, by name.
    """

    diagnostics: list[Diagnostic] = field(default_factory=list)
    types: dict[int, dict[str, str]] = field(default_factory=dict)


def analyse(
    text: str,
    name: str,
    base_dir: Path | None,
    answers: Answers | None = None,
    tell: Tell | None = None,
) -> Analysis:
    """Check a text and infer the types of its values.

    Args:
        text: the text; it may have mistakes.
        name: what to call it.
        base_dir: the directory it is in; None if it is in none.
        answers: what the inference of onnx said about other versions; it is added to.
        tell: is told the diagnostics before the types are inferred, which may take longer.
    """
    from onnxtext.checker.inference.value_types import value_types
    from onnxtext.lsp.index.document import read_partial

    source = Source(text, name)
    with paused_collector():
        root, syntax = read_partial(source)
        if root is None:
            return Analysis()
        try:
            subject, found = _check(root, source, base_dir, broken=bool(syntax), answers=answers)
            if tell is not None:
                tell(found)
            return Analysis(found, value_types(subject))
        except RecursionError:
            message = "graphs or types are nested too deeply to be checked"
            return Analysis([Diagnostic("too-deep", message, labels=(Label(Span(0, 0)),))])


def _check(
    root: Model | Fragment,
    source: Source,
    base_dir: Path | None,
    *,
    broken: bool,
    answers: Answers | None,
) -> tuple[Subject, list[Diagnostic]]:
    from onnxtext.checker.engine.config import Settings, SettingsError, find_settings
    from onnxtext.checker.engine.run import diagnose, find_in
    from onnxtext.checker.engine.sources import encoded_for_checks

    found: list[Diagnostic] = []
    settings = Settings()
    if base_dir is not None:
        try:
            settings = find_settings(base_dir)
        except (SettingsError, OSError) as error:
            found.append(
                Diagnostic("invalid-settings", str(error), "warning", labels=(Label(Span(0, 0)),))
            )
    encoded: Callable[[], bytes | None] | None = None
    if isinstance(root, Model) and not broken and not root.resources_left_out:
        encoded, refused = encoded_for_checks(root, source, base_dir)
        found += refused
    subject, findings = find_in(
        root,
        base_dir=base_dir,
        select=settings.select,
        ignore=settings.ignore,
        encoded=encoded,
        answers=answers,
    )
    found += diagnose(subject, findings, source=source)
    if broken:
        found = [item for item in found if item.code not in DEPEND_ON_ALL and _is_sure(item)]
    return subject, _light(found)


def _is_sure(diagnostic: Diagnostic) -> bool:
    """Whether a finding in a text with mistakes does not come of them."""
    return diagnostic.code != "unused-suppression"


def _light(found: list[Diagnostic]) -> list[Diagnostic]:
    """Findings that can be sent to another process: without the text."""
    rank = {"error": 0, "warning": 1}
    chosen = sorted(found, key=lambda item: rank.get(item.severity, 2))[:MOST_FINDINGS]
    return [replace(item, source=None) for item in chosen]
