# SPDX-License-Identifier: Apache-2.0
"""What a rule says: which one is broken, by which part of the tree, and what to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from onnxtext.diagnostics import Severity


class Place(NamedTuple):
    """A part of the syntax tree.

    Attributes:
        item: the statement: a node, a value, a graph, a function, a model and so on.
        part: the path to a part of it: `("inputs", 0)`, `("attributes", 2)`, `("name",)`.
        label: what is to be said about it.
    """

    item: Any
    part: tuple[str | int, ...] = ()
    label: str = ""


@dataclass(frozen=True, slots=True)
class Repair:
    """How a finding is mended in the text.

    Attributes:
        kind: `sort`, `remove`, `import` or `rename`; `respell` is a guess that `--fix` does not
            make, but an editor can offer.
        item: the graph whose nodes are sorted, the value removed, the model or function that gets
            an import, the node an input of which is renamed.
        argument: the domain and version to import; which input, and its right name; what stands at
            the finding's place, and what should.
    """

    kind: str
    item: Any
    argument: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """A broken rule.

    Attributes:
        slug: the rule's code.
        message: stands alone; lower case, without a final period.
        places: the first is the primary one.
        help: how to fix it.
        notes: further facts.
        severity: where it differs from the rule's own.
        repair: how `--fix` mends it.
    """

    slug: str
    message: str
    places: tuple[Place, ...]
    help: str
    notes: tuple[str, ...] = ()
    severity: Severity | None = None
    repair: Repair | None = None


def quoted(name: str) -> str:
    """A name in backticks, cut where it is too long to read."""
    return f"`{name}`" if len(name) <= _LONGEST else f"`{name[:_LONGEST]}…`"


_LONGEST = 80


def chain_of(names: list[str]) -> str:
    """Names with arrows between them; only the ends of a long chain."""
    if len(names) > 8:
        shown = [*map(quoted, names[:4]), f"… ({len(names) - 7} more)", *map(quoted, names[-3:])]
    else:
        shown = list(map(quoted, names))
    return " -> ".join(shown)


def counted(count: int, noun: str) -> str:
    """A number and its noun: `1 input`, `2 inputs`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
