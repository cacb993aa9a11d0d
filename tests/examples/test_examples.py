# SPDX-License-Identifier: Apache-2.0
"""Every model in `examples/` is valid, computes the documented values, and round-trips.

The expected numbers are worked out here, by hand or with plain numpy, never by running the model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.checker
import onnx.inliner
import pytest
from numpy.typing import NDArray
from onnx.reference import ReferenceEvaluator

import onnxtext
from benchmarks.mutants import graphs

EXAMPLES = Path(__file__).parents[2] / "examples"
FILES = sorted(path.name for path in EXAMPLES.glob("*.onnxtxt"))

Array = NDArray[Any]
Value = Array | list[Array] | dict[str, int] | None


@dataclass(frozen=True)
class Case:
    """One run of a model: the inputs and the expected outputs, by name."""

    inputs: Mapping[str, Value]
    outputs: Mapping[str, Value]
    tolerance: float = 1e-5


def f32(*values: Any) -> Array:
    return np.array(values, dtype=np.float32)


def i64(*values: int) -> Array:
    return np.array(values, dtype=np.int64)


def scalar(value: float, dtype: type = np.float32) -> Array:
    return np.array(value, dtype=dtype)


def text(*values: str) -> Array:
    return np.array(values, dtype=object)


def softmax(logits: Array) -> Array:
    powers = np.exp(logits)
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


def sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


# Rows 1, 51, 101, 71 and 150 of Fisher's iris data. Number 71 is a versicolor that looks like a
# virginica: its petals are 1.8 cm wide.
IRIS = f32(
    [5.1, 3.5, 1.4, 0.2],
    [7.0, 3.2, 4.7, 1.4],
    [6.3, 3.3, 6.0, 2.5],
    [5.9, 3.2, 4.8, 1.8],
    [5.9, 3.0, 5.1, 1.8],
)


def classifier() -> list[Case]:
    # The hidden units: short = 2.45 - length (1.4), long = length (6.0, 5.1) - 4.95, and
    # wide = width (2.5, 1.8) - 1.75. Their weights are 6, 10 and 20; the bias is 1.5.
    logits = np.array(
        [
            [6 * 1.05, 1.5, 0],
            [0, 1.5, 0],
            [0, 1.5, 10 * 1.05 + 20 * 0.75],
            [0, 1.5, 20 * 0.05],
            [0, 1.5, 10 * 0.15 + 20 * 0.05],
        ]
    )
    outputs = {"species": i64(0, 1, 2, 1, 2), "probabilities": softmax(logits)}
    return [Case({"flowers": IRIS}, outputs)]


def convnet() -> list[Case]:
    vertical = np.zeros((8, 8))
    vertical[:, 4:] = 1  # dark on the left, bright on the right
    horizontal = np.zeros((8, 8))
    horizontal[:4] = 1  # bright above, dark below
    flat = np.full((8, 8), 0.7)
    image = np.stack([vertical, horizontal, flat])[:, None].astype(np.float32)
    # The convolution gives 1 + 2 + 1 = 4 in the two middle columns (or rows) of six. After pooling,
    # the middle one of three columns is 4, so the mean is 4/3. The dense layer multiplies it by 3.
    logits = np.array([[4, -4, 1], [-4, 4, 1], [0, 0, 1]])
    return [Case({"image": image}, {"direction": softmax(logits)})]


def attention() -> list[Case]:
    keys = np.eye(3)
    values = np.array([[10.0, 1.0], [20.0, 2.0], [60.0, 6.0]])
    queries = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
    # The score of the equal key is 1, the others are 0: the softmax weights are e : 1 : 1.
    e = np.e
    blended = np.array([[10 + 20 * e + 60, 1 + 2 * e + 6], [10 * e + 20 + 60, e + 2 + 6]])
    inputs = {"queries": queries, "keys": keys, "values": values}
    outputs: dict[str, Value] = {
        "looked_up": f32([20, 2], [10, 1]),
        "blended": blended / (e + 2),
        "running_mean": f32([10, 1], [15, 1.5], [30, 3]),
    }
    return [Case({k: v.astype(np.float32) for k, v in inputs.items()}, outputs)]


def collatz_case(*path: int) -> Case:
    start, *rest = path
    outputs = {
        "steps": scalar(len(rest), np.int64),
        "highest": scalar(max(path), np.int64),
        "path": i64(*rest),
    }
    return Case({"start": scalar(start, np.int64)}, outputs)


def quantized() -> list[Case]:
    x = f32([1.0, 2.0, -0.5], [0.25, -1.0, 0.125], [2.9, -5.0, 2.9], [2.875, 0, 0], [0, 0, 2.875])
    # Row 1: 1*1 + 2*0.5 + -0.5*-2 = 3 and 1*-1 + 2*2 + -0.5*0.5 = 2.75.
    # Row 2: 0.25 - 0.5 - 0.25 = -0.5 and -0.25 - 2 + 0.0625 = -2.1875.
    # Row 3: 2.9 is rounded to 186/64 = 2.90625 and -5 saturates at -1, so the sums are -3.40625
    # and -3.453125: -54.5 and -55.25 steps of 1/16. Ties go to the even number: -54 and -55.
    # The last rows are 2.875 times one row of weights.
    steps = np.array([[48, 44], [-8, -35], [-54, -55], [46, -46], [-92, 23]])
    quantized = (steps + 128).astype(np.uint8)
    return [Case({"x": x}, {"y_quantized": quantized, "y": f32(*(steps / 16))})]


def int4_weights() -> list[Case]:
    x = f32([1, 1, 1, 1, 1, 1, 1, 1], [0, 1, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 2, 0, 4])
    # Row 1 adds up columns: 7 - 4 + 0 + 1 = 4 plus (4 - 8 + 2 + 6) / 16 = 0.25; and
    # (-8 + 2 + 6 - 1) / 2 = -0.5 plus (7 - 3 + 0 + 1) / 4 = 1.25. Row 2 picks the second row.
    # Row 3: (2 * -8 + 4 * 6) / 16 = 0.5 and (2 * -3 + 4 * 1) / 4 = -0.5.
    return [Case({"x": x}, {"y": f32([4.25, 0.75], [-4, 1], [0.5, -0.5])})]


def spam_case(verdict: str, **words: int) -> Case:
    # P(word | ham), P(word | spam)
    likelihood = {
        "free": (0.05, 0.3),
        "money": (0.1, 0.2),
        "prize": (0.05, 0.15),
        "click": (0.05, 0.2),
        "lunch": (0.25, 0.05),
        "report": (0.2, 0.05),
        "thanks": (0.15, 0.03),
        "monday": (0.15, 0.02),
    }
    joint = np.array([[0.75, 0.25]])  # the classes, before a word is read
    for word, count in words.items():
        joint = joint * np.array(likelihood[word]) ** count
    outputs = {"verdict": text(verdict), "probabilities": joint / joint.sum()}
    return Case({"words": words}, outputs, tolerance=1e-3)


def decision_trees() -> list[Case]:
    # The petals of flower 71 are 4.8 cm long and 1.8 cm wide: tree 0 votes for virginica, trees 1
    # and 2 for versicolor.
    votes = f32([3, 0, 0], [0, 3, 0], [0, 0, 3], [0, 2, 1], [0, 0, 3])
    species = text("setosa", "versicolor", "virginica", "versicolor", "virginica")
    # Two invented flowers: one with long, narrow petals, one with short, wide petals.
    odd = f32([5.0, 3.0, 2.6, 0.5], [5.0, 3.0, 2.0, 1.0])
    odd_outputs = {"species": text("versicolor", "setosa"), "votes": f32([1, 2, 0], [2, 1, 0])}
    return [
        Case({"flowers": IRIS}, {"species": species, "votes": votes}),
        Case({"flowers": odd}, odd_outputs),
    ]


def sequences() -> list[Case]:
    marks: list[Array] = [f32(1, 2, 3), f32(5), f32(2, 4)]
    outputs: dict[str, Value] = {
        "pupils": scalar(4, np.int64),
        "averages": f32(2, 5, 3, 1.75),
        "best_average": scalar(5),
        "first_pupil": f32(1, 2, 3),
    }
    return [Case({"marks": marks, "latecomer": f32(1, 2, 1, 3)}, outputs)]


def weighted_mean() -> list[Case]:
    numbers = f32(1, 2, 6)
    return [
        Case({"numbers": numbers, "weights": f32(1, 4, 5)}, {"mean": scalar(3.9)}),
        Case({"numbers": numbers, "weights": None}, {"mean": scalar(3)}),
    ]


def smoothing() -> list[Case]:
    # From 8, each level moves a quarter of the way to the next sample.
    outputs = {"smoothed": f32(7, 8, 6, 6), "last_level": scalar(6), "largest_jump": scalar(8)}
    return [Case({"samples": f32(4, 11, 0, 6), "start": scalar(8)}, outputs)]


def sentiment_case(sentence: str, score: float, mood: str) -> Case:
    outputs = {"score": f32(score), "answer": text(f"{sentence} -> {mood}")}
    return Case({"sentence": text(sentence)}, outputs)


def extensions() -> list[Case]:
    # A sixteenth of a period is 22.5 degrees; the amplifier clips at 0.75.
    position = i64(*range(-1, 18))
    clipped = np.clip(np.sin(np.pi / 8 * np.arange(-1, 18)), -0.75, 0.75)
    return [  # the samples go through float16: 11 bits of precision
        Case({"position": position}, {"wave": 0.5 * clipped}, tolerance=5e-4),
        Case({"position": position, "gain": f32(4)}, {"wave": 4 * clipped}, tolerance=5e-4),
    ]


def feed_forward() -> list[Case]:
    x = np.array([[3.0, 4.0], [-3.0, 4.0], [0.01, 0.02], [0.0, 0.0]])
    unit = x / np.sqrt((x**2).mean(axis=1, keepdims=True) + 1e-4)
    gate_in = 2 * unit
    gate = gate_in * sigmoid(2 * gate_in)
    return [Case({"x": x.astype(np.float32)}, {"y": x + gate * unit[:, ::-1]})]


CASES: dict[str, list[Case]] = {
    "attention.onnxtxt": attention(),
    "classifier.onnxtxt": classifier(),
    "collatz.onnxtxt": [collatz_case(6, 3, 10, 5, 16, 8, 4, 2, 1), collatz_case(8, 4, 2, 1)],
    "convnet.onnxtxt": convnet(),
    "decision_trees.onnxtxt": decision_trees(),
    "extensions.onnxtxt": extensions(),
    "feed_forward.onnxtxt": feed_forward(),
    "int4_weights.onnxtxt": int4_weights(),
    "quantized.onnxtxt": quantized(),
    "sentiment.onnxtxt": [
        sentiment_case("This is a great film", 2, "happy"),
        sentiment_case("The plot is NOT very good", -1, "unhappy"),
        sentiment_case("this is not a good film", -1, "unhappy"),
        sentiment_case("not the bad", 1, "happy"),
        sentiment_case("not so good", 1, "happy"),  # wrong: `so` is no filler word between the pair
        sentiment_case("two hours long", 0, "neutral"),
    ],
    "sequences.onnxtxt": sequences(),
    "smoothing.onnxtxt": smoothing(),
    "spam_filter.onnxtxt": [
        spam_case("spam", free=2, money=1),
        spam_case("spam", prize=1, click=1),
        spam_case("ham", lunch=1, monday=1, free=1),
        spam_case("ham", report=1, thanks=1, click=2),
    ],
    "temperature.onnxtxt": [
        Case({"celsius": f32(-40, 0, 37, 100)}, {"degrees": f32(-40, 32, 98.6, 212)})
    ],
    "weighted_mean.onnxtxt": weighted_mean(),
}


def runnable(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a model with its calls inlined, and with the default attributes of functions.

    In onnx 1.23, the reference evaluator and the inliner ignore the defaults in a function's
    `attribute_proto`, and the evaluator ignores overloads.
    """
    functions = {(f.domain, f.name, f.overload): f for f in model.functions}
    owners: list[onnx.GraphProto | onnx.FunctionProto] = [model.graph, *model.functions]
    for owner in owners:
        for node in [node for graph in graphs(owner) for node in graph.node]:
            callee = functions.get((node.domain, node.op_type, node.overload))
            if callee is not None:
                given = {attribute.name for attribute in node.attribute}
                node.attribute.extend(d for d in callee.attribute_proto if d.name not in given)
    return onnx.inliner.inline_local_functions(model) if functions else model


