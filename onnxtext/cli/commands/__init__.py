# SPDX-License-Identifier: Apache-2.0
"""The subcommands of `onnxtext`, one module each."""
