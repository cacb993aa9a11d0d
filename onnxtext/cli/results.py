# SPDX-License-Identifier: Apache-2.0
"""Write the results of a command to standard output: lines, or one JSON list."""

from __future__ import annotations

import json

from onnxtext.cli.report import Reporter
from onnxtext.cli.streams import print_to_stdout
from onnxtext.diagnostics.terminal_text import escape_controls


class Results:
    """Writes results as lines, or with `--output-format json` as one JSON list at the end."""

    def __init__(self, reporter: Reporter) -> None:
        self.rows: list[dict[str, object]] = []
        self._reporter = reporter
        self._as_json = reporter.format == "json"

    def add(self, row: dict[str, object], *lines: str) -> None:
        """Add the JSON object of a result; write its lines, unless the results are JSON."""
        self.rows.append(row)
        self.say(*lines)

    def say(self, *lines: str) -> None:
        """Write lines, unless the results are written as JSON."""
        if not self._as_json:
            self._print("\n".join(map(escape_controls, lines)))

    def finish(self) -> None:
        """Write the JSON list, if the results are written as JSON."""
        if self._as_json:
            self._print(json.dumps(self.rows, indent=2))

    def _print(self, text: str) -> None:
        with self._reporter.aside():
            print_to_stdout(text)
