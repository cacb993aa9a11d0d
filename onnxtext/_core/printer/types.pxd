# SPDX-License-Identifier: Apache-2.0
from onnxtext._core.printer.text cimport Text

cdef bint add_type(Text out, kind, int depth) except -1
cdef bint add_decorators(Text out, decorators, int indent) except -1
