# SPDX-License-Identifier: Apache-2.0
"""Show the result of `onnxtext run`: the outputs of a model, or differences between two models."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import TYPE_CHECKING, Any

from onnxtext.diagnostics.terminal_text import escape_controls
from onnxtext.plurals import count_noun

if TYPE_CHECKING:
    from onnxtext.engines import ValueDifference, Values

_MAX_SHOWN = 60
_MAX_ROWS = 20


def outputs_as_text(values: Values) -> str:
    """Return the outputs as text: types, values, and statistics of large arrays."""
    return "\n".join(
        [escape_controls(line) for name, value in values.items() for line in _lines(name, value)]
    )


def _lines(name: str, value: Any) -> list[str]:
    """Return the lines that show an output, or an item of a sequence or map in an output."""
    import numpy as np

    from onnxtext.weights.statistics import describe

    if value is None:
        return [f"{name}: nothing"]
    if isinstance(value, list | dict):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        head = f"{name}: {'map' if isinstance(value, dict) else 'sequence'} of {len(value)}"
        inner = [line for key, item in items for line in _lines(f"{name}[{key}]", item)]
        if len(inner) > _MAX_SHOWN:
            inner[_MAX_SHOWN:] = [f"… (lines left out: {len(inner) - _MAX_SHOWN})"]
        return [head, *[f"  {line}" for line in inner]]
    array = np.asarray(value)
    text = np.array2string(array, threshold=_MAX_SHOWN, edgeitems=3, max_line_width=96)
    head = f"{name}: {_type(array)}"
    if array.size > _MAX_SHOWN and array.dtype.kind not in "OSUbc":
        head += f"  # {describe('double', array.astype('<f8').tobytes())}"
    return [head, *[f"  {line}" for line in text.split("\n")]]


def _type(array: Any) -> str:
    kind = _element(array)
    return f"{kind}[{', '.join(map(str, array.shape))}]" if array.shape else kind


def _element(array: Any) -> str:
    """Return the name of the element type in the text format, such as `float`."""
    from onnx import TensorProto, helper

    if array.dtype.kind in "OSU":
        return "string"
    return str(TensorProto.DataType.Name(helper.np_dtype_to_tensor_dtype(array.dtype))).lower()


def outputs_as_object(values: Values) -> dict[str, Any]:
    """Convert outputs to an object for `json.dumps`; a complex number becomes a pair of numbers."""
    import numpy as np

    def plain(value: Any) -> Any:
        if value is None:
            return None
        if isinstance(value, list):
            return [plain(item) for item in value]
        if isinstance(value, dict):
            return {str(key): plain(item) for key, item in value.items()}
        if value.dtype.kind == "c":
            array = np.stack([value.real, value.imag], axis=-1)
        else:
            array = value.astype(float) if value.dtype.kind not in "OSUbiu" else value
        elements = _finite(array.tolist())
        return {"type": _element(value), "shape": list(value.shape), "values": elements}

    return {name: plain(value) for name, value in values.items()}


def _finite(value: Any) -> Any:
    """Replace infinities and NaNs, which JSON lacks, by strings such as `inf`, also in lists."""
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return str(value) if isinstance(value, float) and not isfinite(value) else value


def differences_as_text(
    differences: list[ValueDifference], first: str, second: str, only: Mapping[str, str]
) -> str:
    """Return a table of all outputs, and a table of up to 20 inner values that differ.

    Inner values are not outputs. If inner values differ, the last line names the first value that
    differs. `first` and `second` are the names of the models; `only` maps each output that one
    model lacks to the name of the other model.
    """
    outputs = [difference for difference in differences if difference.is_output]
    inner = [
        difference for difference in differences if not difference.is_output and difference.differs
    ]
    count = count_noun(len(differences), "value")
    lines = [f"{first} and {second}: compared the {count} that both have"]
    lines += _rows("outputs", [*outputs, *_lacking(only)])
    inner.sort(key=lambda one: -(one.largest if one.largest is not None else float("inf")))
    if inner:
        shown = "the largest differences first"
        if len(inner) > _MAX_ROWS:
            shown = f"the {_MAX_ROWS} with the largest differences"
        lines += _rows(f"inner values that differ: {len(inner)}, {shown}", inner[:_MAX_ROWS])
        earliest = next(difference for difference in differences if difference.differs)
        lines.append(f"the first value that differs: {earliest.name}")
    return "\n".join(map(escape_controls, lines))


def _lacking(only: Mapping[str, str]) -> list[ValueDifference]:
    """Return a difference for each output that one model lacks; its note names the other model."""
    from onnxtext.engines.comparison import ValueDifference

    return [
        ValueDifference(name, is_output=True, changed=0, elements=0, note=f"only in {model}")
        for name, model in only.items()
    ]


def _rows(title: str, differences: list[ValueDifference]) -> list[str]:
    width = max([len(difference.name) for difference in differences], default=0)
    return [
        f"{title}:",
        *[f"  {difference.name:<{width}}  {_row(difference)}" for difference in differences],
    ]


def _row(difference: ValueDifference) -> str:
    if not difference.differs:
        return "equal"
    if difference.note is not None:
        return difference.note
    text = f"{difference.changed:,} of {difference.elements:,} elements differ"
    if difference.largest is None:
        return text
    return f"{text}, by up to {difference.largest:.3g}, relative {difference.relative:.3g}"


def differences_as_objects(
    differences: list[ValueDifference], only: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Convert the differences of all outputs and inner values to objects for `json.dumps`.

    `only` is as in `differences_as_text`.
    """
    from dataclasses import asdict

    return [
        {key: _finite(value) for key, value in asdict(difference).items() if key != "pairs"}
        for difference in [*differences, *_lacking(only)]
    ]
