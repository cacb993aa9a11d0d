# SPDX-License-Identifier: Apache-2.0
from libc.stdint cimport int64_t, uint32_t, uint64_t

cdef enum:
    MAX_NUMBER_LENGTH = 48  # the buffer size of a number; bytes after its characters may be overwritten

cdef int write_float32(char* out, uint32_t bits, bint point) noexcept
cdef int write_float64(char* out, uint64_t bits, bint point) noexcept
cdef int write_integer(char* out, int64_t value) noexcept
cdef double scaled_decimal(uint64_t mantissa, int scale) noexcept
cdef int write_unsigned(char* out, uint64_t value) noexcept
