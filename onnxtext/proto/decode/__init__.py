# SPDX-License-Identifier: Apache-2.0
"""Wire bytes to AST."""
