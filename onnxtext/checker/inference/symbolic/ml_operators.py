# SPDX-License-Identifier: Apache-2.0
"""Infer the outputs of the operators of `ai.onnx.ml`: trees, linear models, scalers, encoders."""

from __future__ import annotations

from collections.abc import Callable

from onnxtext.ast.tensors_and_attributes import Floats
from onnxtext.checker.inference.symbolic.expressions import Extent, product_of
from onnxtext.checker.inference.symbolic.operator_call import OperatorCall, SymbolicShape
from onnxtext.checker.inference.symbolic.sizes import Extents

DOMAIN = "ai.onnx.ml"

Shapes = tuple[SymbolicShape, ...]


def _same(call: OperatorCall) -> Shapes:
    return (call.shape(0),)


def _count(call: OperatorCall, *names: str) -> int:
    """Return the length of the first attribute of `names` that is a list."""
    for name in names:
        found = call.attribute(name)
        if isinstance(found, (tuple, Floats)) and len(found):
            return len(found)
    return 0


def _matrix(call: OperatorCall, columns: Extent, *ranks: int) -> SymbolicShape:
    """Return a shape with a row for each row of the first input; a list is one row."""
    shape = call.shape(0)
    if shape is None or not call.has_rank(0, *ranks):
        return None
    return (shape[0] if len(shape) == 2 else 1, columns)


def _classified(call: OperatorCall, columns: Extent, *ranks: int) -> Shapes:
    """Return the shapes of labels and scores."""
    matrix = _matrix(call, columns, *ranks)
    return (None, None) if matrix is None else (matrix[:1], matrix)


def _scaled(call: OperatorCall) -> Shapes:
    """Infer `Scaler`: there is one number for all features, or one for each."""
    shape = call.shape(0)
    for name in ("offset", "scale"):
        count = _count(call, name)
        if not count:
            call.reject(f"`{name}` is missing; onnxruntime needs it", certain=False)
        if shape and count > 1:
            call.equal(shape[-1], count, "the last dimension of {0}", f"the length of `{name}`")
    return (shape,)


def _linear_classifier(call: OperatorCall) -> Shapes:
    labels = _count(call, "classlabels_strings", "classlabels_ints")
    found: Extent = _count(call, "intercepts") or None
    if found == 1 and labels == 2:
        found = 2
    return _classified(call, found, 1, 2)


def _linear_regressor(call: OperatorCall) -> Shapes:
    targets = call.integer("targets", 1)
    shape = call.shape(0)
    count = _count(call, "coefficients")
    size = shape[-1] if shape else None
    if isinstance(size, int) and 0 < count < size * targets:
        call.reject(f"there are {count} `coefficients` for {targets} times {size} features")
    return (_matrix(call, targets, 1, 2),)


_NODES = (
    "nodes_treeids", "nodes_nodeids", "nodes_featureids", "nodes_modes", "nodes_truenodeids",
    "nodes_falsenodeids", "nodes_values", "nodes_hitrates", "nodes_missing_value_tracks_true",
)  # fmt: skip
_NEEDED = _NODES[:6]


def _require_trees(call: OperatorCall, prefix: str) -> None:
    """Require lists with one entry for each node of the trees, or for each leaf."""
    weights = tuple(f"{prefix}_{name}" for name in ("treeids", "nodeids", "ids", "weights"))
    for names, needed in ((_NODES, _NEEDED), (weights, weights[:3])):
        counts = {name: _count(call, name, f"{name}_as_tensor") for name in names}
        first = names[0]
        for name in needed:
            if not counts[name] and counts[first]:
                call.reject(f"`{name}` is missing")
        for name, count in counts.items():
            listed = isinstance(call.attribute(name), (tuple, Floats))
            if listed and count and counts[first] and count != counts[first]:
                call.reject(f"`{name}` has {count} entries, but `{first}` has {counts[first]}")


def _trees_classified(call: OperatorCall) -> Shapes:
    _require_trees(call, "class")
    labels = _count(call, "classlabels_strings", "classlabels_int64s")
    return _classified(call, labels or None, 2)


def _trees_regressed(call: OperatorCall) -> Shapes:
    _require_trees(call, "target")
    return (_matrix(call, call.integer("n_targets", 0) or None, 2),)


def _supported(call: OperatorCall) -> Shapes:
    """Infer `SVMClassifier`, without the number of its scores."""
    labels = _count(call, "classlabels_strings", "classlabels_ints")
    # One score for each label, unless there are no probabilities: then one for each pair.
    whole = labels == 3 or (_count(call, "prob_a") and labels)
    return _classified(call, labels if whole else None, 1, 2)


def _one_hot(call: OperatorCall) -> Shapes:
    shape = call.shape(0)
    count = _count(call, "cats_int64s", "cats_strings")
    return (None if shape is None else (*shape, count or None),)


def _features(call: OperatorCall) -> Shapes:
    """Infer `FeatureVectorizer`: the columns of all inputs side by side."""
    sizes = call.attribute("inputdimensions")
    numbers = [size for size in sizes if isinstance(size, int)] if isinstance(sizes, tuple) else []
    shape = call.shape(0)
    return (None if shape is None else (shape[0] if shape else 1, sum(numbers) or None),)


def _extracted(call: OperatorCall) -> Shapes:
    """Infer `ArrayFeatureExtractor`: columns of the last dimension."""
    shape, chosen = call.shape(0), call.shape(1)
    count = None if chosen is None else product_of(chosen)
    if not shape:
        return (None,)
    before: Extents = shape[:-1] if len(shape) > 1 else (1,)
    return ((*before, count),)


LEARNING: dict[str, Callable[[OperatorCall], Shapes]] = {
    **dict.fromkeys(
        ("Binarizer", "CategoryMapper", "Imputer", "LabelEncoder", "Normalizer"), _same
    ),
    "ArrayFeatureExtractor": _extracted,
    "FeatureVectorizer": _features,
    "LinearClassifier": _linear_classifier,
    "LinearRegressor": _linear_regressor,
    "OneHotEncoder": _one_hot,
    "SVMClassifier": _supported,
    "SVMRegressor": lambda call: (_matrix(call, 1, 1, 2),),
    "Scaler": _scaled,
    "TreeEnsembleClassifier": _trees_classified,
    "TreeEnsembleRegressor": _trees_regressed,
}
"""The inference function of each operator; the names differ from all standard operators."""
