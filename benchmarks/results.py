# SPDX-License-Identifier: Apache-2.0
"""What was measured, and the file it is kept in."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import subprocess
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from pathlib import Path

FORMAT = 1
PACKAGES = ("onnxtext", "onnx", "protobuf", "numpy")


@dataclass(slots=True)
class Row:
    """What was measured of one peer; the least of several runs, each a process of its own.

    Attributes:
        workload: what was converted.
        direction: `to-text`, `to-binary`, or `process` for a whole process.
        peer: who converted it, or the command of the process.
        reference: the peer of the same workload and direction to whom it is compared.
        runs: how many runs there were.
        seconds: the first conversion in a process.
        warm: the second conversion in a process; None if it was not done.
        files: the warm seconds of each file of a workload of real models.
        peak: the most memory the process occupied until after the first conversion, in bytes.
        before: the same until before it: the interpreter, what was imported, and the input.
        size: of the result, in bytes.
        model_size: of the binary model, in bytes.
        model: the SHA-256 of the binary model.
        same: whether the binary that was made, or is made of the text by the same peer, is the
            model's very `bytes`, has the same `meaning` at least, or `no`; `unread` if there is
            none.
        failed: why there is no result.
    """

    workload: str
    direction: str
    peer: str
    reference: str
    runs: int = 0
    seconds: float | None = None
    warm: float | None = None
    files: list[float] | None = None
    peak: int | None = None
    before: int | None = None
    size: int | None = None
    model_size: int | None = None
    model: str | None = None
    same: str | None = None
    failed: str | None = None

    @property
    def key(self) -> tuple[str, str, str]:
        """What names it among the rows of a run."""
        return self.workload, self.direction, self.peer


@dataclass(slots=True)
class Results:
    """The rows of one run.

    Attributes:
        rows: in the order in which they are shown.
        head: when and on what they were measured.
    """

    rows: list[Row]
    head: dict[str, str] = field(default_factory=dict)

    def reference_of(self, row: Row) -> Row | None:
        """Return the row to which a row is compared, if it was measured."""
        wanted = (row.workload, row.direction, row.reference)
        return next((one for one in self.rows if one.key == wanted), None)

    def worst_file(self, row: Row) -> tuple[int, float] | None:
        """The file with the largest ratio to the reference, by its number, and that ratio."""
        reference = self.reference_of(row)
        if reference is None or not reference.files or not row.files:
            return None
        pairs = zip(row.files, reference.files, strict=True)
        return max(enumerate(ours / theirs for ours, theirs in pairs), key=lambda pair: pair[1])

    def save(self, path: Path) -> None:
        """Keep the results in a file."""
        rows = [asdict(row) for row in self.rows]
        content = {"format": FORMAT, "head": self.head, "rows": rows}
        path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def load(path: Path) -> Results:
    """Results that were kept in a file.

    Raises:
        OSError: the file cannot be read.
        ValueError: it holds no results.
    """
    content = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f"{path} holds no results of this version of the benchmarks")
    return Results([Row(**row) for row in content["rows"]], content["head"])


def heading(repeat: int) -> dict[str, str]:
    """When and on what is measured."""
    head = {
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "commit": _commit(),
        "python": platform.python_version(),
    }
    head |= {name: importlib.metadata.version(name) for name in PACKAGES}
    return head | {
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "load": f"{os.getloadavg()[0]:.1f}",
        "repeat": str(repeat),
    }


def _commit() -> str:
    """Return the commit of the working tree, with a plus if it has changes."""
    command = ("git", "describe", "--always", "--dirty=+", "--exclude=*")
    try:
        done = subprocess.run(
            command, cwd=Path(__file__).parent, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return done.stdout.strip()
