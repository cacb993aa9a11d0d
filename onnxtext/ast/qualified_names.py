# SPDX-License-Identifier: Apache-2.0
"""Normalize domains, and write the names of operators and functions with their domains."""

from __future__ import annotations


def plain_domain(domain: str | None) -> str:
    """Normalize a domain: return `""` for the standard domain, written as None or `ai.onnx`."""
    return "" if domain is None or domain == "ai.onnx" else domain


def qualified_name(domain: str | None, name: str, overload: str | None = None) -> str:
    """Return `domain.name:overload`, which identifies an operator or a function.

    The standard domain, also written as None or `ai.onnx`, and an empty overload are left out.
    """
    plain = plain_domain(domain)
    return f"{f'{plain}.' if plain else ''}{name}{f':{overload}' if overload else ''}"
