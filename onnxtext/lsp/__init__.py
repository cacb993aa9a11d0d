# SPDX-License-Identifier: Apache-2.0
"""The language server: `onnxtext lsp` (needs the extra `lsp`)."""
