# SPDX-License-Identifier: Apache-2.0
"""From text to syntax tree.

`grammar/SPEC.md`, chapter 18, describes how a text is read. The modules, in the order in which to
read them:

- `tables`: Lark makes the LALR(1) tables of the grammar; `table_cache` keeps them.
- `lexer`: cuts a text into tokens.
- `machine`: the LALR(1) loop. It calls an action for each grammar rule that it recognizes.
- `actions`: these functions. They build the syntax tree; `faults` are the semantic errors they
  raise.
- `run`: parses one text with the lexer and the machine. `native` does the same with the compiled
  core (`onnxtext._core`), whose lexer is the automaton that `dfa` makes of the terminals.
- `recovery`: error recovery. `scene`, `trial`, `mistakes*`, `panic` and `echoes` serve it.
- `locate`: the places of the parts of a statement.
- `parse`: the entry points.
"""
