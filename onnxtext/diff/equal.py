# SPDX-License-Identifier: Apache-2.0
"""What is said of two models that have no differences: whether their files are the same too."""

from __future__ import annotations

from dataclasses import replace

from onnxtext.ast.model import Model
from onnxtext.diff.collector import Collector
from onnxtext.diff.model import FieldChange
from onnxtext.diff.side import Side
from onnxtext.proto.lower import LowerError, lower_model
from onnxtext.weights.reader import Reader


def say_how_stored(old: Side, new: Side, out: Collector) -> None:
    """Collect how the files of the same model are encoded, if they are not encoded alike.

    That nothing was overlooked is proven: both models are encoded again and compared, unless their
    weights are missing.
    """
    one, other = _encoding(old.model), _encoding(new.model)
    if one != other:
        out.stored("model", one, other, "model")
    elif old.model.encoding is not None and old.model.encoding != new.model.encoding:
        out.stored("model", "one byte order", "another", "model")
    if not out.is_empty or old.holder.left_out or new.holder.left_out:
        return
    if old.model.metadata_left_out or new.model.metadata_left_out:
        return
    plain = [b"".join(side.facts.model(_canonical(side.model))) for side in (old, new)]
    if plain[0] == plain[1]:
        return
    try:
        whole = [
            lower_model(_canonical(side.model), Reader(side.base, side.model.places))
            for side in (old, new)
        ]
    except LowerError:
        return  # what is not there was compared by its digests
    if whole[0] != whole[1]:
        change = FieldChange("", "model", None, "something that this diff has no name for")
        out.changed("model", "", old.place(""), new.place(""), [change])


def _canonical(model: Model) -> Model:
    return replace(model, encoding_habits=(), encoding=None)


def _encoding(model: Model) -> str:
    """How a file's bytes differ from the canonical ones, in words."""
    habits = [
        f"{habit.name}({', '.join(map(str, habit.arguments))})" for habit in model.encoding_habits
    ]
    if model.encoding is not None:
        habits.append("an order or form of fields of its own")
    return ", ".join(habits) or "canonical encoding"
