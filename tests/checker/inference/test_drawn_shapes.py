# SPDX-License-Identifier: Apache-2.0
"""Inferred shapes and values equal those that onnx's reference implementation computes."""

from __future__ import annotations

import random
from typing import Any

import pytest

from onnxtext.ast.types import TensorType
from onnxtext.checker.context.compare_declared_types import plain_dim
from onnxtext.checker.engine.check_tree import run_rules
from onnxtext.checker.inference.shape_inference import ShapeInference
from onnxtext.checker.symbolic.sizes.parse_sizes import parse_size
from onnxtext.checker.symbolic.sizes.polynomials import Extent
from onnxtext.checker.symbolic.sizes.quotients import substitute
from onnxtext.proto.decode.lift import lift_model
from tests.checker.inference.drawn_graphs import SIZES, drawn
from tests.seeds import draws, seeded


def judged(seed: int) -> tuple[int, int, int]:
    """Compare the inferred shapes and values of a drawn graph with the computed ones.

    Returns:
        The numbers of dimensions, of known dimensions, and of known elements of small values.
    """
    graph = drawn(random.Random(seed), 14)
    data = graph.model().SerializeToString()
    subject, found = run_rules(lift_model(data), encoded=lambda: data)
    assert subject.main is not None
    wrong = [f"{f.code}: {f.message}" for f in found if "dim" in f.code or "mismatch" in f.code]
    assert not wrong, (seed, wrong)
    environment = ShapeInference.of(subject).visits[id(subject.main)][0]
    dims = known = elements = 0
    for node in graph.nodes:
        for name in node.output:
            type = environment.facts.get(name)
            shape = type.shape if isinstance(type, TensorType) else None
            dims += len(graph.values[0][name].shape)
            known += sum(dim is not None for dim in shape or ())
            followed = environment.values.get(name)
            for values, sizes in zip(graph.values, SIZES, strict=True):
                actual = values[name]
                where = f"seed {seed}: {node.op_type} {name} {shape} {followed} {sizes}"
                if shape is not None:
                    _agree([_extent(dim) for dim in shape], actual.shape, sizes, where)
                if followed is not None:
                    assert followed.shape == actual.shape, where
                    _agree(followed.items, actual.flatten().tolist(), sizes, where)
            elements += sum(item is not None for item in followed.items) if followed else 0
    return dims, known, elements


def _extent(dim: Any) -> Extent:
    plain = plain_dim(dim)
    return parse_size(plain) if isinstance(plain, str) else plain


def _agree(extents: Any, numbers: Any, sizes: dict[str, int], where: str) -> None:
    assert len(extents) == len(numbers), where
    for extent, number in zip(extents, numbers, strict=True):
        assert substitute(extent, sizes.__getitem__) in (None, number), f"{where} {number}"


@pytest.mark.parametrize("seed", [974492749, 7984267])
def test_shapes_that_were_wrong_once_are_correct(seed: int) -> None:
    """The target shape of `Reshape` contains 0, always or for small inputs."""
    judged(seed)


@pytest.mark.thorough
def test_shapes_of_drawn_graphs_are_correct() -> None:
    count = draws(150)
    choose = seeded()
    dims, known, elements = map(
        sum, zip(*[judged(choose.getrandbits(32)) for _ in range(count)], strict=True)
    )
    assert known > 0.8 * dims
    assert elements > count
