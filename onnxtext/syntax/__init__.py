# SPDX-License-Identifier: Apache-2.0
"""Convert texts to syntax trees.

`grammar/SPEC.md`, chapter 18, describes how a text is read. The folders, in the order in which to
read them:

- `grammar`: the LALR(1) tables that Lark makes (`tables`), kept by `table_cache`; the `lexer`, and
  the automaton that `dfa` makes of the terminals for the compiled core.
- `parser`: the LALR(1) loop (`lalr`), which calls an action for each rule that it recognizes;
  `parser` runs it on one text, `compiled` does the same with `onnxtext._core`.
- `actions`: these functions. They build the syntax tree, or raise a `semantic_error`.
- `heuristics`: what was probably meant where a token fits nowhere.
- `recovery`: diagnostics of such places, and where parsing continues.

`parse` has the entry points, and `span_map` finds the places of the parts of a statement.
"""
