# SPDX-License-Identifier: Apache-2.0
"""Merge models as protobuf messages, field by field."""
