# SPDX-License-Identifier: Apache-2.0
"""AST to wire bytes."""
