# SPDX-License-Identifier: Apache-2.0
"""Read arrays from command-line arguments: `@x.npy`, or numbers such as `[1.5, 2]`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from onnxtext.cli.report import CommandError, io_errors

if TYPE_CHECKING:
    import numpy as np


def read_array(text: str) -> np.ndarray[Any, Any]:
    """Return the array of an argument, which is `@x.npy` for a file, or a JSON number or list.

    Raises:
        CommandError: the file cannot be read, or the argument is not an array.
    """
    import numpy as np

    if not text.startswith("@"):
        import json

        try:
            made = np.asarray(json.loads(text))
            if not made.shape and made.dtype.kind == "U":
                raise ValueError
            if made.dtype.kind != "O" or all(isinstance(item, int) for item in made.flat):
                return made  # numbers beyond int64 are objects
        except (ValueError, TypeError, RecursionError):
            pass
        raise CommandError(
            "no-input",
            f"{text!r} is neither a number nor a list",
            help="write @x.npy, 3 or [1.5, 2]",
        )
    path = Path(text[1:])
    with io_errors("read", path):
        try:
            made = np.load(path, allow_pickle=False)
        except (ValueError, EOFError) as error:
            raise CommandError("no-input", f"{path} is not a .npy file: {error}") from None
    if not isinstance(made, np.ndarray):
        raise CommandError("no-input", f"{path} contains several arrays; name a .npy file")
    return made
