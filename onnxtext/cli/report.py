# SPDX-License-Identifier: Apache-2.0
"""Report diagnostics on standard error, and determine the exit status.

Renderers are imported when there is something to report.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from typing import IO

import click

from onnxtext import __version__
from onnxtext.cli.command_errors import CommandError
from onnxtext.diagnostics import Diagnostic, OnnxTextError, OnnxTextWarning
from onnxtext.diagnostics.terminal_text import escape_controls
from onnxtext.io.memory import lacks_memory
from onnxtext.io.os_errors import lacks_current_directory, reason_of
from onnxtext.select_core import CoreError
from onnxtext.terminal import wants_color

FORMATS = ("full", "concise", "json", "sarif", "github")
"""The formats of diagnostics; each has a module in `onnxtext.diagnostics`."""
_DOCUMENTS = ("json", "sarif")
"""Formats with one document for all diagnostics, which is written at the end."""
COLORS = ("auto", "always", "never")

FINDINGS = 1
ERROR_STATUS = 2

NO_MEMORY = "there is not enough memory"


class DiagnosticWarning(OnnxTextWarning):
    """A warning for which `Reporter.reporting` reports `diagnostic` instead of the message."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


class Reporter:
    """Writes diagnostics in the selected format, and keeps the exit status.

    It is a context manager because JSON and SARIF are written at the end.

    Attributes:
        failed: number of files that failed: with errors, conflicts, or warnings under `--strict`.
        aside: a function that returns a context manager. The context manager is active while output
            is written, for example to hide a progress bar.
        format: the format of diagnostics, one of `FORMATS`.
        color: when to color output, one of `COLORS`.
    """

    def __init__(self, output_format: str, color: str) -> None:
        self.status = 0
        self.failed = 0
        self.aside: Callable[[], AbstractContextManager[object]] = nullcontext
        self.colored = wants_color(color, sys.stderr)
        self.format = output_format
        self.color = color
        self._collected: list[Diagnostic] = []

    def __enter__(self) -> Reporter:
        """Return the reporter."""
        return self

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        """Write the JSON or SARIF document, if selected, unless the command line is invalid."""
        if isinstance(error, click.ClickException):
            return
        if self.format in _DOCUMENTS:
            options = {"version": __version__} if self.format == "sarif" else {}
            self._say(self._render(self._collected, **options))

    @contextlib.contextmanager
    def reporting(self, name: str) -> Iterator[None]:
        """Report the errors and warnings that the `with` block raises; errors set the exit status.

        `name` is the name of the file that the block processes.
        """
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", OnnxTextWarning)
            diagnostics: tuple[Diagnostic, ...] = ()
            status = ERROR_STATUS
            try:
                yield
            except OnnxTextError as error:
                diagnostics, status = error.diagnostics, FINDINGS
            except CommandError as error:
                diagnostics = (error.diagnostic,)
            except CoreError:  # `main` reports it once, not for each file
                raise
            except Exception as error:
                if lacks_memory(error):
                    message = f"{name}: {NO_MEMORY}"
                    diagnostics = (Diagnostic("out-of-memory", message),)
                elif isinstance(error, OSError) and lacks_current_directory(error):
                    message = f"cannot read {name}: {reason_of(error)}"
                    diagnostics = (Diagnostic("cannot-read", message),)
                else:
                    diagnostics = (_internal(error, f" on {name}"),)
                _show_traceback()
        for warning in caught:
            if isinstance(warning.message, DiagnosticWarning):
                self.found(warning.message.diagnostic, name)
            else:
                self._warn(str(warning.message), name)
        for diagnostic in diagnostics:
            self.found(diagnostic, name)
        if diagnostics:
            self.failed += 1
            self.status = max(self.status, status)

    def found(self, diagnostic: Diagnostic, name: str) -> None:
        """Report a diagnostic about a file without changing the exit status."""
        if diagnostic.source is None and diagnostic.file is None:
            diagnostic = dataclasses.replace(diagnostic, file=name)
        if self.format in _DOCUMENTS:
            self._collected.append(diagnostic)
        elif self.format == "full":
            self._say(self._render(diagnostic, color=self.colored, columns=_columns()))
        else:
            self._say(self._render(diagnostic))

    def _render(self, shown: Diagnostic | list[Diagnostic], **options: object) -> str:
        """Return the text of a diagnostic, or of a whole document, in the selected format."""
        renderer = import_module(f"onnxtext.diagnostics.{self.format}")
        return str(renderer.render(shown, **options))

    def summary(self, text: str) -> None:
        """Write a summary line, in format `full` only; escape control characters."""
        if self.format == "full":
            self._say(escape_controls(text))

    def findings(self, diagnostics: Iterable[Diagnostic], name: str) -> None:
        """Report diagnostics about a file, and set the exit status if there are any."""
        for diagnostic in diagnostics:
            self.found(diagnostic, name)
            self.status = max(self.status, FINDINGS)

    def _warn(self, message: str, name: str) -> None:
        if self.format in (*_DOCUMENTS, "github"):
            message = message.removeprefix(f"{name}: ")
            self.found(Diagnostic("warning", message, "warning", file=name), name)
        else:
            word = "\x1b[1;33mwarning\x1b[0m" if self.colored else "warning"
            self._say(f"{word}: {escape_controls(message)}")

    def _say(self, text: str) -> None:
        with self.aside():
            write_stderr(text, color=self.colored)


def write_stderr(text: str, *, color: bool = False) -> None:
    """Write a line to standard error; ignore errors."""
    try:
        click.echo(text, err=True, color=color)
    except OSError:
        discard_stream(sys.stderr)


def discard_stream(stream: IO[str]) -> None:
    """Redirect a broken standard stream to the null device.

    Without this, Python would fail again when it flushes the stream at the end of the process, and
    change the exit status.
    """
    with contextlib.suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)


def plain_error(message: str) -> None:
    """Write an error to standard error, without a diagnostic: `error: MESSAGE`."""
    write_stderr(f"error: {escape_controls(message)}")


def internal_error(error: Exception) -> None:
    """Write the message for an unexpected exception outside of `reporting`: no memory, or a bug."""
    if lacks_memory(error):
        plain_error(NO_MEMORY)
        _show_traceback()
        return
    from onnxtext.diagnostics import full

    write_stderr(full.render(_internal(error, "")))
    _show_traceback()


def _internal(error: Exception, stage: str) -> Diagnostic:
    reason = f"{type(error).__name__}: {error}".partition("\n")[0]
    return Diagnostic(
        "internal-error",
        f"onnxtext {__version__} failed{stage}: {reason[:200]}",
        notes=("this is a bug in onnxtext: please report it, with the file if you can",),
        help="ONNXTEXT_DEBUG=1 in the environment shows the traceback",
    )


def _show_traceback() -> None:
    if os.environ.get("ONNXTEXT_DEBUG", "0") not in ("", "0"):
        import traceback

        write_stderr(traceback.format_exc())


def _columns() -> int:
    """Return the width of the terminal; without one, return 100, the width of canonical texts."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or 100
    except (AttributeError, OSError, ValueError):
        return 100
