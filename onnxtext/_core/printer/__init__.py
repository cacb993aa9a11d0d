# SPDX-License-Identifier: Apache-2.0
"""Print models: the native counterpart of `onnxtext.printer`."""
