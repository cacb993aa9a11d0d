# SPDX-License-Identifier: Apache-2.0
"""Check a text and infer types, in the checking process; the results can be pickled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from onnxtext.ast.model import Fragment, Model
from onnxtext.checker.context.checked_model import CheckedModel
from onnxtext.checker.engine.dangling_entries import only_dangling
from onnxtext.checker.isolation.inference_client import Answers
from onnxtext.checker.symbolic.small_tensors import SmallTensor
from onnxtext.diagnostics import Diagnostic, Label, OnnxTextError
from onnxtext.io.memory import paused_collector
from onnxtext.source import Source, Span

MAX_FINDINGS = 1000
"""Maximum number of diagnostics of a document to send to the editor, errors first."""


Report = Callable[[list[Diagnostic]], None]
"""A function that receives the diagnostics of the checker."""


@dataclass(slots=True)
class Analysis:
    """The result of the checker for one version of a text.

    Attributes:
        diagnostics: the diagnostics of the checker; their `source` is None.
        types: for the offset of each graph or function in the text, the known types of its values
            by name, such as `float[N, 3]`.
        values: the small tensors with known elements, such as computed shapes, by the same offsets
            and names as `types`.
    """

    diagnostics: list[Diagnostic] = field(default_factory=list)
    types: dict[int, dict[str, str]] = field(default_factory=dict)
    values: dict[int, dict[str, SmallTensor]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WorkerError:
    """A check that has failed, such as after an internal error or a timeout; for the log.

    The class is not in `check_process`, because the server could not unpickle it: that module runs
    as `__main__`.
    """

    message: str


def analyze(
    text: str,
    name: str,
    base_dir: Path | None,
    answers: Answers | None = None,
    report: Report | None = None,
) -> Analysis:
    """Check a text and infer the types of its values.

    `name` is the name of the text in messages, `base_dir` its directory. `answers` is a cache of
    onnx's inference results, which is read and extended. `report` is called with the diagnostics
    before the slower inference of types. If nothing can be parsed, the result is empty.
    """
    from onnxtext.checker.engine.partial_parse import read_partial
    from onnxtext.checker.inference.inferred_types import inferred_type_texts, small_values

    source = Source(text, name)
    with paused_collector():
        root, syntax = read_partial(source)
        if root is None:
            return Analysis()
        try:
            broken = bool(syntax) and not only_dangling(syntax)
            subject, findings = _check(root, source, base_dir, broken=broken, answers=answers)
            if report is not None:
                report(findings)
            types = inferred_type_texts(subject)
            return Analysis(findings, types, small_values(subject))
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
) -> tuple[CheckedModel, list[Diagnostic]]:
    from onnxtext.checker.context.operator_tables import default_tables, use_tables
    from onnxtext.checker.context.registry import rules
    from onnxtext.checker.engine.check_source import encode_for_checks
    from onnxtext.checker.engine.check_tree import diagnose, run_rules
    from onnxtext.checker.engine.project_schemas import tables_of
    from onnxtext.checker.engine.project_settings import Settings, SettingsError, find_settings

    diagnostics: list[Diagnostic] = []
    settings, tables = Settings(), default_tables()
    if base_dir is not None:
        try:
            settings = find_settings(base_dir)
            tables = tables_of(settings)
        except (SettingsError, OSError, OnnxTextError) as error:
            diagnostics.append(
                Diagnostic(SettingsError.code, str(error), "warning", labels=(Label(Span(0, 0)),))
            )
    encoded: Callable[[], bytes | None] | None = None
    if isinstance(root, Model) and not broken and not root.resources_left_out:
        encoded, refused = encode_for_checks(root, source, base_dir)
        diagnostics += refused
    with use_tables(tables):
        subject, findings = run_rules(
            root,
            base_dir=base_dir,
            select=settings.select,
            ignore=settings.ignore,
            encoded=encoded,
            answers=answers,
        )
    diagnostics += diagnose(subject, findings, source=source)
    if broken:
        unsure = {code for code, rule in rules().items() if rule.needs_valid_syntax}
        diagnostics = [item for item in diagnostics if item.code not in unsure]
    rank = {"error": 0, "warning": 1}
    diagnostics.sort(key=lambda item: rank.get(item.severity, 2))
    return subject, [replace(item, source=None) for item in diagnostics[:MAX_FINDINGS]]
