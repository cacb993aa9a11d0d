# SPDX-License-Identifier: Apache-2.0
"""Diagnostics: the data model, renderers for all output formats, and pages that explain codes."""

from onnxtext.diagnostics.model import (
    Applicability,
    Diagnostic,
    Edit,
    Fix,
    Label,
    OnnxTextError,
    OnnxTextWarning,
    Severity,
    Subject,
)

__all__ = [
    "Applicability", "Diagnostic", "Edit", "Fix", "Label", "OnnxTextError", "OnnxTextWarning",
    "Severity", "Subject",
]  # fmt: skip
