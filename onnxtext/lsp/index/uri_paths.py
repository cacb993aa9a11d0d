# SPDX-License-Identifier: Apache-2.0
"""Convert the URIs of clients to paths."""

from __future__ import annotations

from pathlib import Path


def path_of(uri: str) -> Path | None:
    """Return the path of a `file:` URI; None for other and for invalid URIs."""
    from pygls.uris import to_fs_path  # `onnxtext view` works without pygls

    if not uri.startswith("file:"):
        return None
    try:
        path = to_fs_path(uri)
    except ValueError:  # such as `file://[`
        return None
    return None if path is None or "\0" in path else Path(path)
