# SPDX-License-Identifier: Apache-2.0
"""Read arrays from data files of other programs: `.npy`, `.npz`, `.safetensors`.

The functions raise `BlobError` if a file is invalid, or has another type or shape than expected.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from onnxtext.ast.tensors_and_attributes import DataFile
from onnxtext.ast.types import TensorType
from onnxtext.plurals import count_noun
from onnxtext.tensor.blobs import UNREADABLE, BlobError
from onnxtext.tensor.element_count import count_elements
from onnxtext.tensor.element_types import ELEMENTS, raw_size
from onnxtext.tensor.lazy_numpy import np
from onnxtext.weights.safe_paths import (
    FileParts,
    PartsReader,
    PathError,
    blob_errors,
    resolve_inside,
    view_parts,
)
from onnxtext.weights.statistics import NUMPY_CODES

if TYPE_CHECKING:
    from onnxtext.weights.safetensors_file import SafetensorsFile

MISMATCH = "data-file-mismatch"

_NUMPY = NUMPY_CODES | {"bool": "b1", "complex64": "<c8", "complex128": "<c16"}
"""The numpy type of each element type. `.npy` files store types of `ml_dtypes` as `V1` or `V2`."""

_SAFETENSORS = {
    "bool": "BOOL", "uint8": "U8", "int8": "I8", "uint16": "U16", "int16": "I16", "uint32": "U32",
    "int32": "I32", "uint64": "U64", "int64": "I64", "float16": "F16", "bfloat16": "BF16",
    "float": "F32", "double": "F64", "complex64": "C64", "float8e4m3fn": "F8_E4M3",
    "float8e5m2": "F8_E5M2", "float8e8m0": "F8_E8M0", "float4e2m1": "F4",
}  # fmt: skip
"""The name of each element type in the headers of safetensors files."""

_MAX_HEADER_LENGTH = 1 << 16


def read_array(
    base: Path | None,
    file: DataFile,
    type: TensorType,
    open_safetensors: Callable[[Path], SafetensorsFile],
    archives: dict[Path, zipfile.ZipFile],
) -> bytes | memoryview:
    """Return the elements of an array in a data file, encoded as in `TensorProto.raw_data`.

    Args:
        base: the directory of the text; None if unknown.
        file: the reference in the text.
        type: the declared type, which the array must have.
        open_safetensors: opens a safetensors file, or returns the file that it opened before.
        archives: the `.npz` archives that were opened before; a new archive is added.

    Raises:
        BlobError: `base` is None, the file cannot be read or is outside of `base`, or it lacks the
            array with this type and shape.
    """
    if base is None:
        message = (
            f"cannot read the data file `{file.path}`: the directory of the text is unknown: save "
            "the text, or pass `base_dir`"
        )
        raise BlobError(message, UNREADABLE)
    array_name = f"`{file.path}`" if file.entry is None else f"`{file.entry}` in `{file.path}`"
    with blob_errors(array_name, file.path):
        path = resolve_inside(base, file.path)
        if file.path.lower().endswith(".safetensors"):
            return _from_safetensors(open_safetensors(path), file, type, array_name)
        if file.entry is None:
            return _from_npy(view_parts(path), type, array_name)
        return _from_npz(path, archives, file.entry, type, array_name)


def _from_npy(
    view: memoryview | FileParts, type: TensorType, array_name: str
) -> bytes | memoryview:
    """Return the elements of a `.npy` file."""
    head = io.BytesIO(bytes(view[:_MAX_HEADER_LENGTH]))
    fortran, dtype = _header(head, type, array_name)
    size = count_elements(type.integer_dims) * dtype.itemsize
    data = view[head.tell() : head.tell() + size]
    return _to_row_major(data, dtype, type.integer_dims, fortran, array_name)


def _find(archive: zipfile.ZipFile, name: str) -> zipfile.ZipInfo | None:
    """Return an entry of an archive; None if it has none with this name."""
    try:
        return archive.getinfo(name)
    except KeyError:
        return None


def _from_npz(
    path: Path, archives: dict[Path, zipfile.ZipFile], entry: str, type: TensorType, array_name: str
) -> bytes | memoryview:
    """Return the elements of an array in a `.npz` archive."""
    try:
        if path not in archives:
            reader = io.BufferedReader(PartsReader(view_parts(path)))
            archives[path] = zipfile.ZipFile(reader)
        archive = archives[path]
        member = _find(archive, entry) or _find(archive, entry + ".npy")
        if member is None:
            names = [name.removesuffix(".npy") for name in archive.namelist()[:20]]
            available = ", ".join(names)
            raise BlobError(f"{array_name} is missing; the file has {available}", UNREADABLE)
        with archive.open(member) as file:
            head = io.BytesIO(file.read(_MAX_HEADER_LENGTH))
            fortran, dtype = _header(head, type, array_name)
            size = count_elements(type.integer_dims) * dtype.itemsize
            data = head.read()[:size]
            data += file.read(max(size - len(data), 0))
    except (BlobError, PathError, OSError):
        raise
    except Exception as error:  # zipfile and its decompressors raise errors of many classes
        raise BlobError(f"{array_name} cannot be read: {error}", UNREADABLE) from None
    return _to_row_major(memoryview(data), dtype, type.integer_dims, fortran, array_name)


def _header(file: IO[bytes], type: TensorType, array_name: str) -> tuple[bool, Any]:
    """Read and check a `.npy` header, without unpickling; return (is Fortran order, dtype).

    The header must match `type`; error messages begin with `array_name`.
    """
    from numpy.lib import format as npy

    try:
        version = npy.read_magic(file)
        if version == (1, 0):
            header_shape, fortran, dtype = npy.read_array_header_1_0(file)
        elif version in ((2, 0), (3, 0)):
            header_shape, fortran, dtype = npy.read_array_header_2_0(file)
        else:
            raise ValueError(f"version {version} of the format is unknown")
    except Exception as error:  # numpy parses headers as Python: many classes of errors
        reason = str(error).partition("\n")[0]
        raise BlobError(f"{array_name} is not a .npy file: {reason}", UNREADABLE) from None
    expected = _NUMPY.get(type.element)
    element = ELEMENTS.get(type.element)
    if expected is not None:
        fits = dtype.newbyteorder("<") == np.dtype(expected)
    else:
        fits = element is not None and element.bits in (8, 16) and dtype == f"V{element.bits // 8}"
    if not fits:
        message = f"{array_name} has the type {dtype}, but the tensor has the type {type.element}"
        raise BlobError(message, MISMATCH)
    _check_shape(tuple(header_shape), type.integer_dims, array_name)
    return bool(fortran), dtype


def _check_shape(actual: tuple[int, ...], shape: tuple[int, ...], array_name: str) -> None:
    if actual != shape:
        message = f"{array_name} has the shape {list(actual)}, but the tensor has {list(shape)}"
        raise BlobError(message, MISMATCH)


def _to_row_major(
    data: memoryview, dtype: Any, shape: tuple[int, ...], fortran: bool, array_name: str
) -> bytes | memoryview:
    """Return an array as little-endian, row-major bytes; `fortran`: `data` is column-major."""
    size = count_elements(shape) * dtype.itemsize
    if len(data) != size:
        needed = count_noun(size, "byte")
        raise BlobError(f"{array_name} ends after {len(data):,} of {needed}", UNREADABLE)
    swapped = dtype.byteorder == ">"
    if not swapped and not (fortran and len(shape) > 1):
        return data
    array = np.frombuffer(data, dtype).reshape(shape, order="F" if fortran else "C")
    ordered = np.ascontiguousarray(array.astype(dtype.newbyteorder("<")))
    return ordered.tobytes()


def _from_safetensors(
    opened: SafetensorsFile, file: DataFile, type: TensorType, array_name: str
) -> memoryview:
    entry = opened.tensors.get(file.entry or "")
    if entry is None:
        available = ", ".join(list(opened.tensors)[:20])
        raise BlobError(f"{array_name} is missing; the file has {available}", UNREADABLE)
    kind, held_shape, part = entry
    if kind != _SAFETENSORS.get(type.element):
        message = f"{array_name} has the type {kind}, but the tensor has the type {type.element}"
        raise BlobError(message, MISMATCH)
    _check_shape(held_shape, type.integer_dims, array_name)
    expected = raw_size(ELEMENTS[type.element], count_elements(type.integer_dims))
    size = part.stop - part.start
    if size != expected:
        raise BlobError(
            f"{array_name} has {count_noun(size, 'byte')}, but the tensor's type and shape "
            f"need {expected:,}",
            MISMATCH,
        )
    return opened.view[part]
