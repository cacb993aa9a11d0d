# SPDX-License-Identifier: Apache-2.0
"""External data.

What: data outside of the model names a file below the model's directory, and a range inside it.
Why: a path that leads elsewhere reads other people's files.
Fix: put the data beside the model, and name it relatively.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from math import prod
from pathlib import Path

from onnxtext.ast.records import Record, Word
from onnxtext.ast.values import ExternalData, NoData, StringData, TypedData
from onnxtext.checker.effective import changed_fields, field_of
from onnxtext.checker.finding import Finding, quoted
from onnxtext.checker.registry import Family, Rule
from onnxtext.checker.subject import Subject
from onnxtext.checker.walk import TensorUse, tensors
from onnxtext.tensor.elements import ELEMENTS, raw_size

KEYS = frozenset({"location", "offset", "length", "checksum", "basepath"})
_ALIGNMENT = 4096
_DRIVE = re.compile(r"[A-Za-z]:")


def check(subject: Subject) -> Iterator[Finding]:
    """Find what is wrong with references to external data."""
    digests: dict[Path, str] = {}
    for tensor in tensors(subject):
        entries = external_entries(tensor)
        if entries is None:
            continue
        known = dict(entries)
        if not isinstance(tensor.data, (ExternalData, NoData)) and not _is_empty(tensor):
            yield _finding(
                tensor, "external-location-missing", "is external, but has data here too"
            )
        for key, _ in entries:
            if key not in KEYS:
                yield _finding(
                    tensor,
                    "external-key-unknown",
                    f"has external data with the unknown key {quoted(key)}",
                )
        location = known.get("location")
        if not location:
            yield _finding(
                tensor,
                "external-location-missing",
                "has external data without a `location`",
                'add `"location": "weights.bin"`',
            )
            continue
        problem = unsafe(location)
        path: Path | None = None
        if problem is None and subject.options.base_dir is not None:
            path, problem = _resolve(subject.options.base_dir, location)
        if problem is not None:
            yield _finding(
                tensor, "external-path-unsafe", f"has its data in {quoted(location)}, {problem}"
            )
            continue
        if path is not None and not path.is_file():
            yield _finding(
                tensor,
                "external-file-missing",
                f"has its data in {quoted(location)}, which is not there",
            )
            path = None
        yield from _range(tensor, known, path)
        if path is not None and known.get("checksum"):
            yield from _checksum(tensor, known["checksum"], path, digests)


def external_entries(tensor: TensorUse) -> tuple[tuple[str, str], ...] | None:
    """The entries of a tensor's external data; None if its data is not external."""
    if isinstance(tensor.data, ExternalData):
        return tensor.data.entries
    changed = changed_fields(tensor.decorators) | changed_fields(tensor.decorators, "data")
    location = changed.get("data_location")
    if not isinstance(location, Word) or location.text != "EXTERNAL":
        return None
    records = changed.get("external_data")
    entries = []
    for record in records if isinstance(records, tuple) else ():
        if isinstance(record, Record):
            key, value = field_of(record, "key"), field_of(record, "value")
            entries.append((_text(key), _text(value)))
    return tuple(entries)


def _is_empty(tensor: TensorUse) -> bool:
    data = tensor.data
    return isinstance(data, (TypedData, StringData)) and data in (TypedData(b""), StringData(()))


def _text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else ""


def unsafe(location: str) -> str | None:
    """Why a location may not be read, whatever is there; None if it may."""
    if location.startswith(("/", "\\")) or _DRIVE.match(location):
        return "an absolute path"
    if "\0" in location:
        return "which holds a NUL"
    if ".." in re.split(r"[/\\]", location):
        return "which leaves the model's directory"
    if not location.strip("./\\"):
        return "which is no file"
    return None


