# SPDX-License-Identifier: Apache-2.0
"""Compare two protobuf messages field by field, using the ONNX schema."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from onnxtext.ast.byte_strings import to_text
from onnxtext.ast.records import FieldValue, Number, Record
from onnxtext.differ.matching.match_lists import match_keys, moved_pairs, unmatched_indices
from onnxtext.differ.result import Category, FieldChange
from onnxtext.differ.statement_encoding import rename_tensors
from onnxtext.printer.quoting import quote_string
from onnxtext.printer.records import value_text
from onnxtext.proto.convert_records import lift_record
from onnxtext.proto.descriptors import FieldSpec, MessageSpec, message_spec

KEYS = {
    "StringStringEntryProto": "key", "OperatorSetIdProto": "domain",
    "TensorAnnotation": "tensor_name", "AttributeProto": "name", "DeviceConfigurationProto": "name",
    "NodeDeviceConfigurationProto": "configuration_id", "ValueInfoProto": "name",
    "FunctionProto": "name",
}  # fmt: skip
"""Maps a message type to the field that identifies a message of this type in a list.

Messages of other types match by position.
"""

_CATEGORIES: dict[str, Category] = {
    "doc_string": "doc",
    "metadata_props": "metadata",
    "producer_name": "metadata",
    "producer_version": "metadata",
}
_NOT_STORED, _EMPTY = "not stored", "stored empty"


def compare_messages(
    message: str,
    old: bytes,
    new: bytes,
    *,
    path: str = "",
    names: Callable[[str], str] | None = None,
) -> list[FieldChange]:
    """Return all differences of two encoded messages.

    The bytes are canonical. `message` is the name of the message type, such as `NodeProto`. The
    paths of the fields begin with `path`. `names` maps old tensor names to new names, for
    `tensor_name` fields of the old message; None to compare these fields unchanged.

    Raises:
        WireError: the bytes are not a valid message.
    """
    if old == new and names is None:  # avoid importing onnx for its schema
        return []
    before, after = (lift_record(message_spec(message), data) for data in (old, new))
    if names is not None:
        before = rename_tensors(before, names)
    return list(_differences(message, before, after, path, "model"))


def _differences(
    message: str, old: Record, new: Record, path: str, category: Category
) -> Iterator[FieldChange]:
    """Yield all differences of two messages.

    If `category` is `model`, fields in `_CATEGORIES` get their category from that table. Except in
    types and shapes, a field gets the category `encoding` if it is absent in one message, and zero
    or empty in the other.
    """
    spec = message_spec(message)
    old_values, new_values = _by_key(old), _by_key(new)
    for key in dict.fromkeys((*old_values, *new_values)):
        before, after = old_values.get(key), new_values.get(key)
        if before == after:
            continue
        field = spec.by_name.get(key) if isinstance(key, str) else None
        item_path = f"{path}.{key}" if path else str(key)
        item_category = category
        if isinstance(key, str) and category == "model":
            item_category = _CATEGORIES.get(key, category)
        if field is None:
            yield FieldChange(item_path, item_category, _values_text(before), _values_text(after))
        else:
            yield from _field(spec, field, before, after, item_path, item_category)


def _field(
    spec: MessageSpec,
    field: FieldSpec,
    old: tuple[FieldValue, ...] | None,
    new: tuple[FieldValue, ...] | None,
    path: str,
    category: Category,
) -> Iterator[FieldChange]:
    one, other = (None if values is None else values[-1] for values in (old, new))
    if field.repeated:
        one, other = one or (), other or ()
        assert isinstance(one, tuple)
        assert isinstance(other, tuple)
        if field.kind == "message":
            yield from _list(field, one, other, path, category)
        else:
            yield FieldChange(path, category, _value(one), _value(other))
    elif isinstance(one, Record) and isinstance(other, Record):
        yield from _differences(field.message, one, other, path, category)
    elif _differs_in_presence_only(spec, one, other):
        stored = (_NOT_STORED, _EMPTY) if one is None else (_EMPTY, _NOT_STORED)
        yield FieldChange(path, "encoding", *stored)
    else:
        yield FieldChange(path, category, _value(one), _value(other))


def _differs_in_presence_only(
    spec: MessageSpec, old: FieldValue | None, new: FieldValue | None
) -> bool:
    """Whether a field is absent in one message and empty or zero in the other.

    In types and shapes, return False, because presence has a meaning. For example, a dimension
    without a value is unknown, but a dimension of size 0 is known.
    """
    if (old is None) == (new is None) or spec.name.startswith(("TypeProto", "TensorShapeProto")):
        return False
    value = new if old is None else old
    return value == b"" or (isinstance(value, Number) and value.text in ("0", "0.0"))


def _list(
    field: FieldSpec,
    old: tuple[FieldValue, ...],
    new: tuple[FieldValue, ...],
    path: str,
    category: Category,
) -> Iterator[FieldChange]:
    """Yield the differences of two lists of messages; `path` is the path of their field."""
    key = KEYS.get(field.message)
    names = [[_key(item, key, place) for place, item in enumerate(part)] for part in (old, new)]
    pairs = match_keys(*names)
    removed, added = unmatched_indices(pairs, len(old), len(new))
    for index in removed:
        yield FieldChange(f"{path}[{names[0][index]}]", category, _value(old[index]), None)
    for old_item, new_item in pairs:
        before, after = old[old_item], new[new_item]
        if before == after or not (isinstance(before, Record) and isinstance(after, Record)):
            continue
        place = f"{path}[{names[1][new_item]}]"
        yield from _differences(field.message, before, after, place, category)
    for index in added:
        yield FieldChange(f"{path}[{names[1][index]}]", category, None, _value(new[index]))
    for old_item, new_item in moved_pairs(pairs):
        item_category: Category = "order" if category == "model" else category
        place = f"{path}[{names[1][new_item]}]"
        yield FieldChange.moved(place, old_item, new_item, item_category)


def _key(item: FieldValue, key: str | None, index: int) -> str:
    if key is not None and isinstance(item, Record):
        for field in item.fields:
            if field.key == key and isinstance(field.value, bytes):
                return quote_string(to_text(field.value))
        return '""'
    return str(index)


def _by_key(record: Record) -> dict[str | int, tuple[FieldValue, ...]]:
    """Map the name of each field (the number of an unknown field) to the values of the field."""
    values: dict[str | int, list[FieldValue]] = {}
    for field in record.fields:
        assert field.key is not None
        values.setdefault(field.key, []).append(field.value)
    return {key: tuple(items) for key, items in values.items()}


def _values_text(values: tuple[FieldValue, ...] | None) -> str | None:
    return None if values is None else ", ".join([value_text(value, "") for value in values])


def _value(value: FieldValue | None) -> str | None:
    return None if value is None else value_text(value, "")
