# SPDX-License-Identifier: Apache-2.0
"""Drop errors about dangling entries of sections if an error in the graph is their cause.

An entry of a section dangles if it names no item of the model. For example, if the name of an
output is misspelled in the graph, entries of the section `metadata` with the right name dangle.
Only the error in the graph is reported, because it is the cause.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from onnxtext.ast.compact_form.list_order import DECORATOR
from onnxtext.diagnostics import Diagnostic, Subject
from onnxtext.suggestions import is_clear_correction, nearest_name
from onnxtext.syntax.actions.section_binding import DANGLING
from onnxtext.syntax.actions.semantic_error import MAX_SEMANTIC_ERRORS

_LOST_NODE = (
    "value-undefined", "graph-output-undefined", "function-output-undefined", "node-no-output",
)  # fmt: skip
"""The rules whose findings suggest that a node, or its first line, is missing."""
_CAUSES = {"graph": "attribute", "function": "operator", "label": ""}
"""Maps the kind of a dangling entry to the `Subject.kind` of findings that can cause it.

The default is `value`; no finding has the kind "". The finding must also name or suggest the name
in the entry.
"""
_SHORT = 3
"""Names of at most this length are too short to be recognized as misspelled."""


def only_dangling(errors: Sequence[Diagnostic]) -> bool:
    """Whether a text has errors, and all of them are dangling entries of sections.

    In this case, the graph is complete, and the rules can be checked.
    """
    return bool(errors) and all(error.code == DANGLING for error in errors)


def join_findings(
    dangling: Iterable[Diagnostic], findings: Iterable[Diagnostic]
) -> list[Diagnostic]:
    """Return the errors about dangling entries that no finding explains, then the findings.

    `dangling` are the errors about dangling entries. `findings` are the findings in the model
    without these entries. Return at most `MAX_SEMANTIC_ERRORS` errors about entries. Safe fixes of
    the findings become unsafe if the entries suggest another cause (`_with_doubt`).
    """
    dangling, findings = list(dangling), list(findings)
    errors = [item for item in findings if item.severity == "error"]
    subjects = {item.subject for item in errors if item.subject is not None}
    # Drop entries that name the item of an error in the graph, or a suggested name: the entry names
    # the value `t`, for example, and `t` is not defined.
    named = {(kind, name) for kind, *names in subjects for name in names}
    remaining = [
        item
        for item in dangling
        if item.subject is None
        or (_CAUSES.get(item.subject.kind, "value"), item.subject.name) not in named
    ]
    if any(map(_is_value_info, subjects)):
        # The entries may name values that a wrong `@value_info` does not list.
        kinds = ("value", "value_info")
        remaining = [i for i in remaining if i.subject is None or i.subject.kind not in kinds]
    # An undefined value may be the output of a deleted node. Entries that refer to this node by its
    # label then dangle, too. For each undefined value, drop the entries that refer to one label,
    # but keep entries with a label that is probably misspelled.
    undefined = {(item.code, item.subject) for item in errors if _suggests_lost_node(item)}
    ends = tuple([subject.name for _, subject in undefined if subject and subject.kind == "value"])
    lost = dict.fromkeys([item.subject for item in remaining if _is_lost_label(item, ends)])
    explained = set(list(lost)[: len(undefined)])
    remaining = [item for item in remaining if item.subject not in explained]
    remaining = remaining[:MAX_SEMANTIC_ERRORS]
    names = {item.subject.name for item in dangling if item.subject is not None}
    findings = [_with_doubt(item, names, is_lost=bool(lost)) for item in findings]
    return [*remaining, *findings]


def _is_value_info(subject: Subject) -> bool:
    """Whether an error is about the decorator `@value_info`, or one whose name is a misspelling."""
    name = subject.name.removeprefix("@")
    is_name = name == DECORATOR or nearest_name(name, [DECORATOR]) is not None
    return subject.kind == "decorator" and is_name


def _suggests_lost_node(error: Diagnostic) -> bool:
    """Whether an error suggests that a node is lost, rather than that a name is misspelled."""
    if error.code not in _LOST_NODE or error.subject is None:
        return False
    _, name, similar = error.subject
    if similar is None or len(name) <= _SHORT:
        return True
    return not is_clear_correction(name, similar, [similar])


def _is_lost_label(error: Diagnostic, ends: tuple[str, ...]) -> bool:
    """Whether an entry probably dangles because the node with its label is missing.

    Return False if the entry does not name a label, or if the label is probably misspelled. `error`
    is the error about the entry; `ends` are the names of undefined values. A label that ends with
    one of them is not misspelled: exporters label the node that computes `add` as `node_add`.
    """
    if error.subject is None or error.subject.kind != "label":
        return False
    similar = "" if error.fix is None else error.fix.edits[0].text.strip('"')
    name = error.subject.name
    return name.endswith(ends) or nearest_name(name, [similar]) is None


def _with_doubt(finding: Diagnostic, names: set[str], *, is_lost: bool) -> Diagnostic:
    """Mark the safe fix of a finding as unsafe if dangling entries suggest another cause.

    `is_lost` tells whether an entry names the label of a node that may be missing; then every safe
    fix becomes unsafe. `names` are the names in dangling entries. If the finding is about one of
    these names, the name is probably right, and the statement that defines it is missing or wrong.
    """
    if finding.fix is None or finding.fix.applicability != "safe":
        return finding
    if not is_lost and (finding.subject is None or finding.subject.name not in names):
        return finding
    return replace(finding, fix=replace(finding.fix, applicability="unsafe"))
