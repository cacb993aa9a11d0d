# SPDX-License-Identifier: Apache-2.0
"""The keys of protobuf fields, for tests."""
