# SPDX-License-Identifier: Apache-2.0
"""Infer the types and shapes of values."""
