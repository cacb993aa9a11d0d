# SPDX-License-Identifier: Apache-2.0
"""The protobuf wire format: a writer, a reader with byte offsets, and byte patches."""
