# SPDX-License-Identifier: Apache-2.0
"""Infer output shapes of the operators of `ai.onnx.ml`, and check their attributes."""

from __future__ import annotations

from collections.abc import Callable

from onnxtext.ast.tensors_and_attributes import Float32, Floats
from onnxtext.checker.symbolic.operator_call import OperatorCall, Shapes, SymbolicShape, entries
from onnxtext.checker.symbolic.operator_shapes.tree_ensembles import require_trees, tree_ensemble
from onnxtext.checker.symbolic.sizes.polynomials import Extent, Extents, product_of
from onnxtext.plurals import count_noun

DOMAIN = "ai.onnx.ml"


def _matrix(call: OperatorCall, columns: Extent, *ranks: int) -> SymbolicShape:
    """Return the shape (rows of the first input, columns); an input of rank 1 has one row.

    `ranks` are the allowed ranks of the input. If it has another rank, reject the node and return
    None. Also return None if the shape of the input is unknown.
    """
    shape = call.shape(0)
    if shape is None or not call.require_rank(0, *ranks):
        return None
    return (shape[0] if len(shape) == 2 else 1, columns)


def _classifier_shapes(call: OperatorCall, columns: Extent, *ranks: int) -> Shapes:
    """Return the shapes of a classifier's outputs: labels (rows,) and scores (rows, columns).

    `ranks` are the allowed ranks of the input; if it has another rank, reject the node.
    """
    matrix = _matrix(call, columns, *ranks)
    return (None, None) if matrix is None else (matrix[:1], matrix)


def _scaler(call: OperatorCall) -> Shapes:
    """Infer the output shape of `Scaler`; check its attributes.

    `offset` and `scale` must have one entry, or one for each feature. Of inputs of more than two
    dimensions, onnxruntime takes dimension 1 as the features, and onnx's reference the last one.
    """
    for name in ("offset", "scale"):
        count = call.length(name)
        _warn_if_missing(call, name)
        if count > 1 and len(call.shape(0) or ()) <= 2:
            call.require_last(0, count, f"the length of `{name}`")
    offsets, scales = call.length("offset"), call.length("scale")
    if offsets and scales and offsets != scales:
        wrong = f"`offset` has {entries(offsets)}, but `scale` has {scales}"
        call.reject(f"{wrong}; onnxruntime needs equal lengths", specified=False)
    return (call.shape(0),)


def _warn_if_missing(call: OperatorCall, name: str) -> None:
    """Warn if a list attribute is missing or empty: only onnxruntime requires a non-empty list."""
    if not call.length(name):
        call.reject(f"`{name}` is missing or empty; onnxruntime needs it", specified=False)


def _only_one(call: OperatorCall, first: str, second: str) -> str | None:
    """Return the name of the list attribute that a node has: `first` or `second`.

    If the node has both lists or neither, reject the node and return None.
    """
    present = [name for name in (first, second) if call.length(name)]
    if len(present) != 1:
        call.reject(f"exactly one of `{first}` and `{second}` must be given")
    return present[0] if len(present) == 1 else None


def _linear_classifier(call: OperatorCall) -> Shapes:
    labels = call.length("classlabels_strings", "classlabels_ints")
    if labels:
        _only_one(call, "classlabels_strings", "classlabels_ints")
    _warn_if_missing(call, "intercepts")
    classes, weights = call.length("intercepts"), call.length("coefficients")
    size = call.dim(0, -1)
    has = f"`coefficients` has {entries(weights)}"
    if classes and weights % classes:
        call.reject(f"{has}, not a multiple of the {classes} `intercepts`")
    elif isinstance(size, int) and weights < classes * size:
        needed = f"{count_noun(classes, 'class', 'classes')} times {count_noun(size, 'feature')}"
        call.reject(f"{has}, fewer than {needed}")
    if labels < classes and classes > 1:
        label_count = f"the number of class labels is {labels}"
        call.reject(f"{label_count}, but there are {classes} `intercepts`", specified=labels > 0)
    elif classes == 1 and labels > 2:
        wrong = f"there are {labels} class labels, but `intercepts` has one entry"
        call.reject(wrong, specified=False)
    found: Extent = classes or None
    if found == 1 and labels == 2:
        found = 2
    return _classifier_shapes(call, found, 1, 2)


