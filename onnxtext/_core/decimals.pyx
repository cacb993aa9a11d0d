# SPDX-License-Identifier: Apache-2.0
"""Convert numbers to decimal text, with the same results as `onnxtext.tensor.float_literals`.

Each function writes to a buffer of LONGEST characters and returns the number of characters.
"""
from cpython.mem cimport PyMem_Free
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memcpy, memmove, memset

cdef extern from "Python.h":
    char* PyOS_double_to_string(double, char, int, int, int*) except NULL

cdef enum:
    LEAST_POWER = -45  # the decimal exponents of the smallest and the largest float32
    MOST_POWER = 31
    MANTISSA = 1 << 23  # the implicit bit of a float32
    EIGHT = 100_000_000
    MOST_DIGITS = 17  # of a float64
    ROOM = 24  # the buffer size for the digits of a float64

# floor(10**-k * 2**s) + 1 for each exponent k, with s chosen to leave 64 bits.
cdef uint64_t[MOST_POWER - LEAST_POWER + 1] POWERS


def _power(exponent):
    if exponent >= 0:
        shift = (10**exponent).bit_length() - 64
        return ((10**exponent << 64) >> (64 + shift)) + 1
    size = (10**-exponent).bit_length()
    made = (1 << (64 + size - 1)) // 10**-exponent
    return made + 1 if made >> 63 else (1 << (64 + size)) // 10**-exponent + 1


for _k in range(LEAST_POWER, MOST_POWER + 1):
    POWERS[_k - LEAST_POWER] = _power(-_k)


cdef int write_unsigned(char* out, uint64_t value) noexcept:
    cdef int count = count_digits(value)
    write_digits(out, value, count)
    return count


cdef inline int count_digits(uint64_t value) noexcept:
    cdef int count = 1
    while value >= EIGHT:
        value //= EIGHT
        count += 8
    return (
        count + (value > 9) + (value > 99) + (value > 999) + (value > 9_999) + (value > 99_999)
        + (value > 999_999) + (value > 9_999_999)
    )


