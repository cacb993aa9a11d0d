# SPDX-License-Identifier: Apache-2.0
from onnxtext._core.syntax.grammar cimport Rule
from onnxtext._core.syntax.stack cimport Stack

cdef make_value_info(Stack stack, Rule* rule, Py_ssize_t base, Py_ssize_t offset, dict layouts)
cdef object make_tensor(Stack stack, Rule* rule, Py_ssize_t base, dict layouts)
cdef object make_graph_value(Stack stack, Rule* rule, Py_ssize_t base, Py_ssize_t offset)
cdef object make_node(
    Stack stack, Rule* rule, Py_ssize_t base, Py_ssize_t offset, int of_attributes, int of_inputs
)
cdef object integer_of(Stack stack, Py_ssize_t place)
cdef object make_opset(Stack stack, Rule* rule, Py_ssize_t base)
cdef bint is_shareable(object item)
cdef bint is_plain_node(object node)
