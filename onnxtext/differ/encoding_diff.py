# SPDX-License-Identifier: Apache-2.0
"""Compare how the files of equal models are encoded, and verify that the models are equal."""

from __future__ import annotations

from dataclasses import replace

from onnxtext.ast.model import Model
from onnxtext.differ.collected_changes import Collector
from onnxtext.differ.model_side import ModelSide
from onnxtext.differ.result import FieldChange
from onnxtext.proto.encode.lower import LowerError, lower_model
from onnxtext.weights.find_blobs import BlobReader


def collect_encoding_differences(old: ModelSide, new: ModelSide, out: Collector) -> None:
    """Compare the encodings of two files with equal models, and add the differences to `out`.

    If `out` is then still empty, both models are encoded canonically and their bytes are compared,
    to prove that the diff missed nothing. If the bytes differ, a change of the kind `model` is
    added. This check is skipped if weights are missing, or if a text was printed without its
    weights or metadata.
    """
    old_encoding, new_encoding = _encoding(old.model), _encoding(new.model)
    if old_encoding != new_encoding:
        out.count_encoding_change("model", old_encoding, new_encoding, "model")
    elif old.model.encoding is not None and old.model.encoding != new.model.encoding:
        out.count_encoding_change("model", "one order of fields", "another", "model")
    if not out.is_empty or old.reader.left_out or new.reader.left_out:
        return
    if old.model.metadata_left_out or new.model.metadata_left_out:
        return
    digested = [b"".join(side.encoder.model(_canonical(side.model))) for side in (old, new)]
    if digested[0] == digested[1]:
        return
    try:
        complete = [
            lower_model(_canonical(side.model), BlobReader(side.base, side.model.places))
            for side in (old, new)
        ]
    except LowerError:
        return  # weights are missing; the encodings in `digested` contain their digests instead
    if complete[0] != complete[1]:
        change = FieldChange(
            "",
            "model",
            None,
            "the models differ in a field that the diff does not compare: please report this",
        )
        out.record_changed("model", "", old.position(""), new.position(""), [change])


def _canonical(model: Model) -> Model:
    return replace(model, encoding_habits=(), encoding=None)


def _encoding(model: Model) -> str:
    """Describe how a file's bytes differ from the canonical encoding."""
    habits = list(map(str, model.encoding_habits))
    if model.encoding is not None:
        habits.append("another order or form of fields")
    return ", ".join(habits) or "canonical encoding"
