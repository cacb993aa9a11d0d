# SPDX-License-Identifier: Apache-2.0
"""Infer symbolic output shapes of recurrent layers, and check their inputs."""

from __future__ import annotations

from onnxtext.checker.symbolic.operator_call import OperatorCall, Shapes, entries
from onnxtext.checker.symbolic.sizes.polynomials import Extent, Extents, times

_GATES = {"RNN": 1, "GRU": 3, "LSTM": 4, "DynamicQuantizeLSTM": 4}
"""The number of gates of each operator."""

_FUNCTIONS = {"RNN": 1, "GRU": 2, "LSTM": 3}
"""The number of activation functions that each operator needs for one direction."""


def recurrent(call: OperatorCall) -> Shapes:
    """Infer the output shapes of `RNN`, `GRU`, `LSTM` or onnxruntime's `DynamicQuantizeLSTM`."""
    shape = call.shape(0)
    hidden = _hidden(call)
    if shape is None or not call.require_rank(0, 3):
        return ()
    count = 2 if call.attribute("direction") == b"bidirectional" else 1
    _require_functions(call, count)
    first = call.integer("layout", 0)
    steps, batch = (shape[1], shape[0]) if first else (shape[0], shape[1])
    state = (batch, count, hidden) if first else (count, batch, hidden)
    gates = _GATES[call.node.op_type]
    wide = times(hidden, gates)
    weights = [(count, wide, size) for size in (shape[2], hidden)]
    if call.node.op_type == "DynamicQuantizeLSTM":  # its weights are transposed
        weights = [(count, size, wide) for size in (shape[2], hidden)]
        for index in (8, 9, 10, 11):
            if call.require_rank(index, 1, 2):
                call.require_shape(index, (count, wide)[: call.rank(index)], "the required size")
    inputs: list[Extents] = [*weights, (count, times(wide, 2)), (batch,), state]
    if gates == 4:
        inputs += [state, (count, times(hidden, 3))]
    for index, expected in enumerate(inputs, 1):
        call.require_shape(index, expected, "the required size")
    sequence = (batch, steps, count, hidden) if first else (steps, count, batch, hidden)
    return sequence, state, state


def _require_functions(call: OperatorCall, directions: int) -> None:
    """Require `activations` to have an entry for each activation function of each direction.

    `RNN` may have two entries even for one direction, because its default value has two.
    """
    operator, activations = call.node.op_type, call.attribute("activations")
    expected = directions * _FUNCTIONS.get(operator, 0)
    if expected and isinstance(activations, tuple) and len(activations) not in (
        expected, 2 if operator == "RNN" else 0
    ):  # fmt: skip
        count = entries(len(activations))
        call.reject(f"`activations` has {count}, but the operator needs {expected}")


def _hidden(call: OperatorCall) -> Extent:
    """Return the size of the hidden state, from `hidden_size`, `initial_h` or the weights.

    Return None if the size is unknown. Reject an invalid `hidden_size`; warn if it is missing.
    """
    hidden = call.attribute("hidden_size")
    if isinstance(hidden, int):
        if hidden < 1:
            call.reject(f"`hidden_size` is {hidden}, but it must be 1 or more")
        return hidden if hidden > 0 else None
    call.reject("`hidden_size` is missing; onnxruntime needs it", specified=False)
    for index in (5, 2):
        last = call.dim(index, 2) if call.rank(index) == 3 else None
        if isinstance(last, int) and (index == 5 or call.node.op_type in ("RNN", "GRU", "LSTM")):
            return last
    return None
