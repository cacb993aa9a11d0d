# SPDX-License-Identifier: Apache-2.0
"""The errors of `onnxtext show`: a graph, value or statement that does not exist."""

from __future__ import annotations

from collections.abc import Sequence

from onnxtext.diagnostics import Diagnostic, OnnxTextError


class ShowError(OnnxTextError):
    """The part of a model that the user wants to see does not exist."""

    @classmethod
    def of(cls, message: str, file: str, help: str | None = None) -> ShowError:
        """Create an error with the code `nothing-to-show`."""
        return cls(Diagnostic("nothing-to-show", message, file=file, help=help))

    @classmethod
    def unknown(cls, kind: str, name: str, candidates: Sequence[str], file: str) -> ShowError:
        """Create an error for an unknown name; its help suggests a similar name or lists names.

        `kind` is the kind of item that the name should refer to, such as "graph or function".
        """
        from onnxtext.suggestions import suggest_name

        return cls.of(f"there is no {kind} `{name}`", file, suggest_name(name, candidates))
