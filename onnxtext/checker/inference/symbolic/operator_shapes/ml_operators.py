# SPDX-License-Identifier: Apache-2.0
"""Infer output shapes of the operators of `ai.onnx.ml`, and check their attributes."""

from __future__ import annotations

from collections.abc import Callable

from onnxtext.ast.tensors_and_attributes import Float32, Floats
from onnxtext.checker.inference.symbolic.operator_call import (
    OperatorCall,
    Shapes,
    SymbolicShape,
    entries,
)
from onnxtext.checker.inference.symbolic.operator_shapes.support_vector_machines import (
    require_classifier,
    require_regressor,
)
from onnxtext.checker.inference.symbolic.operator_shapes.tree_ensembles import (
    count_of,
    require_tree_lists,
    require_trees,
)
from onnxtext.checker.inference.symbolic.sizes.polynomials import Extent, product_of
from onnxtext.checker.inference.symbolic.sizes.size_equations import Extents
from onnxtext.plurals import count_noun

DOMAIN = "ai.onnx.ml"


def _matrix(call: OperatorCall, columns: Extent, *ranks: int) -> SymbolicShape:
    """Return the shape (rows of the first input, columns); an input of rank 1 has one row."""
    shape = call.shape(0)
    if shape is None or not call.has_rank(0, *ranks):
        return None
    return (shape[0] if len(shape) == 2 else 1, columns)


def _classifier_shapes(call: OperatorCall, columns: Extent, *ranks: int) -> Shapes:
    """Return the shapes of a classifier's outputs: labels (rows,) and scores (rows, columns)."""
    matrix = _matrix(call, columns, *ranks)
    return (None, None) if matrix is None else (matrix[:1], matrix)


def _scaler(call: OperatorCall) -> Shapes:
    """Infer the output shape of `Scaler`; check its attributes.

    `offset` and `scale` must have one entry, or one for each feature.
    """
    shape = call.shape(0)
    for name in ("offset", "scale"):
        count = count_of(call, name)
        _warn_if_missing(call, name)
        if shape and count > 1:
            call.equal(shape[-1], count, "the last dimension of {0}", f"the length of `{name}`")
    offsets, scales = count_of(call, "offset"), count_of(call, "scale")
    if offsets and scales and offsets != scales:
        call.reject(
            f"`offset` has {entries(offsets)}, but `scale` has {scales}; onnxruntime "
            "needs equal lengths",
            certain=False,
        )
    return (shape,)


def _warn_if_missing(call: OperatorCall, name: str) -> None:
    """Warn if a list is missing or empty, which the specification allows, but not onnxruntime."""
    if not count_of(call, name):
        call.reject(f"`{name}` is missing; onnxruntime needs it", certain=False)


def _only_one(call: OperatorCall, first: str, second: str) -> str | None:
    """Return which of two lists a node has; reject a node with both or none, and return None."""
    present = [name for name in (first, second) if count_of(call, name)]
    if len(present) != 1:
        call.reject(f"exactly one of `{first}` and `{second}` must be given")
    return present[0] if len(present) == 1 else None


def _linear_classifier(call: OperatorCall) -> Shapes:
    labels = count_of(call, "classlabels_strings", "classlabels_ints")
    if labels:
        _only_one(call, "classlabels_strings", "classlabels_ints")
    _warn_if_missing(call, "intercepts")
    classes, weights = count_of(call, "intercepts"), count_of(call, "coefficients")
    shape = call.shape(0)
    size = shape[-1] if shape else None
    if classes and weights % classes:
        call.reject(
            f"`coefficients` has {entries(weights)}, not a multiple of the {classes} `intercepts`"
        )
    elif isinstance(size, int) and weights < classes * size:
        needed = f"{count_noun(classes, 'class', 'classes')} times {count_noun(size, 'feature')}"
        call.reject(f"`coefficients` has {entries(weights)}, fewer than {needed}")
    if labels < classes and classes > 1:
        label_count = f"the number of class labels is {labels}"
        call.reject(f"{label_count}, but there are {classes} `intercepts`", certain=labels > 0)
    elif classes == 1 and labels > 2:
        call.reject(
            f"there are {labels} class labels, but `intercepts` has one entry", certain=False
        )
    found: Extent = classes or None
    if found == 1 and labels == 2:
        found = 2
    return _classifier_shapes(call, found, 1, 2)


