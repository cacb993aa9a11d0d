# SPDX-License-Identifier: Apache-2.0
"""What the official syntax cannot carry of a model, item by item."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class Loss:
    """Something that the official text of a model does not say as the model does.

    Attributes:
        path: the place in the model, such as `graph.node[3].metadata_props`; "" for the whole.
        message: what is lost there and why; it says nothing of the place, so that losses of one
            kind have one message.
        harmless: whether the text means the same nevertheless: the last of a list of losses may
            be so, and sums up which fields are stored in another way.
    """

    path: str
    message: str
    harmless: bool = False


class Place(NamedTuple):
    """A place in a model: a field of what is at another place. Its text is made when needed.

    Attributes:
        parent: None for the model itself.
        field: name of the field.
        key: index or name of the item, for a list.
    """

    parent: Place | None
    field: str
    key: int | str | None

    def at(self, field: str, key: int | str | None = None) -> Place:
        """A place inside of this one."""
        return Place(self, field, key)

    def __str__(self) -> str:
        text = self.field
        if isinstance(self.key, int):
            text += f"[{self.key}]"
        elif self.key is not None:
            text += f'["{self.key}"]'
        before = "" if self.parent is None else str(self.parent)
        return f"{before}.{text}" if before else text


MODEL = Place(None, "", None)


class Losses:
    """The losses of one run.

    Attributes:
        found: in the order of the model.
        presence: how often a field is stored although it was not, or the other way round; all of
            them are empty.
        raw: how many tensors get their `raw_data` into a typed field.
        events: how often anything was noted.
    """

    def __init__(self) -> None:
        self.found: list[Loss] = []
        self.presence: Counter[str] = Counter()
        self.raw = 0
        self.events = 0

    def lost(self, place: Place, message: str) -> None:
        """Note a loss."""
        self.events += 1
        self.found.append(Loss(str(place), message))

    def silent(self, message: str, field: str) -> None:
        """Note that an empty field of a message changes its presence."""
        self.events += 1
        self.presence[f"{message}.{field}"] += 1

    def typed(self) -> None:
        """Note that a tensor's raw data becomes typed."""
        self.events += 1
        self.raw += 1

    def all(self) -> list[Loss]:
        """The losses, and what is harmless summed up in one at the end."""
        parts = []
        if self.raw:
            tensors = "1 tensor" if self.raw == 1 else f"{self.raw} tensors"
            parts.append(f"raw_data becomes typed data in {tensors}")
        if self.presence:
            counts = [f"{name} ({count})" for name, count in sorted(self.presence.items())]
            parts.append(f"empty fields become stored or absent: {', '.join(counts)}")
        if not parts:
            return self.found
        message = f"stored in another way, with the same meaning: {'; '.join(parts)}"
        return [*self.found, Loss("", message, harmless=True)]


def group_losses(losses: Iterable[Loss]) -> dict[str, list[str]]:
    """The places of each kind of loss, by its message; without what is harmless."""
    groups: dict[str, list[str]] = {}
    for loss in losses:
        if not loss.harmless:
            groups.setdefault(loss.message, []).append(loss.path)
    return groups
