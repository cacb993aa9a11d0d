# SPDX-License-Identifier: Apache-2.0
"""Prepare the inputs to run a model: convert arrays to the declared types, make random values."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from onnxtext.diagnostics import Diagnostic, OnnxTextError
from onnxtext.engines.value_files import strings_of
from onnxtext.suggestions import nearest_name

if TYPE_CHECKING:
    import onnx
    from numpy.typing import NDArray


def input_error(message: str, help: str | None = None) -> OnnxTextError:
    """Create an error about the inputs of a run."""
    return OnnxTextError(Diagnostic("run-input", message, help=help))


def needed_inputs(model: onnx.ModelProto) -> dict[str, onnx.TypeProto]:
    """Return the types of the required inputs (those without a default value), by input name."""
    stored = {tensor.name for tensor in model.graph.initializer}
    stored |= {sparse.values.name for sparse in model.graph.sparse_initializer}
    return {value.name: value.type for value in model.graph.input if value.name not in stored}


def default_inputs(model: onnx.ModelProto) -> dict[str, Any]:
    """Return the default values of inputs, by input name; convert sparse values to dense arrays.

    Raises:
        OnnxTextError: a sparse default value is invalid or too large.
    """
    from onnx.numpy_helper import to_array

    dense = {tensor.name: tensor for tensor in model.graph.initializer}
    sparse = {tensor.values.name: tensor for tensor in model.graph.sparse_initializer}
    result = {}
    for value in model.graph.input:
        if value.name in dense:
            result[value.name] = to_array(dense[value.name])
        elif value.name in sparse:
            result[value.name] = _dense(sparse[value.name])
    return result


def _dense(sparse: onnx.SparseTensorProto) -> Any:
    """Return a sparse tensor as an array; raise OnnxTextError if it is invalid or too large."""
    from onnx.numpy_helper import to_array

    try:
        values, indices = to_array(sparse.values), to_array(sparse.indices)
        result = np.zeros(tuple(sparse.dims), values.dtype)
        if result.dtype == np.dtype(object):
            result.fill("")
        if indices.ndim == 2:
            result[tuple(indices.T)] = values
        else:
            result.reshape(-1)[indices] = values
    except (IndexError, MemoryError, TypeError, ValueError) as error:
        name = sparse.values.name
        raise input_error(f"the sparse default value of `{name}` is invalid: {error}") from None
    return result


def fill_inputs(
    model: onnx.ModelProto,
    given: Mapping[str, Any],
    *,
    random: bool = False,
    seed: int = 0,
    sizes: Mapping[str, int] | None = None,
) -> dict[str, Any]:
    """Return values for a model's inputs, by name: given values, and random values if `random`.

    Given arrays, and those in sequences, are converted to the declared element types.

    Args:
        model: the model.
        given: inputs by name.
        random: whether to make random values for required inputs that are not given. If False, a
            missing required input is an error.
        seed: the seed of the random numbers.
        sizes: the sizes of symbolic dimensions for random inputs, by symbol. All other symbols have
            the size 1.

    Raises:
        OnnxTextError: a given input or a symbol is unknown, a required input is missing, a given
            input does not fit its declared type, or `random_inputs` cannot make a value.
    """
    declared = {value.name: value.type for value in model.graph.input}
    for name in given:
        if name not in declared:
            raise _unknown(f"the model has no input `{name}`", name, "its inputs", declared)
    _check_symbols(model, sizes or {})
    values = {name: _cast(name, value, declared[name]) for name, value in given.items()}
    needed = needed_inputs(model)
    missing = [name for name in needed if name not in values]
    if missing and not random:
        names = ", ".join(f"`{name}`" for name in missing)
        one, each = len(missing) == 1, "" if len(missing) == 1 else " for each"
        help = f"add `--input NAME=VALUE`{each}, or `--random` for random values"
        problem = "an input is missing" if one else "inputs are missing"
        raise input_error(f"{problem}: {names}", help)
    drawn = random_inputs(model, missing, seed=seed, sizes=sizes)
    return {name: values[name] if name in values else drawn[name] for name in {**needed, **values}}


def _check_symbols(model: onnx.ModelProto, sizes: Mapping[str, int]) -> None:
    """Raise an OnnxTextError if a symbol with a size is not a dimension of any input."""
    types = [value.type.tensor_type for value in model.graph.input]
    symbols = dict.fromkeys(dim.dim_param for type in types for dim in type.shape.dim)
    symbols.pop("", None)
    for name in sizes:
        if name not in symbols:
            message = f"no input has a symbolic dimension `{name}`"
            raise _unknown(message, name, "their symbolic dimensions", symbols)


def _unknown(message: str, name: str, label: str, candidates: Collection[str]) -> OnnxTextError:
    """Create the error for an unknown name; the help suggests a candidate or lists all of them."""
    suggestion = nearest_name(name, candidates)
    listed = ", ".join(f"`{candidate}`" for candidate in candidates) or "none"
    return input_error(
        message, f"did you mean `{suggestion}`?" if suggestion else f"{label}: {listed}"
    )


def _cast(name: str, value: Any, type: onnx.TypeProto) -> Any:
    """Convert the elements of a tensor, a sequence or an optional value to the declared type.

    A sequence is given as a list, or as an array whose rows are its items. Maps, and None for an
    absent optional, are returned unchanged.

    Raises:
        OnnxTextError: the value has another kind or shape; the declared element type cannot hold
            the elements; floats would become integers; or complex numbers would become real.
            Rounding floats to a smaller float type is no error.
    """
    kind = type.WhichOneof("value")
    if value is None or kind not in {"tensor_type", "sequence_type", "optional_type"}:
        return value
    if kind == "optional_type":
        return _cast(name, value, type.optional_type.elem_type)
    if kind == "sequence_type":
        if not isinstance(value, list | tuple) and np.ndim(value) == 0:
            raise input_error(f"`{name}` must be a sequence", "write a list, such as [1, 2]")
        item_type = type.sequence_type.elem_type
        return [_cast(f"{name}[{index}]", item, item_type) for index, item in enumerate(value)]
    try:
        value = np.asarray(value)
    except ValueError:
        raise input_error(f"`{name}` must be a tensor, but its rows differ in length") from None
    if value.dtype.kind == "O" and not value.shape:
        item = value.item()
        if not isinstance(item, int | float | str | bytes):
            raise input_error(f"`{name}` must be a tensor, not {item.__class__.__name__}")
    return _cast_tensor(name, value, type)


def _cast_tensor(name: str, value: NDArray[Any], type: onnx.TypeProto) -> Any:
    """Convert an array to the declared element type; raise an error as `_cast` does."""
    _check_shape(name, value.shape, type)
    expected = _dtype(type.tensor_type.elem_type)
    if expected == np.dtype(object) and value.dtype.kind in "OSU":
        try:
            return np.array(strings_of(value), object).reshape(value.shape)
        except UnicodeDecodeError:
            raise _wrong_type(name, expected, value) from None
    if value.dtype == expected:
        return value
    if value.dtype.type is np.void:  # .npy files store the types of ml_dtypes as voids
        if (
            value.dtype.names
            or expected.isbuiltin == 1
            or value.dtype.itemsize != expected.itemsize
        ):
            raise _wrong_type(name, expected, value)
        return value.view(expected)
    if value.dtype.kind == "c" and expected.kind != "c":
        raise _wrong_type(name, expected, value)
    try:
        if expected == np.dtype(object):
            return value.astype(str).astype(object)
        with np.errstate(all="ignore"):
            # ml_dtypes cannot convert int4 to uint4, even if all elements fit
            result = _wide(value).astype(expected)
    except (TypeError, ValueError, OverflowError):
        raise _wrong_type(name, expected, value) from None
    given, converted = value, result
    if value.dtype.kind == "O":
        rounded = [isinstance(item, float | complex | np.inexact) for item in value.flat]
        inexact = np.array(rounded, bool).reshape(value.shape)
        if not np.array_equal(result.astype(object)[~inexact], value[~inexact]):
            raise _wrong_type(name, expected, value)
        if not inexact.any():
            return result
        given, converted = np.array(value[inexact].tolist()), result[inexact]
    with np.errstate(all="ignore"):
        _check_elements(name, _wide(given), _wide(converted), expected, given.dtype)
    return result


def _wide(array: NDArray[Any]) -> NDArray[Any]:
    """Convert an array of a type of ml_dtypes to one of numpy's types, with the same values."""
    if array.dtype.isbuiltin != 2:
        return array
    return array.astype(np.int64 if _is_integer(array.dtype) else np.float64)


