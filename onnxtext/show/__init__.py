# SPDX-License-Identifier: Apache-2.0
"""`onnxtext show`: print a model, or a part of it, for reading."""
