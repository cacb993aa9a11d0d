# SPDX-License-Identifier: Apache-2.0
"""Write the inputs or outputs of a model to a directory, and read them again.

The values are arrays, lists, maps, or None for an absent optional.
"""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def write_values(directory: Path, values: dict[str, Any]) -> None:
    """Write each array of numbers to a file in a new directory, and the rest to `values.json`."""
    directory.mkdir()
    numbers = count()

    def written(value: Any) -> Any:
        if value is None:
            return None
        if isinstance(value, dict):
            return {"keys": written(list(value)), "values": written(list(value.values()))}
        if isinstance(value, list | tuple):
            return [written(item) for item in value]
        array = np.asarray(value)
        name = f"{next(numbers)}.npy"
        kind = array.dtype.name
        if array.dtype.kind in "OSU":  # .npy files lose null characters at the end of strings
            return {"strings": strings_of(array), "shape": array.shape}
        if array.dtype.isbuiltin != 1:  # a type of ml_dtypes
            array = array.view(f"u{array.dtype.itemsize}")
        np.save(directory / name, array, allow_pickle=False)
        return {"file": name, "type": kind}

    shown = {name: written(value) for name, value in values.items()}
    (directory / "values.json").write_text(json.dumps(shown))


def strings_of(array: NDArray[Any]) -> list[str]:
    """Return the elements of an array as strings; bytes are decoded as UTF-8."""
    items = array.reshape(-1).tolist()
    return [item.decode() if isinstance(item, bytes) else str(item) for item in items]


def read_values(directory: Path) -> dict[str, Any]:
    """Return the values, by name, that `write_values` has written to a directory."""

    def read(value: Any) -> Any:
        if value is None:
            return None
        if isinstance(value, list):
            return [read(item) for item in value]
        if "keys" in value:
            keys = [array.item() for array in read(value["keys"])]
            return dict(zip(keys, read(value["values"]), strict=True))
        if "strings" in value:
            return np.array(value["strings"], object).reshape(value["shape"])
        array = np.load(directory / value["file"], allow_pickle=False)
        return array if array.dtype.name == value["type"] else array.view(_dtype(value["type"]))

    shown = json.loads((directory / "values.json").read_text())
    return {name: read(value) for name, value in shown.items()}


def _dtype(name: str) -> Any:
    import ml_dtypes

    return np.dtype(getattr(ml_dtypes, name))
