# SPDX-License-Identifier: Apache-2.0
"""Read arrays from command-line arguments: `@x.npy`, or numbers such as `[1.5, 2]`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onnxtext.cli.command_errors import CommandError, io_errors

if TYPE_CHECKING:
    import numpy as np


def read_arrays(text: str) -> np.ndarray[Any, Any] | list[np.ndarray[Any, Any]]:
    """Return the value of a command-line argument as `read_array` does, or a list of arrays.

    A list whose items are arrays of different shapes, such as `[[1, 2], [3]]`, is a list of arrays.

    Raises:
        CommandError: the file cannot be read, or the argument is neither an array nor such a list.
    """
    try:
        return read_array(text)
    except CommandError:
        try:
            items = json.loads(text)
            if isinstance(items, list):
                return [read_array(json.dumps([item]))[0, ...] for item in items]
        except (CommandError, ValueError, RecursionError):
            pass
        raise


def read_array(text: str) -> np.ndarray[Any, Any]:
    """Return the array of a command-line argument: `@x.npy` (a file), or a JSON number or list.

    Raises:
        CommandError: the file cannot be read, or the argument is not an array.
    """
    import numpy as np

    if not text.startswith("@"):
        try:
            items = json.loads(text)
            array = np.asarray(items)
            if array.dtype.kind == "U" and array.shape:
                return np.array(items, object)  # `U` loses null characters at the end of strings
            if array.dtype.kind == "O":  # for example, integers beyond int64
                is_valid = all(isinstance(item, int) for item in array.flat)
            else:
                is_valid = array.dtype.kind != "U"
            if is_valid:
                return array
        except (ValueError, TypeError, RecursionError):
            pass
        raise CommandError(
            "no-input",
            f"`{text}` is neither a number nor a list with rows of equal length",
            help="write `@x.npy`, `3` or `[1.5, 2]`",
        )
    if text == "@":
        raise CommandError("no-input", "a file name is missing after `@`", help="write `@x.npy`")
    path = Path(text[1:])
    with io_errors("read", path):
        try:
            array = np.load(path, allow_pickle=False)
        except OSError:
            raise
        except Exception as error:  # numpy raises errors of many classes for an invalid header
            reason = str(error).partition("\n")[0]
            raise CommandError("no-input", f"{path} is not a .npy file: {reason}") from None
    if not isinstance(array, np.ndarray):
        raise CommandError("no-input", f"{path} is an archive of arrays; name a .npy file")
    return array
