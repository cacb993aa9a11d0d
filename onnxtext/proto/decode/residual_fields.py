# SPDX-License-Identifier: Apache-2.0
"""Express residual fields, which have no ordinary syntax, as `@set` and `@unset`.

The residual fields of an item are the difference between its bytes and the encoding of its AST, so
they are complete by construction (docs/design.md, The generic form).
"""

from __future__ import annotations

from functools import lru_cache

from onnxtext.ast.records import Decorator, Field, FieldValue, Word
from onnxtext.proto.convert_records import known_values
from onnxtext.proto.descriptors import FieldSpec, MessageSpec, message_spec
from onnxtext.proto.unknown_fields import is_known, lift_numbered
from onnxtext.wire.reader import WireField, read_fields


def residual_decorators(message: str, lowered: bytes, original: bytes) -> tuple[Decorator, ...]:
    """Return the decorators `@set` and `@unset` that change `lowered` to `original`.

    Args:
        message: the name of the message type.
        lowered: the encoding of the AST without these decorators.
        original: the canonical bytes of the message.

    Raises:
        WireError: `original` is not a message.
    """
    if lowered == original:
        return ()
    if len(original) <= _SMALL:
        return _small_residual(message, lowered, original)
    return _residual(message, lowered, original)


_SMALL = 64
"""Maximum size, in bytes, of items whose residual fields are cached: models repeat such items."""


def _residual(message: str, lowered: bytes, original: bytes) -> tuple[Decorator, ...]:
    residue = _Residue(message, lowered, original)
    sets = [Field(field.name, _value(field, original, items)) for field, items in residue.changed]
    unsets = [Field(None, Word(field.name)) for field in residue.removed]
    decorators = []
    if unsets:
        decorators.append(Decorator("unset", tuple(unsets)))
    if sets or residue.unknown:
        decorators.append(Decorator("set", (*sets, *residue.unknown)))
    return tuple(decorators)


_small_residual = lru_cache(maxsize=1024)(_residual)


def unknown_decorators(message: str, data: bytes) -> tuple[Decorator, ...]:
    """Return the decorator `@set` with the unknown fields of a message; () if it has none.

    Args:
        message: the name of the message type.
        data: the encoded message; its known fields may be missing.

    Raises:
        WireError: `data` is not a message.
    """
    _, unknown = _known_and_unknown(message_spec(message), data)
    return (Decorator("set", tuple(unknown)),) if unknown else ()


class _Residue:
    """The differences between two encodings of a message, `lowered` and `original`.

    Attributes:
        changed: the fields of `original` that `lowered` lacks or encodes differently, each with
            its occurrences in `original`.
        removed: the fields that only `lowered` has.
        unknown: the unknown fields of `original`; empty if `lowered` has the same unknown fields.
    """

    def __init__(self, message: str, lowered: bytes, original: bytes) -> None:
        spec = message_spec(message)
        have, old_unknown = _known_and_unknown(spec, lowered)
        want, unknown = _known_and_unknown(spec, original)
        self.unknown = [] if unknown == old_unknown else unknown
        self.changed = [
            (spec.by_number[number], items)
            for number, items in sorted(want.items())
            if _encoding(lowered, have.get(number, [])) != _encoding(original, items)
        ]
        self.removed = [spec.by_number[number] for number in sorted(have.keys() - want)]


def _known_and_unknown(
    spec: MessageSpec, data: bytes
) -> tuple[dict[int, list[WireField]], list[Field]]:
    """Return the known fields of a message by number, and the unknown fields in order."""
    by_number: dict[int, list[WireField]] = {}
    unknown: list[Field] = []
    for item in read_fields(data, 0, len(data)):
        field = spec.by_number.get(item.number)
        if field is None or not is_known(field, data, item):
            unknown.append(Field(item.number, lift_numbered(data, item)))
        else:
            by_number.setdefault(item.number, []).append(item)
    return by_number, unknown


def _encoding(data: bytes, items: list[WireField]) -> bytes:
    return b"".join([data[item.start : item.end] for item in items])


def _value(field: FieldSpec, data: bytes, items: list[WireField]) -> FieldValue:
    values = [value for item in items for value in known_values(field, data, item) or ()]
    return tuple(values) if field.repeated else values[-1]