def _resolve(base_dir: Path, location: str) -> tuple[Path | None, str | None]:
    """The file of a location, or why it may not be read."""
    root = os.path.realpath(base_dir)
    path = os.path.realpath(os.path.join(root, location))  # noqa: PTH118 - as realpath
    if os.path.commonpath([root, path]) != root:
        return None, "a link that leads out of the model's directory"
    return Path(path), None


def _range(tensor: TensorUse, known: dict[str, str], path: Path | None) -> Iterator[Finding]:
    numbers: dict[str, int] = {}
    for key in ("offset", "length"):
        text = known.get(key)
        if text is None:
            continue
        if not (text.isascii() and text.isdigit() and len(text) < 20):
            yield _finding(
                tensor,
                "external-range-invalid",
                f"has the {key} {quoted(text)}, which is no whole number",
            )
            return
        numbers[key] = int(text)
    offset = numbers.get("offset", 0)
    if offset % _ALIGNMENT:
        yield _finding(
            tensor,
            "external-offset-unaligned",
            f"begins at {offset}, which is no multiple of {_ALIGNMENT}",
        )
    element = ELEMENTS.get(tensor.type.element)
    wanted = None
    if element is not None and element.bits and all(dim >= 0 for dim in tensor.dims):
        wanted = raw_size(element, prod(tensor.dims))
    length = numbers.get("length")
    if wanted is not None and length is not None and length != wanted:
        yield _finding(
            tensor, "external-range-invalid", f"needs {wanted} bytes, its `length` is {length}"
        )
        return
    if path is None:
        return
    size = path.stat().st_size
    end = offset + (length if length is not None else wanted or 0)
    if end > size:
        yield _finding(tensor, "external-range-invalid", f"ends at byte {end} of a file of {size}")


def _checksum(
    tensor: TensorUse, checksum: str, path: Path, digests: dict[Path, str]
) -> Iterator[Finding]:
    actual = digests.get(path)
    if actual is None:
        digest = hashlib.sha1(usedforsecurity=False)
        with path.open("rb") as file:
            while chunk := file.read(1 << 20):
                digest.update(chunk)
        actual = digests[path] = digest.hexdigest()
    if actual != checksum.lower():
        yield _finding(
            tensor,
            "external-checksum",
            f"has its data in a file whose SHA-1 is {actual}, not {checksum}",
        )


_HELP = {
    "external-location-missing": "keep the data, or the entries with a `location`, not both",
    "external-path-unsafe": "move the file below the model's directory, and name it from there",
    "external-file-missing": "put the file there, or correct the location",
    "external-range-invalid": "correct `offset` and `length`, or replace the file",
    "external-offset-unaligned": "pad the file, so that tensors can be mapped into memory",
    "external-checksum": "replace the file by the one that was meant, or correct the checksum",
    "external-key-unknown": "remove it, or correct its name",
}
"""How to fix what breaks each rule."""


def _finding(tensor: TensorUse, slug: str, what: str, help: str | None = None) -> Finding:
    return Finding(slug, f"{tensor.words()} {what}", (tensor.place,), help=help or _HELP[slug])


FAMILY = Family(
    check,
    (
        Rule(
            "external-location-missing",
            "error",
            "external data has a location, and no data beside it",
            "proto TensorProto.external_data",
        ),
        Rule(
            "external-path-unsafe",
            "error",
            "the location is a file below the model's directory",
            "IR External data",
        ),
        Rule("external-file-missing", "error", "the file of external data is there", "checker"),
        Rule(
            "external-range-invalid",
            "error",
            "offset and length are a range of the file, as long as the tensor",
            "proto TensorProto.external_data",
        ),
        Rule(
            "external-offset-unaligned",
            "lint",
            "the offset is a multiple of 4096",
            "proto TensorProto.external_data",
        ),
        Rule(
            "external-checksum",
            "error",
            "the SHA-1 of the file is the given one",
            "proto TensorProto.external_data",
        ),
        Rule(
            "external-key-unknown",
            "warning",
            "keys are location, offset, length and checksum",
            "proto TensorProto.external_data",
        ),
    ),
)
