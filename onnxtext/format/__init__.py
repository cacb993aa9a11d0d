# SPDX-License-Identifier: Apache-2.0
"""Format texts in the canonical layout, keeping every comment (SPEC 14)."""
