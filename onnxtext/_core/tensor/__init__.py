# SPDX-License-Identifier: Apache-2.0
"""Read, print and pack the elements of tensors: the native counterpart of `onnxtext.tensor`."""
