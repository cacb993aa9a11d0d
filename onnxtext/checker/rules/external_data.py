# SPDX-License-Identifier: Apache-2.0
"""Rules for external data: its location, range, checksum and keys."""

from __future__ import annotations

import os
import re
import stat
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from onnxtext.ast.records import Record, Word
from onnxtext.ast.tensors_and_attributes import ExternalData, NoData, StringData, TypedData
from onnxtext.checker.context.checked_model import CheckedModel
from onnxtext.checker.context.finding import Finding, quote
from onnxtext.checker.context.model_items import TensorUse, dense_tensors
from onnxtext.checker.context.registry import Rule, style_rule
from onnxtext.checker.context.resolved_fields import changed_fields, field_of
from onnxtext.io.path_safety import leads_out
from onnxtext.plurals import count_noun
from onnxtext.quick_dataclass import dataclass
from onnxtext.weights.declared_sizes import raw_data_size
from onnxtext.weights.file_digests import BLOCK, FileDigests

KEYS = frozenset({"location", "offset", "length", "checksum", "basepath"})
_ALIGNMENT = 4096
_DRIVE = re.compile(r"[A-Za-z]:")


def check(subject: CheckedModel) -> Iterator[Finding]:
    """Check references to external data and, if `base_dir` is known, the referenced files."""
    locations: dict[str, _Location] = {}
    digests = FileDigests()
    missing: dict[tuple[str, str], list[TensorUse]] = {}
    for tensor in dense_tensors(subject):
        entries = external_entries(tensor)
        if entries is not None:
            yield from _entries(tensor, entries)
            name = dict(entries).get("location")
            if name:
                if name not in locations:
                    locations[name] = _look_up(name, subject.options.base_dir)
                yield from _file(tensor, dict(entries), locations[name], digests, missing)
    for (location, reason), tensors in missing.items():
        yield _missing_file(location, reason, tensors)


def _entries(tensor: TensorUse, entries: tuple[tuple[str, str], ...]) -> Iterator[Finding]:
    """Check the keys in `entries`, and that the tensor has a location and no inline data."""
    is_external = isinstance(tensor.data, (ExternalData, NoData))
    if not is_external and tensor.data not in (TypedData(b""), StringData(())):
        problem = "has both external data and inline data"
        yield _finding(tensor, "external-location-missing", problem)
    for key, _ in entries:
        if key not in KEYS:
            problem = f"has the unknown key {quote(key)} in its external data"
            yield _finding(tensor, "external-key-unknown", problem)
    counts = Counter([key for key, _ in entries])
    for key, count in counts.items():
        if count > 1:
            problem = f"has the key {quote(key)} {count} times in its external data"
            yield _finding(tensor, "external-key-unknown", problem, "keep one of the entries")
    if not dict(entries).get("location"):
        problem = "has external data without a `location`"
        help = 'add a `location`, the path of the data file: `"location": "weights.bin"`'
        yield _finding(tensor, "external-location-missing", problem, help)


@dataclass(frozen=True, slots=True)
class _Location:
    """A location of external data, and the file there.

    Attributes:
        unsafe: the reason why the location is unsafe; None if it is safe.
        missing: the reason why there is no regular file, such as "does not exist"; None if there is
            one, or if this is unknown.
        path: the path of the file; None if there is none, or if it is unknown.
        size: the size of the file in bytes.
    """

    unsafe: str | None = None
    missing: str | None = None
    path: Path | None = None
    size: int = 0


def _look_up(location: str, base_dir: Path | None) -> _Location:
    """Look for the file at a location; `base_dir` is the model's directory, None if unknown."""
    unsafe = _unsafe(location)
    if unsafe is not None or base_dir is None:
        return _Location(unsafe)
    path = base_dir / location
    if leads_out(path, base_dir):
        return _Location("a link that leaves the model's directory")
    try:
        status = path.stat()
    except (OSError, ValueError):  # the name may also be too long for the file system
        status = None
    if status is None or not stat.S_ISREG(status.st_mode):
        reason = "is not a regular file" if os.path.lexists(path) else "does not exist"
        return _Location(missing=reason)
    return _Location(path=path, size=status.st_size)


def _file(
    tensor: TensorUse,
    entries: dict[str, str],
    location: _Location,
    digests: FileDigests,
    missing: dict[tuple[str, str], list[TensorUse]],
) -> Iterator[Finding]:
    """Check the location of external data, and the file there.

    `entries` are the entries of `external_data`. If there is no regular file, add the tensor to
    `missing`, whose keys are (location, reason).
    """
    named = entries["location"]
    if location.unsafe is not None:
        problem = f"has the location {quote(named)}, {location.unsafe}"
        yield _finding(tensor, "external-path-unsafe", problem)
        return
    if location.missing is not None:
        missing.setdefault((named, location.missing), []).append(tensor)
    yield from _range(tensor, entries, location)
    try:
        if location.path is not None and entries.get("checksum"):
            yield from _checksum(tensor, entries["checksum"], location, digests)
    except OSError as error:
        why = f"which cannot be read: {error.strerror or error}"
        problem = f"has its data in {quote(named)}, {why}"
        yield _finding(tensor, "external-file-missing", problem)


