# SPDX-License-Identifier: Apache-2.0
"""The compiled loops of `onnxtext.ast`, and access to the slots of its classes."""
