# SPDX-License-Identifier: Apache-2.0
"""The rules of the checker, one `FAMILY` of related rules per module."""
