# SPDX-License-Identifier: Apache-2.0
"""Compute arithmetic and logical operators on small tensors of symbolic integers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

from onnxtext.checker.symbolic.operator_call import OperatorCall
from onnxtext.checker.symbolic.sizes.polynomials import Extent, minus, plus, times
from onnxtext.checker.symbolic.sizes.quotients import (
    bounds,
    exact_quotient,
    is_positive_or_zero,
    maximum_of,
    minimum_of,
    quotient,
)
from onnxtext.checker.symbolic.small_tensors import SmallTensor, broadcast_tensor

Operation = Callable[[Extent, Extent], Extent]
ValueFunction = Callable[[OperatorCall, SmallTensor, tuple[int, ...]], SmallTensor | None]
"""Computes the elements of an operator's output; returns None if they are unknown or too many.

The arguments are the node, the elements of its first input, and the shape of the output.
"""


def _broadcast_inputs(call: OperatorCall, shape: tuple[int, ...]) -> list[SmallTensor]:
    """Return the inputs, broadcast to `shape`; [] if an input is unknown or cannot be broadcast."""
    wide = [None if value is None else broadcast_tensor(value, shape) for value in call.values]
    found = [value for value in wide if value is not None]
    return found if len(found) == len(wide) else []


def _elementwise(step: Operation) -> ValueFunction:
    """Return the inference function of an operator that combines elements of inputs by `step`."""

    def compute(
        call: OperatorCall, value: SmallTensor, shape: tuple[int, ...]
    ) -> SmallTensor | None:
        inputs = _broadcast_inputs(call, shape)
        if not inputs or call.since < 7:
            return None
        items = tuple([reduce(step, row) for row in zip(*[v.items for v in inputs], strict=True)])
        return inputs[0]._replace(items=items)

    return compute


def _divide(call: OperatorCall, value: SmallTensor, shape: tuple[int, ...]) -> SmallTensor | None:
    step = _real_quotient if value.real else _whole_quotient
    return _elementwise(step)(call, value, shape) if len(call.values) == 2 else None


def uses_elements(name: str, values: Sequence[SmallTensor | None]) -> bool:
    """Whether an operator of `SHAPES_ALONE` uses the elements of its inputs, None where unknown.

    If all are known, it may compute elements; and it may reject a divisor or ratio.
    """
    if None not in values:
        return bool(values)
    second = values[1] if len(values) > 1 else None
    if second is None or name not in ("Div", "Dropout", "Mod"):
        return False
    return second.items not in ((0,), (None,)) if name == "Dropout" else 0 in second.items


def require_divisor(call: OperatorCall) -> None:
    """Warn if a known element of an integer divisor is 0, which onnxruntime rejects."""
    divisor = call.value(1)
    if divisor is not None and not divisor.real and 0 in divisor.items:
        wrong = "an element of {1} is 0, but integers cannot be divided by 0"
        call.reject(wrong, specified=False, elements=True)


def require_ratio(call: OperatorCall) -> None:
    """Warn if the ratio of `Dropout` is a whole number other than 0, which onnxruntime rejects."""
    ratio = call.scalar(1)
    if isinstance(ratio, int) and ratio != 0:
        wrong = f"{{1}} is {ratio}, but it must be at least 0 and below 1"
        call.reject(wrong, specified=False, elements=True)


def _may_be_zero(divisor: Extent) -> bool:
    """Whether a divisor may be 0, so that `x / x` is not always 1."""
    if divisor is None or isinstance(divisor, int):
        return not divisor
    low, _ = bounds(divisor)
    return low is None or low < 1


def _real_quotient(left: Extent, right: Extent) -> Extent:
    return None if _may_be_zero(right) else exact_quotient(left, right)


def _whole_quotient(left: Extent, right: Extent) -> Extent:
    """Return `left / right`, rounded toward zero; None if unknown, or if `right` may be 0."""
    if _may_be_zero(right):
        return None
    if isinstance(left, int) and isinstance(right, int):
        magnitude = abs(left) // abs(right)
        return magnitude if (left < 0) == (right < 0) else -magnitude
    result = exact_quotient(left, right)
    if result is None and is_positive_or_zero(left) and is_positive_or_zero(right):
        result = quotient(left, right)
    return result


def _remainder(
    call: OperatorCall, value: SmallTensor, shape: tuple[int, ...]
) -> SmallTensor | None:
    if value.real or len(call.values) != 2 or call.integer("fmod", 0):
        return None
    return _elementwise(_modulo)(call, value, shape)


def _modulo(left: Extent, right: Extent) -> Extent:
    """Return the remainder of `left / right`; None if unknown, or if `right` may be 0 or less."""
    if _may_be_zero(right) or not is_positive_or_zero(right):
        return None
    return minus(left, times(quotient(left, right), right))


def _comparison(judge: Operation) -> ValueFunction:
    """Return the inference function of an operator with two inputs and a boolean output.

    `judge` computes an element of the output from the elements of the inputs.
    """
    compute = _elementwise(judge)

    def compare(
        call: OperatorCall, value: SmallTensor, shape: tuple[int, ...]
    ) -> SmallTensor | None:
        result = compute(call, value, shape) if len(call.values) == 2 else None
        return None if result is None else result._replace(real=False)

    return compare


def _is_less(left: Extent, right: Extent) -> Extent:
    """Return 1 if `left` is less than `right`, 0 if not, None if unknown."""
    low, high = bounds(minus(left, right))
    if high is not None and high < 0:
        return 1
    return 0 if low is not None and low >= 0 else None


def _is_equal(left: Extent, right: Extent) -> Extent:
    if left is not None and left == right:
        return 1
    return 0 if _is_less(left, right) == 1 or _is_less(right, left) == 1 else None


def _opposite(truth: Extent) -> Extent:
    return 1 - truth if isinstance(truth, int) else None


def _both(left: Extent, right: Extent) -> Extent:
    if 0 in (left, right):
        return 0
    return 1 if left == right == 1 else None


def _either(left: Extent, right: Extent) -> Extent:
    if 1 in (left, right):
        return 1
    return 0 if left == right == 0 else None


def _where(call: OperatorCall, value: SmallTensor, shape: tuple[int, ...]) -> SmallTensor | None:
    """Compute the elements of the output of `Where`; return None if an input is unknown.

    If an element of the condition is unknown, the element of the output is known only if the
    elements of both choices are equal.
    """
    inputs = _broadcast_inputs(call, shape)
    if len(inputs) != 3:
        return None
    condition, left, right = inputs
    items = [
        a if a == b or truth == 1 else b if truth == 0 else None
        for truth, a, b in zip(condition.items, left.items, right.items, strict=True)
    ]
    return left._replace(items=tuple(items))


def _unary(step: Callable[[Extent], Extent]) -> ValueFunction:
    """Return the inference function of an operator that applies `step` to each element."""
    return lambda call, value, shape: value._replace(items=tuple(map(step, value.items)))


def _absolute(item: Extent) -> Extent:
    if isinstance(item, int):
        return abs(item)
    return item if is_positive_or_zero(item) else None


def _clip(call: OperatorCall, value: SmallTensor, shape: tuple[int, ...]) -> SmallTensor | None:
    if call.since < 11 or len(value.items) != 1:
        return None
    item = value.items[0]
    for index, step in ((1, maximum_of), (2, minimum_of)):
        if call.has_input(index):
            item = step(item, call.scalar(index))
    return value._replace(items=(item,))


ARITHMETIC: dict[str, ValueFunction] = {
    "Abs": _unary(_absolute),
    "Add": _elementwise(plus),
    "And": _comparison(_both),
    "Clip": _clip,
    "Div": _divide,
    "Equal": _comparison(_is_equal),
    "Greater": _comparison(lambda a, b: _is_less(b, a)),
    "GreaterOrEqual": _comparison(lambda a, b: _opposite(_is_less(a, b))),
    "Less": _comparison(_is_less),
    "LessOrEqual": _comparison(lambda a, b: _opposite(_is_less(b, a))),
    "Max": _elementwise(maximum_of),
    "Min": _elementwise(minimum_of),
    "Mod": _remainder,
    "Mul": _elementwise(times),
    "Neg": _unary(lambda item: times(item, -1)),
    "Not": _unary(_opposite),
    "Or": _comparison(_either),
    "Sub": _elementwise(minus),
    "Where": _where,
}
"""Maps each operator to the function that computes the elements of its output."""
