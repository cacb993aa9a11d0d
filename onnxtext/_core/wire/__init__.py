# SPDX-License-Identifier: Apache-2.0
"""Write the protobuf wire format, and read it: the native counterpart of `onnxtext.wire`."""
