# SPDX-License-Identifier: Apache-2.0
"""From text to AST: the grammar's tables, tokens, the LALR loop, and what each rule makes."""