def _linear_regressor(call: OperatorCall) -> Shapes:
    targets = call.integer("targets", 1)
    shape = call.shape(0)
    _warn_if_missing(call, "coefficients")
    count = count_of(call, "coefficients")
    size = shape[-1] if shape else None
    if isinstance(size, int) and 0 < count < size * targets:
        needed = f"{count_noun(targets, 'target')} times {count_noun(size, 'feature')}"
        call.reject(f"`coefficients` has {entries(count)}, fewer than {needed}")
    intercepts = count_of(call, "intercepts")
    if intercepts and intercepts != targets:
        call.reject(f"`intercepts` has {entries(intercepts)}, but `targets` is {targets}")
    return (_matrix(call, targets, 1, 2),)


def _tree_classifier(call: OperatorCall) -> Shapes:
    labels = count_of(call, "classlabels_strings", "classlabels_int64s")
    if not labels:
        call.reject("class labels are missing; onnxruntime needs them", certain=False)
    else:
        _only_one(call, "classlabels_strings", "classlabels_int64s")
    require_trees(call, "class", labels)
    return _classifier_shapes(call, labels or None, 2)


def _tree_ensemble(call: OperatorCall) -> Shapes:
    require_tree_lists(call)
    return ()


def _tree_regressor(call: OperatorCall) -> Shapes:
    targets = call.integer("n_targets", 0)
    if targets < 1:
        call.reject("`n_targets` is missing or not positive; onnxruntime needs it", certain=False)
    bases = count_of(call, "base_values")
    if bases and targets > 0 and bases != targets:
        call.reject(f"`base_values` has {entries(bases)}, but `n_targets` is {targets}")
    require_trees(call, "target", targets)
    return (_matrix(call, targets or None, 2),)


def _zip_map(call: OperatorCall) -> Shapes:
    """Check that `ZipMap` has one label for each column; its output, a sequence, has no shape."""
    names = "classlabels_strings", "classlabels_int64s"
    keys_attribute = _only_one(call, *names)
    if keys_attribute is None:
        return ()
    shape, count = call.shape(0), count_of(call, keys_attribute)
    if shape and call.has_rank(0, 1, 2):
        call.equal(
            shape[-1], count, "the last dimension of {0}", f"the length of `{keys_attribute}`"
        )
    return ()


def _label_encoder(call: OperatorCall) -> Shapes:
    """Infer the output shape of `LabelEncoder`; check that its lists of keys and values match."""
    lists = [
        (a.name, len(a.value))
        for a in call.node.attributes
        if a.name.startswith(("keys_", "values_")) and isinstance(a.value, (tuple, Floats))
    ]
    for name, count in lists[1:]:
        first, expected = lists[0]
        if count != expected:
            call.reject(f"`{name}` has {entries(count)}, but `{first}` has {expected}")
            break
    return (call.shape(0),)


def _svm_classifier(call: OperatorCall) -> Shapes:
    """Infer the output shapes of `SVMClassifier`.

    Without probabilities, the number of scores may be unknown.
    """
    labels = count_of(call, "classlabels_strings", "classlabels_ints")
    if labels:
        _only_one(call, "classlabels_strings", "classlabels_ints")
    require_classifier(call, labels)
    # There is one score for each label, or, without probabilities, for each pair of labels.
    # Three labels have three pairs, so their number of scores is always known.
    has_scores = labels == 3 or (count_of(call, "prob_a") and labels)
    return _classifier_shapes(call, labels if has_scores else None, 1, 2)


def _svm_regressor(call: OperatorCall) -> Shapes:
    require_regressor(call)
    return (_matrix(call, 1, 1, 2),)


def _warn_if_both(
    call: OperatorCall, first: str, first_default: object, second: str, second_default: object
) -> None:
    """Warn if two attributes are given, and neither has its default value.

    A default value may be there only because onnxruntime writes default values when it saves a
    model.
    """
    values = call.attribute(first), call.attribute(second)
    if values[0] not in (None, first_default) and values[1] not in (None, second_default):
        call.reject(f"only one of `{first}` and `{second}` should be given", certain=False)


