# SPDX-License-Identifier: Apache-2.0
"""Infer shapes, also in functions that are never called."""

from __future__ import annotations

from onnxtext.checker.inference.shape_inference import ShapeInference


class RecordedInference(ShapeInference):
    """Infers shapes like its base class, also in functions that are never called."""

    def run(self) -> None:
        """Visit all graphs and functions; the inputs of uncalled functions have unknown types."""
        super().run()
        self._visit_uncalled([scope for scope in self._scopes if scope.kind == "function"])
