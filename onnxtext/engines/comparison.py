# SPDX-License-Identifier: Apache-2.0
"""Run two models and compare the values that both compute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from onnxtext.diagnostics import OnnxTextError
from onnxtext.engines.run_in_child import TIMEOUT, Values, run_model
from onnxtext.engines.run_inputs import default_inputs, input_error, needed_inputs

if TYPE_CHECKING:
    import onnx


@dataclass(frozen=True, slots=True)
class Difference:
    """How a value differs between two runs.

    Attributes:
        name: the name of the value.
        is_output: whether it is an output of both models.
        changed: number of elements that differ; two NaNs are equal. If `note` is set, this is the
            number of all elements.
        elements: number of elements in the first run; 1 for a list, a map or None.
        largest: the largest absolute difference; None if the elements are not numbers, or if
            `note` is set.
        relative: the largest `|first - second| / |first|` of an element; None if `largest` is None.
        note: why elements could not be compared one by one, such as different shapes; None if they
            were compared.
    """

    name: str
    is_output: bool
    changed: int
    elements: int
    largest: float | None = None
    relative: float | None = None
    note: str | None = None

    @property
    def differs(self) -> bool:
        """Whether the value differs between the two runs."""
        return self.changed > 0 or self.note is not None

    def exceeds(self, rtol: float, atol: float) -> bool:
        """Whether the difference exceeds both tolerances.

        Any difference does if it cannot be measured (`largest` is None).

        Args:
            rtol: the tolerance for `relative`.
            atol: the tolerance for `largest`.
        """
        if not self.differs:
            return False
        if self.note is not None or self.largest is None:
            return True
        return self.largest > atol and (self.relative is None or self.relative > rtol)


def run_both(
    first: onnx.ModelProto,
    second: onnx.ModelProto,
    inputs: Mapping[str, Any],
    *,
    engine: str = "onnx",
    names: tuple[str, str] = ("<first>", "<second>"),
    timeout: float | None = TIMEOUT,
    memory: int | None = None,
) -> tuple[Values, Values, list[Difference]]:
    """Run two models on the same inputs and compare the values that both models compute.

    Values inside of the main graphs are compared, too, unless a model cannot be run with these
    values as additional outputs.

    Args:
        first: a model.
        second: the other model. Each of its required inputs must be an input of the first model.
        inputs: the inputs of the first model, by name. The second model gets those that it has. If
            it requires an input that is not given, it gets the default value in the first model.
        engine: one of `ENGINES`.
        names: the names of the models in messages.
        timeout: time limit of each run in seconds; None for no limit.
        memory: maximum number of bytes that the engine may allocate (Linux only); None for the
            memory that is available now.

    Returns:
        (values of the first model, values of the second model, comparisons). `comparisons` has an
        item for each value of both models, also for equal ones, in the order of the first model.

    Raises:
        OnnxTextError: a model cannot be run, or an input that the second model requires is neither
            given nor has a valid default value in the first model.
    """
    common = [name for name in _computed(first) if name in set(_computed(second))]
    taken = {value.name for value in second.graph.input}
    theirs = {name: value for name, value in inputs.items() if name in taken}
    missing = [name for name in needed_inputs(second) if name not in theirs]
    if missing:
        defaults = default_inputs(first)
        for name in missing:
            if name not in defaults:
                raise input_error(f"{names[1]} has the input `{name}`, and {names[0]} does not")
            theirs[name] = defaults[name]

    def run(also: Sequence[str]) -> tuple[Values, Values]:
        return (
            run_model(first, inputs, engine=engine, also=also, name=names[0], **limits),
            run_model(second, theirs, engine=engine, also=also, name=names[1], **limits),
        )

    limits: dict[str, Any] = {"timeout": timeout, "memory": memory}
    try:
        one, two = run(common)
    except OnnxTextError as error:
        if not common or error.diagnostics[0].code == "run-limit":
            raise
        one, two = run(())
    outputs = {o.name for o in first.graph.output} & {o.name for o in second.graph.output}
    both = [name for name in dict.fromkeys((*common, *one)) if name in one and name in two]
    return one, two, [compare_values(n, one[n], two[n], is_output=n in outputs) for n in both]


def _computed(model: onnx.ModelProto) -> list[str]:
    """Return the values that the nodes of the main graph compute, in order."""
    return [name for node in model.graph.node for name in node.output if name]


def compare_values(name: str, first: Any, second: Any, *, is_output: bool = True) -> Difference:
    """Compare the values of the same name that two models have computed.

    Args:
        name: the name of the values.
        first: the value of the first model: an array, a list, a map or None.
        second: the value of the second model: an array, a list, a map or None.
        is_output: whether the value is an output of both models.
    """
    if not isinstance(first, np.ndarray) or not isinstance(second, np.ndarray):
        same = _equal(first, second)
        return Difference(
            name, is_output, int(not same), 1, note=None if same else "the values differ"
        )
    if first.shape != second.shape:
        note = (
            f"the shapes differ: {list(first.shape)} in the first model, "
            f"{list(second.shape)} in the second"
        )
        return Difference(name, is_output, first.size, first.size, note=note)
    if first.dtype != second.dtype:
        note = (
            f"the element types differ: {first.dtype.name} in the first model, "
            f"{second.dtype.name} in the second"
        )
        return Difference(name, is_output, first.size, first.size, note=note)
    if first.dtype.kind in "OSUb":
        changed = int((first != second).sum())
        return Difference(name, is_output, changed, first.size)
    one, two = (array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)
                for array in (first, second))  # fmt: skip
    with np.errstate(all="ignore"):
        equal = (one == two) | (np.isnan(one) & np.isnan(two))
        gap = np.where(equal, 0.0, np.abs(one - two))
        ratio = np.where(equal, 0.0, gap / np.abs(one))
    changed = int((~equal).sum())
    return Difference(
        name, is_output, changed, first.size, _largest(gap), _largest(ratio)
    )  # fmt: skip


def _largest(values: Any) -> float:
    """Return the largest number; infinity if any is NaN."""
    if not values.size:
        return 0.0
    return float("inf") if np.isnan(values).any() else float(values.max())


def _equal(first: Any, second: Any) -> bool:
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(_equal, first, second))
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(_equal(first[k], second[k]) for k in first)
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
        return not compare_values("", first, second).differs
    return first is None and second is None
