# SPDX-License-Identifier: Apache-2.0
"""Decode value infos, tensors and attributes: compiled parts of `onnxtext.proto.decode`.

Each function returns None for rare forms, which are decoded in Python.
"""
cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy

from onnxtext._core.proto.decorators cimport DEFAULT_LOCATION, text_decorator
from onnxtext._core.proto.decode_entries cimport add_entry, is_entry, is_narrow, typed_entries
from onnxtext._core.proto.decode_types cimport Head, copied, shared_text, text_of, type_of, typed_value
from onnxtext._core.proto.field_keys cimport *
from onnxtext._core.tensor.packing cimport is_packed
from onnxtext._core.ast.slots cimport (
    ATTRIBUTE, EXTERNAL_DATA, OF_EXTERNAL, OF_RAW, OF_STRINGS, OF_TYPED, OF_VALUE, RAW_DATA,
    STRING_DATA, TENSOR, TYPED_DATA, build, get, make_data, make_float32, plain_value_info, replace,
)
from onnxtext._core.wire.reader cimport Bytes, Field, read_field

from onnxtext.ast.metadata_decorators import meta_of
from onnxtext.ast.tensors_and_attributes import Floats, Reference, RepeatedList, SparseTensor
from onnxtext.ast.typed_blobs import PackedInts
from onnxtext.ast.types import SparseTensorType
from onnxtext.proto.decode.types_and_tensors import NotCanonical

cdef enum:  # the keys of packed lists that the schema declares unpacked
    PACKED_FLOATS = 0x3A
    PACKED_INTS = 0x42
    PACKED_DIMS = 0x0A
    GRAPH = 5  # `AttributeType.GRAPH`

