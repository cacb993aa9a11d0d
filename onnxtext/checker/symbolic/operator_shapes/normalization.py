# SPDX-License-Identifier: Apache-2.0
"""Infer symbolic shapes of normalizing operators; check their inputs, and the inputs of losses."""

from __future__ import annotations

from onnxtext.checker.symbolic.operator_call import OperatorCall, Shapes, SymbolicShape, dimensions


def normalization(call: OperatorCall) -> SymbolicShape:
    """Infer the output shape of a normalization; require one entry per channel in other inputs."""
    shape = call.shape(0)
    call.require_min_rank(1, specified=False)
    if shape and call.integer("spatial", 1):
        # The specification of `BatchNormalization`:
        # "The op also accepts single dimension input of size N in which case C is assumed to be 1"
        channels, name = (shape[1], "dimension 1") if len(shape) > 1 else (1, "the channel count")
        for index in range(1, len(call.shapes)):
            other = call.shape(index)
            if other is not None and call.require_rank(index, 1):
                call.equal(channels, other[0], f"{name} of {{0}}", f"the size of {{{index}}}")
    return shape


def instance_normalized(call: OperatorCall) -> SymbolicShape:
    """Infer the output shape of `InstanceNormalization`: the shape of the input."""
    call.require_min_rank(3, specified=False)
    return normalization(call)


def along_axis(call: OperatorCall) -> SymbolicShape:
    """Return the input's shape, for operators such as `Softmax`; check the axis.

    Before version 13, the axis divides the dimensions into two groups. Before version 11, an axis
    after the last dimension leaves the second group empty; onnxruntime accepts such an axis only
    for an input without elements.
    """
    shape, axis = call.shape(0), call.integer("axis", 1)
    if call.since >= 11 or shape is None or axis != len(shape):
        call.axis("axis", -1 if call.since >= 13 else 1)
    elif 0 not in shape:
        wrong = f"`axis` is {axis}, but {{0}} has {dimensions(len(shape))}"
        call.reject(wrong, specified=False)
    return shape


def along_last_axis(call: OperatorCall) -> SymbolicShape:
    """Return the input's shape; check the axis, which is the last axis by default."""
    call.axis("axis", -1)
    return call.shape(0)


def cross_entropy(call: OperatorCall) -> Shapes:
    """Check the labels and the shape of the weights of a loss.

    Each score vector along dimension 1 of the scores has one label. The size of this dimension is
    the number of classes; each class has one weight. The result is (): this function infers no
    output shapes.
    """
    scores, labels = call.shape(0), call.shape(1)
    call.require_vector(2, call.dim(0, 1), "the number of classes")
    if not call.require_min_rank(2):
        return ()
    if scores and labels is not None and call.require_rank(1, len(scores) - 1):
        rest = [axis for axis in range(len(scores)) if axis != 1]
        for index, axis in enumerate(rest[: len(labels)]):
            names = f"dimension {axis} of {{0}}", f"dimension {index} of {{1}}"
            call.equal(scores[axis], labels[index], *names)
    ignored = call.attribute("ignore_index")
    call.require_range(1, call.dim(0, 1), "the number of classes", but=ignored)
    return ()
