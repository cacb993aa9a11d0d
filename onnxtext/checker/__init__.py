# SPDX-License-Identifier: Apache-2.0
"""The rules of the ONNX IR, and what says where a model breaks them.

A model is walked once to find its scopes (`subject`, `scopes`); then every family of rules
(`rules`, gathered by `registry`) looks at them and yields findings, which are given places in the
text or in the model only when they are shown (`places`, `run`).
"""
