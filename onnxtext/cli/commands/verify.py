# SPDX-License-Identifier: Apache-2.0
"""`onnxtext verify`: check the round-trip laws on the user's own files."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from onnxtext.cli.command_errors import check_inputs
from onnxtext.cli.named_files import InputFile, files_below, is_directory
from onnxtext.cli.options import MODEL, reporting_options
from onnxtext.cli.progress import Progress, process_files
from onnxtext.cli.report import FINDINGS, Reporter
from onnxtext.cli.results import Results
from onnxtext.cli.streams import read_file
from onnxtext.io.text_or_binary import MODEL_SUFFIXES, decode_text, is_binary
from onnxtext.plurals import size_text

if TYPE_CHECKING:
    from onnxtext.verifier import Verdict

EXPLANATION = """\b
Laws (docs/laws.md describes these and three more):
  L1  a binary model that is printed and encoded again has the same bytes
  L3  the text of a model parses to this model, and prints the same again

\b
Examples:
  onnxtext verify model.onnx
  onnxtext verify models/                   every model and text below it
  onnxtext verify --output-format json models/ >verified.json

\b
Exit status:
  0  both laws hold for all files
  1  a law does not hold, or a file is not a model or has errors
  2  could not run: wrong usage, or a file is missing or cannot be read
With several files, every file is tried, and the highest status is used."""


@click.command("verify", epilog=EXPLANATION)
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=MODEL)
@reporting_options
def command(files: tuple[str, ...], reporter: Reporter) -> int:
    """Verify on your own files that conversions are lossless.

    FILE is a binary model (.onnx), a text (.onnxtxt, .onnxtext) or a directory; - is standard
    input. Below a directory, every such file is verified. A directory without these files is not an
    error: a message says that there are none. Nothing is written. The result is shown on standard
    output, one line per file; --output-format json gives a list of objects with the keys file,
    kind, size, seconds, laws, ok and differences.
    """
    if "-" in files and len(files) > 1:
        raise click.UsageError("Standard input (-) cannot be one of several inputs.")
    inputs = list(_inputs(files, reporter))
    results = Results(reporter)

    def process(file: InputFile, progress: Progress) -> None:
        try:
            _verify(file, results)
        except Exception:
            results.rows.append(_as_object(file.name))
            raise

    process_files(inputs, reporter, process, "could not be verified")
    results.finish()
    return FINDINGS if any(row["differences"] for row in results.rows) else 0


def _inputs(names: tuple[str, ...], reporter: Reporter) -> Iterator[InputFile]:
    """Yield the files, and the models and texts in directories."""
    for name in dict.fromkeys(names):
        if not is_directory(name):
            yield InputFile.of(name)
        else:
            yield from files_below(name, MODEL_SUFFIXES, reporter)


def _verify(file: InputFile, results: Results) -> None:
    data = read_file(file)
    from onnxtext.verifier import verify, verify_text

    start = time.perf_counter()
    if is_binary(data, file.name) or file.source is not None:
        verdict = verify(data, name=file.name)
    else:
        text = decode_text(data, file.name)
        verdict = verify_text(text, base_dir=file.directory, name=file.name)
    seconds = time.perf_counter() - start
    check_inputs()  # before the result is shown
    word, laws = "ok" if verdict.ok else "BROKEN", " ".join(verdict.laws) or "no law"
    results.add(
        _as_object(file.name, verdict, len(data), seconds),
        f"{word} {file.name}  {laws}  {size_text(len(data))}  {seconds * 1000:,.0f} ms",
        *[f"  {violation.law}: {violation.message}" for violation in verdict.differences],
    )


def _as_object(
    name: str, verdict: Verdict | None = None, size: int | None = None, seconds: float | None = None
) -> dict[str, object]:
    """Convert a result to an object for `json.dumps`.

    `verdict` is None if the file could not be verified.
    """
    differences = () if verdict is None else verdict.differences
    return {
        "file": name,
        "kind": None if verdict is None else verdict.kind,
        "size": size,
        "seconds": None if seconds is None else round(seconds, 6),
        "laws": [] if verdict is None else list(verdict.laws),
        "ok": verdict is not None and verdict.ok,
        "differences": [asdict(difference) for difference in differences],
    }
