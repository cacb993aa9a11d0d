# SPDX-License-Identifier: Apache-2.0
"""Look up the IR version that a version of an operator set requires."""

from __future__ import annotations


def needed_ir_version(domain: str, version: int) -> int:
    """Return the IR version that a version of an operator set needs; 0 if unknown."""
    from onnx.helper import OP_SET_ID_VERSION_MAP

    found: int = OP_SET_ID_VERSION_MAP.get((domain or "ai.onnx", version), 0)
    return found
