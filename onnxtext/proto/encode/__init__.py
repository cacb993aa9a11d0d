# SPDX-License-Identifier: Apache-2.0
"""Lowering: encode the AST as wire bytes."""
