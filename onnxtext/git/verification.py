# SPDX-License-Identifier: Apache-2.0
"""`onnxtext git verify`: that what git stores gives the very models back, proven on every file."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from onnxtext.diagnostics import OnnxTextError
from onnxtext.filetype import TEXT_SUFFIXES
from onnxtext.git.content import (
    DEFAULT_LIMIT,
    HEAD,
    clean,
    is_binary,
    is_source,
    smudge,
    too_large,
)
from onnxtext.git.repository import configured_limit, failed, read_tracked, run_git, top_level

SUFFIXES = (".onnx", *TEXT_SUFFIXES)
_RENORMALIZE = "`git add --renormalize` would change it"


@dataclass(frozen=True, slots=True)
class Tracked:
    """A file in the index.

    Attributes:
        path: from the top of the working tree; bytes that are no UTF-8 are surrogates.
        object: the name of its blob.
        filtered: whether our filter applies to it.
    """

    path: str
    object: str
    filtered: bool


@dataclass(frozen=True, slots=True)
class Verified:
    """What was found out about a file.

    Attributes:
        path: from the top of the working tree.
        kind: how git stores it.
        problems: what does not hold; empty if all does.
        note: what else is to be known.
    """

    path: str
    kind: str
    problems: tuple[str, ...] = ()
    note: str = ""


def tracked(top: Path) -> list[Tracked]:
    """All models in the index, and all files that our filter applies to.

    Raises:
        OnnxTextError: git fails.
    """
    listed = run_git("-C", str(top), "ls-files", "--stage", "-z")
    entries: dict[str, str] = {}
    for entry in listed.decode("utf-8", "surrogateescape").split("\0")[:-1]:
        about, _, path = entry.partition("\t")
        mode, name, stage = about.split(" ")
        if mode.startswith("100") and stage == "0":  # no links, no submodules, nothing in conflict
            entries[path] = name
    given = "".join(f"{path}\0" for path in entries).encode("utf-8", "surrogateescape")
    said = run_git("-C", str(top), "check-attr", "--stdin", "-z", "filter", given=given)
    fields = said.decode("utf-8", "surrogateescape").split("\0")[:-1]
    filters = dict(zip(fields[::3], fields[2::3], strict=True))
    found = [
        Tracked(path, name, filters[path] == "onnxtext" and not is_source(path))
        for path, name in entries.items()
    ]
    return [file for file in found if file.filtered or file.path.lower().endswith(SUFFIXES)]


def verify(top: Path) -> Iterator[Verified]:
    """Verify all models that git tracks.

    Raises:
        OnnxTextError: git fails, or an object is missing.
    """
    configured, trouble = configured_limit()
    if trouble is not None:
        raise failed(trouble)
    limit = DEFAULT_LIMIT if configured is None else configured
    with objects(top) as read:
        for file in tracked(top):
            data = read(file.object)
            if file.filtered:
                yield _verify_filtered(file, data, top, limit)
            elif file.path.lower().endswith(TEXT_SUFFIXES):
                yield _verify_text(file, data, top)
            else:
                yield _verify_binary(file, data)


def _verify_filtered(file: Tracked, data: bytes, top: Path, limit: int) -> Verified:
    """A file that the filter applies to: what is stored, and what stands in the working tree."""
    if is_binary(data[:HEAD]):
        if (why := too_large(len(data), limit)) is not None:
            return Verified(file.path, "binary", note=why)
        cleaned = clean(data, limit=limit)
        if cleaned.data is None:
            return Verified(file.path, "binary", cleaned.warnings)
        return Verified(file.path, "binary", (f"it is stored as a binary: {_RENORMALIZE}",))
    if not data:
        return Verified(file.path, "empty")
    model = smudge(data)
    problems: list[str] = []
    if model.data is None:
        problems += model.warnings
    elif clean(model.data, limit=max(limit, len(model.data))).data != data:
        problems.append(f"its text is not the one that the filter gives: {_RENORMALIZE}")
    problems += _verify_worktree(top, file.path, limit)
    return Verified(file.path, "text", tuple(problems))


def _verify_worktree(top: Path, name: str, limit: int) -> list[str]:
    """That a file in the working tree would come back as it is."""
    data = read_tracked(top, name)
    if data is None:
        return []  # removed, replaced by something else, or outside of a sparse checkout
    if not is_binary(data[:HEAD]):
        return (
            ["the working tree holds text, not the model: see `onnxtext git checkout`"]
            if data
            else []
        )
    cleaned = clean(data, limit=limit)
    if cleaned.data is not None and smudge(cleaned.data).data != data:
        return ["the file in the working tree would not come back as it is: please report this"]
    return []


def _verify_binary(file: Tracked, data: bytes) -> Verified:
    """A binary without the filter: that its text says everything."""
    if data and not is_binary(data[:HEAD]):
        problem = "it is stored as text, but no filter makes a model of it here"
        return Verified(file.path, "text", (f"{problem}: `onnxtext git install --mode filter`",))
    cleaned = clean(data, limit=len(data))
    return Verified(file.path, "binary", () if cleaned.data or not data else cleaned.warnings)


def _verify_text(file: Tracked, data: bytes, top: Path) -> Verified:
    """A text that is the source: the laws, as `onnxtext verify` proves them."""
    from onnxtext.api import decode_text
    from onnxtext.verify import verify_text

    try:
        text = decode_text(data, file.path)
        verdict = verify_text(text, base_dir=(top / file.path).parent, name=file.path)
    except OnnxTextError as error:
        first = error.diagnostics[0]
        return Verified(file.path, "source", (str(first).partition("\n")[0],))
    return Verified(file.path, "source", tuple(found.message for found in verdict.differences))


@contextmanager
def objects(top: Path) -> Iterator[Callable[[str], bytes]]:
    """Gives a function that reads blobs, by one git for all."""
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
        head = source.readline().split()
        if len(head) != 3:
            raise failed(f"git cat-file: the object {name} is missing")
        data = source.read(int(head[2]))
        source.read(1)
        return data

    try:
        yield read
    finally:
        target.close()
        source.close()
        process.wait()


def count_filtered() -> int:
    """How many tracked files our filter applies to; none in a bare repository."""
    top = top_level()
    return 0 if top is None else sum(file.filtered for file in tracked(top))
