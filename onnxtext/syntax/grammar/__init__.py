# SPDX-License-Identifier: Apache-2.0
"""The grammar as tables: terminals, tokens and the LALR automaton."""
