# SPDX-License-Identifier: Apache-2.0
"""Check that the inputs of `Einsum` fit its equation, and find the sizes of its output."""

from __future__ import annotations

import re
from collections.abc import Iterator

from onnxtext.checker.symbolic.operator_call import OperatorCall, SymbolicShape
from onnxtext.checker.symbolic.sizes.polynomials import Extent

_TERM = re.compile(r"([A-Za-z]*)(\.\.\.)?([A-Za-z]*)")


def output_sizes(call: OperatorCall) -> list[list[Extent]] | None:
    """Return, for each dimension of the output, the input sizes that are broadcast to it.

    Return None if the equation is wrong or the shape of an input is unknown. Reject an equation in
    which a letter has two sizes, or the output term repeats a letter.
    """
    equation = call.attribute("equation")
    if not isinstance(equation, bytes):
        return None
    left, arrow, right = equation.decode(errors="replace").replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) == len(call.shapes) and all(map(_TERM.fullmatch, terms)):
        _require_equal_sizes(call, terms, right)  # else, onnx reports the error
    if None in call.shapes:
        return None
    sizes: dict[str, list[Extent]] = {}
    for term, shape in zip(terms, call.shapes, strict=False):
        for label, size in _labeled_dimensions(term, shape):
            sizes.setdefault(label, []).append(size)
    if not arrow:
        letters = [letter for letter in sorted(set(left)) if letter.isalpha()]
        right = "..." + "".join([letter for letter in letters if left.count(letter) == 1])
    before, dots, after = right.partition("...")
    shared = sorted([label for label in sizes if dots and not label.isalpha()], key=int)
    labels = [*before, *shared, *after]
    return [sizes[label] for label in labels] if sizes.keys() >= set(labels) else None


def _require_equal_sizes(call: OperatorCall, terms: list[str], output: str) -> None:
    """Reject an equation with the given terms if a letter has two sizes, or the output repeats one.

    A dimension of size 1 fits every other size, because it is broadcast. Dimensions of the ellipsis
    are checked like letters. If the equation is empty, the input must have rank 0.
    """
    repeated = [letter for letter in output if letter.isalpha() and output.count(letter) > 1]
    if repeated:
        call.reject(f"the output term `{output}` repeats the index `{repeated[0]}`")
    if terms == [""]:  # onnx does not check an empty equation
        call.require_rank(0, 0)
    sizes: dict[str, tuple[int, int]] = {}
    for index, term in enumerate(terms):
        for label, size in _labeled_dimensions(term, call.shape(index)):
            if not isinstance(size, int) or size == 1:
                continue
            before, first = sizes.setdefault(label, (size, index))
            if size != before:
                name = f"dimension {label} of `...`"
                if label.isalpha():
                    name = f"the dimension `{label}`"
                call.reject(f"{name} is {before} in {{{first}}} and {size} in {{{index}}}")
                return


def _labeled_dimensions(term: str, shape: SymbolicShape) -> Iterator[tuple[str, Extent]]:
    """Yield the label and the size of each dimension of an input of shape `shape`.

    `term` is the term of the equation for the input, such as `b...ij`. The dimensions of the
    ellipsis have the labels `-1`, `-2` and so on, from the last to the first. Yield nothing if the
    term does not fit the shape.
    """
    found = _TERM.fullmatch(term)
    if shape is None or found is None:
        return
    before, dots, after = found.groups()
    rest = len(shape) - len(before) - len(after)
    if rest < 0 or (rest and not dots):
        return  # onnx reports this error
    labels = [*before, *[str(axis - rest) for axis in range(rest)], *after]
    yield from zip(labels, shape, strict=True)