def _imputer(call: OperatorCall) -> Shapes:
    """Check that `Imputer` has one imputed value, or one value for each feature."""
    shape, name = call.shape(0), _only_one(call, "imputed_value_floats", "imputed_value_int64s")
    _warn_if_both(call, "replaced_value_float", Float32(0), "replaced_value_int64", 0)
    count = 0 if name is None else count_of(call, name)
    if shape and count > 1:
        call.equal(shape[-1], count, "the last dimension of {0}", f"the length of `{name}`")
    return (shape,)


def _dict_vectorizer(call: OperatorCall) -> Shapes:
    """Check that `DictVectorizer` has one vocabulary; the rank of its output is not specified."""
    _only_one(call, "string_vocabulary", "int64_vocabulary")
    return ()


def _category_mapper(call: OperatorCall) -> Shapes:
    """Check `CategoryMapper`: its default decides the direction of the mapping."""
    _warn_if_both(call, "default_int64", -1, "default_string", b"_Unused")
    return (call.shape(0),)


def _normalizer(call: OperatorCall) -> Shapes:
    """Infer the output shape of `Normalizer`, whose input has one or two dimensions."""
    call.has_rank(0, 1, 2)
    return (call.shape(0),)


def _one_hot(call: OperatorCall) -> Shapes:
    shape = call.shape(0)
    count = count_of(call, "cats_int64s", "cats_strings")
    return (None if shape is None else (*shape, count or None),)


def _feature_vectorizer(call: OperatorCall) -> Shapes:
    """Infer the output shape of `FeatureVectorizer`: it concatenates the columns of all inputs."""
    widths = call.listed("inputdimensions", ())
    columns = sum(widths) or None
    shape = call.shape(0)
    if not widths:
        _warn_if_missing(call, "inputdimensions")
    elif len(widths) != len(call.shapes):
        count = count_noun(len(call.shapes), "input")
        call.reject(f"`inputdimensions` has {entries(len(widths))}, but the node has {count}")
    for index, other in enumerate(call.shapes):
        if shape is not None and other is not None and len(shape) == len(other) == 2:
            call.equal(shape[0], other[0], "dimension 0 of {0}", f"dimension 0 of {{{index}}}")
    return (None if shape is None else (shape[0] if shape else 1, columns),)


def _feature_extractor(call: OperatorCall) -> Shapes:
    """Infer the output shape of `ArrayFeatureExtractor`: it selects from the last dimension.

    onnxruntime does not count negative indices from the end.
    """
    shape, chosen = call.shape(0), call.shape(1)
    count = None if chosen is None else product_of(chosen)
    if not shape:
        return (None,)
    size, indices = shape[-1], call.value(1)
    for index in indices.items if indices is not None else ():
        if isinstance(index, int) and isinstance(size, int) and not 0 <= index < size:
            wrong = f"the index {index} is out of range: the last dimension of {{0}} is {size}"
            call.reject(wrong, certain=index >= size)
            break
    before: Extents = shape[:-1] if len(shape) > 1 else (1,)
    return ((*before, count),)


LEARNING: dict[str, Callable[[OperatorCall], Shapes]] = {
    "ArrayFeatureExtractor": _feature_extractor,
    "Binarizer": lambda call: (call.shape(0),),
    "CategoryMapper": _category_mapper,
    "DictVectorizer": _dict_vectorizer,
    "FeatureVectorizer": _feature_vectorizer,
    "Imputer": _imputer,
    "LabelEncoder": _label_encoder,
    "LinearClassifier": _linear_classifier,
    "LinearRegressor": _linear_regressor,
    "Normalizer": _normalizer,
    "OneHotEncoder": _one_hot,
    "SVMClassifier": _svm_classifier,
    "SVMRegressor": _svm_regressor,
    "Scaler": _scaler,
    "TreeEnsemble": _tree_ensemble,
    "TreeEnsembleClassifier": _tree_classifier,
    "TreeEnsembleRegressor": _tree_regressor,
    "ZipMap": _zip_map,
}
"""Maps operators to inference functions. No standard operator has one of these names."""
