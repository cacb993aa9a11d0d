# SPDX-License-Identifier: Apache-2.0
"""The one model of everything onnxtext has to say about a text or a binary."""

from onnxtext.diagnostics.model import (
    Applicability,
    Diagnostic,
    Edit,
    Fix,
    Label,
    OnnxTextError,
    OnnxTextWarning,
    Severity,
)

__all__ = [
    "Applicability",
    "Diagnostic",
    "Edit",
    "Fix",
    "Label",
    "OnnxTextError",
    "OnnxTextWarning",
    "Severity",
]
