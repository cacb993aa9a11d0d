# SPDX-License-Identifier: Apache-2.0
"""The command line `onnxtext`. The library does not import this package."""
