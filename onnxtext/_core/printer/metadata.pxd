# SPDX-License-Identifier: Apache-2.0
from onnxtext._core.printer.text cimport Text

cdef int pairs(Text out, tuple entries, Py_ssize_t budget) except -1
