# SPDX-License-Identifier: Apache-2.0
"""Benchmarks: `python -m benchmarks` measures onnxtext and its peers, see `README.md`."""
