# SPDX-License-Identifier: Apache-2.0
"""The tables of the grammar (terminals, rules, LALR automaton), and the lexer."""
