# SPDX-License-Identifier: Apache-2.0
"""Infer the output shapes of operators, and check their inputs and attributes."""