def assert_equal(actual: Any, expected: Value, type_: onnx.TypeProto, tolerance: float) -> None:
    assert isinstance(expected, np.ndarray)
    declared = onnx.helper.tensor_dtype_to_np_dtype(type_.tensor_type.elem_type)
    actual = np.asarray(actual)
    assert actual.shape == expected.shape
    if declared == np.dtype(object):
        assert actual.tolist() == expected.tolist()
    else:
        assert actual.dtype == declared
        np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance)


def test_every_example_has_a_case() -> None:
    assert list(CASES) == FILES


@pytest.mark.parametrize("name", FILES)
def test_each_example_is_valid(name: str) -> None:
    onnx.checker.check_model(onnxtext.load(EXAMPLES / name), full_check=True)


@pytest.mark.parametrize("name", FILES)
def test_each_example_computes_the_expected_outputs(name: str) -> None:
    model = runnable(onnxtext.load(EXAMPLES / name))
    types = {output.name: output.type for output in model.graph.output}
    evaluator = ReferenceEvaluator(model)
    for case in CASES[name]:
        results = evaluator.run(None, dict(case.inputs))
        assert isinstance(results, list)
        assert list(case.outputs) == list(types)
        for (output, expected), actual in zip(case.outputs.items(), results, strict=True):
            assert_equal(actual, expected, types[output], case.tolerance)


@pytest.mark.parametrize("name", FILES)
def test_each_example_round_trips(name: str) -> None:
    data = onnxtext.to_binary((EXAMPLES / name).read_text(encoding="utf-8"))
    assert onnxtext.to_binary(onnxtext.from_binary(data)) == data
