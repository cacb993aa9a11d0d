# SPDX-License-Identifier: Apache-2.0
"""Mutants of valid models: each breaks one rule, and the official checker rejects it."""

from __future__ import annotations

import onnx
import pytest

import onnxtext
from tests.checker.mutations import MUTATIONS
from tests.checker.test_real_models import official
from tests.corpus import onnx_directory, wheel_models
from tests.seeds import sampled

ALL = [(code, name) for code, mutations in MUTATIONS.items() for name in mutations]
EACH = 8
"""The number of mutants of each kind."""


def bases() -> list[str]:
    """Return small valid models of all kinds."""
    root = onnx_directory()
    files = [file for file in wheel_models() if (root / file).stat().st_size < 50_000]
    return files[::2] + files[1::2]


@pytest.mark.thorough
@pytest.mark.parametrize(("code", "name"), sampled(ALL, 2))
def test_mutants_are_rejected_by_the_right_rule(code: str, name: str) -> None:
    mutation = MUTATIONS[code][name]
    result = 0
    for file in bases():
        model = onnx.load(onnx_directory() / file)
        if model.ir_version == 3 and name in ("recursive", "sparse_unordered"):
            model.ir_version = 8  # the version must have what the mutation adds
            model.opset_import[0].version = max(model.opset_import[0].version, 7)
        if not mutation(model):
            continue
        data = model.SerializeToString()
        if official(data) is None:
            continue
        found = {item.code for item in onnxtext.check(data) if item.severity == "error"}
        assert code in found, (file, found, official(data))
        result += 1
        if result == EACH:
            break
    assert result >= (FEW.get(name, EACH)), result


FEW = {"attribute_missing": 1, "tensor_of_nothing": 1}
"""Mutations that few models allow, and their minimum numbers."""


def test_at_least_three_hundred_mutants_are_tested() -> None:
    assert sum(FEW.get(name, EACH) for _, name in ALL) >= 300
