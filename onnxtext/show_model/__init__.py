# SPDX-License-Identifier: Apache-2.0
"""Print a model or a part of a model for reading: `onnxtext show` and `onnxtext.show`."""
