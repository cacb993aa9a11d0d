# SPDX-License-Identifier: Apache-2.0
"""Convert numbers to decimal text, with the same results as `onnxtext.tensor.float_literals`.

The exported `write_…` functions write to a buffer of MAX_NUMBER_LENGTH characters, and return the
number of characters.
"""
from libc.math cimport ldexp
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memcpy, memmove, memset

cdef enum:
    # The least and the greatest result of `power_of` for float32 and for float64.
    MIN_POWER = -45
    MAX_POWER = 31
    MIN_POWER64 = -324
    MAX_POWER64 = 292
    TEN_TO_8 = 100_000_000
    MAX_DIGITS = 17  # the decimal digits of a float64

cdef uint64_t MANTISSA = 1ULL << 23, MANTISSA64 = 1ULL << 52  # the implicit bits
# floor(10**-k * 2**s) + 1 for each exponent k, with s chosen to leave 64 or 128 bits.
cdef uint64_t[MAX_POWER - MIN_POWER + 1] POWERS
cdef uint64_t[MAX_POWER64 - MIN_POWER64 + 1] HIGH_POWERS, LOW_POWERS


def _power(exponent, bits):
    if exponent >= 0:
        shift = (10**exponent).bit_length() - bits
        return ((10**exponent << bits) >> (bits + shift)) + 1
    size = (10**-exponent).bit_length()
    result = (1 << (bits + size - 1)) // 10**-exponent
    return result + 1 if result >> (bits - 1) else (1 << (bits + size)) // 10**-exponent + 1


for _k in range(MIN_POWER, MAX_POWER + 1):
    POWERS[_k - MIN_POWER] = _power(-_k, 64)
for _k in range(MIN_POWER64, MAX_POWER64 + 1):
    _factor = _power(-_k, 128)
    HIGH_POWERS[_k - MIN_POWER64] = _factor >> 64
    LOW_POWERS[_k - MIN_POWER64] = _factor & 0xFFFFFFFFFFFFFFFF


cdef int write_unsigned(char* out, uint64_t value) noexcept:
    cdef int count = count_digits(value)
    write_digits(out, value, count)
    return count


cdef inline int count_digits(uint64_t value) noexcept:
    cdef int count = 1
    while value >= TEN_TO_8:
        value //= TEN_TO_8
        count += 8
    return (
        count + (value > 9) + (value > 99) + (value > 999) + (value > 9_999) + (value > 99_999)
        + (value > 999_999) + (value > 9_999_999)
    )


