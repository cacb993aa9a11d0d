# SPDX-License-Identifier: Apache-2.0
"""The rules of the checker; each module has one `FAMILY` of related rules."""
