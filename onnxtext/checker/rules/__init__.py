# SPDX-License-Identifier: Apache-2.0
"""Define the rules of the checker; each module has one `FAMILY` of related rules."""
