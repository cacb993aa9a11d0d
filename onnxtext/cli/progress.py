# SPDX-License-Identifier: Apache-2.0
"""Show progress bars for several files, and for work on many bytes."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from onnxtext.cli.command_errors import check_inputs
from onnxtext.cli.named_files import InputFile
from onnxtext.cli.report import Reporter
from onnxtext.diagnostics.terminal_text import escape_controls
from onnxtext.terminal import is_terminal

if TYPE_CHECKING:
    import rich.progress

Job = TypeVar("Job", bound=InputFile)

_DELAY = 0.5
"""Seconds of work on several files before a bar appears."""
_LARGE = 1 << 26
"""Operations on fewer bytes than this get no progress bar."""


class Progress:
    """Shows progress bars on standard error, if it is a terminal.

    The bar for several files appears after half a second and is removed at the end. `rich` is
    imported when a bar appears, because the import takes time.
    """

    def __init__(self, *, color: bool) -> None:
        self._color = color
        self._bar: rich.progress.Progress | None = None

    def __enter__(self) -> Progress:
        """Return this object; no bar is shown yet."""
        return self

    def __exit__(self, *error: object) -> None:
        """Remove the bar."""
        bar, self._bar = self._bar, None
        if bar is not None:
            bar.stop()

    def track(self, jobs: list[Job]) -> Iterator[Job]:
        """Yield the jobs, updating the bar between them."""
        shows_progress = len(jobs) > 1 and is_terminal(sys.stderr)
        start = time.monotonic()
        for done, job in enumerate(jobs):
            if shows_progress and time.monotonic() - start > _DELAY:
                self._show(job, done, len(jobs))
            yield job

    @contextlib.contextmanager
    def counting(self, name: str, size: int) -> Iterator[Callable[[int], None]]:
        """Show a bar while the `with` block processes `size` bytes: progress, speed and time left.

        Yield a function that advances the bar by a number of bytes. No bar is shown for less than
        64 MiB.
        """
        if size < _LARGE or not is_terminal(sys.stderr):
            yield lambda count: None
            return
        from rich.progress import (
            BarColumn,
            DownloadColumn,
            TimeRemainingColumn,
            TransferSpeedColumn,
        )

        with self.aside():
            columns = (DownloadColumn(), BarColumn(), TransferSpeedColumn(), TimeRemainingColumn())
            bar = self._new_bar(*columns)
            task = bar.add_task(escape_controls(name), total=size)
            with bar:
                yield lambda count: bar.advance(task, count)

    @contextlib.contextmanager
    def aside(self) -> Iterator[None]:
        """Hide the bar while the `with` block writes output."""
        if self._bar is None:
            yield
            return
        self._bar.stop()
        try:
            yield
        finally:
            self._bar.start()

    def _show(self, job: InputFile, done: int, total: int) -> None:
        """Show the number of processed files and the name of the next file."""
        name = escape_controls(Path(job.name).name)
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=done, description=name)
            return
        from rich.progress import BarColumn, MofNCompleteColumn, TimeRemainingColumn

        self._bar = self._new_bar(MofNCompleteColumn(), BarColumn(), TimeRemainingColumn())
        self._bar.add_task(name, total=total, completed=done)
        self._bar.start()

    def _new_bar(self, *columns: rich.progress.ProgressColumn) -> rich.progress.Progress:
        """Create a bar that has `columns`, and then a column with the name of the task."""
        from rich.console import Console
        from rich.progress import Progress as Bar
        from rich.progress import TextColumn

        return Bar(
            *columns,
            TextColumn("{task.description}", markup=False),
            console=Console(stderr=True, no_color=not self._color),
            transient=True,
        )


def process_files(
    jobs: list[Job], reporter: Reporter, process: Callable[[Job, Progress], object], failed: str
) -> None:
    """Process files one by one; after an error in one, continue with the next.

    `failed` is the text after `reporter.failed` in the summary, such as "could not be converted".
    """
    with Progress(color=reporter.colored) as progress:
        reporter.aside = progress.aside
        for job in progress.track(jobs):
            with reporter.reporting(job.name):
                try:
                    process(job, progress)
                except Exception:
                    check_inputs()
                    raise
                check_inputs()  # here, because later changes do not matter to this file
    if reporter.failed and len(jobs) > 1:
        reporter.summary(f"{reporter.failed} of {len(jobs)} files {failed}")
