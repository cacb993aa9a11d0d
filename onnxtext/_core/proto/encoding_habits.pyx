# SPDX-License-Identifier: Apache-2.0
"""Observe and apply encoding habits: the compiled loops of `onnxtext.proto.encoding_habits`.

`Schema.observe` and `Schema.encode` return None for messages with unusual fields, which Python
reads.
"""
from cpython.mem cimport PyMem_Calloc, PyMem_Free, PyMem_Realloc
from libc.stdint cimport int32_t, uint64_t

from onnxtext._core.wire.buffer cimport Buffer
from onnxtext._core.wire.reader cimport FIXED32, LENGTH, VARINT, Bytes, Field, read_field, read_varint

from onnxtext.proto.descriptors import message_spec

cdef enum:
    MAX_NUMBERS = 64  # the tables have the field numbers below this one
    DEEPEST = 200  # Python reads messages that are nested deeper
    UNKNOWN = -1

cdef bytes ASCENDING = bytes(range(1, MAX_NUMBERS))

cdef struct Known:  # a field of a message type
    int wire_type  # UNKNOWN if the schema has no such field
    int message  # the index of its message type; -1 for other fields
    bint is_list  # whether it is a list of numbers, which may be packed
    bint is_repeated
    bint is_enum
    uint64_t values  # bit mask of the numbers of an enum

cdef struct Seen:  # how all messages of one type are encoded; sets of field numbers are bit masks
    bint any
    bint split
    uint64_t packed
    uint64_t unpacked
    uint64_t found
    uint64_t[MAX_NUMBERS] before

cdef struct Part:  # a known field of a message
    int number
    Py_ssize_t start
    Field field


cdef class Schema:
    """The fields of all message types in a model, by index and number."""
    cdef list names
    cdef dict indexes
    cdef Known* fields
    cdef Py_ssize_t count
    cdef bint fits  # whether the schema fits into the tables

    def __cinit__(self):
        """Read the schema of the installed onnx."""
        cdef Known* known
        self.names, self.indexes = ["ModelProto"], {"ModelProto": 0}
        for name in self.names:  # the loop appends names
            for field in message_spec(name).by_number.values():
                if field.message and field.message not in self.indexes:
                    self.indexes[field.message] = len(self.names)
                    self.names.append(field.message)
        self.count = len(self.names)
        self.fits = True
        self.fields = <Known*>PyMem_Calloc(self.count * MAX_NUMBERS, sizeof(Known))
        if self.fields is NULL:
            raise MemoryError
        for slot in range(self.count * MAX_NUMBERS):
            self.fields[<Py_ssize_t>slot].wire_type = UNKNOWN
        for index, name in enumerate(self.names):
            for number, field in message_spec(name).by_number.items():
                values = [value for _, value in field.enum]
                if not 0 < number < MAX_NUMBERS or not all([0 <= v < 64 for v in values]):
                    self.fits = False
                    return
                known = &self.fields[<Py_ssize_t>(index * MAX_NUMBERS + number)]
                known.wire_type = field.wire_type
                known.message = self.indexes[field.message] if field.message else -1
                known.is_repeated = field.repeated
                known.is_list = field.repeated and field.wire_type != LENGTH
                known.is_enum = field.kind == "enum"
                for value in values:
                    known.values |= 1ULL << <int>value

    def __dealloc__(self):
        PyMem_Free(self.fields)

    cdef Known* known(self, int message, Field* field) noexcept:
        """Return the schema's field with the number of `field`; NULL if there is none."""
        cdef Known* found
        if field.key >> 3 >= MAX_NUMBERS:
            return NULL
        found = &self.fields[message * MAX_NUMBERS + (field.key >> 3)]
        return NULL if found.wire_type == UNKNOWN else found

    # ---- Observing --------------------------------------------------------------------------

    def observe(self, data):
        """Return how a model encodes each message type: (packed, unpacked, order, split) by name.

        `packed` and `unpacked` are the field numbers of lists, `order` maps a field number to those
        that occur directly before it, and `split` is whether a field recurs after another one.
        `order` is empty if all fields are in ascending order.
        """
        cdef const unsigned char[::1] buffer = data
        cdef Seen* seen
        cdef Py_ssize_t index
        if not buffer.shape[0] or not self.fits:
            return None
        seen = <Seen*>PyMem_Calloc(self.count, sizeof(Seen))
        if seen is NULL:
            raise MemoryError
        try:
            if not self._observe(&buffer[0], 0, buffer.shape[0], 0, seen, 0):
                return None
            return {
                self.names[index]: (
                    numbers_of(seen[index].packed),
                    numbers_of(seen[index].unpacked),
                    fields_before(&seen[index]),
                    seen[index].split,
                )
                for index in range(self.count) if seen[index].any
            }
        finally:
            PyMem_Free(seen)

    cdef bint _observe(
        self, Bytes data, Py_ssize_t offset, Py_ssize_t end, int message, Seen* all_seen, int depth
    ) noexcept:
        cdef Seen* seen = &all_seen[message]
        cdef Field field
        cdef Known* known
        cdef uint64_t here = 0
        cdef int number, last = 0
        seen.any = True
        if depth > DEEPEST:
            return False
        while offset < end:
            if not read_field(data, offset, end, &field) or field.key < 8:
                return False
            offset = field.end
            known = self.known(message, &field)
            if known is NULL:
                continue
            number = field.key >> 3
            if number != last:
                if here >> number & 1:
                    seen.split = True
                here |= 1ULL << number
                seen.found |= 1ULL << number
                if last:
                    seen.before[number] |= 1ULL << last
                last = number
            if known.message >= 0 and field.key & 7 == LENGTH:
                if not self._observe(data, field.value, offset, known.message, all_seen, depth + 1):
                    return False
            elif known.is_list:
                if field.key & 7 == LENGTH:
                    seen.packed |= 1ULL << number
                else:
                    seen.unpacked |= 1ULL << number
        return True

    # ---- Applying ---------------------------------------------------------------------------

    def encode(self, str message, data, dict packed, dict orders):
        """Encode a canonical message again, according to encoding habits.

        Args:
            message: the name of its type.
            data: its canonical encoding.
            packed: by message type and field number, whether the list is packed.
            orders: by message type, the rank of each field number.
        """
        cdef const unsigned char[::1] buffer = data
        cdef Buffer out = Buffer()
        if not buffer.shape[0] or not self.fits or message not in self.indexes:
            return None
        plans = [(ASCENDING, {}) for _ in self.names]
        for owner in {*orders, *[owner for owner, _ in packed]} & self.indexes.keys():
            plans[<Py_ssize_t>self.indexes[owner]] = (
                ranked(orders.get(owner, {})),
                {number: wanted for (name, number), wanted in packed.items() if name == owner},
            )
        if not self._encode(&buffer[0], 0, buffer.shape[0], self.indexes[message], plans, out, 0):
            return None
        return out.take(0)

    cdef bint _encode(
        self, Bytes data, Py_ssize_t offset, Py_ssize_t end, int message, list plans, Buffer out,
        int depth
    ) except -1:
        """Add the content of a message, encoded by habits; return False for unusual fields."""
        cdef Part* parts = NULL
        cdef Part* part
        cdef Py_ssize_t count = 0, room = 0, index, start
        cdef Known* known
        cdef Field field
        cdef uint64_t found = 0
        cdef Buffer unknown = None
        cdef bytes order
        cdef dict packed
        cdef int number
        order, packed = plans[message]
        if depth > DEEPEST:
            return False
        try:
            while offset < end:
                if not read_field(data, offset, end, &field) or field.key < 8:
                    return False
                known = self.known(message, &field)
                if known is NULL or not is_known(known, &field):
                    if unknown is None:
                        unknown = Buffer()
                    unknown.add(<const char*>data + offset, field.end - offset)
                else:
                    if count == room:
                        room = 2 * room + 16
                        part = <Part*>PyMem_Realloc(parts, room * sizeof(Part))
                        if part is NULL:
                            raise MemoryError
                        parts = part
                    part = &parts[count]
                    part.number, part.start, part.field = field.key >> 3, offset, field
                    found |= 1ULL << part.number
                    count += 1
                offset = field.end
            for number in order:
                if not found:
                    break
                if not found >> number & 1:
                    continue
                found &= ~(1ULL << number)
                wanted = packed.get(number) if packed else None
                known = &self.fields[message * MAX_NUMBERS + number]
                start = out.open(number << 3 | LENGTH) if wanted else 0
                for index in range(count):
                    part = &parts[index]
                    if part.number != number:
                        continue
                    if wanted is not None:
                        if not add_values(data, part, known, wanted, out):
                            return False
                    elif known.message >= 0:
                        start = out.open(number << 3 | LENGTH)
                        if not self._encode(
                            data, part.field.value, part.field.end, known.message, plans, out,
                            depth + 1,
                        ):
                            return False
                        out.close(start)
                    else:
                        out.add(<const char*>data + part.start, part.field.end - part.start)
                if wanted:
                    out.close(start)
            if unknown is not None:
                out.add(unknown.data, unknown.size)
            return True
        finally:
            PyMem_Free(parts)


