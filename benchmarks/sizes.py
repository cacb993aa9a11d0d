# SPDX-License-Identifier: Apache-2.0
"""Measure the sizes of texts of real models.

    python -m benchmarks.sizes FILE

prints tables in Markdown, and writes them to the file. The models are those of the shared data;
`tests/corpus.py` knows where they are.
"""

from __future__ import annotations

import gzip
import importlib.metadata
import statistics
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from benchmarks import reading
from benchmarks.meaning import same_meaning
from benchmarks.peers import official, ours, protobuf_json, protobuf_text
from benchmarks.tables import amount
from tests.corpus import shared_model, shared_models

CLASSES = (
    ("below 1 kB", 1_000),
    ("1 to 10 kB", 10_000),
    ("10 to 100 kB", 100_000),
    ("100 kB and more", sys.maxsize),
)
WHOLE = "reads back whole"
"""The outcome of a model that the official syntax can represent."""
PRINTERS: dict[str, Callable[[bytes, str], str]] = {
    "onnxtext": ours.to_text,
    "textproto": protobuf_text.to_text,
    "JSON": protobuf_json.to_text,
    "official": official.to_text,
}


@dataclass(frozen=True, slots=True)
class Sizes:
    """The sizes of one model, in bytes.

    Attributes:
        binary: the size of the model.
        texts: the sizes of texts by kind; those that could not be printed are missing.
        outcome: the outcome of the official text.
    """

    binary: int
    texts: dict[str, int]
    outcome: str


def main(target: str) -> int:
    """Measure, print and write.

    Returns:
        The exit status: 0, or 2 if there are no models.
    """
    names = shared_models()
    if not names:
        print("there are no shared models; $ONNXTEXT_DATA says where they are", file=sys.stderr)
        return 2
    report = _report([measure(shared_model(name)) for name in names])
    Path(target).write_text(report, encoding="utf-8")
    print(report, end="")
    return 0


def measure(data: bytes) -> Sizes:
    """Print a model with each printer, and measure the texts."""
    sizes = {"binary, gzip": len(gzip.compress(data))}
    outcome = ""
    for name, to_text in PRINTERS.items():
        try:
            text = to_text(data, "section")
            encoded = text.encode()
        except Exception as error:
            if name == "official":
                outcome = f"cannot be printed ({type(error).__name__})"
            continue
        sizes[name] = len(encoded)
        if name == "onnxtext":
            sizes["onnxtext, gzip"] = len(gzip.compress(encoded))
        elif name == "official":
            outcome = _outcome(data, text)
    return Sizes(len(data), sizes, outcome)


def _outcome(data: bytes, text: str) -> str:
    try:
        again = official.to_binary(text)
    except Exception as error:
        return f"cannot be read back ({type(error).__name__})"
    return WHOLE if same_meaning(data, again) else "reads back as another model"


def _report(models: Sequence[Sizes]) -> str:
    whole = [model for model in models if model.outcome == WHOLE]
    everywhere = ("binary, gzip", "onnxtext", "onnxtext, gzip", "textproto", "JSON")
    versions = ", ".join(
        f"{name} {importlib.metadata.version(name)}" for name in ("onnxtext", "onnx", "protobuf")
    )
    outcomes = Counter(model.outcome for model in models).most_common()
    date = datetime.now(timezone.utc).strftime("%Y-%m-%d")
    return "\n".join(
        [
            "# How long the texts of real models are",
            "",
            f"Written by `python -m benchmarks --sizes` on {date}, with {versions}, of "
            f"{len(models)} models of the shared data.",
            "",
            "A cell is the sum over the models, and the median of the models' ratios to their own",
            "binary. Large weights are blobs in our text, escaped bytes in textproto, base64 in",
            "JSON and decimals in the official text.",
            "",
            "## All models",
            "",
            *_table(models, everywhere),
            "",
            "## Models that the official syntax can represent",
            "",
            "The official parser reads the official printer's text of them back as the same model.",
            "Stored empty strings, and whether weights are `raw_data`, are ignored. All texts:",
            "",
            *(f"- {count} {outcome}" for outcome, count in outcomes),
            "",
            *_table(whole, (*everywhere, "official")),
            "",
            "## How well they can be read",
            "",
            f"Lines of statements over {reading.WIDTH} columns, in all and without those that a",
            "long string makes so wide; values whose type is declared twice; and the line of the",
            "first node (of the shared models: the median).",
            "",
            *reading.tabulate(),
            "",
        ]
    )


def _table(models: Sequence[Sizes], columns: Sequence[str]) -> list[str]:
    lines = [
        f"| size of the binary | models | binary | {' | '.join(columns)} |",
        f"|---|{'---:|' * (len(columns) + 2)}",
    ]
    lower = 0
    for name, upper in CLASSES:
        lines.append(_line(name, [one for one in models if lower <= one.binary < upper], columns))
        lower = upper
    return [*lines, _line("**all**", models, columns)]


def _line(name: str, models: Sequence[Sizes], columns: Sequence[str]) -> str:
    cells = [name, str(len(models)), amount(sum(one.binary for one in models))]
    return f"| {' | '.join([*cells, *(_cell(models, column) for column in columns)])} |"


def _cell(models: Sequence[Sizes], column: str) -> str:
    """Format the sum of sizes, their median ratio to the binary, and the number of failures."""
    found = [(one.texts[column], one.binary) for one in models if column in one.texts]
    if not found:
        return "–"
    median = statistics.median(size / binary for size, binary in found)
    missing = f" ({len(models) - len(found)} fail)" if len(found) < len(models) else ""
    return f"{amount(sum(size for size, _ in found))}, ×{median:.2f}{missing}"


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
