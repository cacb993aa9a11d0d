# SPDX-License-Identifier: Apache-2.0

cdef bytes packed(bytes codes, int bits, int step)
cdef bytes unpacked(const char* data, Py_ssize_t count, int bits, int step, bint is_signed)
cdef bint is_packed(const unsigned char* data, Py_ssize_t size, Py_ssize_t count, int bits, int step) noexcept
