# SPDX-License-Identifier: Apache-2.0
"""Define what rules yield: findings, their places and their repairs."""

from __future__ import annotations

from typing import Any, NamedTuple

from onnxtext.diagnostics import Severity


class Place(NamedTuple):
    """A statement of the syntax tree, or a part of a statement.

    Attributes:
        item: the statement: a node, value, graph, function, model and so on.
        part: the path to the part, such as `("inputs", 0)` or `("name",)`; `()` for the whole
            statement.
        label: the text that a diagnostic shows at this place.
    """

    item: Any
    part: tuple[str | int, ...] = ()
    label: str = ""


class Repair(NamedTuple):
    """How to fix a finding in the text.

    Attributes:
        kind: the edit. `sort`: sort the nodes of a graph. `remove`: remove a value. `import`: add
            an operator set to the imports of a model or function. `rename`: correct an undefined
            name in the inputs of nodes. `respell`: correct a misspelled word; this is a guess that
            editors offer, but `--fix` does not apply.
        item: the graph, value, model or function to edit; for `rename` the undefined name; for
            `respell` the statement that contains the word.
        argument: for `import` (domain, version); for `rename` (right name, uses), where each use is
            a pair (node, index of its input); for `respell` (wrong word, right word).
    """

    kind: str
    item: Any
    argument: tuple[Any, ...] = ()


class Finding(NamedTuple):
    """A violation of a rule.

    Attributes:
        slug: the rule's slug, such as `value-undefined`.
        message: the text for users. It must be understandable without the notes and the help, start
            in lower case, and have no final period.
        places: the places in the model; the first is the primary place.
        help: how to fix it.
        notes: further facts.
        severity: overrides the severity of the rule unless it is None.
        repair: the edit that `--fix` or an editor applies; None if there is none.
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
    """Return a copy of a finding with a note that names the origin of the operator's schema.

    Args:
        finding: a finding that follows from the schema.
        origin: the file or package that contains the schema; `""` for a schema of onnx, which needs
            no note: the finding is then returned unchanged.
        tentative: whether another version of the origin may define the operator differently, so
            that a finding without a severity of its own becomes a warning.
        is_certain: whether the finding holds for all versions of the origin; overrides `tentative`.
    """
    if not origin:
        return finding
    severity = finding.severity
    if tentative and not is_certain and severity is None:
        severity = "warning"
    notes = (*finding.notes, f"according to {origin}")
    return finding._replace(notes=notes, severity=severity)


def quoted(name: str) -> str:
    """Return a name in backticks, truncated to `_LONGEST` characters."""
    return f"`{name}`" if len(name) <= _LONGEST else f"`{name[:_LONGEST]}…`"


_LONGEST = 80


def chain_of(names: list[str]) -> str:
    """Join names by ` -> `; of more than eight, replace those in the middle by their number."""
    if len(names) > 8:
        shown = [*map(quoted, names[:4]), f"… ({len(names) - 7} more)", *map(quoted, names[-3:])]
    else:
        shown = list(map(quoted, names))
    return " -> ".join(shown)


def counted(count: int, noun: str) -> str:
    """Return a number and a noun in the singular or plural: `1 input`, `2 inputs`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
