# SPDX-License-Identifier: Apache-2.0
"""The LALR(1) parser, in Python and with the native core."""
