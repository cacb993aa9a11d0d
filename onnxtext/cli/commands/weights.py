# SPDX-License-Identifier: Apache-2.0
"""`onnxtext weights`: list, verify and garbage-collect weight stores."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from onnxtext.cli.command_errors import CommandError, read_errors
from onnxtext.cli.group import SuggestingGroup, examples_of
from onnxtext.cli.options import reporting_options
from onnxtext.cli.progress import Progress
from onnxtext.cli.report import Reporter
from onnxtext.cli.results import Results
from onnxtext.plurals import count_noun

if TYPE_CHECKING:
    from onnxtext.weights.store import Store

EXAMPLES = """\b
Examples:
  onnxtext weights list model.weights
  onnxtext weights verify model.weights
  onnxtext weights gc model.weights           shows what it would remove
  onnxtext weights gc --delete model.weights

\b
Exit status:
  0  success
  1  findings: a blob is damaged
  2  could not run: wrong usage, or a store or text cannot be read"""

_STORES = click.argument(
    "stores",
    nargs=-1,
    required=True,
    metavar="STORE...",
    type=click.Path(exists=True, file_okay=False),
)

_MIN_AGE_SECONDS = 3600.0
"""Files of at most this age, in seconds, are kept: a running conversion may have written them."""


@click.group("weights", cls=SuggestingGroup, epilog=EXAMPLES)
def command() -> None:
    """List, verify and garbage-collect weight stores.

    A store is a directory with one file per blob, named by its SHA-256. `from-binary --weights
    store` writes it beside the text, and several texts can share it.
    """


@command.command("list", epilog=examples_of(EXAMPLES, "list"))
@_STORES
@reporting_options
def list_blobs(stores: tuple[str, ...], reporter: Reporter) -> None:
    """List the blobs of stores: size, digest, and the texts that reference them.

    The command looks for texts in the store's parent directory, below it, and in the directories
    above it. --output-format json gives a list of objects with the keys store, digest, size and
    texts.
    """
    from onnxtext.weights.store_gc import find_references

    results = Results(reporter)
    for name in stores:
        with reporter.reporting(name), read_errors(name):
            references = find_references(Path(name))
            for digest, texts in references.users.items():
                size = (references.store.directory / digest).lstat().st_size
                users = list(map(str, texts))
                results.add(
                    {"store": name, "digest": digest, "size": size, "texts": users},
                    f"{size:>14,}  {digest}  {', '.join(users) or '(no text)'}",
                )
    results.finish()


@command.command("verify", epilog=examples_of(EXAMPLES, "verify"))
@_STORES
@reporting_options
def verify_blobs(stores: tuple[str, ...], reporter: Reporter) -> None:
    """Verify that each blob of stores matches the digest in its name.

    --output-format json gives a list of objects with the keys store, intact, bytes and damaged.
    """
    from onnxtext.diagnostics import Diagnostic, OnnxTextError
    from onnxtext.weights.store import Store
    from onnxtext.weights.store_gc import check_blob

    results = Results(reporter)
    for name in stores:
        store = Store(Path(name))
        count = total = damaged = 0
        with reporter.reporting(name), read_errors(name):
            names = store.names()
            sizes = [(store.directory / digest).lstat().st_size for digest in names]
            with Progress(color=reporter.colored).counting(name, sum(sizes)) as done:
                for digest, size in zip(names, sizes, strict=True):
                    with reporter.reporting(name), read_errors(name):
                        try:
                            total += check_blob(store, digest)
                            count += 1
                        except ValueError as error:
                            damaged += 1
                            raise OnnxTextError(
                                Diagnostic("weights-damaged", str(error), file=name)
                            ) from None
                    done(size)
        bad = f", {damaged} damaged" if damaged else ""
        blobs = count_noun(count, "blob is", "blobs are")
        results.add(
            {"store": name, "intact": count, "bytes": total, "damaged": damaged},
            f"{name}: {blobs} intact ({count_noun(total, 'byte')} in total){bad}",
        )
    results.finish()


@command.command("gc", epilog=examples_of(EXAMPLES, "gc"))
@_STORES
@click.option("--delete", is_flag=True, help="Remove the blobs. By default, they are only listed.")
@reporting_options
def collect(stores: tuple[str, ...], delete: bool, reporter: Reporter) -> None:
    """List, or remove, the blobs that no text references.

    The command reads the texts in the store's parent directory, below it, and in the directories
    above it. References in comments and in texts with errors count. Texts elsewhere and older
    versions in git are not read. Blobs written in the last hour are kept, because a conversion
    writes its blobs before its text. If a text cannot be read, nothing is removed.
    """
    from onnxtext.weights.store_gc import find_references

    results = Results(reporter)
    for name in stores:
        with reporter.reporting(name), read_errors(name):
            references = find_references(Path(name))
            orphaned = {references.store.directory / digest for digest in references.orphaned}
            old = []
            for path, size in old_files([*sorted(orphaned), *references.leftovers]):
                if delete and not _remove(references.store, path):
                    continue  # another process has stored the blob again
                old.append((path, size))
                action = "removed" if delete else "would remove"
                results.add(
                    {"file": str(path), "size": size, "removed": delete},
                    f"{action} {path}  {count_noun(size, 'byte')}",
                )
            collected = sum(path in orphaned for path, _ in old)
            kept = len(references.users) - collected
            young = len(orphaned) - collected
            reason = f", {young:,} of them unreferenced but written in the last hour"
            freed = sum(size for _, size in old)
            verb = "removed" if delete else "to remove with --delete"
            removed = f"{count_noun(len(old), 'file')} {verb}, {count_noun(freed, 'byte')}"
            results.say(
                f"{name}: {removed}; {count_noun(kept, 'blob')} kept{reason if young else ''}",
                f"{name}: searched {count_noun(references.texts, 'text')} below "
                f"{references.store.directory.parent} and in the directories above it",
            )
    results.finish()


def _remove(store: Store, path: Path) -> bool:
    """Remove a file if it is older than `_MIN_AGE_SECONDS`; return whether it was removed."""
    try:
        return store.remove(path.name, _MIN_AGE_SECONDS)
    except OSError as error:
        why = error.strerror or error
        raise CommandError("cannot-write", f"cannot remove {path}: {why}") from None


def old_files(paths: list[Path]) -> Iterator[tuple[Path, int]]:
    """Yield the files that are older than `_MIN_AGE_SECONDS`, with their sizes."""
    now = time.time()
    for path in paths:
        try:
            status = path.lstat()
        except FileNotFoundError:
            continue  # another process has renamed or removed the file
        if now - status.st_mtime > _MIN_AGE_SECONDS:
            yield path, status.st_size
