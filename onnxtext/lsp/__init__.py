# SPDX-License-Identifier: Apache-2.0
"""Serve editors with the Language Server Protocol: `onnxtext lsp` (needs the extra `lsp`)."""
