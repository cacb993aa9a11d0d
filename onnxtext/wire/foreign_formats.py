# SPDX-License-Identifier: Apache-2.0
"""Recognize files of other formats by their first bytes, to explain why they are not models.

The result only improves error messages; it never decides whether a file is accepted.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

_HEAD = 4096
"""Maximum number of bytes to examine, apart from magic bytes."""


@dataclass(frozen=True, slots=True)
class FileKind:
    """A kind of file that is not a binary model, and how to report it.

    Attributes:
        code: code of the diagnostic.
        what: description with an article, such as "a gzip file".
        help: what the user can do; None if there is no advice.
    """

    code: str
    what: str
    help: str | None


def recognize(data: bytes) -> FileKind | None:
    """Return the kind of a file, given its bytes; None if the kind is unknown.

    Call this for a file that is not a binary model.
    """
    for offset, magic, what, help in _MAGIC:
        if data.startswith(magic, offset):
            return FileKind("not-a-model", what, help)
    # The data begins with a plausible header length, followed by `{"`.
    if data[8:10] == b'{"' and 2 <= int.from_bytes(data[:8], "little") <= 100_000_000:
        return FileKind("not-a-model", "a safetensors file", _ONLY_WEIGHTS)
    if data and not data[:_HEAD].strip(b"\0"):
        return FileKind("not-a-model", "a file that begins with NUL bytes", _DOWNLOAD_AGAIN)
    return _text_kind(data)


_UNPACK = "unpack it if the model is inside"
_EXPORT = "export the model to ONNX"
_ONLY_WEIGHTS = "it holds weights without a graph: export the model to ONNX"
_DOWNLOAD_AGAIN = "download or copy it again"

_MAGIC: tuple[tuple[int, bytes, str, str | None], ...] = (
    (0, b"\x1f\x8b", "a gzip file", "unpack it with gunzip"),
    (0, b"BZh", "a bzip2 file", "unpack it with bunzip2"),
    (0, b"\xfd7zXZ\0", "an xz file", "unpack it with unxz"),
    (0, b"\x28\xb5\x2f\xfd", "a zstd file", "unpack it with unzstd"),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7z archive", _UNPACK),
    (
        0,
        b"PK\x03\x04",
        "a zip archive",
        "unpack it if the model is inside; PyTorch (.pt, .pth), Keras (.keras) and numpy (.npz) "
        "files are such archives, too: export those to ONNX",
    ),
    (0, b"PK\x05\x06", "an empty zip archive", None),
    (0, b"\x89HDF\r\n\x1a\n", "an HDF5 file (as Keras writes)", _EXPORT),
    (4, b"TFL3", "a TensorFlow Lite model", "convert it to ONNX, for example with tf2onnx"),
    (4, b"ORTM", "an ONNX Runtime model (.ort)", "use the .onnx file from which it was made"),
    (0, b"\x93NUMPY", "a numpy array", None),
    (0, b"GGUF", "a GGUF file", _ONLY_WEIGHTS),
    (0, b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.", "an old PyTorch file", _EXPORT),
    (0, b"ptrt", "a TensorRT engine", "use the .onnx file from which it was made"),
    (0, b"\x7fELF", "a program", None),
    (0, b"%PDF-", "a PDF document", None),
    (0, b"\x89PNG\r\n", "a PNG image", None),
    (0, b"\xff\xd8\xff", "a JPEG image", None),
    (0, b"SQLite format 3\0", "an SQLite database", None),
    *((0, bytes((128, protocol, 149)), "a Python pickle", _EXPORT) for protocol in (4, 5)),
    (0, b"\x80\x02}q", "a Python pickle", _EXPORT),
    (0, b"\x80\x03}q", "a Python pickle", _EXPORT),
    (0, b"\x80\x02c", "a Python pickle", _EXPORT),
    (0, b"\x80\x03c", "a Python pickle", _EXPORT),
    (257, b"ustar", "a tar archive", _UNPACK),
)
"""Offset, magic bytes, description and help of each kind of binary file."""


def _text_kind(data: bytes) -> FileKind | None:
    """Return the kind of a text; None if the data is binary or too short to decide."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return FileKind(
            "not-a-model",
            "a text in UTF-16",
            "in some shells (PowerShell), `>` converts the output to text: let the program write "
            "the file itself",
        )
    text = _decode_start(data)
    if text is None:
        return None
    start = text.removeprefix("\ufeff").lstrip()
    for pattern, make in _TEXTS:
        if pattern.match(start):
            return make(start)
    line = start.partition("\n")[0].strip()
    return FileKind("not-a-model", f"a text, which begins with `{line[:60]}`", None)


