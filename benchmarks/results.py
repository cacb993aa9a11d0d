# SPDX-License-Identifier: Apache-2.0
"""Store measurements, and save them to a file."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import platform
import subprocess
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from pathlib import Path

from onnxtext.select_core import core

FORMAT = 1
ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "onnxtext" / "_core"
BUILT = ROOT / "build" / "core" / "sources.sha256"
"""The digests of the sources that the native core was built from; `hatch_build.py` writes it."""
PACKAGES = ("onnxtext", "onnx", "protobuf", "numpy")


@dataclass(slots=True)
class Row:
    """The measurements of one peer: the minimum of several runs, each in a new process.

    Attributes:
        workload: the workload.
        direction: `to-text`, `to-binary`, or `process` for a whole process.
        peer: the peer, or the command of the process.
        reference: the peer to compare with, of the same workload and direction.
        runs: the number of runs.
        seconds: the time of the first conversion in a process.
        warm: the time of the second conversion, if any.
        files: the warm time of each file of a workload of real models.
        peak: the peak memory until the end of the first conversion, in bytes.
        before: the peak memory before it: the interpreter, imports and the input.
        size: the size of the result, in bytes.
        model_size: the size of the binary model, in bytes.
        model: the SHA-256 of the binary model.
        same: whether the binary, made directly or from the peer's text, equals the model: `bytes`,
            `meaning` or `no`; `unread` if there is no binary; None if that was not measured.
        failed: the reason of a failure.
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
        """The key of the row in a run: its workload, direction and peer."""
        return self.workload, self.direction, self.peer


@dataclass(slots=True)
class Results:
    """The rows of one run.

    Attributes:
        rows: the rows in display order.
        head: date, versions and machine of the run.
    """

    rows: list[Row]
    head: dict[str, str] = field(default_factory=dict)

    def reference_of(self, row: Row) -> Row | None:
        """Return the row of the reference of a row, if it was measured."""
        wanted = (row.workload, row.direction, row.reference)
        return next((one for one in self.rows if one.key == wanted), None)

    def file_ratios(self, row: Row) -> list[float]:
        """Return, for each file, the ratio of its time to that of the reference; [] if unknown."""
        reference = self.reference_of(row)
        if reference is None or not reference.files or not row.files:
            return []
        pairs = zip(row.files, reference.files, strict=True)
        return [ours / theirs for ours, theirs in pairs]

    def save(self, path: Path) -> None:
        """Save the results to a file."""
        rows = [asdict(row) for row in self.rows]
        content = {"format": FORMAT, "head": self.head, "rows": rows}
        path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def load(path: Path) -> Results:
    """Load results from a file.

    Raises:
        OSError: the file cannot be read.
        ValueError: it has no results of this version of the benchmarks.
    """
    content = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f"{path} holds no results of this version of the benchmarks")
    return Results([Row(**row) for row in content["rows"]], content["head"])


def heading(repeat: int) -> dict[str, str]:
    """Return date, versions and machine of a run."""
    head = {
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "commit": _commit(),
        "core": current_core(),
        "python": platform.python_version(),
    }
    head |= {name: importlib.metadata.version(name) for name in PACKAGES}
    return head | {
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "load": f"{os.getloadavg()[0]:.1f}",
        "repeat": str(repeat),
    }


def current_core() -> str:
    """Return the core that runs.

    Raises:
        RuntimeError: it is not the one that the sources and the environment ask for.
    """
    chosen = core()
    if os.environ.get("ONNXTEXT_CORE") == "python" or not BUILT.is_file():
        return chosen
    sources = [path for path in SOURCES.rglob("*") if path.suffix in (".pyx", ".pxd")]
    present = {
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(ROOT).as_posix()}"
        for path in sources
    }
    built = {line for line in BUILT.read_text().splitlines() if not line.endswith("  build")}
    if chosen != "native" or built != present:
        raise RuntimeError("the native core is not built from its sources: install onnxtext again")
    return chosen


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
