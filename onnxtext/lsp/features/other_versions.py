# SPDX-License-Identifier: Apache-2.0
"""Read another version of a document, from a file or from git, as text."""

from __future__ import annotations

import subprocess
from pathlib import Path

from onnxtext.diagnostics import OnnxTextError
from onnxtext.lsp.features.binary_model_requests import read_file, text_of_binary
from onnxtext.lsp.index.uri_paths import path_of
from onnxtext.lsp.server.protocol import RequestError

GIT = "git:"
_SECONDS = 60


def other_text(uri: str, against: str) -> tuple[str, str, Path | None]:
    """Return (name, text, path) of another version of a document.

    The name and path are those of the other file. For a revision in git, they are the revision and
    the path of the document.

    Args:
        uri: the URI of the document: `file:`, or `onnx:` for the text of a binary model.
        against: the URI of a file, or `git:REVISION`.

    Raises:
        RequestError: the other version cannot be read.
    """
    if against.startswith(GIT):
        path = _path(uri)
        revision = against.removeprefix(GIT)
        return revision, _as_text(_from_git(path, revision), path), path
    path = _path(against)
    return path.name, _as_text(read_file(path), path), path


def _path(uri: str) -> Path:
    for scheme in ("file:", "onnx:"):
        if uri.startswith(scheme):
            path = path_of("file:" + uri.removeprefix(scheme))
            if path is not None:
                return path
    raise RequestError(f"{uri} is not a local file")


def _from_git(path: Path, revision: str) -> bytes:
    """Return the bytes of a file in a git revision.

    Raises:
        RequestError: the revision or the file does not exist, git cannot be run, or it does
            not answer in time.
    """
    if not revision or revision.startswith("-") or ":" in revision:
        raise RequestError(f"{revision!r} is not the name of a revision")
    command = ["git", "-C", str(path.parent), "show", f"{revision}:./{path.name}"]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, check=False
        )
    except OSError as error:
        raise RequestError(f"git cannot be run: {error}") from None
    except subprocess.TimeoutExpired:
        raise RequestError(f"git did not answer within {_SECONDS} seconds") from None
    if done.returncode:
        reason = done.stderr.decode("utf-8", "replace").strip()
        raise RequestError(f"git has no {path.name} in {revision}: {reason}")
    return done.stdout


def _as_text(data: bytes, path: Path) -> str:
    from onnxtext.io.text_or_binary import decode_text, has_binary_content

    # With the git filter, git stores text in a .onnx file: decide by the content alone.
    if has_binary_content(data):
        return text_of_binary(data, path)
    try:
        return decode_text(data, str(path))
    except OnnxTextError as error:
        raise RequestError("\n".join(map(str, error.diagnostics))) from None
