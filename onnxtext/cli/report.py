# SPDX-License-Identifier: Apache-2.0
"""What the command line says on standard error, and the exit status that follows from it."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from types import TracebackType
from typing import IO

import click

from onnxtext import __version__
from onnxtext.collector import lacks_memory
from onnxtext.diagnostics import Diagnostic, OnnxTextError, OnnxTextWarning
from onnxtext.diagnostics import concise as concise_renderer
from onnxtext.diagnostics import full as full_renderer
from onnxtext.diagnostics import github as github_renderer
from onnxtext.diagnostics import json as json_renderer
from onnxtext.diagnostics import sarif as sarif_renderer
from onnxtext.diagnostics.safe import safe

FORMATS = ("full", "concise", "json", "sarif", "github")
_WHOLE = ("json", "sarif")
COLORS = ("auto", "always", "never")

FINDINGS = 1
TROUBLE = 2

NO_MEMORY = "there is not enough memory"


class Refused(Exception):
    """Something could not be done; `diagnostic` says what, in words of its own."""

    def __init__(self, code: str, message: str, help: str | None = None) -> None:
        super().__init__(message)
        self.diagnostic = Diagnostic(code, message, help=help)


class Finding(OnnxTextWarning):
    """What a conversion finds and goes on; `diagnostic` says it."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


class Reporter:
    """Shows diagnostics as the user wants them, and remembers how bad they were.

    It is a context manager, because JSON and SARIF are written in one piece at the end.

    Attributes:
        status: the exit status.
        failed: how many files something was wrong with.
        aside: what to do around each output, such as hiding a progress bar.
    """

    def __init__(self, output_format: str, color: str) -> None:
        self.status = 0
        self.failed = 0
        self.aside: Callable[[], AbstractContextManager[object]] = nullcontext
        self.colored = _wants_color(color)
        self._format = output_format
        self._collected: list[Diagnostic] = []

    def __enter__(self) -> Reporter:
        """Findings may come."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Write what was held back."""
        if self._format == "json":
            self._say(json_renderer.render(self._collected))
        elif self._format == "sarif":
            self._say(sarif_renderer.render(self._collected, version=__version__))

    @contextlib.contextmanager
    def watching(self, name: str) -> Iterator[None]:
        """Report all errors and warnings of the block; they are about the file of this name."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", OnnxTextWarning)
            diagnostics: tuple[Diagnostic, ...] = ()
            status = TROUBLE
            try:
                yield
            except OnnxTextError as error:
                diagnostics, status = error.diagnostics, FINDINGS
            except Refused as refused:
                diagnostics = (refused.diagnostic,)
            except Exception as error:
                if lacks_memory(error):
                    message = f"{name}: {NO_MEMORY}"
                    diagnostics = (Diagnostic("out-of-memory", message),)
                else:
                    diagnostics = (_internal(error, f" on {name}"),)
                _show_traceback()
        for warning in caught:
            if isinstance(warning.message, Finding):
                self._show(warning.message.diagnostic, name)
            else:
                self._warn(str(warning.message), name)
        for diagnostic in diagnostics:
            self._show(diagnostic, name)
        if diagnostics:
            self.failed += 1
            self.status = max(self.status, status)

    def found(self, diagnostic: Diagnostic, name: str) -> None:
        """Show a finding about a file; what it means for the exit status is not decided here."""
        self._show(diagnostic, name)

    def summary(self, text: str) -> None:
        """A last word for people; no other format has it."""
        if self._format == "full":
            self._say(text)

    def _warn(self, message: str, name: str) -> None:
        if self._format in (*_WHOLE, "github"):
            about = message.removeprefix(f"{name}: ")
            self._show(Diagnostic("warning", about, "warning", file=name), name)
        else:
            self._say(f"{self._painted('warning', '1;33')}: {safe(message)}")

    def _show(self, diagnostic: Diagnostic, name: str) -> None:
        if diagnostic.source is None and diagnostic.file is None:
            diagnostic = dataclasses.replace(diagnostic, file=name)
        if self._format in _WHOLE:
            self._collected.append(diagnostic)
        elif self._format == "github":
            self._say(github_renderer.render(diagnostic))
        elif self._format == "concise":
            self._say(concise_renderer.render(diagnostic))
        else:
            color, columns = self.colored, _columns()
            self._say(full_renderer.render(diagnostic, color=color, columns=columns))

    def _painted(self, text: str, sgr: str) -> str:
        return f"\x1b[{sgr}m{text}\x1b[0m" if self.colored else text

    def _say(self, text: str) -> None:
        with self.aside():
            tell(text, color=self.colored)


def tell(text: str, *, color: bool = False) -> None:
    """Write a line to standard error; if that cannot be written, the exit status has to do."""
    try:
        click.echo(text, err=True, color=color)
    except OSError:
        discard(sys.stderr)


def discard(stream: IO[str]) -> None:
    """Lead a standard stream that cannot be written to the null device.

    What it still holds would fail once more when the process ends, and change its exit status.
    """
    with contextlib.suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)


def plain_error(message: str) -> None:
    """Show an error that concerns no file."""
    tell(f"error: {safe(message)}")


def internal_error(error: Exception) -> None:
    """Show an error that is a mistake of ours, or a lack of memory, outside of any file."""
    if lacks_memory(error):
        plain_error(NO_MEMORY)
        _show_traceback()
        return
    tell(full_renderer.render(_internal(error, "")))
    _show_traceback()


def _internal(error: Exception, where: str) -> Diagnostic:
    said = f"{type(error).__name__}: {error}".partition("\n")[0]
    return Diagnostic(
        "internal-error",
        f"onnxtext {__version__} failed{where}: {said[:200]}",
        notes=("this is a bug in onnxtext: please report it, with the file if you can",),
        help="ONNXTEXT_DEBUG=1 in the environment shows the traceback",
    )


def _show_traceback() -> None:
    if os.environ.get("ONNXTEXT_DEBUG", "0") not in ("", "0"):
        tell(traceback.format_exc())


def _wants_color(choice: str) -> bool:
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return is_terminal(sys.stderr)


def is_terminal(stream: object) -> bool:
    """Whether somebody looks at a stream, which may be None or closed."""
    try:
        return bool(stream.isatty())  # type: ignore[attr-defined]
    except (AttributeError, ValueError):
        return False


def _columns() -> int:
    """How wide the terminal is; for files, as wide as canonical text."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or 100
    except (AttributeError, OSError, ValueError):
        return 100
