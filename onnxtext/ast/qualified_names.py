# SPDX-License-Identifier: Apache-2.0
"""Write the names of operators and functions with their domains."""

from __future__ import annotations


def qualified_name(domain: str | None, name: str, overload: str | None = None) -> str:
    """Return `domain.name:overload`, which identifies an operator or a function.

    The standard domain, also written as None or `ai.onnx`, and an empty overload are left out.
    """
    before = "" if domain in (None, "", "ai.onnx") else f"{domain}."
    return f"{before}{name}{f':{overload}' if overload else ''}"
