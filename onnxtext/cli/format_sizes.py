# SPDX-License-Identifier: Apache-2.0
"""Format sizes in bytes for people, such as `1.5 MB`."""

from __future__ import annotations


def size_text(count: int) -> str:
    """Format a number of bytes, rounded, in B, kB, MB or GB, such as `1.5 MB` or `120 kB`."""
    if count < 1000:
        return f"{count} B"
    unit = "kB" if count < 999_500 else "MB" if count < 999_500_000 else "GB"
    value = count / {"kB": 1e3, "MB": 1e6, "GB": 1e9}[unit]
    return f"{value:.0f} {unit}" if value >= 9.95 else f"{value:.1f} {unit}"
