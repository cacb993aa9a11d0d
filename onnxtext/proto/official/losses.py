# SPDX-License-Identifier: Apache-2.0
"""Collect the losses when a model is reduced to the official syntax."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from onnxtext.plurals import count_noun


@dataclass(frozen=True, slots=True)
class Loss:
    """A difference between a model and its official text.

    Attributes:
        path: the path in the model, such as `graph.node[3].metadata_props`; "" for the whole model.
        message: the loss and its reason, without the path, so that losses of one kind have the
            same message.
        harmless: whether the text still has the meaning of the model. Only the last loss of a list
            may be harmless: the summary of fields that are stored differently.
    """

    path: str
    message: str
    harmless: bool = False


class ItemPath(NamedTuple):
    """The path of a field in a model, such as `graph.node[3].name`; `str` formats it.

    Attributes:
        parent: the path of the message that has the field; None for the model itself.
        field: the name of the field.
        key: in a list, the 0-based index or the name of the item; None for other fields.
    """

    parent: ItemPath | None
    field: str
    key: int | str | None

    def at(self, field: str, key: int | str | None = None) -> ItemPath:
        """Return the path of a field of the message at this path."""
        return ItemPath(self, field, key)

    def __str__(self) -> str:
        text = self.field
        if isinstance(self.key, int):
            text += f"[{self.key}]"
        elif self.key is not None:
            text += f'["{self.key}"]'
        before = "" if self.parent is None else str(self.parent)
        return f"{before}.{text}" if before else text


MODEL = ItemPath(None, "", None)


class Losses:
    """The losses of one model.

    Attributes:
        found: the losses that are not harmless, in the order in which they were found.
        presence: maps a field, such as `NodeProto.domain`, to the number of its empty values that
            become stored or absent.
        raw: the number of tensors whose `raw_data` moves to a typed field, such as `float_data`.
        events: the number of calls of `lost`, `presence_changed` and `typed`.
    """

    def __init__(self) -> None:
        self.found: list[Loss] = []
        self.presence: Counter[str] = Counter()
        self.raw = 0
        self.events = 0

    def lost(self, path: ItemPath, message: str) -> None:
        """Record a loss."""
        self.events += 1
        self.found.append(Loss(str(path), message))

    def presence_changed(self, message: str, field: str) -> None:
        """Count an empty field whose presence changes: it becomes stored, or absent."""
        self.events += 1
        self.presence[f"{message}.{field}"] += 1

    def typed(self) -> None:
        """Count a tensor whose raw data moves to a typed field."""
        self.events += 1
        self.raw += 1

    def all(self) -> list[Loss]:
        """Return the losses, with one summary of the harmless losses at the end."""
        parts = []
        if self.raw:
            parts.append(
                f"`raw_data` is rewritten as typed data in {count_noun(self.raw, 'tensor')}"
            )
        if self.presence:
            counts = [f"{count} `{name}`" for name, count in sorted(self.presence.items())]
            parts.append(f"empty fields are added or dropped ({', '.join(counts)})")
        if not parts:
            return self.found
        message = f"the official text stores the same model differently: {'; '.join(parts)}"
        return [*self.found, Loss("", message, harmless=True)]


def group_losses(losses: Iterable[Loss]) -> dict[str, list[str]]:
    """Map the text of each loss to the paths of the losses with it; ignore harmless losses."""
    groups: dict[str, list[str]] = {}
    for loss in losses:
        if not loss.harmless:
            groups.setdefault(loss.message, []).append(loss.path)
    return groups
