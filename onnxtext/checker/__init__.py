# SPDX-License-Identifier: Apache-2.0
"""Check models against the rules of the ONNX IR.

`context.checked_model` collects the graphs and function bodies of a model in one walk. Each family
of `rules` (see `context.registry`) then yields findings, which refer to statements of the syntax
tree. `engine.check_tree` turns findings into diagnostics, with spans in the text or paths in the
binary model.
"""
