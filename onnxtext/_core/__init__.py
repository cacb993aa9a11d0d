# SPDX-License-Identifier: Apache-2.0
"""The native core, compiled from Cython: the loops over all tokens, nodes and values.

Each module gives the same results as a pure Python module. Both read the grammar and the schema
from the same tables. `onnxtext.select_core` selects the implementation.
"""
