# SPDX-License-Identifier: Apache-2.0
from onnxtext._core.syntax.grammar cimport Rule
from onnxtext._core.syntax.stack cimport Stack

cdef object make_attribute(Stack stack, Rule* rule, Py_ssize_t base)
