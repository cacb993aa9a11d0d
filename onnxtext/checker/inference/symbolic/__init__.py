# SPDX-License-Identifier: Apache-2.0
"""Symbolic dimensions: which of them have to be equal, and which cannot be."""
