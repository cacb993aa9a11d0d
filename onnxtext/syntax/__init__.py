# SPDX-License-Identifier: Apache-2.0
"""Convert texts to syntax trees.

`grammar/SPEC.md`, chapter 18, describes parsing. Read the packages in this order:

- `grammar`: `tables` builds the LALR(1) tables with Lark, and `table_cache` caches them. `lexer`
  splits a text into tokens. `scanner_tables` builds the DFA of the native lexer.
- `parser`: `lalr` is the LALR(1) loop, which calls an action for each reduction. `parser` runs the
  loop on one text; `native` does the same with the native core (`onnxtext._core`).
- `actions`: builds the syntax tree, or raises a `SemanticError`.
- `heuristics`: finds the probable cause of a syntax error, and a fix.
- `recovery`: reports syntax errors, and continues parsing after them.

`parse` has the entry points. `span_map` computes the spans of the parts of a statement.
"""
