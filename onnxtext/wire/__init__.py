# SPDX-License-Identifier: Apache-2.0
"""Read and write the protobuf wire format, with byte offsets; make and apply byte patches."""
