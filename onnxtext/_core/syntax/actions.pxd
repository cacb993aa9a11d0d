# SPDX-License-Identifier: Apache-2.0
from onnxtext._core.syntax.stack cimport Stack

cdef object make_coarse_type(Stack stack, Py_ssize_t place)