cdef void write_digits(char* out, uint64_t value, int count) noexcept:
    """Write a number of `count` digits; bytes after them may be overwritten."""
    cdef uint64_t digits
    if count > 8:
        write_digits(out, value // TEN_TO_8, count - 8)
        digits = eight_digits(value % TEN_TO_8)
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
    cdef uint64_t mantissa = bits & (MANTISSA - 1), factor
    cdef int exponent = bits >> 23 & 255, power, shift
    cdef bint is_odd = mantissa & 1
    if exponent == 255:
        return write_special(out, bits, bits >> 31, not mantissa, bits & 0x7FFFFFFF == 0x7FC00000, 8)
    # The number is `mantissa * 2**exponent`; its neighbors are rarely at different distances.
    cdef int distance = 1 if not mantissa and exponent > 1 else 2
    mantissa |= MANTISSA if exponent else 0
    if not mantissa:
        return write_zero(out, bits >> 31, point)
    exponent = max(exponent, 1) - 150
    power = power_of(exponent, distance)
    shift = shift_of(exponent, power)
    factor = POWERS[power - MIN_POWER]
    return write_shortest(
        out, bits >> 31, power, point, 13, -6,
        scaled(factor, (4 * mantissa - distance) << shift) + is_odd,
        scaled(factor, (4 * mantissa) << shift),
        scaled(factor, (4 * mantissa + 2) << shift) - is_odd,
    )


cdef int write_float64(char* out, uint64_t bits, bint point) noexcept:
    """Write a float64 like `write_float32`."""
    cdef uint64_t mantissa = bits & (MANTISSA64 - 1), size = bits & 0x7FFFFFFFFFFFFFFFULL
    cdef int exponent = bits >> 52 & 2047, power, shift
    cdef bint is_odd = mantissa & 1
    if exponent == 2047:
        return write_special(out, bits, bits >> 63, not mantissa, size == 0x7FF8000000000000ULL, 16)
    cdef int distance = 1 if not mantissa and exponent > 1 else 2
    mantissa |= MANTISSA64 if exponent else 0
    if not mantissa:
        return write_zero(out, bits >> 63, point)
    exponent = max(exponent, 1) - 1075
    power = power_of(exponent, distance)
    shift = shift_of(exponent, power)
    return write_shortest(
        out, bits >> 63, power, point, 16, -5,
        scaled64(power, (4 * mantissa - distance) << shift) + is_odd,
        scaled64(power, (4 * mantissa) << shift),
        scaled64(power, (4 * mantissa + 2) << shift) - is_odd,
    )


cdef inline int power_of(int exponent, int distance) noexcept:
    """Return floor(log10(w)), where w is the width of the rounding interval.

    w is 2**exponent, or 3/4 of it if `distance` is 1: below the float, the spacing halves.
    """
    return (exponent * 1262611 - (0 if distance == 2 else 524031)) >> 22


cdef inline int shift_of(int exponent, int power) noexcept:
    return exponent + ((-power * 1741647) >> 19) + 1


cdef int write_shortest(
    char* out, bint minus, int power, bint point, int most, int least,
    uint64_t lower, uint64_t middle, uint64_t upper,
) noexcept:
    """Write the shortest decimal in a rounding interval; of several, the closest to its middle.

    The interval is from `lower` to `upper`, in units of a quarter of `10**power`. `spell`
    describes `most` and `least`.
    """
    cdef uint64_t digits = middle // 4, short = digits // 10
    cdef bint below = lower <= 40 * short, above = 40 * short + 40 <= upper
    cdef int count
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
    out[0] = c"-"
    out += minus
    write_digits(out + leading_zeros(out, count + power, least), digits, count)
    return minus + spell(out, count, count + power, point, most, least)


cdef inline int write_zero(char* out, bint minus, bint point) noexcept:
    out[0] = c"-"
    out[minus] = c"0"
    return minus + spell(out + minus, 1, 1, point, MAX_DIGITS, 0)


cdef inline uint64_t scaled(uint64_t factor, uint32_t value) noexcept:
    """Return `factor * value >> 64`; set the lowest bit of the result if bits were lost."""
    return multiply_high(factor, value) | (factor * value > 0x1FFFFFFFFULL)


cdef inline uint64_t scaled64(int power, uint64_t value) noexcept:
    """Return `factor * value >> 128` like `scaled`, for the 128-bit factor of a power of ten."""
    cdef uint64_t high = HIGH_POWERS[power - MIN_POWER64]
    cdef uint64_t carry = multiply_high(LOW_POWERS[power - MIN_POWER64], value)
    cdef uint64_t low = high * value + carry
    return (multiply_high(high, value) + (low < carry)) | (low > 1)


cdef double scaled_decimal(uint64_t mantissa, int scale) noexcept:
    """Return the float64 nearest to `mantissa * 10**scale`.

    `mantissa` is not 0, and `scale` is from -292 to 288. Return -1 if 64 bits of the product do not
    decide how to round it.
    """
    cdef int exponent = 1 + (scale * 1741647 >> 19)
    cdef uint64_t product, rest
    while not mantissa >> 63:
        mantissa <<= 1
        exponent -= 1
    product = scaled64(-scale, mantissa)
    rest = product << (53 + (not product >> 63))  # the bits that the conversion rounds
    return -1.0 if rest == 1ULL << 63 else ldexp(<double>product, exponent)


cdef inline uint64_t multiply_high(uint64_t a, uint64_t b) noexcept:
    """Return the upper 64 bits of a product."""
    cdef uint64_t low = (a & 0xFFFFFFFFULL) * (b & 0xFFFFFFFFULL)
    cdef uint64_t first = (a >> 32) * (b & 0xFFFFFFFFULL) + (low >> 32)
    cdef uint64_t second = (a & 0xFFFFFFFFULL) * (b >> 32) + (first & 0xFFFFFFFFULL)
    return (a >> 32) * (b >> 32) + (first >> 32) + (second >> 32)


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
            memmove(out + 2, out + 1, MAX_DIGITS - 1)
            out[1] = c"."
            count += 1
        out[count] = c"e"
        return count + 1 + write_integer(out + count + 1, position - 1)
    if position <= 0:
        return 2 - position + count
    if position < count:
        memmove(out + position + 1, out + position, MAX_DIGITS - 1)
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
    """Write an infinity or a NaN; return the length.

    A NaN is `nan` or `-nan` if `plain`, otherwise `nan(0x…)` with `digits` digits of `bits`.
    """
    cdef int index = 0
    cdef int digit
    if not infinite and not plain:
        memcpy(out, "nan(0x", 6)
        for index in range(digits):
            digit = bits >> (4 * (digits - 1 - index)) & 15
            out[6 + index] = b"0123456789abcdef"[digit]
        out[6 + digits] = c")"
        return digits + 7
    if minus:
        out[0] = c"-"
        index = 1
    memcpy(out + index, b"inf" if infinite else b"nan", 3)
    return index + 3


def texts(bytes data, int width, bint point):
    """Return the texts of little-endian floats of 4 or 8 bytes."""
    cdef char[MAX_NUMBER_LENGTH] out
    cdef uint32_t small
    cdef uint64_t large
    cdef const char* start = data
    cdef int size
    cdef Py_ssize_t offset
    result = []
    for offset in range(0, len(data), width):
        if width == 4:
            memcpy(&small, start + offset, 4)
            size = write_float32(out, small, point)
        else:
            memcpy(&large, start + offset, 8)
            size = write_float64(out, large, point)
        result.append(out[:size].decode())
    return result
