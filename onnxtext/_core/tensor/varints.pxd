# SPDX-License-Identifier: Apache-2.0
from onnxtext._core.wire.buffer cimport Buffer

cdef bint add_packed(Buffer out, int key, packed) except -1
