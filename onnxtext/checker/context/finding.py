# SPDX-License-Identifier: Apache-2.0
"""Define the results of rules: findings, their places and their repairs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from onnxtext.diagnostics import Severity


class Place(NamedTuple):
    """A part of the syntax tree.

    Attributes:
        item: the statement: a node, value, graph, function, model and so on.
        part: the path to a part of it: `("inputs", 0)`, `("attributes", 2)`, `("name",)`.
        label: the text that is shown at this place.
    """

    item: Any
    part: tuple[str | int, ...] = ()
    label: str = ""


@dataclass(frozen=True, slots=True)
class Repair:
    """How to fix a finding in the text.

    Attributes:
        kind: the change of `item`.
            `sort` sorts the nodes of a graph, `remove` removes a value, `import` adds an import to
            a model or function, `rename` replaces a name, `respell` replaces a text. `respell` is
            a guess: editors offer it, `--fix` does not apply it.
        item: the graph, value, model, function or name.
        argument: for `import` the domain and version; for `rename` the right name and the inputs
            to rename; for `respell` the wrong and the right text.
    """

    kind: str
    item: Any
    argument: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """A broken rule.

    Attributes:
        slug: the rule's code.
        message: understandable on its own; lower case, without a final period.
        places: the places in the model; the first is the primary place.
        help: how to fix it.
        notes: further facts.
        severity: overrides the severity of the rule.
        repair: the edit that `--fix` or an editor applies, if there is one.
    """

    slug: str
    message: str
    places: tuple[Place, ...]
    help: str
    notes: tuple[str, ...] = ()
    severity: Severity | None = None
    repair: Repair | None = None


def according_to(
    finding: Finding, origin: str, *, tentative: bool, is_certain: bool = False
) -> Finding:
    """Return a finding that follows from the schema of an operator, with its origin.

    Args:
        finding: the finding.
        origin: the file or package with the schema; `""` for the standard.
        tentative: whether other versions of the origin may differ; the finding is then a warning.
        is_certain: whether the finding is an error in all versions of the origin.
    """
    if not origin:
        return finding
    severity = finding.severity
    if tentative and not is_certain and severity is None:
        severity = "warning"
    notes = (*finding.notes, f"according to {origin}")
    return replace(finding, notes=notes, severity=severity)


def quoted(name: str) -> str:
    """Return a name in backticks, truncated if it is too long to read."""
    return f"`{name}`" if len(name) <= _LONGEST else f"`{name[:_LONGEST]}…`"


_LONGEST = 80


def chain_of(names: list[str]) -> str:
    """Join names by arrows; shorten a long chain in the middle."""
    if len(names) > 8:
        shown = [*map(quoted, names[:4]), f"… ({len(names) - 7} more)", *map(quoted, names[-3:])]
    else:
        shown = list(map(quoted, names))
    return " -> ".join(shown)


def counted(count: int, noun: str) -> str:
    """Return a number and its noun: `1 input`, `2 inputs`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
