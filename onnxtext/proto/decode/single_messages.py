# SPDX-License-Identifier: Apache-2.0
"""Decode single messages below a graph or function: nodes, attributes, tensors, types, entries.

A message becomes a record if it has no syntax, or fields that its syntax cannot express.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from onnxtext.ast.model import Fragment, Presence, ValueInfo
from onnxtext.ast.records import Record
from onnxtext.ast.tensors_and_attributes import Attribute, SparseTensor, Tensor
from onnxtext.ast.types import Type
from onnxtext.proto.convert_records import lift_record
from onnxtext.proto.decode.attributes import expressible_sparse, expressible_tensor
from onnxtext.proto.decode.nodes import NO_DEFAULTS
from onnxtext.proto.decode.types_and_tensors import Data, lift_entry, lift_type
from onnxtext.proto.descriptors import message_spec
from onnxtext.proto.encode.lower import LowerError, lower_fragment

if TYPE_CHECKING:
    from onnxtext.ast.model import FragmentItem
    from onnxtext.proto.decode.messages import Lifter

_ITEMS: dict[str, Callable[[Data], FragmentItem | None]] = {
    "TensorProto": expressible_tensor,
    "SparseTensorProto": expressible_sparse,
    "TypeProto": lift_type,
    "StringStringEntryProto": lift_entry,
}


def lift_item(lifter: Lifter, data: Data, message: str) -> Fragment:
    """Decode a message that is not a model, graph or function.

    Raises:
        WireError: the bytes are not a message.
    """
    match message:
        case "NodeProto":
            return Fragment(lifter.node(data), NO_DEFAULTS)
        case "AttributeProto":
            return Fragment(lifter.attribute(data), NO_DEFAULTS)
        case "ValueInfoProto":
            return Fragment(lifter.value_info(data), NO_DEFAULTS)
    lift = _ITEMS.get(message)
    item = None if lift is None else lift(data)
    return record_fragment(data, message) if item is None else Fragment(item, NO_DEFAULTS)


def record_fragment(data: Data, message: str) -> Fragment:
    """Decode a message to a fragment that is a record.

    Raises:
        WireError: the bytes are not a message.
    """
    return Fragment(lift_record(message_spec(message), data))


def with_official_defaults(fragment: Fragment, data: bytes, message: str) -> Fragment:
    """Return a fragment with the official presence defaults, so that its text needs no header.

    Return the fragment itself if its encoding would then differ from `data`. Graphs, functions and
    nodes always keep their presence defaults.
    """
    item = fragment.item
    if isinstance(item, (tuple, Record, Type)):
        return Fragment(item)
    if not isinstance(item, (ValueInfo, Attribute, Tensor, SparseTensor)):
        return fragment
    plain = Fragment(item, Presence())
    try:
        return plain if lower_fragment(plain, message) == data else fragment
    except LowerError:
        return fragment
