# SPDX-License-Identifier: Apache-2.0
"""The compiled core: the loops that read and write every token, node and value.

Each module is equivalent to a pure Python module and uses the same tables, so it defines neither
syntax nor schema. `onnxtext.core` selects the implementation.
"""
