# SPDX-License-Identifier: Apache-2.0
"""Explain where the types of values come from, for `onnxtext explain-type` and editors."""
