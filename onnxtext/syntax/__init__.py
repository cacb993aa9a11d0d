# SPDX-License-Identifier: Apache-2.0
"""Convert texts to syntax trees.

`grammar/SPEC.md`, chapter 18, describes parsing. The folders, in the order in which to read them:

- `grammar`: the LALR(1) tables that Lark builds (`tables`), cached by `table_cache`; the `lexer`,
  and the automaton that `scanner_tables` builds from the terminals for the native core.
- `parser`: the LALR(1) loop (`lalr`), which calls an action for each reduction; `parser` runs it on
  one text, `native` does the same with the native core (`onnxtext._core`).
- `actions`: build the syntax tree, or raise a `semantic_error`.
- `heuristics`: the probable causes of syntax errors, and fixes.
- `recovery`: reports syntax errors, and continues parsing after them.

`parse` has the entry points, and `span_map` computes the spans of the parts of a statement.
"""
