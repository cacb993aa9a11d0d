# SPDX-License-Identifier: Apache-2.0
"""The native core, compiled from Cython: the loops over all tokens, nodes and values.

Each module is equivalent to a pure Python module and uses the same tables, so it defines neither
syntax nor schema. `onnxtext.core` selects the implementation.
"""
