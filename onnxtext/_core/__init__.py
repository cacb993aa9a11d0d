# SPDX-License-Identifier: Apache-2.0
"""The compiled core: the loops that read and write every token, node and value.

Each module here does what a pure Python module does as well, from the same tables; it holds no
syntax and no schema of its own. `onnxtext.core` says which of the two runs.
"""