_LARGEST = {"float4_e2m1fn": 6.0, "float6_e2m3fn": 7.5, "float6_e3m2fn": 28.0}
"""The largest number of each type without infinities; conversions saturate at it."""


def _check_elements(
    name: str,
    value: NDArray[Any],
    result: NDArray[Any],
    expected: np.dtype[Any],
    given: np.dtype[Any],
) -> None:
    """Check that a conversion has not changed the elements of an input, except by rounding floats.

    `value` and `result` are the elements before and after the conversion. For a type of ml_dtypes,
    they are in a type of numpy; `given` and `expected` are the types without this change.

    Raises:
        OnnxTextError: integers have changed, floats became integers, or the range of the expected
            type is too small.
    """
    if _is_integer(given):
        exact = np.array_equal(result.real.astype(value.dtype), value)
        if _is_integer(expected):  # -1 and 2**64 - 1 have the same bits
            exact = exact and np.array_equal(result < 0, value < 0)
        else:
            exact = exact and bool(np.isfinite(result).all())
    else:
        exact = not _is_integer(expected)
    if not exact:
        raise input_error(
            f"`{name}` must be {expected.name}, which cannot hold the given {given.name} "
            "values exactly"
        )
    if value.dtype.kind in "fc":
        changed = (np.isnan(value) != np.isnan(result)) | (np.isinf(value) != np.isinf(result))
        changed |= np.abs(value) > _LARGEST.get(expected.name, np.inf)
        if np.any(changed):
            raise input_error(
                f"`{name}` must be {expected.name}, whose range the given values exceed"
            )


