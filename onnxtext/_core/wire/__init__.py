# SPDX-License-Identifier: Apache-2.0
"""The compiled loops of `onnxtext.wire`."""