def _linear_regressor(call: OperatorCall) -> Shapes:
    targets = call.integer("targets", 1)
    _warn_if_missing(call, "coefficients")
    count, size = call.length("coefficients"), call.dim(0, -1)
    if isinstance(size, int) and 0 < count < size * targets:
        needed = f"{count_noun(targets, 'target')} times {count_noun(size, 'feature')}"
        call.reject(f"`coefficients` has {entries(count)}, fewer than {needed}")
    intercepts = call.length("intercepts")
    if intercepts and intercepts != targets:
        call.reject(f"`intercepts` has {entries(intercepts)}, but `targets` is {targets}")
    return (_matrix(call, targets, 1, 2),)


def _tree_classifier(call: OperatorCall) -> Shapes:
    labels = call.length("classlabels_strings", "classlabels_int64s")
    if not labels:
        call.reject("class labels are missing; onnxruntime needs them", specified=False)
    else:
        _only_one(call, "classlabels_strings", "classlabels_int64s")
    require_trees(call, "class", labels)
    return _classifier_shapes(call, labels or None, 2)


def _tree_regressor(call: OperatorCall) -> Shapes:
    targets = call.integer("n_targets", 0)
    if targets < 1:
        call.reject("`n_targets` is missing or not positive; onnxruntime needs it", specified=False)
    bases = call.length("base_values")
    if bases and targets > 0 and bases != targets:
        call.reject(f"`base_values` has {entries(bases)}, but `n_targets` is {targets}")
    require_trees(call, "target", targets)
    return (_matrix(call, targets or None, 2),)


def _zip_map(call: OperatorCall) -> Shapes:
    """Check that `ZipMap` has one label for each column; its output, a sequence, has no shape."""
    name = _only_one(call, "classlabels_strings", "classlabels_int64s")
    if name is not None and call.shape(0) and call.require_rank(0, 1, 2):
        call.require_last(0, call.length(name), f"the length of `{name}`")
    return ()


def _label_encoder(call: OperatorCall) -> Shapes:
    """Infer the output shape of `LabelEncoder`; require lists of equal length."""
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
    """Infer the output shapes of `SVMClassifier`; check its attributes.

    Without `prob_a` and `prob_b`, the number of scores may be unknown.
    """
    labels = call.length("classlabels_strings", "classlabels_ints")
    if labels:
        _only_one(call, "classlabels_strings", "classlabels_ints")
    _require_kernel(call)
    classes, vectors = call.length("vectors_per_class"), call.listed("vectors_per_class", ())
    if classes and labels and classes != labels:
        wrong = f"`vectors_per_class` has {entries(classes)}"
        call.reject(f"{wrong}, but the number of class labels is {labels}", specified=False)
    first, second = call.length("prob_a"), call.length("prob_b")
    if first != second:
        call.reject(f"`prob_a` has {entries(first)}, but `prob_b` has {second}")
    if sum(vectors) > 0:
        _require_vectors(call, sum(vectors), "the sum of `vectors_per_class`")
        pairs = classes * (classes - 1) // 2
        for name, needed in (("coefficients", sum(vectors) * (classes - 1)), ("rho", pairs)):
            wrong = f"`{name}` has {entries(call.length(name))}; onnxruntime needs {needed}"
            if call.length(name) < needed:
                call.reject(wrong, specified=False)
    # There is one score for each label, or, without probabilities, for each pair of labels.
    # Three labels have three pairs, so their number of scores is always known.
    has_scores = labels == 3 or (call.length("prob_a") and labels)
    return _classifier_shapes(call, labels if has_scores else None, 1, 2)


def _svm_regressor(call: OperatorCall) -> Shapes:
    """Infer the output shape of `SVMRegressor`; check its attributes.

    Without support vectors, there must be one coefficient for each feature.
    """
    _require_kernel(call)
    _warn_if_missing(call, "rho")
    vectors, coefficients = call.integer("n_supports", 0), call.length("coefficients")
    if vectors > 0:
        _require_vectors(call, vectors, "`n_supports`")
        if coefficients < vectors:
            length = f"`coefficients` has {entries(coefficients)}"
            call.reject(f"{length}, but `n_supports` is {vectors}")
    elif coefficients:
        call.require_last(0, coefficients, "the length of `coefficients`")
    return (_matrix(call, 1, 1, 2),)


