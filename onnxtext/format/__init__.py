# SPDX-License-Identifier: Apache-2.0
"""From text to text in the canonical layout; every comment is kept (SPEC 14)."""
