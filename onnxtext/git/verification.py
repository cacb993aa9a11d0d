# SPDX-License-Identifier: Apache-2.0
"""`onnxtext git verify`: check that tracked models survive the conversion to text and back.

Functions that run git raise the errors of `run_git`, unless their docstrings list others.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from onnxtext.diagnostics import OnnxTextError
from onnxtext.git.clean_smudge import clean, is_source, model_limit, smudge, too_large
from onnxtext.git.repository import git_error, read_tracked, run_git, split_output, top_level
from onnxtext.io.text_or_binary import (
    MODEL_SUFFIXES,
    TEXT_SUFFIXES,
    decode_text,
    has_binary_content,
)

_STORED_AS_BINARY = "it is stored as a binary: `git add --renormalize` would change it"


@dataclass(frozen=True, slots=True)
class TrackedFile:
    """A file in the index.

    Attributes:
        path: the path relative to the top of the working tree; invalid UTF-8 as surrogates.
        object: the object name of the file's blob.
        filtered: whether onnxtext's filter applies to the file.
    """

    path: str
    object: str
    filtered: bool


@dataclass(frozen=True, slots=True)
class VerifyResult:
    """The result of verifying a file.

    Attributes:
        path: the path relative to the top of the working tree.
        kind: how git stores the file: `binary`, `text` (in place of a binary model), `source` (a
            text file) or `empty`.
    """

    path: str
    kind: str
    problems: tuple[str, ...] = ()
    note: str = ""


def tracked_models(top: Path) -> list[TrackedFile]:
    """Return the files in the index with a suffix in `MODEL_SUFFIXES` or with onnxtext's filter."""
    listed = run_git("-C", str(top), "ls-files", "--stage", "-z")
    entries: dict[str, str] = {}
    for entry in split_output(listed):
        head, _, path = entry.partition("\t")
        mode, name, stage = head.split(" ")
        if mode.startswith("100") and stage == "0":  # skip links, submodules and conflicts
            entries[path] = name
    listing = "".join(f"{path}\0" for path in entries).encode("utf-8", "surrogateescape")
    values = run_git("-C", str(top), "check-attr", "--stdin", "-z", "filter", stdin=listing)
    fields = split_output(values)  # path, attribute, value, path, …
    filters = dict(zip(fields[::3], fields[2::3], strict=True))
    models = [
        TrackedFile(path, name, filters[path] == "onnxtext" and not is_source(path))
        for path, name in entries.items()
    ]
    return [file for file in models if file.filtered or file.path.lower().endswith(MODEL_SUFFIXES)]


def verify(top: Path) -> Iterator[VerifyResult]:
    """Verify all models that git tracks; yield a result for each.

    Raises:
        OnnxTextError: git fails, `onnxtext.maxSize` is invalid, or a file or object cannot be read.
    """
    limit = model_limit()
    with read_objects(top) as read:
        for file in tracked_models(top):
            data = read(file.object)
            if file.filtered:
                yield _verify_filtered(file, data, top, limit)
            elif file.path.lower().endswith(TEXT_SUFFIXES):
                yield _verify_text(file, data, top)
            else:
                yield _verify_binary(file, data)


def _verify_filtered(file: TrackedFile, data: bytes, top: Path, limit: int) -> VerifyResult:
    """Verify a file to which the filter applies: the stored text and the working tree."""
    if has_binary_content(data):
        if (why := too_large(len(data), limit)) is not None:
            return VerifyResult(file.path, "binary", note=why)
        cleaned = clean(data, limit=limit)
        if cleaned.data is None:
            return VerifyResult(file.path, "binary", cleaned.warnings)
        return VerifyResult(file.path, "binary", (_STORED_AS_BINARY,))
    if not data:
        return VerifyResult(file.path, "empty")
    model = smudge(data, limit=limit)
    problems: list[str] = []
    note = ""
    if model.data is None:
        problems += model.warnings
    elif clean(model.data, limit=max(limit, len(model.data))).data != data:
        note = "the filter would write another layout; git keeps this text until the model changes"
    problems += _verify_worktree(top, file.path, limit)
    return VerifyResult(file.path, "text", tuple(problems), note)


def _verify_worktree(top: Path, name: str, limit: int) -> list[str]:
    """Verify that a file in the working tree survives a round trip; return the problems."""
    data = read_tracked(top, name)
    # The file is empty, removed, replaced by a link or directory, or not checked out.
    if not data:
        return []
    if not has_binary_content(data):
        return ["the working tree holds text, not the model: see `onnxtext git checkout`"]
    cleaned = clean(data, limit=limit)
    if cleaned.data is not None and smudge(cleaned.data, limit=limit).data != data:
        return ["the file in the working tree would not be restored exactly: please report this"]
    return []


def _verify_binary(file: TrackedFile, data: bytes) -> VerifyResult:
    """Verify that a model to which no filter applies survives a round trip through text."""
    if data and not has_binary_content(data):
        problem = "it is stored as text, but no filter converts it to a model"
        advice = "run `onnxtext git install --mode filter`, or convert it with `onnxtext to-binary`"
        problems = (f"{problem}: {advice}",)
        return VerifyResult(file.path, "text", problems)
    cleaned = clean(data, limit=len(data))
    return VerifyResult(file.path, "binary", () if cleaned.data else cleaned.warnings)


def _verify_text(file: TrackedFile, data: bytes, top: Path) -> VerifyResult:
    """Run the checks of `onnxtext verify` on a text that no filter converts."""
    from onnxtext.verifier import verify_text

    try:
        text = decode_text(data, file.path)
        verdict = verify_text(text, base_dir=(top / file.path).parent, name=file.path)
    except OnnxTextError as error:
        first = error.diagnostics[0]
        return VerifyResult(file.path, "source", (str(first).partition("\n")[0],))
    return VerifyResult(
        file.path, "source", tuple(violation.message for violation in verdict.differences)
    )


@contextmanager
def read_objects(top: Path) -> Iterator[Callable[[str], bytes]]:
    """Provide a function that reads a blob by its object name; one git process serves all calls.

    The function raises an `OnnxTextError` if the object is missing.
    """
    process = subprocess.Popen(
        ["git", "-C", str(top), "cat-file", "--batch"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    source, target = process.stdout, process.stdin

    def read(name: str) -> bytes:
        target.write(name.encode() + b"\n")
        target.flush()
        head = source.readline().split()  # name, type, size
        if len(head) != 3:
            raise git_error(f"git cat-file: the object {name} is missing")
        data = source.read(int(head[2]))
        source.read(1)  # the line end after the data
        return data

    try:
        yield read
    finally:
        target.close()
        source.close()
        process.wait()


def count_filtered() -> int:
    """Count the tracked files to which onnxtext's filter applies; 0 without a working tree."""
    top = top_level()
    return 0 if top is None else sum(file.filtered for file in tracked_models(top))
