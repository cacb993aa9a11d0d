# SPDX-License-Identifier: Apache-2.0
"""The features of the language server, one module per feature."""
