# SPDX-License-Identifier: Apache-2.0
"""Lifting: decode wire bytes to the AST."""