@cython.final
cdef class Values:
    def __cinit__(self, dict types, Py_ssize_t most_ints):
        """Create the caches.

        Args:
            types: value infos by their encoded type.
            most_ints: lists of more ints in attributes become `PackedInts` or `RepeatedList`.
        """
        self.most_ints = most_ints
        self.attributes, self.heads, self.types, self.sparse_types = {}, {}, types, {}
        self.is_plain, self.last_entries, self.tensors = True, (), []

    cdef tuple finished(self, list entries):
        """Return the entries of an item; None means that it has none."""
        if entries is None:
            return ()
        self.last_entries = tuple(entries)
        return self.last_entries

    # ---- Value infos ----------------------------------------------------------------------------

    cdef object value_info(self, Bytes data, Py_ssize_t start, Py_ssize_t end):
        """Decode a value info with a name, and optionally a type, doc strings and metadata."""
        cdef Field field
        cdef Py_ssize_t offset
        cdef list docs = None, entries = None
        if not read_field(data, start, end, &field) or field.key != VALUE_INFO_NAME:
            return None
        name = shared_text(self.likely_name, data, field.value, field.end)
        offset = field.end
        if offset == end:
            return plain_value_info(name, None, None, ())
        if not read_field(data, offset, end, &field) or field.key != VALUE_INFO_TYPE:
            return None
        key = copied(data, field.value, field.end)
        offset = field.end
        while offset < end:
            if not read_field(data, offset, end, &field):
                return None
            offset = field.end
            if field.key == VALUE_INFO_METADATA_PROPS and is_entry(data, field.value, offset):
                entries = add_entry(entries, self.last_entries, data, field.value, offset)
            elif field.key == VALUE_INFO_DOC_STRING:
                docs = added(docs, text_decorator("doc", copied(data, field.value, offset)))
            else:
                return None
        cached = self.types.get(key)
        if cached is None:
            cached = typed_value(key)
            if cached is None:
                return None
            self.types[key] = cached
        kind, decorators = get(cached, OF_VALUE.type), get(cached, OF_VALUE.decorators)
        if kind is None:
            return None
        decorators += () if docs is None else tuple(docs)
        result = plain_value_info(name, kind, None, decorators)
        if entries is not None:
            self.is_plain = False
            replace(result, OF_VALUE.metadata, self.finished(entries))
        return result

    # ---- Tensors --------------------------------------------------------------------------------

    cdef object initializer(self, Bytes data, view, Py_ssize_t start, Py_ssize_t end):
        """Decode an initializer that has a name, and data of the right size."""
        if not self._tensor(data, view, start, end) or self.name is None:
            return None
        return plain_value_info(self.name, self.tensor_type, self.held, self.decorators)

    cdef bint _tensor(self, Bytes data, view, Py_ssize_t start, Py_ssize_t end) except -1:
        """Decode a tensor to attributes of `self`; return False for rare forms."""
        cdef Field field
        cdef list metadata = None, strings = None, external = None, docs = None
        cdef Py_ssize_t offset = start, index, size
        cdef uint64_t location = 0
        cdef bint is_located = False
        cdef Head head = None
        cdef bytes entries
        self.name = self.held = None
        while offset < end:
            if not read_field(data, offset, end, &field):
                return False
            if self.is_strict and field.key == PACKED_DIMS:
                raise NotCanonical
            if field.key != TENSOR_DIMS and field.key != TENSOR_DATA_TYPE:
                break
            offset = field.end
        prefix = copied(data, start, offset)
        head = self.heads.get(prefix)
        if head is None:
            head = self.heads[prefix] = Head(prefix)
        while offset < end:
            if not read_field(data, offset, end, &field):
                return False
            offset = field.end
            if field.key == TENSOR_NAME:
                self.name = text_of(data, field.value, offset)
                continue
            if field.key == TENSOR_METADATA_PROPS and is_entry(data, field.value, offset):
                metadata = add_entry(metadata, self.last_entries, data, field.value, offset)
                continue
            if field.key == TENSOR_STRING_DATA and head.is_string:
                strings = added(strings, copied(data, field.value, offset))
                continue
            if field.key == TENSOR_EXTERNAL_DATA and is_entry(data, field.value, offset):
                external = add_entry(external, self.last_entries, data, field.value, offset)
                continue
            if field.key == TENSOR_DOC_STRING:
                docs = added(docs, text_decorator("doc", copied(data, field.value, offset)))
                continue
            if field.key == TENSOR_DATA_LOCATION:
                location = field.number
                is_located = True
                continue
            if self.held is not None or head.size < 0 or (field.value == offset and head.size):
                return False
            if field.key == TENSOR_RAW_DATA:
                if offset - field.value != head.size:
                    return False
                if head.bits < 8 and not is_packed(
                    data + field.value, head.size, head.count, head.bits, 1
                ):
                    return False
                if head.is_bool:
                    for index in range(field.value, offset):
                        if data[index] > 1:
                            return False
                self.largest = max(self.largest, head.count)
                is_large = head.size > SMALL
                held = view[field.value:offset] if is_large else copied(data, field.value, offset)
                self.held = make_data(RAW_DATA, OF_RAW, held)
            elif field.key == head.typed_key and head.size:
                entries = typed_entries(data, field.value, offset, field.key)
                if entries is None or (head.is_complex and len(entries) * 8 % head.bits):
                    return False
                if head.bits < 8 and not is_packed(
                    <Bytes><const char*>entries, len(entries), head.count, head.bits, 4
                ):
                    return False
                size = len(entries) // (4 if is_narrow(field.key) else 8)
                self.largest = max(self.largest, size, head.count if head.bits < 8 else 0)
                self.held = make_data(TYPED_DATA, OF_TYPED, entries)
            else:
                return False
        if external or strings or location:
            if self.held is not None or (strings and (external or location)):
                return False
            if strings:
                self.largest = max(self.largest, len(strings))
                self.held = make_data(STRING_DATA, OF_STRINGS, tuple(strings))
            elif external and location == 1:
                self.held = make_data(EXTERNAL_DATA, OF_EXTERNAL, self.finished(external))
                is_located = False
        elif self.held is None and not head.size and head.bits:  # a tensor without elements
            self.held = make_data(TYPED_DATA, OF_TYPED, b"")
        self.tensor_type = head.type
        self.decorators = () if docs is None else tuple(docs)
        if metadata is not None:
            self.decorators += (meta_of(self.finished(metadata)),)
            self.is_plain = False
        if is_located:
            self.decorators += (DEFAULT_LOCATION,)
        return self.held is not None

    # ---- Attributes -----------------------------------------------------------------------------

    cdef object attribute(
        self, Bytes data, view, Py_ssize_t start, Py_ssize_t end, Py_ssize_t most
    ):
        """Decode an attribute of numbers, strings, tensors, types or a parameter reference.

        Equal attributes of up to `most` bytes share an object.
        """
        cdef Field field = Field(0, 0, 0, 0)
        cdef Py_ssize_t offset = start, first = start, last = start, count = 1
        cdef int kind = 0, key = 0
        small = value = None
        name = ""
        if end - start <= most:
            small = copied(data, start, end)
            cached = self.attributes.get(small)
            if cached is not None:
                return cached
        while offset < end:
            if not read_field(data, offset, end, &field):
                return None
            if field.key == ATTRIBUTE_NAME:
                name = text_of(data, field.value, field.end)
            elif field.key == ATTRIBUTE_TYPE:
                if field.number > 14:
                    return None
                kind = <int>field.number
            elif field.key == ATTRIBUTE_REF_ATTR_NAME:
                value = Reference(text_of(data, field.value, field.end))
            elif self.is_strict and (field.key == PACKED_FLOATS or field.key == PACKED_INTS):
                raise NotCanonical
            elif not key:
                key, first, last = field.key, offset, field.end
            elif field.key == key and offset == last:
                last = field.end
                count += 1
            else:
                return None
            offset = field.end
        if value is None:
            if not key or VALUE_KEYS[kind] != key or GRAPH in (kind, ITEM_KINDS[kind]):
                return None
            if key == ATTRIBUTE_INTS and count > self.most_ints:
                value = self._packed(data, first, last, count)
            else:
                value = self._attribute_value(kind, key, data, view, first, last)
            if value is None:
                return None
        elif key:
            return None
        result = build(ATTRIBUTE, (name, KINDS[kind], value, ()))
        if small is not None:
            self.attributes[small] = result
        return result

    cdef object _attribute_value(
        self, int kind, int key, Bytes data, view, Py_ssize_t start, Py_ssize_t end
    ):
        """Decode the value of an attribute from consecutive fields with the same key."""
        cdef Field field = Field(0, 0, 0, 0)
        cdef Py_ssize_t offset = start, count = 0
        cdef bytes floats
        cdef list items = []
        if key == ATTRIBUTE_FLOATS:
            floats = PyBytes_FromStringAndSize(NULL, (end - start) // 5 * 4)
        while offset < end:
            if not read_field(data, offset, end, &field):
                return None
            offset = field.end
            if key == ATTRIBUTE_INTS:
                items.append(<int64_t>field.number)
            elif key == ATTRIBUTE_STRINGS:
                items.append(self._string(data, field.value, offset))
            elif (
                key == ATTRIBUTE_TENSORS or key == ATTRIBUTE_TYPE_PROTOS
                or key == ATTRIBUTE_SPARSE_TENSORS
            ):
                item = self._item(key, data, view, field.value, offset)
                if item is None:
                    return None
                items.append(item)
            elif key == ATTRIBUTE_FLOATS:
                if 4 * count + 4 > len(floats):
                    return None
                memcpy(PyBytes_AS_STRING(floats) + 4 * count, data + field.value, 4)
                count += 1
        self.largest = max(self.largest, len(items), count)
        if items:
            return tuple(items)
        if key == ATTRIBUTE_FLOATS:
            return Floats(floats) if 4 * count == len(floats) else None
        if key == ATTRIBUTE_I:
            return <int64_t>field.number
        if key == ATTRIBUTE_S:
            return self._string(data, field.value, offset)
        if key == ATTRIBUTE_F:
            return make_float32(
                data[offset - 4] | data[offset - 3] << 8
                | data[offset - 2] << 16 | <uint32_t>data[offset - 1] << 24
            )
        return self._item(key, data, view, field.value, offset)

    cdef object _packed(self, Bytes data, Py_ssize_t start, Py_ssize_t end, Py_ssize_t count):
        """Return consecutive fields as `PackedInts` or `RepeatedList`; None if a key is padded."""
        cdef Field field
        cdef Py_ssize_t size = 0, first = 0
        cdef bytes packed = PyBytes_FromStringAndSize(NULL, end - start - count)
        cdef char* into = packed
        while start < end:
            read_field(data, start, end, &field)
            start = field.end
            memcpy(into + size, data + field.value, start - field.value)
            size += start - field.value
            first = first or size
        self.largest = max(self.largest, count)
        if size < len(packed):
            return None
        if memcmp(into, into + first, size - first) == 0:
            return RepeatedList((<int64_t>field.number,), count)
        return PackedInts(packed)

    cdef bytes _string(self, Bytes data, Py_ssize_t start, Py_ssize_t end):
        """Decode a string in an attribute."""
        self.largest = self.largest if end - start <= SMALL else UNKNOWN
        return copied(data, start, end)

    cdef object _item(self, int key, Bytes data, view, Py_ssize_t start, Py_ssize_t end):
        """Decode a type or tensor of an attribute, or an item of its list; None if Python must."""
        if key == ATTRIBUTE_TP or key == ATTRIBUTE_TYPE_PROTOS:
            return type_of(data, start, end, 0)
        if key == ATTRIBUTE_SPARSE_TENSOR or key == ATTRIBUTE_SPARSE_TENSORS:
            return self._sparse(data, view, start, end, False)
        if not self._tensor(data, view, start, end) or DEFAULT_LOCATION in self.decorators:
            return None
        tensor = build(TENSOR, (self.tensor_type, self.held, self.name, self.decorators))
        if self.tensors is not None:
            self.tensors.append(tensor)
        return tensor

    # ---- Sparse tensors -------------------------------------------------------------------------

    cdef object sparse_initializer(self, Bytes data, view, Py_ssize_t start, Py_ssize_t end):
        """Decode a sparse initializer; its name is the name of its values tensor."""
        sparse = self._sparse(data, view, start, end, True)
        if sparse is None:
            return None
        key = (sparse.values.type.element, sparse.dims)
        type = self.sparse_types.get(key)
        if type is None:
            type = self.sparse_types[key] = SparseTensorType(*key)
        return plain_value_info(self.sparse_name, type, sparse, ())

    cdef object _sparse(
        self, Bytes data, view, Py_ssize_t start, Py_ssize_t end, bint is_initializer
    ):
        """Decode a sparse tensor with its fields in order and no decorators; None for others.

        For an initializer, the name of its values tensor is moved to `sparse_name`.
        """
        cdef Field field
        cdef list dims = []
        values = None
        for key in (SPARSE_TENSOR_VALUES, SPARSE_TENSOR_INDICES):
            if start >= end or not read_field(data, start, end, &field) or field.key != key:
                return None
            start = field.end
            if not self._tensor(data, view, field.value, start) or self.decorators:
                return None
            if values is None and is_initializer:
                if self.name is None:
                    return None
                self.sparse_name, self.name = self.name, None
            decoded = build(TENSOR, (self.tensor_type, self.held, self.name, ()))
            if self.tensors is not None and not (is_initializer and values is None):
                self.tensors.append(decoded)
            values = decoded if values is None else values
        while start < end:
            if not read_field(data, start, end, &field) or field.key != SPARSE_TENSOR_DIMS:
                return None
            dims.append(<int64_t>field.number)
            start = field.end
        return SparseTensor(tuple(dims), values, decoded)


cdef list added(list items, item):
    """Append an item to a list, which is created if it is None; return the list."""
    items = [] if items is None else items
    items.append(item)
    return items
