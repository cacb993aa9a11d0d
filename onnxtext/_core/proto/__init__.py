# SPDX-License-Identifier: Apache-2.0
"""Decode and encode protobuf messages: the native counterpart of `onnxtext.proto`."""
