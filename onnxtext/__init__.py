# SPDX-License-Identifier: Apache-2.0
"""The textual form of ONNX."""
__version__ = "0.1.0"