def _require_kernel(call: OperatorCall) -> None:
    """Require `kernel_params` of a support vector machine to have 3 entries; warn if missing."""
    count = call.length("kernel_params")
    _warn_if_missing(call, "kernel_params")
    if count not in (0, 3):
        call.reject(f"`kernel_params` has {entries(count)}, but the operator needs 3")


def _require_vectors(call: OperatorCall, number: int, name: str) -> None:
    """Require `support_vectors` to have `number` vectors with one entry for each feature.

    Messages call the number `name`.
    """
    count = call.length("support_vectors")
    if count % number:
        wrong = f"`support_vectors` has {entries(count)}, which is not a multiple of {name}"
        call.reject(f"{wrong} ({number})")
    elif count:
        call.require_last(0, count // number, "the size of a support vector")


def _warn_if_both(
    call: OperatorCall, first: str, first_default: object, second: str, second_default: object
) -> None:
    """Warn if the attributes `first` and `second` are given, and neither has its default value.

    A default value may be there only because onnxruntime writes default values when it saves a
    model.
    """
    values = call.attribute(first), call.attribute(second)
    if values[0] not in (None, first_default) and values[1] not in (None, second_default):
        call.reject(f"only one of `{first}` and `{second}` should be given", specified=False)


def _imputer(call: OperatorCall) -> Shapes:
    """Return the input's shape; require `Imputer` to have one imputed value, or one per feature."""
    name = _only_one(call, "imputed_value_floats", "imputed_value_int64s")
    _warn_if_both(call, "replaced_value_float", Float32(0), "replaced_value_int64", 0)
    count = 0 if name is None else call.length(name)
    if count > 1:
        call.require_last(0, count, f"the length of `{name}`")
    return (call.shape(0),)


def _dict_vectorizer(call: OperatorCall) -> Shapes:
    """Check that `DictVectorizer` has one vocabulary; the rank of its output is not specified."""
    _only_one(call, "string_vocabulary", "int64_vocabulary")
    return ()


def _category_mapper(call: OperatorCall) -> Shapes:
    """Return the input's shape; warn if `CategoryMapper` has both defaults.

    A node uses only one default: it maps strings to integers, or integers to strings.
    """
    _warn_if_both(call, "default_int64", -1, "default_string", b"_Unused")
    return (call.shape(0),)


def _normalizer(call: OperatorCall) -> Shapes:
    """Infer the output shape of `Normalizer`; require an input of rank 1 or 2."""
    call.require_rank(0, 1, 2)
    return (call.shape(0),)


def _one_hot(call: OperatorCall) -> Shapes:
    shape = call.shape(0)
    count = call.length("cats_int64s", "cats_strings")
    return (None if shape is None else (*shape, count or None),)


def _feature_vectorizer(call: OperatorCall) -> Shapes:
    """Infer the output shape of `FeatureVectorizer`: it concatenates the columns of all inputs.

    Check its attribute `inputdimensions`, and require its inputs to have equal numbers of rows.
    """
    call.require_min_rank(1)
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
    return (None if shape is None else (shape[0] if len(shape) > 1 else 1, columns),)


def _feature_extractor(call: OperatorCall) -> Shapes:
    """Infer the output shape of `ArrayFeatureExtractor`: it selects from the last dimension.

    A negative index causes only a warning: the specification does not forbid it, but onnxruntime
    does not count it from the end.
    """
    shape, chosen = call.shape(0), call.shape(1)
    count = None if chosen is None else product_of(chosen)
    if not call.require_min_rank(1) or shape is None:
        return (None,)
    size, indices = shape[-1], call.value(1)
    for index in indices.items if indices is not None else ():
        if isinstance(index, int) and isinstance(size, int) and not 0 <= index < size:
            wrong = f"the index {index} is out of range: the last dimension of {{0}} is {size}"
            call.reject(wrong, specified=index >= size)
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
    "TreeEnsemble": tree_ensemble,
    "TreeEnsembleClassifier": _tree_classifier,
    "TreeEnsembleRegressor": _tree_regressor,
    "ZipMap": _zip_map,
}
"""Maps operators to inference functions. No standard operator has one of these names."""
