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
from onnxtext.checker.scopes import Scope
from onnxtext.checker.subject import Subject

KEYS = ("SCALE_TENSOR", "ZERO_POINT_TENSOR")


def check(subject: Subject) -> Iterator[Finding]:
    """Find annotations of what is not there."""
    for scope in subject.scopes:
        for annotation in scope.quantization:
            place = Place(annotation)
            if not _is_visible(annotation.tensor_name, scope):
                near = subject.near(annotation.tensor_name, scope.position)
                yield Finding(
                    "quantization-annotation",
                    f"the annotated tensor {quoted(annotation.tensor_name)} is not in "
                    f"{scope.words()}",
                    (place,),
                    help=f"there is {quoted(near)}"
                    if near
                    else "name a value of this graph, or remove the annotation",
                )
            for key, name in annotation.entries:
                if not _is_visible(name, scope):
                    yield Finding(
                        "quantization-annotation",
                        f"the `{key}` {quoted(name)} of {quoted(annotation.tensor_name)} is not in "
                        f"{scope.words()}",
                        (place,),
                        help="name a value of this graph, or remove the entry",
                    )
                if key not in KEYS and subject.lints("quantization-annotation"):
                    yield Finding(
                        "quantization-annotation",
                        f"{quoted(key)} is neither `SCALE_TENSOR` nor `ZERO_POINT_TENSOR`",
                        (place,),
                        help="take one of these, if it means the same",
                        severity="hint",
                    )


def _is_visible(name: str, scope: Scope) -> bool:
    """Whether a value is in a graph or around it: nodes of nested graphs use both."""
    return name in scope.position or scope.find_outer(name) is not None


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