cdef void write_digits(char* out, uint64_t value, int count) noexcept:
    """Write a number of `count` digits; bytes after them may be overwritten."""
    cdef uint64_t digits
    if count > 8:
        write_digits(out, value // EIGHT, count - 8)
        digits = eight_digits(value % EIGHT)
        memcpy(out + count - 8, &digits, 8)
    elif count == 1:
        out[0] = <char>(c"0" + value)
    else:
        digits = eight_digits(value) >> (64 - 8 * count)
        memcpy(out, &digits, 8)


cdef inline uint64_t eight_digits(uint64_t value) noexcept:
    """Return the eight ASCII digits of a number below 10**8, the first in the lowest byte."""
    cdef uint64_t part
    value = value // 10_000 | (value % 10_000) << 32
    part = value * 10_486 >> 20 & 0x7F_0000_007FULL  # divide each half by 100
    value = part | (value - 100 * part) << 16
    part = value * 103 >> 10 & 0xF_000F_000F_000FULL  # divide each quarter by 10
    return (part | (value - 10 * part) << 8) + 0x3030_3030_3030_3030ULL


cdef int write_integer(char* out, int64_t value) noexcept:
    if value >= 0:
        return write_unsigned(out, <uint64_t>value)
    out[0] = c"-"
    return write_unsigned(out + 1, -<uint64_t>value) + 1


cdef int write_float32(char* out, uint32_t bits, bint point) noexcept:
    """Write the shortest decimal that rounds to a float32; of several, the closest (Schubfach)."""
    cdef uint32_t fraction = bits & (MANTISSA - 1), mantissa
    cdef int exponent = bits >> 23 & 255, power, shift, start = 0, count
    cdef uint64_t factor, lower, middle, upper, short, digits
    cdef bint is_odd, below, above
    if exponent == 255:
        return write_special(out, bits, bits >> 31, not fraction, bits & 0x7FFFFFFF == 0x7FC00000, 8)
    if bits >> 31:
        out[0] = c"-"
        start = 1
    mantissa = fraction
    if exponent:
        mantissa |= MANTISSA
        exponent -= 1
    exponent -= 149
    if not mantissa:
        out[start] = c"0"
        return start + spell(out + start, 1, 1, point, 13, -6)
    # The number is `mantissa * 2**exponent`. Its rounding interval is from `lower` to `upper`, in
    # units of a quarter of `10**power`.
    is_odd = mantissa & 1
    if fraction or exponent == -149:
        power = (exponent * 1262611) >> 22
        lower = 4 * <uint64_t>mantissa - 2
    else:  # the lower neighbour is nearer
        power = (exponent * 1262611 - 524031) >> 22
        lower = 4 * <uint64_t>mantissa - 1
    shift = exponent + ((-power * 1741647) >> 19) + 1
    factor = POWERS[power - LEAST_POWER]
    lower = scaled(factor, lower << shift) + is_odd
    middle = scaled(factor, (4 * <uint64_t>mantissa) << shift)
    upper = scaled(factor, (4 * <uint64_t>mantissa + 2) << shift) - is_odd
    digits = middle // 4
    short = digits // 10
    below = lower <= 40 * short
    above = 40 * short + 40 <= upper
    if digits >= 10 and below != above:
        digits = short + above
        power += 1
    else:
        below = lower <= 4 * digits
        above = 4 * digits + 4 <= upper
        if below != above:
            digits += above
        elif middle > 4 * digits + 2 or (middle == 4 * digits + 2 and digits & 1):
            digits += 1
    while digits % 10 == 0:
        digits //= 10
        power += 1
    count = count_digits(digits)
    write_digits(out + start + leading_zeros(out + start, count + power, -6), digits, count)
    return start + spell(out + start, count, count + power, point, 13, -6)


cdef inline uint64_t scaled(uint64_t factor, uint64_t value) noexcept:
    """Return `factor * value >> 64`; set the lowest bit of the result if bits were lost."""
    cdef uint64_t low = (factor & 0xFFFFFFFFULL) * value
    cdef uint64_t high = (factor >> 32) * value + (low >> 32)
    return high >> 32 | ((high & 0xFFFFFFFFULL) > 1)


cdef int write_float64(char* out, uint64_t bits, bint point) except -1:
    """Write a float64 like `write_float32`; Python computes the digits."""
    cdef double value
    cdef uint64_t size = bits & 0x7FFFFFFFFFFFFFFFULL
    cdef char* shortest
    cdef char[ROOM] digits
    cdef int at = 0, start = bits >> 63, count = 0, position = 0, exponent = 0
    cdef bint after_point = False, negative
    if size >= 0x7FF0000000000000ULL:
        return write_special(
            out, bits, bits >> 63, size == 0x7FF0000000000000ULL, size == 0x7FF8000000000000ULL, 16
        )
    memcpy(&value, &size, 8)
    shortest = PyOS_double_to_string(value, c"r", 0, 0, NULL)
    if start:
        out[0] = c"-"
    while shortest[at] == c"." or c"0" <= shortest[at] <= c"9":
        if shortest[at] == c".":
            after_point = True
        elif count or shortest[at] != c"0":
            digits[count] = shortest[at]
            count += 1
            position += not after_point
        elif after_point:
            position -= 1
        at += 1
    if shortest[at]:
        negative = shortest[at + 1] == c"-"
        at += 2
        while shortest[at]:
            exponent = 10 * exponent + shortest[at] - c"0"
            at += 1
        position += -exponent if negative else exponent
    PyMem_Free(shortest)
    while count and digits[count - 1] == c"0":
        count -= 1
    if not count:
        digits[0] = c"0"
        count = position = 1
    memcpy(out + start + leading_zeros(out + start, position, -5), digits, ROOM)
    return start + spell(out + start, count, position, point, 16, -5)


cdef inline int leading_zeros(char* out, int position, int least) noexcept:
    """Write `0.` and zeros before the digits of a small number; return the number of characters.

    `position` is the position of the point, counted from the first digit.
    """
    if not least < position <= 0:
        return 0
    memcpy(out, b"0.000000", 8)
    return 2 - position


cdef inline int spell(
    char* out, int count, int position, bint point, int most, int least
) noexcept:
    """Insert the point into digits, or append an exponent; return the length.

    There is no exponent if the position of the point is above `least` and at most `most`.
    """
    if position > most or position <= least:
        if count > 1:
            memmove(out + 2, out + 1, MOST_DIGITS - 1)
            out[1] = c"."
            count += 1
        out[count] = c"e"
        return count + 1 + write_integer(out + count + 1, position - 1)
    if position <= 0:
        return 2 - position + count
    if position < count:
        memmove(out + position + 1, out + position, MOST_DIGITS - 1)
        out[position] = c"."
        return count + 1
    memset(out + count, c"0", position - count)
    if point:
        out[position] = c"."
        out[position + 1] = c"0"
        position += 2
    return position


cdef int write_special(
    char* out, uint64_t bits, bint minus, bint infinite, bint plain, int digits
) noexcept:
    """Write an infinity, or a NaN with a payload of `digits` hexadecimal digits."""
    cdef int at = 0
    cdef int digit
    if not infinite and not plain:
        memcpy(out, "nan(0x", 6)
        for at in range(digits):
            digit = bits >> (4 * (digits - 1 - at)) & 15
            out[6 + at] = b"0123456789abcdef"[digit]
        out[6 + digits] = c")"
        return digits + 7
    if minus:
        out[0] = c"-"
        at = 1
    memcpy(out + at, b"inf" if infinite else b"nan", 3)
    return at + 3


def texts(bytes data, int width, bint point):
    """Return the texts of little-endian floats of 4 or 8 bytes, for tests."""
    cdef char[LONGEST] out
    cdef uint32_t small
    cdef uint64_t large
    cdef const char* start = data
    cdef int size
    cdef Py_ssize_t at
    made = []
    for at in range(0, len(data), width):
        if width == 4:
            memcpy(&small, start + at, 4)
            size = write_float32(out, small, point)
        else:
            memcpy(&large, start + at, 8)
            size = write_float64(out, large, point)
        made.append(out[:size].decode())
    return made
