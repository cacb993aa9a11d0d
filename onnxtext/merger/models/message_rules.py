# SPDX-License-Identifier: Apache-2.0
"""Rules for merging protobuf messages: the fields that are merged one by one, keys of list items.

Only messages that are merged field by field have rules here. Fields without a rule, such as
unknown fields, are merged as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace

from onnxtext.ast.byte_strings import to_text
from onnxtext.ast.qualified_names import plain_domain
from onnxtext.merger.renames import NodeMeaning
from onnxtext.merger.texts.renumbered_nodes import NodeRules
from onnxtext.wire.reader import read_fields
from onnxtext.wire.writer import LENGTH, varint

Fields = dict[int, list[bytes]]
"""Maps the tag of each field (number and wire type) to its payloads, in order."""


def split_message(data: bytes) -> Fields:
    """Split a message in canonical encoding into its fields."""
    result: Fields = {}
    for number, wire_type, _, value, end in read_fields(data, 0, len(data)):
        result.setdefault(number << 3 | wire_type, []).append(data[value:end])
    return result


def join_message(fields: Mapping[int, list[bytes]]) -> bytes:
    """Encode a message from its fields, in the order of their numbers."""
    out: list[bytes] = []
    for key in sorted(fields):
        tag = varint(key)
        for payload in fields[key]:
            out += (tag, varint(len(payload)), payload) if key & 7 == LENGTH else (tag, payload)
    return b"".join(out)


def first_payload(data: bytes, number: int) -> bytes | None:
    """Return the first payload of a length-delimited field; None if it is absent.

    Raises:
        WireError: `data`, which must have the canonical encoding, is damaged.
    """
    for found, wire_type, _, value, end in read_fields(data, 0, len(data)):
        if found == number and wire_type == LENGTH:
            return data[value:end]
        if found > number:  # the encoding is canonical
            break
    return None


Key = Callable[[bytes], Hashable]


@dataclass(frozen=True)
class RepeatedField:
    """Rules for merging a repeated field.

    Attributes:
        kind: the rules for merging an item field by field; None if items are merged as a whole.
        key: returns the key that identifies an item.
        rename_keys: each returns a property that a renamed item keeps; the most reliable first.
        replacement_key: returns a property. An added item replaces the removed item at the same
            position if this property is equal for both items.
        ordered: whether the order of items has a meaning.
        is_node: whether the items are nodes.
    """

    kind: MessageKind | None
    key: Key
    rename_keys: tuple[Key, ...] = ()
    replacement_key: Key | None = None
    ordered: bool = False
    is_node: bool = False


@dataclass(frozen=True)
class MessageKind:
    """Rules for merging the messages of one type. Fields are given by their numbers.

    Attributes:
        lists: rules for repeated fields whose items are merged one by one.
        messages: rules for singular message fields that are merged field by field.
        positions: repeated strings in which the position identifies an item.
        distinct: the fields in `positions` whose items must be distinct.
        units: sets of fields that are merged as a whole.
        divided: fields in `lists` that together form one list of items with distinct keys. For
            example, two fields hold the parameters of a function: without and with a default.
        meaning: returns the parts of a node that depend on each other; None for other messages.
        described: fields that only describe the item, such as its metadata. An item that both sides
            add is merged if all other fields are equal.
        merge_if_both_add: whether to merge a message that both sides add; otherwise different
            messages are a conflict.
    """

    lists: dict[int, RepeatedField] = field(default_factory=dict)
    messages: dict[int, MessageKind] = field(default_factory=dict)
    positions: frozenset[int] = frozenset()
    distinct: frozenset[int] = frozenset()
    units: tuple[frozenset[int], ...] = ()
    divided: frozenset[int] = frozenset()
    meaning: Callable[[Fields], NodeMeaning] | None = None
    described: frozenset[int] = frozenset()
    merge_if_both_add: bool = False


def _field_key(number: int) -> Key:
    return lambda data: first_payload(data, number)


def _without(*numbers: int) -> Key:
    """Return a key function: it returns the bytes of all fields except those with `numbers`."""
    return lambda data: b"".join(
        [data[f.start : f.end] for f in read_fields(data, 0, len(data)) if f.number not in numbers]
    )


without_inputs = _without(1)
"""Returns the content of a node without its inputs."""


def _only(*numbers: int) -> Key:
    return lambda data: b"".join(
        [data[f.start : f.end] for f in read_fields(data, 0, len(data)) if f.number in numbers]
    )


_operator = _only(4, 7, 8)


def by_position(data: bytes) -> Hashable:
    """Return the same key for all items: only the position identifies an item."""
    return "position"


def _outputs(data: bytes) -> tuple[bytes, ...] | None:
    outputs: list[bytes] = []
    for number, _, _, value, end in read_fields(data, 0, len(data)):
        if number == 2:
            outputs.append(data[value:end])
        elif number > 2:
            break
    return tuple(outputs) or None


def node_inputs(data: bytes) -> list[bytes]:
    """Return the inputs of a node."""
    return [data[f.value : f.end] for f in read_fields(data, 0, len(data)) if f.number == 1]


def _label(data: bytes) -> Hashable:
    """Return the name of a node; None if it is empty or absent."""
    return first_payload(data, 3) or None


def _function(data: bytes) -> Hashable:
    """Return the domain, name and overload of a function."""
    return _domain(data, 10), first_payload(data, 1), first_payload(data, 13) or b""


def _signature(data: bytes) -> Hashable:
    """Return the inputs, outputs and parameters of a function, and the outputs of its nodes."""
    nodes = split_message(data).get(7 << 3 | LENGTH, ())
    return _only(4, 5, 6, 11)(data), tuple(map(_outputs, nodes))


def _body(data: bytes) -> Hashable:
    """Return the nodes of a function; None if it has no nodes."""
    return _only(7)(data) or None


def _domain(data: bytes, number: int = 1) -> Hashable:
    """Return the domain in a field; `ai.onnx` equals the empty domain."""
    domain = first_payload(data, number) or b""
    return b"" if domain == b"ai.onnx" else domain


def _sparse_name(data: bytes) -> Hashable:
    values = first_payload(data, 1)
    return None if values is None else first_payload(values, 8)


def _sparse_content(data: bytes) -> Hashable:
    """Return a sparse initializer without its name (in its tensor `values`).

    Return None if it has no values.
    """
    values = first_payload(data, 1)
    return None if values is None else (_without(8)(values), _without(1)(data))


def _node_meaning(fields: Fields) -> NodeMeaning:
    """Return the operator, inputs and attributes (without their graphs) of a node."""
    op_type, domain, overload = [
        to_text(fields.get(number << 3 | LENGTH, [b""])[0]) for number in (4, 7, 8)
    ]
    inputs = [to_text(name) for name in fields.get(1 << 3 | LENGTH, ())]
    attributes = [_without(6, 11)(data) for data in fields.get(5 << 3 | LENGTH, ())]  # g, graphs
    return NodeMeaning((plain_domain(domain), op_type, overload), inputs, attributes)


_ENTRIES = RepeatedField(MessageKind(), _field_key(1))  # metadata_props
_DATA = frozenset({1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 13, 14})
_TENSOR = MessageKind({16: _ENTRIES}, units=(_DATA,), described=frozenset({12, 16}))
_VALUE = MessageKind({4: _ENTRIES}, described=frozenset({3, 4}))
_VALUES = RepeatedField(_VALUE, _field_key(1), (_without(1), _only(2)), _only(2))
_ATTRIBUTE = MessageKind(
    positions=frozenset({9}), units=(frozenset({2, 3, 4, 5, 7, 8, 10, 11, 14, 15, 20, 21, 22, 23}),)
)
NODE_RULES = NodeRules(
    outputs=_outputs,
    reads=node_inputs,
    label=_label,
    operator=_operator,
    content=_only(1, 4, 5, 7, 8),
    form=_only(4, 5, 7, 8),
    whole=lambda data: data,
)
NODE = MessageKind(
    {
        5: RepeatedField(_ATTRIBUTE, _field_key(1)),  # attribute
        9: _ENTRIES,  # metadata_props
        10: RepeatedField(None, _field_key(1)),  # device_configurations
    },
    positions=frozenset({1, 2}),  # input, output
    units=(frozenset({4, 7, 8}),),  # op_type, domain, overload
    meaning=_node_meaning,
    described=frozenset({6, 9}),  # doc_string, metadata_props
)
_NODES = RepeatedField(NODE, _outputs, (_label, _without(2, 3), _only(1, 4, 5, 7, 8)), is_node=True)
GRAPH = MessageKind(
    {
        1: _NODES,  # node
        5: RepeatedField(
            _TENSOR, _field_key(8), (_without(8), _without(8, 12, 16)), _only(1, 2)
        ),  # initializer
        11: replace(_VALUES, ordered=True),  # input
        12: replace(_VALUES, ordered=True),  # output
        13: _VALUES,  # value_info
        14: RepeatedField(
            MessageKind({2: _ENTRIES}), _field_key(1), (_without(1),)
        ),  # quantization
        15: RepeatedField(None, _sparse_name, (_sparse_content,)),  # sparse_initializer
        16: _ENTRIES,  # metadata_props
    },
    merge_if_both_add=True,
)
_OPSETS = RepeatedField(MessageKind(), _domain)
FUNCTION = MessageKind(
    {
        6: RepeatedField(None, bytes),  # attribute, a list of names
        7: _NODES,  # node
        9: _OPSETS,  # opset_import
        11: RepeatedField(_ATTRIBUTE, _field_key(1)),  # attribute_proto
        12: _VALUES,  # value_info
        14: _ENTRIES,  # metadata_props
    },
    positions=frozenset({4, 5}),  # input, output
    distinct=frozenset({4, 5}),
    divided=frozenset({6, 11}),
    merge_if_both_add=True,
)
_TRAINING = MessageKind({3: _ENTRIES, 4: _ENTRIES}, {1: GRAPH, 2: GRAPH})
MODEL = MessageKind(
    {
        8: _OPSETS,  # opset_import
        14: _ENTRIES,  # metadata_props
        20: RepeatedField(_TRAINING, by_position),  # training_info
        25: RepeatedField(
            FUNCTION, _function, (_without(1, 10, 13), _signature, _body)
        ),  # functions
        26: RepeatedField(MessageKind(), _field_key(1)),  # configuration
    },
    {7: GRAPH},  # graph
    merge_if_both_add=True,
)
# The rules are recursive: an attribute can hold a graph (field 6, `g`).
_ATTRIBUTE.messages[6] = GRAPH
