# SPDX-License-Identifier: Apache-2.0
"""What no sugar carries, found by difference: nothing depends on somebody having thought of it.

An item's own bytes are compared with what lowering its sugar gives; every field that differs is
then written with `@set` or `@unset` (docs/design.md, The generic form).
"""

from __future__ import annotations

from onnxtext.ast.records import Decorator, Field, FieldValue, Word
from onnxtext.proto.generic import is_known, known_values, lift_stranger
from onnxtext.proto.schema import FieldSpec, MessageSpec, message_spec
from onnxtext.wire.reader import WireField, read_fields


def difference(message: str, lowered: bytes, wanted: bytes) -> tuple[Decorator, ...]:
    """The decorators that turn one encoding of a message into another.

    Args:
        message: name of the message type.
        lowered: what the sugar gives.
        wanted: the canonical bytes it should give.

    Raises:
        WireError: the wanted bytes are no message.
    """
    if lowered == wanted:
        return ()
    spec = message_spec(message)
    have, had = _sorted_fields(spec, lowered)
    want, strangers = _sorted_fields(spec, wanted)
    if strangers == had:  # a record carries them already
        strangers = []
    sets: list[Field] = []
    for number in sorted(want):
        bytes_wanted = _encoding(wanted, want[number])
        if _encoding(lowered, have.get(number, [])) != bytes_wanted:
            field = spec.by_number[number]
            sets.append(Field(field.name, _value(field, wanted, want[number])))
    unsets = [
        Field(None, Word(spec.by_number[number].name)) for number in sorted(have.keys() - want)
    ]
    decorators = []
    if unsets:
        decorators.append(Decorator("unset", tuple(unsets)))
    if sets or strangers:
        decorators.append(Decorator("set", (*sets, *strangers)))
    return tuple(decorators)


def _sorted_fields(
    spec: MessageSpec, data: bytes
) -> tuple[dict[int, list[WireField]], list[Field]]:
    """The known fields of a message by number, and all others by their values."""
    known: dict[int, list[WireField]] = {}
    strangers: list[Field] = []
    for item in read_fields(data, 0, len(data)):
        field = spec.by_number.get(item.number)
        if field is None or not is_known(field, data, item):
            strangers.append(Field(item.number, lift_stranger(data, item)))
        else:
            known.setdefault(item.number, []).append(item)
    return known, strangers


def _encoding(data: bytes, items: list[WireField]) -> bytes:
    return b"".join([data[item.start : item.end] for item in items])


def _value(field: FieldSpec, data: bytes, items: list[WireField]) -> FieldValue:
    values = [value for item in items for value in known_values(field, data, item) or ()]
    return tuple(values) if field.repeated else values[-1]
