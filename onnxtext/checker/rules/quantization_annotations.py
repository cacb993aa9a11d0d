# SPDX-License-Identifier: Apache-2.0
"""Rule for quantization annotations: they name existing tensors, under known keys."""

from __future__ import annotations

from collections.abc import Iterator

from onnxtext.checker.context.checked_model import CheckedModel
from onnxtext.checker.context.finding import Finding, Place, Repair, did_you_mean, quote
from onnxtext.checker.context.registry import Rule
from onnxtext.checker.context.scopes import Scope
from onnxtext.suggestions import nearest_name

KEYS = ("SCALE_TENSOR", "ZERO_POINT_TENSOR")


def check(subject: CheckedModel) -> Iterator[Finding]:
    """Find unknown tensors and unknown keys in quantization annotations."""
    for scope in subject.scopes:
        for annotation in scope.quantization:
            tensor, owner = annotation.tensor_name, scope.describe()
            if not _is_visible(tensor, scope):
                message = f"the annotated tensor {quote(tensor)} is not in {owner}"
                help = "name a value of this graph, or remove the annotation"
                help = did_you_mean(subject.nearest(tensor, scope.position), help)
                yield Finding("quantization-annotation", message, (Place(annotation),), help)
            for index, (key, name) in enumerate(annotation.entries):
                if not _is_visible(name, scope):
                    message = f"the `{key}` {quote(name)} of {quote(tensor)} is not in {owner}"
                    place = Place(annotation, ("entries", index, "value"))
                    help = "name a value of this graph, or remove the entry"
                    yield Finding("quantization-annotation", message, (place,), help)
                suggestion = None if key in KEYS else nearest_name(key, KEYS)
                selected = subject.is_selected("quantization-annotation")
                if suggestion is not None or (key not in KEYS and selected):
                    yield Finding(
                        "quantization-annotation",
                        f"unknown key {quote(key)}: use `SCALE_TENSOR` or `ZERO_POINT_TENSOR`",
                        (Place(annotation, ("entries", index, "key")),),
                        help=did_you_mean(suggestion, "rename the key, or remove the entry"),
                        severity="hint" if suggestion is None else "warning",
                        repair=Repair("respell", annotation, (f'"{key}"', f'"{suggestion}"'))
                        if suggestion
                        else None,
                    )


def _is_visible(name: str, scope: Scope) -> bool:
    """Whether a value is defined in a graph or in one of its outer graphs."""
    return name in scope.position or scope.find_outer(name) is not None


RULES = (Rule("quantization-annotation", needs_valid_syntax=True),)
