# SPDX-License-Identifier: Apache-2.0
"""Run tests that compare with onnx for every element type that the installed onnx knows."""

from __future__ import annotations

from collections.abc import Iterable

import onnx
import pytest

from onnxtext.tensor.element_types import ElementType


def each_known(elements: Iterable[ElementType]) -> pytest.MarkDecorator:
    """Parametrize a test with `element`; skip elements that the installed onnx does not know."""
    numbers = set(onnx.TensorProto.DataType.values())
    parameters = []
    for element in elements:
        skip = pytest.mark.skip(f"this onnx does not know {element.name}")
        marks = () if element.number in numbers else (skip,)
        parameters.append(pytest.param(element, id=element.name, marks=marks))
    return pytest.mark.parametrize("element", parameters)
