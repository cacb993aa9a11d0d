# SPDX-License-Identifier: Apache-2.0
"""Print the AST as text in the canonical layout (SPEC 14)."""

from onnxtext.printer.models import print_attribute, print_fragment, print_model, print_type

__all__ = ["print_attribute", "print_fragment", "print_model", "print_type"]