def _is_integer(type: np.dtype[Any]) -> bool:
    """Whether a type is bool or an integer. The name decides: int4 of ml_dtypes has the kind V."""
    return type.name.startswith(("int", "uint", "bool"))


def _wrong_type(name: str, expected: np.dtype[Any], array: NDArray[Any]) -> OnnxTextError:
    wanted = "string" if expected == np.dtype(object) else expected.name
    if array.dtype.kind == "O":  # Python objects, such as integers that no element type can hold
        return input_error(f"`{name}` must be {wanted}, which cannot hold the given values")
    return input_error(f"`{name}` must be {wanted}; the given array is {array.dtype.name}")


def _check_shape(name: str, shape: tuple[int, ...], type: onnx.TypeProto) -> None:
    """Check a shape against the declared shape; engines may compute a wrong result if they differ.

    Raises:
        OnnxTextError: the shapes differ.
    """
    if not type.tensor_type.HasField("shape"):
        return
    dims = [
        dim.dim_value if dim.HasField("dim_value") else dim.dim_param or "?"
        for dim in type.tensor_type.shape.dim
    ]
    if len(dims) != len(shape) or any(
        isinstance(dim, int) and dim != size for dim, size in zip(dims, shape, strict=True)
    ):
        declared = ", ".join(map(str, dims))
        raise input_error(
            f"`{name}` must have the shape [{declared}]; the given array has {list(shape)}"
        )


def _dtype(element: int) -> np.dtype[Any]:
    from onnx import helper

    return np.dtype(helper.tensor_dtype_to_np_dtype(element))


def random_inputs(
    model: onnx.ModelProto,
    names: list[str] | None = None,
    *,
    seed: int = 0,
    sizes: Mapping[str, int] | None = None,
) -> dict[str, Any]:
    """Make random values for inputs, by name.

    Floats are normally distributed; integers and booleans are 0 or 1. Strings are not
    random: each is `a`.

    Args:
        model: the model.
        names: the required inputs to make values for; None for all required inputs.
        seed: the seed of the random numbers. Each value depends only on the seed and on the name,
            type and shape of its input.
        sizes: the sizes of symbolic dimensions, by symbol. All other symbols have the size 1.

    Raises:
        OnnxTextError: an input is not a tensor, has no shape, or has a negative dimension; or numpy
            cannot make an array of its type and shape.
    """
    needed = needed_inputs(model)
    return {
        name: _random(name, needed[name], seed, sizes or {})
        for name in (needed if names is None else names)
    }


def _random(name: str, type: onnx.TypeProto, seed: int, sizes: Mapping[str, int]) -> Any:
    """Make a random value for the input `name`; raise an input error if that is not possible."""
    try:
        if type.WhichOneof("value") != "tensor_type" or not type.tensor_type.HasField("shape"):
            raise ValueError("its type is not a tensor with a shape")
        shape = [
            dim.dim_value if dim.HasField("dim_value") else sizes.get(dim.dim_param, 1)
            for dim in type.tensor_type.shape.dim
        ]
        if any(size < 0 for size in shape):
            raise ValueError("it has a negative dimension")
        return _draw(name, shape, _dtype(type.tensor_type.elem_type), seed)
    except (TypeError, ValueError, OverflowError) as error:  # also raised by numpy
        wrong = f"cannot make a random value for `{name}`: {error}"
        raise input_error(wrong, "give a value for this input") from None


def _draw(name: str, shape: list[int], expected: np.dtype[Any], seed: int) -> Any:
    """Return an array of random elements; the name of the input is a part of the seed."""
    draw = np.random.default_rng([seed, *name.encode()])
    if expected == np.dtype(object):
        return np.full(shape, "a", object)
    if _is_integer(expected):
        return draw.integers(0, 2, shape).astype(expected)
    values = draw.standard_normal(shape)
    if expected.kind == "c":
        values = values + 1j * draw.standard_normal(shape)
    return np.asarray(values).astype(expected)
