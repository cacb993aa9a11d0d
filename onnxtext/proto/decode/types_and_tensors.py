# SPDX-License-Identifier: Apache-2.0
"""Decode types, tensors and small messages, and the decorators that several messages share.

Each function ignores the fields that it does not recognize; encoding the result shows whether
fields were lost (`lift`). The functions raise `WireError` if the bytes are not a message.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from onnxtext import ast
from onnxtext.ast.byte_strings import to_text
from onnxtext.ast.metadata_decorators import meta_of
from onnxtext.tensor.element_count import count_elements
from onnxtext.tensor.element_types import ELEMENT_NUMBERS, ELEMENTS, ElementType, raw_size
from onnxtext.tensor.format_elements import is_expressible, is_typed_expressible
from onnxtext.tensor.varints import unpack_varints
from onnxtext.wire.reader import WireError, check_depth, read_fields, read_varint, to_int64
from onnxtext.wire.writer import LENGTH, VARINT

Data = bytes | memoryview


class NotCanonical(ValueError):
    """The fast path found bytes that differ from the encoding of its result."""


def lift_entry(data: Data) -> tuple[str, str]:
    """Return the key and value of a `StringStringEntryProto`."""
    key, value = _two_strings(data)
    return key or "", value or ""


def _two_strings(data: Data) -> tuple[str | None, str | None]:
    """Return the strings in fields 1 and 2 of a message; None for an absent field."""
    first = second = None
    for field in read_fields(data, 0, len(data)):
        if field.wire_type == LENGTH:
            if field.number == 1:
                first = to_text(data[field.value : field.end])
            elif field.number == 2:
                second = to_text(data[field.value : field.end])
    return first, second


def doc_decorator(text: Data) -> ast.Decorator:
    """Return `@doc("…")`."""
    return ast.Decorator("doc", (ast.Field(None, bytes(text)),))


def meta_decorator(entries: list[Data]) -> ast.Decorator:
    """Return `@meta("key": "value", …)`."""
    return meta_of(tuple(map(lift_entry, entries)))


def lift_opset(data: Data) -> ast.OpsetImport:
    """Decode an `OperatorSetIdProto`."""
    result = ast.OpsetImport(None, 0)
    for field in read_fields(data, 0, len(data)):
        if field.number == 1 and field.wire_type == LENGTH:
            result.domain = to_text(data[field.value : field.end])
        elif field.number == 2 and field.wire_type == VARINT:
            result.version = to_int64(read_varint(data, field.value, field.end)[0])
    return result


def lift_configuration(data: Data) -> ast.Configuration:
    """Decode a `DeviceConfigurationProto`."""
    from onnxtext.proto.convert_records import lift_record
    from onnxtext.proto.descriptors import message_spec

    name = ""
    fields = []
    for field in lift_record(message_spec("DeviceConfigurationProto"), data).fields:
        if field.key == "name" and isinstance(field.value, bytes):
            name = to_text(field.value)
        else:
            fields.append(field)
    return ast.Configuration(name, ast.Record(tuple(fields)))


def lift_annotation(data: Data) -> ast.Annotation:
    """Decode a `TensorAnnotation`."""
    name = ""
    entries = []
    for field in read_fields(data, 0, len(data)):
        if field.wire_type == LENGTH:
            inside = data[field.value : field.end]
            if field.number == 1:
                name = to_text(inside)
            elif field.number == 2:
                entries.append(lift_entry(inside))
    return ast.Annotation(name, tuple(entries))


def device_decorator(data: Data) -> ast.Decorator:
    """Return `@device("id", …)` for a `NodeDeviceConfigurationProto`."""
    from onnxtext.proto.convert_records import lift_record
    from onnxtext.proto.descriptors import message_spec

    fields = lift_record(message_spec("NodeDeviceConfigurationProto"), data).fields
    if fields and fields[0].key == "configuration_id":
        fields = (ast.Field(None, fields[0].value), *fields[1:])
    return ast.Decorator("device", fields)


# ---- Types ----------------------------------------------------------------------------------


def lift_type(data: Data, depth: int = 0) -> ast.Type | None:
    """Decode a `TypeProto`; return None if the syntax cannot express the type.

    Raises:
        WireError: the bytes are not a message, or nested too deeply.
    """
    check_depth(depth)
    result: ast.Type | None = None
    decorators: tuple[ast.Decorator, ...] = ()
    for field in read_fields(data, 0, len(data)):
        if field.wire_type != LENGTH:
            continue
        inside = data[field.value : field.end]
        match field.number:
            case 1:
                result = _tensor_type(inside, ast.TensorType)
            case 8:
                result = _tensor_type(inside, ast.SparseTensorType)
            case 4 | 9:
                element = _inner_type(inside, 1, depth)
                if element is not None:
                    result = (
                        ast.SequenceType(element)
                        if field.number == 4
                        else ast.OptionalType(element)
                    )
            case 5:
                result = _map_type(inside, depth)
            case 7:
                domain, name = _two_strings(inside)
                is_valid = domain is None or name is not None
                result = ast.OpaqueType(domain, name) if is_valid else None
            case 6:
                decorators = (ast.Decorator("denotation", (ast.Field(None, bytes(inside)),)),)
    if result is not None and decorators:
        result = replace(result, decorators=decorators)
    return result


def _inner_type(data: Data, number: int, depth: int) -> ast.Type | None:
    for field in read_fields(data, 0, len(data)):
        if field.number == number and field.wire_type == LENGTH:
            return lift_type(data[field.value : field.end], depth + 2)
    return None


def _element_name(number: int) -> str:
    if number == 0:
        return "undefined"
    element = ELEMENT_NUMBERS.get(number)
    return element.name if element is not None else ""


def _tensor_type(
    data: Data, kind: type[ast.TensorType] | type[ast.SparseTensorType]
) -> ast.TensorType | ast.SparseTensorType | None:
    element = ""
    shape: tuple[ast.Dim, ...] | None = None
    for field in read_fields(data, 0, len(data)):
        if field.number == 1 and field.wire_type == VARINT:
            element = _element_name(read_varint(data, field.value, field.end)[0])
        elif field.number == 2 and field.wire_type == LENGTH:
            inside = data[field.value : field.end]
            shape = tuple(
                [
                    _dim(inside[dim.value : dim.end])
                    for dim in read_fields(inside, 0, len(inside))
                    if dim.number == 1 and dim.wire_type == LENGTH
                ]
            )
    return kind(element, shape) if element else None


def _dim(data: Data) -> ast.Dim:
    value: int | str | None = None
    decorators: tuple[ast.Decorator, ...] = ()
    for field in read_fields(data, 0, len(data)):
        if field.number == 1 and field.wire_type == VARINT:
            value = to_int64(read_varint(data, field.value, field.end)[0])
        elif field.number == 2 and field.wire_type == LENGTH:
            value = to_text(data[field.value : field.end])
        elif field.number == 3 and field.wire_type == LENGTH:
            text = bytes(data[field.value : field.end])
            decorators = (ast.Decorator("denotation", (ast.Field(None, text),)),)
    return ast.DecoratedDim(value, decorators) if decorators else value


def _map_type(data: Data, depth: int) -> ast.MapType | None:
    key = ""
    for field in read_fields(data, 0, len(data)):
        if field.number == 1 and field.wire_type == VARINT:
            key = _element_name(read_varint(data, field.value, field.end)[0])
    value = _inner_type(data, 2, depth)
    return ast.MapType(key, value) if key not in ("", "undefined") and value is not None else None


# ---- Tensors --------------------------------------------------------------------------------

_DATA_FIELDS = {
    4: "float_data", 5: "int32_data", 7: "int64_data", 10: "double_data", 11: "uint64_data",
}  # fmt: skip


def lift_tensor(
    data: Data,
) -> tuple[ast.TensorType, str | None, ast.TensorData, list[ast.Decorator], bool]:
    """Return (type, name, data, decorators, is_whole) of a `TensorProto`.

    `name` is None if it is absent. A `RawData` shares memory with the argument. `is_whole` is True
    if the other results express all fields.

    Raises:
        WireError: the bytes are not a message.
    """
    dims: list[int] = []
    number = 0
    name: str | None = None
    external: list[Data] = []
    location: int | None = None
    is_whole = True
    numeric: dict[str, list[Data]] = {}
    strings: list[bytes] = []
    raw: Data | None = None
    entries: list[Data] = []
    decorators: list[ast.Decorator] = []
    for field in read_fields(data, 0, len(data)):
        if field.wire_type == VARINT:
            value = to_int64(read_varint(data, field.value, field.end)[0])
            if field.number == 1:
                dims.append(value)
            elif field.number == 2:
                number = value
            elif field.number == 14:
                location = value
            else:
                is_whole = False
            continue
        if field.wire_type != LENGTH:
            is_whole = False
            continue
        inside = data[field.value : field.end]
        match field.number:
            case 8:
                name = to_text(inside)
            case 9:
                raw = inside
            case 6:
                strings.append(bytes(inside))
            case 4 | 5 | 7 | 10 | 11:
                numeric.setdefault(_DATA_FIELDS[field.number], []).append(inside)
            case 13:
                external.append(inside)
            case 12:
                decorators.append(doc_decorator(inside))
            case 3:
                decorators.append(_segment(inside))
            case 16:
                entries.append(inside)
            case _:
                is_whole = False
    if entries:
        decorators.append(meta_decorator(entries))
    type = _dense_type(number, tuple(dims))
    fields: dict[str, Data | tuple[bytes, ...]] = {
        key: _field_entries(key, parts) for key, parts in numeric.items()
    }
    if strings:
        fields["string_data"] = tuple(strings)
    if raw is not None:
        fields["raw_data"] = raw
    if external and location == 1 and not fields:
        pairs = tuple([lift_entry(entry) for entry in external])
        return type, name, ast.ExternalData(pairs), decorators, is_whole
    is_whole = is_whole and location is None and not external
    return type, name, _tensor_data(type, tuple(dims), fields), decorators, is_whole


@lru_cache(maxsize=1024)
def _dense_type(number: int, dims: tuple[int, ...]) -> ast.TensorType:
    """Return the type of a tensor; equal types share an object, so the printer prints them once."""
    return ast.TensorType(_element_name(number) or "undefined", dims)


def _segment(data: Data) -> ast.Decorator:
    arguments = []
    for field in read_fields(data, 0, len(data)):
        if field.number in (1, 2) and field.wire_type == VARINT:
            value = to_int64(read_varint(data, field.value, field.end)[0])
            arguments.append(
                ast.Field("begin" if field.number == 1 else "end", ast.Number(str(value)))
            )
    return ast.Decorator("segment", tuple(arguments))


def _field_entries(name: str, parts: list[Data]) -> bytes:
    """Return the entries of a packed field as fixed-width bytes, or raise a `WireError`."""
    data = b"".join(parts)
    if name in ("float_data", "double_data"):
        if any(len(part) % (4 if name == "float_data" else 8) for part in parts):
            raise WireError(f"{name} ends inside an item", 0)
        return data
    try:
        values = unpack_varints(data)
    except ValueError as error:
        raise WireError(f"{name}: {error}", 0) from None
    return values.astype("<u4" if name == "int32_data" else "<u8").tobytes()


def _tensor_data(
    type: ast.TensorType, dims: tuple[int, ...], fields: dict[str, Data | tuple[bytes, ...]]
) -> ast.TensorData:
    """Return the data of a tensor, given the bytes or strings of its data fields by name."""
    element = ELEMENTS.get(type.element)
    if element is not None and all(dim >= 0 for dim in dims):
        count = count_elements(dims)
        if not fields and not count:
            return ast.StringData(()) if element.kind == "string" else ast.TypedData(b"")
        if len(fields) == 1:
            ((name, value),) = fields.items()
            fitting = _fitting_data(element, count, name, value)
            if fitting is not None:
                return fitting
    if not fields:
        return ast.NoData()
    order = ("float_data", "int32_data", "string_data", "int64_data", "raw_data", "double_data")
    names = [name for name in (*order, "uint64_data") if name in fields]
    values = [fields[name] for name in names]
    copies = [value if isinstance(value, tuple) else bytes(value) for value in values]
    return ast.FieldData(tuple(zip(names, copies, strict=True)))


def _fitting_data(
    element: ElementType, count: int, name: str, value: Data | tuple[bytes, ...]
) -> ast.TensorData | None:
    """Return the data of a tensor with one data field; None if a literal cannot express it."""
    if isinstance(value, tuple):
        return ast.StringData(value) if element.kind == "string" else None
    if name == "raw_data":
        if element.kind != "string" and len(value) == raw_size(element, count):
            return ast.RawData(value) if is_expressible(element, value, count) else None
        return None
    if name != element.field or not value:
        return None
    return ast.TypedData(bytes(value)) if is_typed_expressible(element, value, count) else None


def lift_sparse_tensor(data: Data) -> tuple[ast.SparseTensor | None, str | None]:
    """Return a sparse tensor and the name of its `values`; (None, None) if no syntax expresses it.

    Raises:
        WireError: the bytes are not a message.
    """
    dims: list[int] = []
    parts: dict[int, ast.Tensor] = {}
    for field in read_fields(data, 0, len(data)):
        if field.number == 3 and field.wire_type == VARINT:
            dims.append(to_int64(read_varint(data, field.value, field.end)[0]))
        elif field.number in (1, 2) and field.wire_type == LENGTH:
            part = data[field.value : field.end]
            type, name, values, decorators, is_whole = lift_tensor(part)
            if not is_whole:
                return None, None
            parts[field.number] = ast.Tensor(type, values, name, tuple(decorators))
    if len(parts) != 2 or any(
        isinstance(part.data, (ast.FieldData, ast.NoData)) for part in parts.values()
    ):
        return None, None
    return ast.SparseTensor(tuple(dims), parts[1], parts[2]), parts[1].name
