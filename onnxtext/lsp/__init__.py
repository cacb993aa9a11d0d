# SPDX-License-Identifier: Apache-2.0
"""Serve editors by the Language Server Protocol: `onnxtext lsp` (needs the pip extra `lsp`)."""
