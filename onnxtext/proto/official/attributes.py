# SPDX-License-Identifier: Apache-2.0
"""Reduce attributes to the official syntax."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from onnxtext.ast.tensors_and_attributes import ITEM_TYPES, AttributeType
from onnxtext.proto.descriptors import message_spec
from onnxtext.proto.official.fields import (
    Data,
    Fields,
    field,
    integer,
    is_empty,
    is_writable,
    varint_field,
)
from onnxtext.proto.official.losses import ItemPath
from onnxtext.proto.official.types_and_tensors import (
    NANS,
    STRINGS_OF_DATA,
    ValueReducer,
    default_nans,
)
from onnxtext.tensor.lazy_numpy import np
from onnxtext.tensor.varints import float_fields
from onnxtext.wire.reader import read_fields
from onnxtext.wire.writer import FIXED32, LENGTH, tag, varint

_A = AttributeType

LISTS = "the official parser drops the values of a list of this type: the list is written empty"
SPARSE = "a sparse tensor cannot be written as an attribute: the attribute is left out"
NO_TYPE = "the official syntax requires a type: the attribute gets the type of its value"
NO_KIND = "an attribute without a type must have exactly one value field: it is left out"
NO_VALUE = "the value of an attribute cannot be written: the attribute is left out"
EXTRA_VALUE = "an attribute can have only a value of its own type: other values are left out"


class AttributeReducer(ValueReducer, ABC):
    """Reduces attributes to what the official syntax can express."""

    @abstractmethod
    def graph(self, data: Data, path: ItemPath, *, quotable: bool = True) -> bytes:
        """Remove from a `GraphProto` what the official syntax cannot express.

        Args:
            data: the bytes of the message.
            path: the path of the message in the model, to report losses.
            quotable: whether the official syntax allows quotes around the graph's name, as for the
                main graph.

        Returns:
            The bytes of the remaining `GraphProto`.
        """

    def attribute(self, data: Data, path: ItemPath, *, in_function: bool) -> bytes | None:
        """Remove from an `AttributeProto` what the official syntax cannot express.

        Args:
            data: the bytes of the message.
            path: the path of the message in the model, to report losses.
            in_function: whether the attribute is a parameter of a function. Then its name may be
                quoted, and it need not have a value.

        Returns:
            The bytes of the remaining `AttributeProto`; None, with a recorded loss, if the
            attribute cannot be written.
        """
        message = "AttributeProto"
        fields = self.fields(message, data, path, _ATTRIBUTE)
        if in_function:
            name = self.stored_text(message, "name", fields, path)
        else:
            name = fields.get("name", (b"",))[-1]  # type: ignore[assignment]
            name = self.identifier(name, path.at("name"), "an attribute")
        head = field(1, name)
        kind = integer(fields.get("type", ()))
        values = [name for name in _VALUES if name in fields]
        non_empty = [name for name in values if not self._is_empty_value(name, fields[name])]
        reference = fields.get("ref_attr_name", (None,))[-1]
        if reference is not None and (reference or not values):
            return head + self._reference(reference, kind, values, non_empty, fields, path)
        if reference is not None:
            self.losses.presence_changed(message, "ref_attr_name")
        if not kind:
            chosen = non_empty or values
            if len(chosen) != 1:
                self.losses.lost(path, NO_KIND)
                return None
            self.losses.lost(path.at("type"), NO_TYPE)
            kind = _VALUES[chosen[0]]
        value_field = _FIELD_OF[kind]
        self._drop_values([name for name in values if name != value_field], non_empty, path)
        value = self._value(
            AttributeType(kind), value_field, fields.get(value_field), path, in_function
        )
        return None if value is None else head + value + varint_field(20, varint(kind))

    @staticmethod
    def _is_empty_value(name: str, payloads: Sequence[Data]) -> bool:
        spec = message_spec("AttributeProto").by_name[name]
        return not spec.repeated and is_empty(payloads[-1], spec.wire_type)

    def _drop_values(self, names: Sequence[str], non_empty: Sequence[str], path: ItemPath) -> None:
        """Record a loss for each of `names` in `non_empty`, a change of presence for the others."""
        for name in names:
            if name in non_empty:
                self.losses.lost(path.at(name), EXTRA_VALUE)
            else:
                self.losses.presence_changed("AttributeProto", name)

    def _reference(
        self,
        reference: Data,
        kind: int,
        values: Sequence[str],
        non_empty: Sequence[str],
        fields: Fields,
        path: ItemPath,
    ) -> bytes:
        """Reduce an attribute that refers to `reference`; return its fields except the name.

        `values` are the names of its value fields, `non_empty` the names of those that are not
        empty.
        """
        self._drop_values(values, non_empty, path)
        result = field(21, self.text(reference, path.at("ref_attr_name")))
        if kind:
            return varint_field(20, varint(kind)) + result
        if "type" in fields:
            self.losses.presence_changed("AttributeProto", "type")
        return result

    def _value(
        self,
        kind: AttributeType,
        name: str,
        payloads: Sequence[Data] | None,
        path: ItemPath,
        in_function: bool,
    ) -> bytes | None:
        """Reduce the value of an attribute; return None if it cannot be written.

        `name` is the name of the value field; `payloads` are its values, None if it is missing.
        For `in_function`, see `attribute`.
        """
        value_path = path.at(name)
        if payloads is None and in_function and kind not in ITEM_TYPES:
            return b""
        match kind:
            case _A.INTS:
                return b"".join([varint_field(8, item) for item in payloads or ()])
            case _A.FLOATS:
                return self._floats(7, payloads or (), value_path)
            case _A.STRINGS:
                if not all(is_writable(bytes(item)) for item in payloads or ()):
                    self.losses.lost(path, STRINGS_OF_DATA)
                    return None
                return b"".join([field(9, item) for item in payloads or ()])
            case _A.TENSORS | _A.GRAPHS | _A.SPARSE_TENSORS | _A.TYPE_PROTOS:
                if payloads:
                    self.losses.lost(value_path, LISTS)
                return b""
            case _A.SPARSE_TENSOR:
                self.losses.lost(path, SPARSE)
                return None
        if payloads is None:
            if kind in (_A.TENSOR, _A.TYPE_PROTO):
                self.losses.lost(path, NO_VALUE)
                return None
            self.losses.presence_changed("AttributeProto", name)
        return self._single(kind, payloads[-1] if payloads else _DEFAULTS[kind], path, value_path)

    def _single(
        self, kind: AttributeType, value: Data, path: ItemPath, value_path: ItemPath
    ) -> bytes | None:
        """Reduce a value that is not a list; return its field, or None if it cannot be written.

        `path` is the path of the attribute, `value_path` the path of the value.
        """
        match kind:
            case _A.INT:
                return varint_field(3, value)
            case _A.FLOAT:
                return self._floats(2, (value,), value_path)
            case _A.STRING:
                if is_writable(bytes(value)):
                    return field(4, value)
                self.losses.lost(path, STRINGS_OF_DATA)
                return None
            case _A.GRAPH:
                return field(6, self.graph(value, value_path, quotable=False))
            case _A.TENSOR:
                key, reduced = 5, self.tensor(value, value_path, quotable=False)
            case _:
                key, reduced = 14, self.type(value, value_path)
        if reduced is None:
            self.losses.lost(path, NO_VALUE)
            return None
        return field(key, reduced)

    def _floats(self, key: int, payloads: Sequence[Data], path: ItemPath) -> bytes:
        """Encode float32 values as the field number `key`; replace the payloads of NaNs."""
        bits = np.frombuffer(b"".join(payloads), "<u4").copy()
        if default_nans(bits):
            self.losses.lost(path, NANS)
        return float_fields(tag(key, FIXED32), bits.tobytes())


def path_of_attribute(path: ItemPath, list_name: str, data: Data, index: int) -> ItemPath:
    """Return the path of an attribute in the list `list_name`, with its name or else its index."""
    name = b""
    for item in read_fields(data, 0, len(data)):
        if item.number == 1 and item.wire_type == LENGTH:
            name = bytes(data[item.value : item.end])
            break
    return path.at(list_name, name.decode("utf-8", "backslashreplace") if name else index)


_VALUES = {
    "f": _A.FLOAT, "i": _A.INT, "s": _A.STRING, "t": _A.TENSOR, "g": _A.GRAPH, "floats": _A.FLOATS,
    "ints": _A.INTS, "strings": _A.STRINGS, "tensors": _A.TENSORS, "graphs": _A.GRAPHS,
    "tp": _A.TYPE_PROTO, "type_protos": _A.TYPE_PROTOS, "sparse_tensor": _A.SPARSE_TENSOR,
    "sparse_tensors": _A.SPARSE_TENSORS,
}  # fmt: skip
"""Maps each value field of `AttributeProto` to its attribute type."""

_ATTRIBUTE = frozenset(("name", "type", "ref_attr_name", *_VALUES))
_FIELD_OF = {int(kind): name for name, kind in _VALUES.items()}
_DEFAULTS = {_A.INT: b"\0", _A.FLOAT: b"\0\0\0\0", _A.STRING: b"", _A.GRAPH: b""}
