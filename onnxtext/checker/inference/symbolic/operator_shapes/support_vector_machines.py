# SPDX-License-Identifier: Apache-2.0
"""Check the attributes that describe the support vectors of `SVMClassifier` and `SVMRegressor`."""

from __future__ import annotations

from onnxtext.checker.inference.symbolic.operator_call import OperatorCall, entries
from onnxtext.checker.inference.symbolic.operator_shapes.tree_ensembles import count_of


def require_classifier(call: OperatorCall, labels: int) -> None:
    """Check the attributes of `SVMClassifier`, which has `labels` class labels."""
    _require_kernel(call)
    class_count = count_of(call, "vectors_per_class")
    if class_count and labels and class_count != labels:
        call.reject(
            f"`vectors_per_class` has {entries(class_count)}, but there are {labels} class labels",
            certain=False,
        )
    first, second = count_of(call, "prob_a"), count_of(call, "prob_b")
    if first != second:
        call.reject(f"`prob_a` has {entries(first)}, but `prob_b` has {second}")
    vector_count = sum(call.listed("vectors_per_class", ()))
    if vector_count <= 0:
        return
    _require_vectors(call, vector_count, "the sum of `vectors_per_class`")
    needed = {
        "coefficients": vector_count * (class_count - 1),
        "rho": class_count * (class_count - 1) // 2,
    }
    for name, min_count in needed.items():
        count = count_of(call, name)
        if count < min_count:
            call.reject(
                f"`{name}` has {entries(count)}; onnxruntime needs {min_count}", certain=False
            )


def require_regressor(call: OperatorCall) -> None:
    """Check the attributes of `SVMRegressor`.

    Without support vectors, there must be one coefficient for each feature.
    """
    _require_kernel(call)
    if not count_of(call, "rho"):
        call.reject("`rho` is missing; onnxruntime needs it", certain=False)
    vector_count, coefficients = call.integer("n_supports", 0), count_of(call, "coefficients")
    if vector_count <= 0:
        if coefficients:
            _require_features(call, coefficients, "the length of `coefficients`")
        return
    _require_vectors(call, vector_count, "`n_supports`")
    if coefficients < vector_count:
        length = f"`coefficients` has {entries(coefficients)}"
        call.reject(f"{length}, but `n_supports` is {vector_count}")


def _require_kernel(call: OperatorCall) -> None:
    count = count_of(call, "kernel_params")
    if not count:
        call.reject("`kernel_params` is missing; onnxruntime needs it", certain=False)
    elif count != 3:
        call.reject(f"`kernel_params` has {entries(count)}, but the operator needs 3")


def _require_vectors(call: OperatorCall, vector_count: int, count_name: str) -> None:
    """Require `support_vectors` to have `vector_count` vectors with one number for each feature."""
    count = count_of(call, "support_vectors")
    if count % vector_count:
        wrong = f"`support_vectors` has {entries(count)}, which is not a multiple of {count_name}"
        call.reject(f"{wrong} ({vector_count})")
    elif count:
        _require_features(call, count // vector_count, "the size of a support vector")


def _require_features(call: OperatorCall, size: int, size_name: str) -> None:
    shape = call.shape(0)
    if shape:
        call.equal(shape[-1], size, "the last dimension of {0}", size_name)
