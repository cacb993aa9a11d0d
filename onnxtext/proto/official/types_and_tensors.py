# SPDX-License-Identifier: Apache-2.0
"""Reduce types and tensors to the official syntax."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from onnxtext.proto.descriptors import message_spec
from onnxtext.proto.encode.types_and_tensors import TENSOR_FIELDS
from onnxtext.proto.official.fields import (
    Data,
    FieldReducer,
    Fields,
    field,
    integer,
    is_dotted,
    is_identifier,
    is_writable,
    varint_field,
)
from onnxtext.proto.official.losses import ItemPath
from onnxtext.tensor.element_count import count_elements
from onnxtext.tensor.element_types import ELEMENT_NUMBERS, ElementType, raw_size
from onnxtext.tensor.lazy_numpy import np
from onnxtext.tensor.packing import unpack
from onnxtext.tensor.varints import pack_varints
from onnxtext.wire.writer import delimited, varint

if TYPE_CHECKING:
    from numpy.typing import NDArray

STRINGS_OF_DATA = "data with NUL or invalid UTF-8 cannot be written as a string: it is left out"
NANS = "a NaN with a payload cannot be written: it becomes nan or -nan"
TYPE = "a type without a valid element type, key type or name cannot be written: it is left out"
RAW_SIZE = "`raw_data` does not have the size of the tensor: it is left out"
WRONG_FIELD = "data outside the field of its element type cannot be written: it is left out"
EXTERNAL = "the data of this tensor is external: its other data is left out"
NO_ENTRIES = "`data_location: EXTERNAL` without `external_data` cannot be written: it is left out"
NOT_EXTERNAL = "`external_data` without `data_location: EXTERNAL` cannot be written: it is left out"


class ValueReducer(FieldReducer):
    """Reduces types and tensors to what the official syntax can express."""

    def __init__(self) -> None:
        super().__init__()
        self._types: dict[bytes, bytes | None] = {}

    # ---- Types ------------------------------------------------------------------------------

    def type(self, data: Data, path: ItemPath) -> bytes | None:
        """Reduce a `TypeProto`; return None if it is empty or the syntax cannot express it."""
        data = bytes(data)
        if data in self._types:
            return self._types[data]
        before = self.losses.events
        result = self._type(data, path)
        if self.losses.events == before:
            self._types[data] = result
        return result

    def _type(self, data: bytes, path: ItemPath) -> bytes | None:
        message = "TypeProto"
        fields = self.fields(message, data, path, _KINDS)
        if not fields:
            self.losses.presence_changed(message, "value")
        for name, values in fields.items():
            type_path = path.at(name)
            spec = message_spec(message).by_name[name]
            match name:
                case "tensor_type" | "sparse_tensor_type":
                    reduced = self._tensor_type(spec.message, values[-1], type_path)
                case "opaque_type":
                    reduced = self._opaque_type(spec.message, values[-1], type_path)
                case _:
                    reduced = self._container(spec.message, values[-1], type_path)
            if reduced is not None:
                return field(spec.number, reduced)
            self.losses.lost(path, TYPE)
        return None

    def _tensor_type(self, message: str, data: Data, path: ItemPath) -> bytes | None:
        fields = self.fields(message, data, path, frozenset(("elem_type", "shape")))
        element = integer(fields.get("elem_type", ()))
        if element not in ELEMENT_NUMBERS:
            return None
        result = varint_field(1, varint(element))
        for shape in fields.get("shape", ()):
            result += field(2, self._shape(shape, path.at("shape")))
        return result

    def _shape(self, data: Data, path: ItemPath) -> bytes:
        dims = []
        fields = self.fields("TensorShapeProto", data, path, frozenset(("dim",)))
        for index, dim in enumerate(fields.get("dim", ())):
            dim_path = path.at("dim", index)
            values = self.fields("TensorShapeProto.Dimension", dim, dim_path, _DIM)
            reduced = b""
            if "dim_value" in values:
                reduced = varint_field(1, values["dim_value"][-1])
            elif "dim_param" in values:
                reduced = field(2, self.text(values["dim_param"][-1], dim_path.at("dim_param")))
            dims.append(field(1, reduced))
        return b"".join(dims)

    def _container(self, message: str, data: Data, path: ItemPath) -> bytes | None:
        """Reduce a sequence, optional or map type; return None if the syntax cannot express it."""
        key_field = message_spec(message).by_name.get("key_type")
        inner = "elem_type" if key_field is None else "value_type"
        fields = self.fields(message, data, path, frozenset((inner, "key_type")))
        if inner not in fields:
            return None
        element = self.type(fields[inner][-1], path.at(inner))
        if element is None:
            return None
        if key_field is None:
            return field(1, element)
        key = integer(fields.get("key_type", ()))
        return varint_field(1, varint(key)) + field(2, element) if key in ELEMENT_NUMBERS else None

    def _opaque_type(self, message: str, data: Data, path: ItemPath) -> bytes | None:
        fields = self.fields(message, data, path, frozenset(("domain", "name")))
        domain = bytes(fields.get("domain", (b"",))[-1])
        name = bytes(fields.get("name", (b"",))[-1])
        if domain:
            writable = is_dotted(domain) and is_identifier(name)
        else:
            writable = not name or is_dotted(name)
        if not writable:
            return None
        result = b""
        for part, key, value in (("domain", 1, domain), ("name", 2, name)):
            if value:
                result += field(key, value)
            elif part in fields:
                self.losses.presence_changed(message, part)
        return result

    # ---- Tensors ----------------------------------------------------------------------------

    def tensor(self, data: Data, path: ItemPath, *, quotable: bool) -> bytes | None:
        """Reduce a `TensorProto`; return None if its element type is unknown.

        The caller must record the loss of a tensor of unknown type.

        Args:
            data: the bytes of the message.
            path: the path of the message in the model, to report losses.
            quotable: whether the syntax allows quotes around the name, as for initializers.
        """
        fields = self.fields("TensorProto", data, path, _TENSOR)
        element = ELEMENT_NUMBERS.get(integer(fields.get("data_type", ())))
        if element is None:
            return None
        parts = [varint_field(1, dim) for dim in fields.get("dims", ())]
        parts.append(varint_field(2, varint(element.number)))
        name = fields.get("name", (b"",))[-1]
        if quotable or "name" not in fields or not name:
            name = self.stored_text("TensorProto", "name", fields, path)
        else:
            name = self.identifier(name, path.at("name"), "a tensor in an attribute")
        parts.append(field(8, name))
        count = count_elements([integer((dim,)) for dim in fields.get("dims", ())])
        parts += self._data(element, count, fields, path)
        return b"".join(parts)

    def _data(
        self, element: ElementType, count: int, fields: Fields, path: ItemPath
    ) -> list[bytes]:
        """Return the data of a tensor as a typed field or external data; record the losses."""
        if integer(fields.get("data_location", ())) == 1:
            if fields.get("external_data"):
                for name in _DATA & fields.keys():
                    if name == "raw_data" and not fields[name][-1]:
                        self.losses.presence_changed("TensorProto", name)
                    else:
                        self.losses.lost(path.at(name), EXTERNAL)
                entries = self.entries(fields["external_data"], path.at("external_data"))
                return [*[field(13, entry) for entry in entries], varint_field(14, b"\x01")]
            self.losses.lost(path.at("data_location"), NO_ENTRIES)
        else:
            if "external_data" in fields:
                self.losses.lost(path.at("external_data"), NOT_EXTERNAL)
            if "data_location" in fields:
                self.losses.presence_changed("TensorProto", "data_location")
        typed = {name for name in _DATA & fields.keys() if name != "raw_data"}
        chosen = element.field
        values = fields.get(chosen, [])
        if "raw_data" in fields:
            raw = self._raw(element, count, fields["raw_data"][-1], path)
            if raw is not None:
                chosen, values = "", [raw]
        for name in sorted(typed - {chosen}):
            self.losses.lost(path.at(name), WRONG_FIELD)
        return self._reduce_typed(element, values, path.at(chosen or "raw_data"))

    def _raw(self, element: ElementType, count: int, raw: Data, path: ItemPath) -> bytes | None:
        """Convert raw data of `count` elements to the value of the typed field; record the losses.

        Return None if the raw data is empty or has the wrong size.
        """
        if not len(raw):
            self.losses.presence_changed("TensorProto", "raw_data")
            return None
        if not element.bits or count < 0 or len(raw) != raw_size(element, count):
            self.losses.lost(path.at("raw_data"), RAW_SIZE)
            return None
        self.losses.typed()
        return _as_typed(element, raw, count)

    def _reduce_typed(
        self, element: ElementType, values: Sequence[Data], path: ItemPath
    ) -> list[bytes]:
        """Reduce the values of the typed field of an element type; return the encoded fields."""
        key = TENSOR_FIELDS[element.field][0]
        if element.kind == "string":
            if all(is_writable(bytes(value)) for value in values):
                return [delimited(key, bytes(value)) for value in values]
            self.losses.lost(path, STRINGS_OF_DATA)
            return []
        if not values:
            return []
        value = values[-1]
        if element.field in ("float_data", "double_data"):
            bits = np.frombuffer(value, "<u4" if element.field == "float_data" else "<u8").copy()
            if default_nans(bits):
                self.losses.lost(path, NANS)
                value = bits.tobytes()
        return [delimited(key, bytes(value))]


# For each message, the fields that the official syntax can express.
_KINDS = frozenset(
    ("tensor_type", "sparse_tensor_type", "sequence_type", "optional_type", "map_type",
     "opaque_type")
)  # fmt: skip
_DIM = frozenset(("dim_value", "dim_param"))
_DATA = frozenset(TENSOR_FIELDS)
_TENSOR = _DATA | {"dims", "data_type", "name", "external_data", "data_location"}


def default_nans(values: NDArray[Any]) -> bool:
    """Replace the payload of every NaN by the default payload, but keep its sign.

    Args:
        values: the bits of floats as uint32 or uint64, changed in place.

    Returns:
        Whether a NaN has changed.
    """
    width = 8 * values.itemsize
    sign = 1 << (width - 1)
    infinity, quiet = (0x7F80 << 16, 0x7FC0 << 16) if width == 32 else (0x7FF0 << 48, 0x7FF8 << 48)
    magnitudes = values & values.dtype.type(sign - 1)
    odd = (magnitudes > infinity) & (magnitudes != quiet)
    if not odd.any():
        return False
    values[odd] = values[odd] & values.dtype.type(sign) | values.dtype.type(quiet)
    return True


def _as_typed(element: ElementType, raw: Data, count: int) -> bytes:
    """Convert raw data of `count` elements to the value of the element type's typed field."""
    if element.field in ("float_data", "double_data"):
        return bytes(raw)
    if element.bits == 6:
        return pack_varints(unpack(np.frombuffer(raw, np.uint8), 6)[:count])
    letter = "i" if element.kind == "int" and element.bits >= 8 else "u"
    values = np.frombuffer(raw, f"<{letter}{max(element.bits // 8, 1)}")
    return pack_varints(values)