def _missing_file(location: str, reason: str, tensors: list[TensorUse]) -> Finding:
    """Create one finding for all tensors whose data is in a missing file.

    `reason` tells why the file at `location` is missing: it "does not exist", for example.
    """
    first, *others = tensors
    problem = f"data in {quote(location)}, which {reason}"
    if not others:
        return _finding(first, "external-file-missing", f"has its {problem}")
    count = count_noun(len(others), "other tensor")
    return _finding(first, "external-file-missing", f"and {count} have their {problem}")


def external_entries(tensor: TensorUse) -> tuple[tuple[str, str], ...] | None:
    """Return the (key, value) entries of a tensor's external data; None if it has none."""
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


def _text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else ""


def _unsafe(location: str) -> str | None:
    """Return the reason why the spelling of a location is unsafe; None if it is safe.

    The function accesses no files, so it does not follow links.
    """
    if location.startswith(("/", "\\")) or _DRIVE.match(location):
        return "an absolute path"
    if "\0" in location:
        return "which contains a NUL"
    if ".." in re.split(r"[/\\]", location):
        return "which leaves the model's directory"
    if not location.strip("./\\"):
        return "which is not a file name"
    return None


def _range(tensor: TensorUse, entries: dict[str, str], location: _Location) -> Iterator[Finding]:
    """Check `offset` and `length` against the tensor and, if there is one, against the file."""
    numbers: dict[str, int] = {}
    for key in ("offset", "length"):
        text = entries.get(key)
        if text is None:
            continue
        if not (text.isascii() and text.isdigit() and len(text) < 20):
            problem = f"has the {key} {quote(text)}, which must be 0 or a positive integer"
            yield _finding(tensor, "external-range-invalid", problem)
            return
        numbers[key] = int(text)
    offset = numbers.get("offset", 0)
    if offset % _ALIGNMENT:
        problem = f"has the offset {offset}, which is not a multiple of {_ALIGNMENT}"
        yield _finding(tensor, "external-offset-unaligned", problem)
    expected = raw_data_size(tensor.type)
    length = numbers.get("length")
    if length is not None and length != expected >= 0:
        problem = f"needs {count_noun(expected, 'byte')}, but its `length` is {length:,}"
        yield _finding(tensor, "external-range-invalid", problem)
        return
    end = offset + (length if length is not None else max(expected, 0))
    if location.path is not None and end > location.size:
        problem = f"ends at byte {end:,} of a file with only {count_noun(location.size, 'byte')}"
        yield _finding(tensor, "external-range-invalid", problem)


def _checksum(
    tensor: TensorUse, checksum: str, location: _Location, digests: FileDigests
) -> Iterator[Finding]:
    """Check the SHA-1 of a file; do nothing if it exceeds the limit of `FileDigests`."""
    assert location.path is not None
    path = Path(os.path.realpath(location.path))  # many links may lead to one large file
    with path.open("rb") as file:
        actual = digests.sha1(path, location.size, iter(lambda: file.read(BLOCK), b""))
    if actual is not None and actual != checksum.lower():
        has = f"has its data in a file whose SHA-1 is {actual}"
        yield _finding(tensor, "external-checksum", f"{has}, but its `checksum` is {checksum}")


_HELP = {
    "external-location-missing": "remove the inline data or the `external_data` entries",
    "external-path-unsafe": "put the file below the model's directory, and write its relative path",
    "external-file-missing": "put a readable file at this location, or correct the location",
    "external-range-invalid": "correct `offset` and `length`, or replace the file",
    "external-offset-unaligned": "pad the file, so that tensors can be mapped into memory",
    "external-checksum": "restore the right file, or correct the checksum",
    "external-key-unknown": "remove the key, or correct its name",
}
"""Maps each rule to the help of its findings; a call of `_finding` may pass another help."""


def _finding(tensor: TensorUse, code: str, problem: str, help: str | None = None) -> Finding:
    return tensor.finding(code, problem, help or _HELP[code])


RULES = (
    Rule("external-location-missing"),
    Rule("external-path-unsafe"),
    Rule("external-file-missing"),
    Rule("external-range-invalid"),
    style_rule("external-offset-unaligned"),
    Rule("external-checksum"),
    Rule("external-key-unknown", level="warning"),
)
