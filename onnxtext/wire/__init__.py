# SPDX-License-Identifier: Apache-2.0
"""The protobuf wire format: a small writer and a small reader that knows positions."""
