# SPDX-License-Identifier: Apache-2.0
"""Turn the changes and obstacles of a conversion into diagnostics."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from onnxtext.checker.context.checked_model import CheckedModel
from onnxtext.checker.context.finding import Place
from onnxtext.checker.engine.finding_positions import TextPlaces
from onnxtext.checker.engine.model_paths import ModelPaths
from onnxtext.diagnostics import Diagnostic, Label, OnnxTextError, Severity
from onnxtext.plurals import count_noun
from onnxtext.source import Source

OBSTACLE = "opset-conversion"
CHANGE = "opset-change"
_MAX_PLACES = 8


@dataclass(slots=True)
class Remark:
    """A change that a conversion makes, or an obstacle to it, at one or several nodes.

    Attributes:
        code: `OBSTACLE` or `CHANGE`.
        message: describes the change or the obstacle to the user.
        places: the places in the model that change or are obstacles, such as nodes.
    """

    code: str
    message: str
    help: str | None = None
    places: list[Place] = field(default_factory=list)

    def summary(self) -> str:
        """Return the message, followed by the number of nodes if there are several."""
        count = len(self.places)
        return self.message if count == 1 else f"{self.message} ({count} nodes)"

    @property
    def severity(self) -> Severity:
        """The severity: `error` for an obstacle, `info` for a change."""
        return "error" if self.code == OBSTACLE else "info"


class ConversionError(OnnxTextError):
    """Raised if nodes cannot be converted."""

    def __init__(self, remarks: list[Remark], subject: CheckedModel) -> None:
        super().__init__(*remark_diagnostics(remarks, subject))
        self.remarks = remarks
        self.subject = subject

    def located(self, source: Source) -> OnnxTextError:
        """Return an error with a diagnostic for each remark; `source` is the text of the model."""
        return OnnxTextError(*remark_diagnostics(self.remarks, self.subject, source=source))


def remark_diagnostics(
    remarks: Iterable[Remark], subject: CheckedModel, *, source: Source | None = None,
    file: str | None = None,
) -> list[Diagnostic]:  # fmt: skip
    """Return a diagnostic for each remark.

    Args:
        remarks: the changes or obstacles.
        subject: the model before the conversion.
        source: the text of the model; None for a binary model.
        file: the name of a binary model.
    """
    diagnostics = []
    for remark in remarks:
        hidden = len(remark.places) - _MAX_PLACES
        more = (f"and {count_noun(hidden, 'more place')}",) if hidden > 0 else ()
        diagnostic = Diagnostic(
            remark.code, remark.summary(), remark.severity, notes=more, help=remark.help
        )
        diagnostics.append((diagnostic, remark.places[:_MAX_PLACES]))
    if source is not None:
        spans = TextPlaces(source, subject)
        return [
            replace(
                diagnostic,
                source=source,
                labels=tuple([Label(spans.span(place), place.label) for place in places]),
            )
            for diagnostic, places in diagnostics
        ]
    paths = ModelPaths(subject)
    result = []
    for diagnostic, places in diagnostics:
        path, *others = [paths.path(place) for place in places] or [""]
        notes = (*[f"also {other}" for other in others], *diagnostic.notes)
        result.append(replace(diagnostic, path=path or "model", notes=notes, file=file))
    return result