def _decode_start(data: bytes) -> str | None:
    """Decode the beginning of a text; None if the data is binary or too short to decide."""
    head = data[:_HEAD]
    if len(head) < 4 or re.search(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]", head):
        return None
    try:
        return head.decode("utf-8")
    except UnicodeDecodeError as error:
        # The examined bytes may end inside a character.
        if len(data) > _HEAD and error.start > _HEAD - 4:
            return head[: error.start].decode("utf-8")
        return None


def _pointer(text: str) -> FileKind:
    size = re.search(r"^size (\d{1,20})\r?$", text, re.MULTILINE)
    replaced = f", which replaces a file of {int(size[1]):,} bytes" if size else ""
    return FileKind(
        "git-lfs-pointer",
        f"a Git LFS pointer{replaced}, not the file itself",
        "fetch the file with `git lfs pull`",
    )


def _convert_with_onnx(format: str) -> str:
    load = f"onnx.load('m.{format}', format='{format}')"
    return f"convert it with onnx: python -c \"import onnx; onnx.save({load}, 'm.onnx')\""


def _is(what: str, help: str | None) -> Callable[[str], FileKind]:
    return lambda text: FileKind("not-a-model", what, help)


_SPACE = r"(?:\s|#[^\n]*(?:\n|\Z)|//[^\n]*(?:\n|\Z))*"
_FIELDS = (
    "ir_version|opset_import|producer_name|producer_version|domain|model_version|doc_string|graph|"
    "metadata_props|training_info|functions|configuration"
)
_JSON_FIELDS = (
    "irVersion|opsetImport|producerName|producerVersion|modelVersion|docString|metadataProps|"
    "trainingInfo|" + _FIELDS
)

_TEXTS: tuple[tuple[re.Pattern[str], Callable[[str], FileKind]], ...] = (
    (re.compile(r"version https://git-lfs\.github\.com/"), _pointer),
    (re.compile(r"version https?://\S*(?:git-lfs|hawser)"), _pointer),
    (
        re.compile(r"<!doctype\s+html|<html[\s>]|<head[\s>]", re.IGNORECASE),
        _is("an HTML page", "the link led to a web page: use the link to the raw file"),
    ),
    (re.compile(r"<\?xml|<!--|<!doctype", re.IGNORECASE), _is("an XML file", None)),
    (
        re.compile(rf'{{\s*"(?:{_JSON_FIELDS})"\s*:'),
        _is("a model in protobuf's JSON form", _convert_with_onnx("json")),
    ),
    (re.compile(r'[{\[]\s*(?:["{\[\]}]|\Z)'), _is("a JSON file", None)),
    (
        re.compile(rf"{_SPACE}<{_SPACE}(?:onnxtext|{_FIELDS}|explicit|encoding){_SPACE}:"),
        _is("a model as text", "convert it with `onnxtext to-binary`"),
    ),
    (
        re.compile(_SPACE + r"@(?:doc|meta|initializers|value_info|set|unset)\("),
        _is("a model, graph or function as text", "convert it with `onnxtext to-binary`"),
    ),
    (
        re.compile(_SPACE + r'(?:b?"[^"]*"|[^\s(){}<>:"]+)\s*\([^()]*\)\s*=>'),
        _is("a graph as text", "convert it with `onnxtext to-binary`"),
    ),
    (
        re.compile(rf"{_SPACE}(?:{_FIELDS})\s*(?:[:{{]|<\s)"),
        _is("a model in protobuf's text form", _convert_with_onnx("textproto")),
    ),
)
"""(pattern for the beginning of a text, function that returns its kind); the first match wins."""
