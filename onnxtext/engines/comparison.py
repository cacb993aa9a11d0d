# SPDX-License-Identifier: Apache-2.0
"""Run two models and compare the values that both compute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from onnxtext.diagnostics import OnnxTextError
from onnxtext.engines.run_in_child import TIMEOUT, Values, run_model
from onnxtext.engines.run_inputs import default_inputs, fill_inputs, input_error, needed_inputs

if TYPE_CHECKING:
    import onnx

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class ValueDifference:
    """How a value differs between two runs.

    Attributes:
        is_output: whether the value is an output of both models.
        changed: number of elements that differ; two NaNs are equal. Elements that could not be
            compared count as different.
        elements: number of elements in the first run; for a list or map, the sum over its items; 1
            if the items cannot be paired.
        largest: the largest absolute difference; None if the elements are not numbers, or if
            `note` is set.
        relative: the largest `|first - second| / |first|` of an element; None if `largest` is None.
        note: why elements could not be compared one by one, such as different shapes; None if they
            were compared.
        pairs: the (absolute, relative) differences of elements. A pair is left out if both numbers
            of another pair are at least as large. Empty if `largest` is None.
    """

    name: str
    is_output: bool
    changed: int
    elements: int
    largest: float | None = None
    relative: float | None = None
    note: str | None = None
    pairs: tuple[tuple[float, float], ...] = ()

    @property
    def differs(self) -> bool:
        """Whether the value differs between the two runs."""
        return self.changed > 0 or self.note is not None

    def exceeds(self, rtol: float, atol: float) -> bool:
        """Whether the difference of an element exceeds both tolerances, or cannot be measured.

        `rtol` is the tolerance for relative, `atol` the one for absolute differences.
        """
        exceeding = (gap > atol and ratio > rtol for gap, ratio in self.pairs)
        return self.differs and (self.largest is None or any(exceeding))


def run_both(
    first: onnx.ModelProto,
    second: onnx.ModelProto,
    inputs: Mapping[str, Any],
    *,
    engine: str = "onnx",
    names: tuple[str, str] = ("<first>", "<second>"),
    timeout: float | None = TIMEOUT,
    memory: int | None = None,
) -> tuple[Values, Values, list[ValueDifference]]:
    """Run two models on the same inputs and compare the values that both models compute.

    Compare the outputs, and the other values that the nodes of both main graphs compute. If a model
    cannot be run with these values as additional outputs, for a reason other than a limit, compare
    only the outputs.

    Args:
        first: a model.
        second: the other model. Each of its required inputs must be an input of the first model.
        inputs: the inputs of the first model, by name. The second model gets the values of its own
            inputs, converted to its declared types. A required input of the second model that is
            not given gets its default value in the first model.
        engine: one of `ENGINES`.
        names: the names of the models in messages.
        timeout: time limit of each run in seconds; None for no limit.
        memory: maximum number of bytes that the engine may allocate (Linux only); 0 for no limit,
            None for the memory that is available now.

    Returns:
        (values of the first model, values of the second model, comparisons). `comparisons` has an
        item for each value that both models have, equal or not, in the order of the first model.

    Raises:
        OnnxTextError: a model cannot be run, or an input that the second model requires has
            neither a given value nor a valid default value in the first model, or a value does not
            fit the type that the second model declares.
        ValueError: `engine` is unknown.
    """
    others = set(_computed_names(second))
    common = [name for name in _computed_names(first) if name in others]
    taken = {value.name for value in second.graph.input}
    theirs = {name: value for name, value in inputs.items() if name in taken}
    missing = [name for name in needed_inputs(second) if name not in theirs]
    if missing:
        defaults = default_inputs(first)
        for name in missing:
            if name not in defaults:
                raise input_error(
                    f"{names[1]} requires the input `{name}`, which is not given and has no "
                    f"default value in {names[0]}"
                )
            theirs[name] = defaults[name]
    try:
        theirs = fill_inputs(second, theirs)  # the declared types may differ
    except OnnxTextError as error:
        raise OnnxTextError(replace(error.diagnostics[0], file=names[1], path="model")) from None

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


def _computed_names(model: onnx.ModelProto) -> list[str]:
    """Return the names of the values that the nodes of the main graph compute, in order."""
    return [name for node in model.graph.node for name in node.output if name]


def compare_values(
    name: str, first: Any, second: Any, *, is_output: bool = True
) -> ValueDifference:
    """Compare the values that two models compute under a name: arrays, lists, maps or None.

    `is_output` tells whether the value is an output of both models.
    """
    if not isinstance(first, np.ndarray) or not isinstance(second, np.ndarray):
        items = _paired(first, second)
        if items is None:
            return ValueDifference(name, is_output, 1, 1, note="the values differ")
        parts = [compare_values(name, *item, is_output=is_output) for item in items]
        return _added_up(name, is_output, parts)
    for what, left, right in (
        ("shapes", list(first.shape), list(second.shape)),
        ("element types", first.dtype.name, second.dtype.name),
    ):
        if left != right:
            note = f"the {what} differ: {left} in the first model, {right} in the second"
            return ValueDifference(name, is_output, first.size, first.size, note=note)
    if first.dtype.kind in "OSUb":
        changed = int((first != second).sum())
        return ValueDifference(name, is_output, changed, first.size)
    gap, ratio = _differences(first, second)
    return _measure(name, is_output, gap.size, first.size, gap, ratio)


def _differences(first: Array, second: Array) -> tuple[Array, Array]:
    """Return the absolute and the relative differences, only for numbers that differ."""
    is_integer = first.dtype.kind in "iu"
    wide = np.complex128 if first.dtype.kind == "c" else np.float64
    one, two = first.astype(wide), second.astype(wide)
    with np.errstate(all="ignore"):
        # Two different 64-bit integers may round to the same float.
        unequal = first != second if is_integer else one != two
        differs = unequal & ~(np.isnan(one) & np.isnan(two))
        one, two = one[differs], two[differs]
        gap = np.nan_to_num(np.abs(one - two), nan=np.inf, posinf=np.inf)
        if is_integer:
            gap = np.maximum(gap, 1.0)
        ratio = np.nan_to_num(gap / np.abs(one), nan=np.inf, posinf=np.inf)
    return gap, ratio


def _pareto_front(gap: Array, ratio: Array) -> tuple[tuple[float, float], ...]:
    """Return the distinct pairs (gap, ratio), without dominated pairs.

    A pair is dominated if both numbers of another pair are at least as large.
    """
    order = np.lexsort((-ratio, -gap))
    gap, ratio = gap[order], ratio[order]
    chosen = ratio > np.maximum.accumulate(np.concatenate([[-1.0], ratio]))[:-1]
    return tuple(zip(gap[chosen].tolist(), ratio[chosen].tolist(), strict=True))


def _measure(
    name: str, is_output: bool, changed: int, elements: int, gap: Array, ratio: Array
) -> ValueDifference:
    pairs = _pareto_front(gap, ratio)
    largest = max([gap for gap, _ in pairs], default=0.0)
    relative = max([ratio for _, ratio in pairs], default=0.0)
    return ValueDifference(name, is_output, changed, elements, largest, relative, pairs=pairs)


def _added_up(name: str, is_output: bool, parts: list[ValueDifference]) -> ValueDifference:
    """Combine the differences of the items of two lists or maps."""
    changed = sum([part.changed for part in parts])
    elements = sum([part.elements for part in parts])
    note = next((part.note for part in parts if part.note is not None), None)
    if note is not None or any(part.differs and part.largest is None for part in parts):
        return ValueDifference(name, is_output, changed, elements, note=note)
    pairs = [pair for part in parts for pair in part.pairs]
    gap, ratio = np.array(pairs, np.float64).reshape(-1, 2).T
    return _measure(name, is_output, changed, elements, gap, ratio)


def _paired(first: Any, second: Any) -> list[tuple[Any, Any]] | None:
    """Return the pairs of items of two lists or maps; None if the values cannot be paired.

    Return [] if both values are None (absent optionals).
    """
    if isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
        return list(zip(first, second, strict=True))
    if isinstance(first, dict) and isinstance(second, dict) and first.keys() == second.keys():
        return [(first[key], second[key]) for key in first]
    return [] if first is None and second is None else None
