# SPDX-License-Identifier: Apache-2.0
"""Infer symbolic dimensions such as `2*seq`, and find contradictions between them."""
