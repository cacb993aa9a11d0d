# SPDX-License-Identifier: Apache-2.0
"""Drop errors about dangling entries of sections if an error in the graph is their cause.

An entry of a section dangles if it names no item of the model. For example, if the name of an
output is misspelled in the graph, entries of the section `metadata` with the right name dangle.
Only the error in the graph is reported, because it is the cause.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from onnxtext.diagnostics import Diagnostic
from onnxtext.suggestions import is_clear_correction, nearest_name
from onnxtext.syntax.actions.section_binding import DANGLING, NO_LABEL
from onnxtext.syntax.actions.semantic_error import MAX_SEMANTIC_ERRORS

_QUOTED = re.compile(r"`([^`\n]+)`")
_LAST_QUOTED = re.compile(r"`([^`\n]+)`\Z")
_NO_VALUE = ("no value is named", "no entry of `value_info` is named")
_LOST_NODE = (
    "value-undefined", "graph-output-undefined", "function-output-undefined", "node-no-output",
)  # fmt: skip
"""The rules whose findings suggest that a node, or its first line, is missing."""
_KINDS = {
    "no attribute": ("attribute-",),
    "no function": ("function-", "op-"),
    NO_LABEL: (),
}
"""Maps the start of the message about a dangling entry to prefixes of rule codes.

Findings of these rules can be the cause of the error, if they mention the name in the entry.
"""
_SUGGESTED = re.compile(r"did you mean `([^`\n]+)`")
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
    without these entries.
    """
    dangling, findings = list(dangling), list(findings)
    errors = [item for item in findings if item.severity == "error"]
    named = [(item.code, set(_QUOTED.findall(f"{item.message} {item.help}"))) for item in errors]
    remaining = [item for item in dangling if not _is_named(item, named)]
    if any("value_info" in f"{item.message} {item.help}" for item in errors):
        # The entries may name values that a wrong `@value_info` does not list.
        remaining = [item for item in remaining if not item.message.startswith(_NO_VALUE)]
    # An undefined value may be the output of a deleted node. Entries that refer to this node by its
    # label then dangle, too. For each undefined value, drop the entries that refer to one label,
    # but keep entries with a label that is probably misspelled.
    undefined = {item.message for item in errors if _suggests_lost_node(item)}
    ends = tuple([name for text in undefined for name in _QUOTED.findall(text)[:1]])
    lost = {item.message: item for item in remaining if _is_lost_label(item, ends)}
    explained = set(list(lost)[: len(undefined)])
    remaining = [item for item in remaining if item.message not in explained]
    remaining = remaining[:MAX_SEMANTIC_ERRORS]
    names = {_dangling_name(item) for item in dangling}
    findings = [_with_doubt(item, names, is_lost=bool(lost)) for item in findings]
    return [*remaining, *findings]


def _is_named(entry: Diagnostic, named: Sequence[tuple[str, set[str]]]) -> bool:
    """Whether an error in the graph mentions the item that a dangling entry names.

    For example, an entry names the value `t`, and the error is that `t` is not defined. `named` has
    the code of each error in the graph, and the names in its message and help.
    """
    kinds = (kinds for start, kinds in _KINDS.items() if entry.message.startswith(start))
    rules = next(kinds, _LOST_NODE)
    name = _dangling_name(entry)
    return any(code.startswith(rules) and name in names for code, names in named)


def _suggests_lost_node(error: Diagnostic) -> bool:
    """Whether an error suggests that a node is lost, rather than that a name is misspelled."""
    if error.code not in _LOST_NODE:
        return False
    name = _QUOTED.search(error.message)
    similar = _SUGGESTED.search(error.help or "")
    if name is None or similar is None or len(name[1]) <= _SHORT:
        return True
    return not is_clear_correction(name[1], similar[1], [similar[1]])


def _is_lost_label(error: Diagnostic, ends: tuple[str, ...]) -> bool:
    """Whether an entry probably dangles because the node with its label is missing.

    `error` is the error about the entry. Return False if the label is probably misspelled, or if
    the entry does not name a label. `ends` are the names of undefined values. A label that ends
    with such a name is not misspelled: exporters label the node that computes `add` as `node_add`.
    """
    if not error.message.startswith(NO_LABEL):
        return False
    similar = "" if error.fix is None else error.fix.edits[0].text.strip('"')
    name = _dangling_name(error)
    return name.endswith(ends) or nearest_name(name, [similar]) is None


def _with_doubt(finding: Diagnostic, names: set[str], *, is_lost: bool) -> Diagnostic:
    """Mark the safe fix of a finding as unsafe if dangling entries suggest another cause.

    `is_lost` tells whether an entry names the label of a node that may be missing; then every fix
    becomes unsafe. `names` are the names in dangling entries. If the finding mentions one of these
    names, the name is probably right, and the statement that defines it is missing or wrong.
    """
    if finding.fix is None or finding.fix.applicability != "safe":
        return finding
    if not is_lost and names.isdisjoint(_QUOTED.findall(finding.message)):
        return finding
    return replace(finding, fix=replace(finding.fix, applicability="unsafe"))


def _dangling_name(error: Diagnostic) -> str:
    match = _LAST_QUOTED.search(error.message)
    return "" if match is None else match[1]
