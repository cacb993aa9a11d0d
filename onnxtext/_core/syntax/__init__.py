# SPDX-License-Identifier: Apache-2.0
"""Parse texts: the native counterpart of `onnxtext.syntax`."""
