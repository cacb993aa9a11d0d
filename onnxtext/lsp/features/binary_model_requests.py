# SPDX-License-Identifier: Apache-2.0
"""Answer custom requests of editors that show binary models.

- `onnxtext/fromBinary` {uri} -> {text, size, digest}: print a binary model; `size` and `digest` are
  the number of bytes and the SHA-256 of its file
- `onnxtext/toBinary` {text, original, target?, digest?} -> {written, digest}: write a text as a
  binary model to `target`, by default to `original`; fail if `digest` is given and is not the
  SHA-256 of `original`; the result has the size (`written`) and the SHA-256 of the new file
- `onnxtext/convert` {uri, target, direction, force?} -> {target}: convert a file; `direction` is
  `to-binary` or `from-binary`; `force` is the option `--force` of the command
- `onnxtext/verify` {uri} -> {ok, report}: verify that the conversions of a file are lossless

If a request fails, the answer is an error whose message gives the reason. The requests of the graph
view are in `graph_requests`.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onnxtext.diagnostics import Diagnostic, OnnxTextError
from onnxtext.io.files import read_input, write_atomically
from onnxtext.lsp.features.diagnostics import to_lsp_diagnostics as convert_diagnostics
from onnxtext.lsp.index.document import path_of
from onnxtext.lsp.index.positions import LineIndex
from onnxtext.lsp.server.protocol import RequestError
from onnxtext.source import Source

if TYPE_CHECKING:
    from onnxtext.ast.model import Model
    from onnxtext.lsp.server.server import Server


def _path(uri: str) -> Path:
    """Return the path of a `file:` URI; raise a RequestError for other URIs."""
    path = path_of(uri)
    if path is None:
        raise RequestError(f"{uri} is not a local file")
    return path


def read_file(path: Path) -> bytes:
    """Return the bytes of a file; raise a RequestError if it cannot be read."""
    try:
        return read_input(path)
    except OSError as error:
        raise RequestError(f"cannot read {path}: {error.strerror or error}") from None


async def from_binary(server: Server, params: Any) -> dict[str, Any]:
    """Answer `onnxtext/fromBinary`: print a binary model, with digests for large weights.

    Raises:
        RequestError: the URI is not a local file, or the file cannot be read or is not a model.
    """
    return await asyncio.to_thread(_from_binary, _path(params.uri))


def _from_binary(path: Path) -> dict[str, Any]:
    data = read_file(path)
    text = text_of_binary(data, path)
    return {"text": text, "size": len(data), "digest": hashlib.sha256(data).hexdigest()}


def text_of_binary(data: bytes, path: Path) -> str:
    """Print a binary model, with digests in place of the bytes of large weights.

    `path` is the file of the model, for messages.

    Raises:
        RequestError: the model has errors, or its graphs are nested too deeply.
    """
    from onnxtext.binary_to_text import print_binary

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return print_binary(data, None, weights="none", name=str(path))[0]
    except OnnxTextError as error:
        raise RequestError("\n".join(map(str, error.diagnostics))) from None
    except RecursionError:
        raise RequestError(f"{path}: its graphs are nested too deeply") from None


async def to_binary(server: Server, params: Any) -> dict[str, Any]:
    """Answer `onnxtext/toBinary`: write a text, with the weights of `original`, as a binary model.

    Raises:
        RequestError: a URI is not a local file, the text has errors, the original has changed or
            cannot be read, or writing has failed.
    """
    original = _path(params.original)
    target = getattr(params, "target", None)
    path = original if target is None else _path(target)
    digest = getattr(params, "digest", None)
    try:
        return await asyncio.to_thread(_to_binary, params.text, original, path, digest)
    except OnnxTextError as error:
        objects = _as_objects(server, error.diagnostics, params.text, original)
        first = error.diagnostics[0].message
        others = len(error.diagnostics) - 1
        message = f"the text has errors: {first}" + (f" (and {others} more)" if others else "")
        raise RequestError(message, {"diagnostics": objects}) from None


def _to_binary(text: str, original: Path, target: Path, digest: str | None) -> dict[str, Any]:
    """Write a text as a binary model; return the result of `onnxtext/toBinary`. Runs in a thread.

    The model gets its large weights from `original`. `digest` is the expected SHA-256 of
    `original`; None to skip this check.

    Raises:
        OnnxTextError: the text has errors, or cannot be encoded.
        RequestError: `original` has another digest or cannot be read, or writing has failed.
    """
    from onnxtext.syntax.parse import parse_model
    from onnxtext.text_to_binary import encode
    from onnxtext.weights.find_blobs import BlobReader

    data = read_file(original)
    if digest is not None and hashlib.sha256(data).hexdigest() != digest:
        raise RequestError(
            f"{original} has changed on disk since it was opened, and was not written; "
            "open it again, or save under another name"
        )
    source = Source(text, str(original))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = parse_model(source)
        _add_blobs(model, data)
        blob_source = BlobReader.of(model, original.parent)
        encoded = b"".join(encode(model, source, blob_source=blob_source))
    try:
        write_atomically(target, encoded)
    except OSError as error:
        raise RequestError(f"cannot write {target}: {error.strerror or error}") from None
    return {"written": len(encoded), "digest": hashlib.sha256(encoded).hexdigest()}


def _add_blobs(model: Model, data: bytes) -> None:
    """Copy the bytes of large weights to `model` from `data`, the original binary model."""
    from onnxtext.binary_to_text import lift_placed

    model.resources_left_out = False
    try:
        resources = lift_placed(data, weights="section").resources
    except ValueError as error:  # LiftError is a ValueError
        raise RequestError(f"the weights cannot be read from the original: {error}") from None
    for digest, content in resources.items():
        model.resources.setdefault(digest, content)


def _as_objects(
    server: Server, diagnostics: tuple[Diagnostic, ...], text: str, path: Path
) -> list[Any]:
    """Convert diagnostics to LSP diagnostics, as JSON objects."""
    lines = LineIndex(text, server.encoding)
    converter = server.protocol._converter
    return [
        converter.unstructure(item)
        for item in convert_diagnostics(diagnostics, lines, path.as_uri())
    ]


async def convert(server: Server, params: Any) -> dict[str, Any]:
    """Convert a file by running `onnxtext to-binary` or `onnxtext from-binary`.

    Raises:
        RequestError: a URI is not a local file, the direction is unknown, or the command fails.
    """
    path, target, verb = _path(params.uri), _path(params.target), params.direction
    if verb not in ("to-binary", "from-binary"):
        raise RequestError("the direction must be to-binary or from-binary")
    arguments = [verb, str(path), "-o", str(target), "--output-format", "json"]
    if getattr(params, "force", False):
        arguments.append("--force")
    status, _, stderr = await _run(arguments)
    if status:
        raise RequestError(_error_messages(stderr) or f"onnxtext {verb} failed")
    return {"target": target.as_uri()}


async def verify(server: Server, params: Any) -> dict[str, Any]:
    """Return the result of `onnxtext verify` on a file.

    Raises:
        RequestError: the URI is not a local file, or the file does not exist.
    """
    path = _path(params.uri)
    if not path.exists():
        raise RequestError(f"{path} does not exist")
    status, stdout, stderr = await _run(["verify", "--color", "never", str(path)])
    return {"ok": status == 0, "report": (stdout + stderr).strip()}


async def _run(arguments: list[str]) -> tuple[int, str, str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "onnxtext",
        *arguments,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"},
    )
    try:
        stdout, stderr = await process.communicate()
    except asyncio.CancelledError:
        process.kill()
        raise
    return (
        process.returncode or 0,
        stdout.decode("utf-8", "replace"),
        stderr.decode("utf-8", "replace"),
    )


def _error_messages(stderr: str) -> str:
    """Return the messages of the first ten findings, one per line.

    `stderr` has the findings in JSON; other texts are returned stripped.
    """
    try:
        messages = json.loads(stderr)
    except ValueError:
        return stderr.strip()
    rows = []
    for item in messages:
        row = str(item.get("message", ""))
        if item.get("help"):
            row += f" ({item['help']})"
        rows.append(row)
    return "\n".join(rows[:10])
