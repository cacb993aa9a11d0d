# SPDX-License-Identifier: Apache-2.0

cdef object read_number(const char* text, Py_ssize_t size, char kind)
