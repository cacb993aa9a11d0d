# SPDX-License-Identifier: Apache-2.0
cdef bint has_graph(attributes) except -1
