# SPDX-License-Identifier: Apache-2.0
"""Check fragments: graphs and nodes, which do not import a version of the standard operators.

The newest version is tried first, then the older versions in which a used operator has another
schema. The first version without errors about operators is chosen; if there is none, the version
with the fewest errors about operators. A note in findings about operators names the chosen version.

Undefined names in a graph are only warnings, because an outer graph may define them. Undefined
names in a list of nodes are inputs of unknown type.
"""

from __future__ import annotations

from dataclasses import replace

from onnxtext.ast.model import Fragment, Function
from onnxtext.ast.qualified_names import plain_domain
from onnxtext.checker.context.checked_model import CheckedModel, Options
from onnxtext.checker.context.finding import Finding
from onnxtext.checker.context.signatures import Schemas, newest_versions
from onnxtext.checker.engine.select_rules import run_enabled_rules
from onnxtext.checker.inference.onnx_errors import errors_of
from onnxtext.io.memory import paused_collector

_MAX_NODES = 5_000
"""A fragment with more nodes is checked only with the newest version of the operators."""
_ABOUT_OPERATORS = frozenset(
    {"op-unknown", "op-deprecated", "input-count", "output-count", "optional-input-missing",
     "output-empty-required", "attribute-unknown", "attribute-required", "attribute-type",
     "attribute-value-unknown", "type-mismatch", "shape-mismatch", "subgraph-arity"}
)  # fmt: skip
"""Rules whose findings depend on the version of the standard operators."""


def find_in_fragment(fragment: Fragment, options: Options) -> tuple[CheckedModel, list[Finding]]:
    """Check a fragment with the version of the standard operators that gives the fewest errors.

    Only errors about operators count. Of several such versions, use the newest. Check a function
    with the versions that it imports, and a fragment of more than `_MAX_NODES` nodes with the
    newest. Return the `CheckedModel`, whose `options.assumed` has the version (not for a function),
    and the findings.
    """
    with paused_collector():
        if isinstance(fragment.item, Function):
            subject = CheckedModel(fragment, options)
            return subject, run_enabled_rules(subject)
        best: tuple[int, int, CheckedModel, list[Finding]] | None = None
        newest = newest_versions()[""]
        schemas = Schemas(options.tables)
        versions = {domain: schemas.newest(domain) or 1 for domain in schemas.domains()}
        tried = _versions(CheckedModel(fragment, options), newest)
        for version in tried:
            opsets = {**versions, "": version}
            subject = CheckedModel(fragment, replace(options, assumed=opsets))
            findings = run_enabled_rules(subject)
            count = len([item for item in errors_of(subject) if item.code in _ABOUT_OPERATORS])
            if best is None or count < best[0]:
                best = count, version, subject, findings
            if not count:
                break
        assert best is not None
        _, version, subject, findings = best
        note = f"checked with version {version} of the standard operators"
        if len(tried) > 1:
            note += ", which gives the fewest errors"
        for index, item in enumerate(findings):
            if item.code in _ABOUT_OPERATORS:
                findings[index] = item._replace(notes=(*item.notes, note))
        return subject, findings


def _versions(subject: CheckedModel, newest: int) -> list[int]:
    """Return the newest version, then the older versions with another schema of a used operator.

    If the fragment has more than `_MAX_NODES` nodes, return only the newest version.
    """
    names = {node.op_type for _, node in subject.nodes() if not plain_domain(node.domain)}
    if subject.node_count > _MAX_NODES:
        return [newest]
    schemas = subject.schemas
    changes = {since for name in names for since in schemas.history("", name)}
    return [newest, *sorted({since - 1 for since in changes if 1 < since <= newest}, reverse=True)]
