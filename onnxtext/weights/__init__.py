# SPDX-License-Identifier: Apache-2.0
"""Weights outside of a text: stores, safetensors files, numpy files and ONNX external data."""
