# SPDX-License-Identifier: Apache-2.0
"""The LALR(1) parser, in Python and for the compiled core."""
