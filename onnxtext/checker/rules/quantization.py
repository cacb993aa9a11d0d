# SPDX-License-Identifier: Apache-2.0
"""Quantization annotations.

What: an annotation names a tensor that exists, and tensors that exist as its parameters.
Why: without them nobody can dequantize the tensor.
Fix: correct the names.
"""

from __future__ import annotations

from collections.abc import Iterator

from onnxtext.checker.finding import Finding, Place, quoted
from onnxtext.checker.registry import Family, Rule
from onnxtext.checker.subject import Subject

KEYS = ("SCALE_TENSOR", "ZERO_POINT_TENSOR")


def check(subject: Subject) -> Iterator[Finding]:
    """Find annotations of what is not there."""
    for scope in subject.scopes:
        for annotation in scope.quantization:
            place = Place(annotation)
            if annotation.tensor_name not in scope.position:
                near = subject.near(annotation.tensor_name, scope.position)
                yield Finding(
                    "quantization-annotation",
                    f"the annotated tensor {quoted(annotation.tensor_name)} is not in "
                    f"{scope.words()}",
                    (place,),
                    help=f"there is {quoted(near)}" if near else None,
                )
            for key, name in annotation.entries:
                if name not in scope.position:
                    yield Finding(
                        "quantization-annotation",
                        f"the `{key}` {quoted(name)} of {quoted(annotation.tensor_name)} is not in "
                        f"{scope.words()}",
                        (place,),
                    )
                if key not in KEYS and subject.lints("quantization-annotation"):
                    yield Finding(
                        "quantization-annotation",
                        f"{quoted(key)} is neither `SCALE_TENSOR` nor `ZERO_POINT_TENSOR`",
                        (place,),
                        severity="hint",
                    )


FAMILY = Family(
    check,
    (
        Rule(
            "quantization-annotation",
            "error",
            "annotations name tensors that exist",
            "proto TensorAnnotation",
        ),
    ),
)
