# SPDX-License-Identifier: Apache-2.0
"""Check models against the rules of the ONNX IR.

`context.subject` finds the scopes of a model in one walk. Each family of `rules` (see
`context.registry`) then yields findings. `engine.run` turns findings into diagnostics, and only
then computes their places in the text or in the model.
"""