cdef bint is_known(Known* known, Field* field) noexcept:
    """Whether the wire type of a field and, for an enum, its value are in the schema."""
    cdef int32_t value = <int32_t>field.number
    if field.key & 7 != known.wire_type:
        return known.is_repeated and field.key & 7 == LENGTH and known.wire_type != LENGTH
    return not known.is_enum or (0 <= value < 64 and known.values >> value & 1)


cdef bint add_values(Bytes data, Part* part, Known* known, bint packed, Buffer out) except -1:
    """Add the values of a list of numbers: without keys if packed, else each with its key.

    Return False if a varint is invalid.
    """
    cdef Py_ssize_t offset = part.field.value, start
    cdef uint64_t number
    if packed:
        out.add(<const char*>data + offset, part.field.end - offset)
        return True
    while offset < part.field.end:
        start = offset
        if known.wire_type == VARINT:
            if not read_varint(data, &offset, part.field.end, &number):
                return False
        else:
            offset = min(offset + (4 if known.wire_type == FIXED32 else 8), part.field.end)
        out.number(0, part.number << 3 | known.wire_type)
        out.add(<const char*>data + start, offset - start)
    return True


cdef bytes ranked(dict ranks):
    """Return all field numbers in the order of their ranks; numbers without a rank come last."""
    rest = [number for number in range(1, MAX_NUMBERS) if number not in ranks]
    first = [number for number in sorted(ranks, key=ranks.get) if 0 < number < MAX_NUMBERS]
    return bytes(first + rest)


cdef dict fields_before(Seen* seen):
    """Return the fields directly before each field; {} if all fields are in ascending order."""
    cdef dict result = {}
    cdef int number
    cdef bint ascending = True
    for number in range(MAX_NUMBERS):
        if seen.found >> number & 1:
            ascending = ascending and not seen.before[number] >> number
            result[number] = numbers_of(seen.before[number])
    return {} if ascending else result


cdef set numbers_of(uint64_t bits):
    """Return the field numbers whose bits are set."""
    cdef set result = set()
    cdef int number = 0
    while bits:
        if bits & 1:
            result.add(number)
        bits >>= 1
        number += 1
    return result
