# SPDX-License-Identifier: Apache-2.0
"""What the inference of onnx objects to, and which rule that is about."""

from __future__ import annotations

from onnxtext.checker.finding import Finding
from onnxtext.checker.native import native
from onnxtext.checker.registry import rules
from onnxtext.checker.subject import Subject

_LARGEST = 1 << 31


def errors_of(subject: Subject) -> list[Finding]:
    """What was found so far that is an error."""
    known = rules()
    return [f for f in subject.found if (f.severity or known[f.slug].level) == "error"]


def wrong_items(subject: Subject) -> set[int]:
    """The statements (by id) that something is wrong with: no more is to be said about them."""
    return {id(finding.places[0].item) for finding in errors_of(subject)}


def whole_model(subject: Subject) -> str | None:
    """What the inference of onnx objects to in a model; None if nothing.

    It is run as `onnx.checker.check_model(full_check=True)` does.
    """
    data = subject.options.encoded() if subject.options.encoded is not None else None
    if data is None or len(data) >= _LARGEST:
        return None
    try:
        native().shape_inference.infer_shapes(data, True, True, False)
    except onnx_errors() as error:
        return str(error)
    return None


def as_int32(number: int) -> int:
    """A version as the inference of onnx takes it; any greater one is unknown all the same."""
    return max(min(number, _LARGEST - 1), -_LARGEST)


def slug_of(objection: str) -> str:
    """The rule that an objection of onnx is about."""
    if "Mismatched attribute type" in objection:
        return "attribute-type"
    return "type-mismatch" if "[TypeInferenceError]" in objection else "shape-mismatch"


def onnx_errors() -> tuple[type[Exception], ...]:
    """What the inference of onnx raises."""
    module = native()
    errors = module.shape_inference.InferenceError, module.checker.ValidationError
    return (*errors, RuntimeError, ValueError, IndexError)
