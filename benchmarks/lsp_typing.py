# SPDX-License-Identifier: Apache-2.0
"""Measure the language server's response times during typing: `python -m benchmarks.lsp_typing`.

A minimal client talks to a real server over its pipes. For each feature 20 keys are typed at
intervals of 50 ms. A request follows each key and cancels the one before, like in VS Code. Measured
are the time from the last key to the last answer, and the server's processor time, in all and after
the last key. Processor time is more reliable on a busy machine, but it leaves out the 60 ms for
which the server waits before it parses a slow text.
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnxtext
from benchmarks.check_models import VARIANTS
from benchmarks.transformer import transformer

KEYS = 20
INTERVAL = 0.05
TYPED = {"right": " " * KEYS, "breaking": "\nextra = Add (hidden_s"}
"""The texts to type after a node: blanks, which are valid, or the beginning of another node."""

NODE = re.compile(r" = (MatMul|LeakyRelu|Relu|LayerNormalization)\b.*\)$")
"""Matches the end of a line with a node."""

Params = Callable[["Editor"], dict[str, Any]]


class Editor:
    """A client with one document open."""

    def __init__(self, text: str, uri: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "onnxtext", "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.ids = itertools.count(1)
        self.answers: dict[int, tuple[float, dict[str, Any]]] = {}
        self.reported: dict[int, list[tuple[float, int]]] = {}
        self.arrived = threading.Condition()
        threading.Thread(target=self._listen, daemon=True).start()
        self.text, self.uri, self.version = text, uri, 1
        self.line = self.column = 0
        capabilities = {"general": {"positionEncodings": ["utf-16"]}}
        self.wait(self.ask("initialize", {"processId": None, "capabilities": capabilities}))
        self.tell("initialized", {})
        document = {"uri": uri, "languageId": "onnxtxt", "version": 1, "text": text}
        self.tell("textDocument/didOpen", {"textDocument": document})

    def _listen(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        while header := stream.readline():
            size = int(header.split(b":")[1])
            while stream.readline().strip():
                pass
            body = stream.read(size)
            now = time.perf_counter()
            message = json.loads(body)
            with self.arrived:
                if "method" not in message:
                    self.answers[message["id"]] = now, message
                elif message["method"] == "textDocument/publishDiagnostics":
                    reported = message["params"]
                    found = now, len(reported["diagnostics"])
                    self.reported.setdefault(reported["version"], []).append(found)
                self.arrived.notify_all()

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def tell(self, method: str, params: Any) -> None:
        """Send a notification."""
        self._send({"method": method, "params": params})

    def ask(self, method: str, params: Any) -> int:
        """Send a request; return its id."""
        number = next(self.ids)
        self._send({"id": number, "method": method, "params": params})
        return number

    def wait(self, number: int, seconds: float = 120) -> tuple[float, dict[str, Any]]:
        """Wait for the answer of a request; return (its arrival time, the answer).

        Raises:
            TimeoutError: there is no answer after `seconds`.
        """
        with self.arrived:
            if not self.arrived.wait_for(lambda: number in self.answers, seconds):
                raise TimeoutError(f"request {number} was not answered in {seconds} s")
            return self.answers[number]

    def wait_reported(self) -> list[tuple[float, int]]:
        """Wait for diagnostics of the current text; return (arrival time, number) of each message.

        Raises:
            TimeoutError: no diagnostics have arrived after two minutes.
        """
        with self.arrived:
            if not self.arrived.wait_for(lambda: bool(self.reported.get(self.version)), 120):
                raise TimeoutError("no diagnostics in 120 s")
            return self.reported[self.version]

    def checked(self) -> None:
        """Wait until the checker has checked the current text."""
        self.wait(self.ask("onnxtext/checked", {"uri": self.uri}))

    def change(self, text: str, start: tuple[int, int], end: tuple[int, int]) -> None:
        """Replace the text between two positions (line, column)."""
        self.version += 1
        places = [dict(zip(("line", "character"), place, strict=True)) for place in (start, end)]
        change = {"range": {"start": places[0], "end": places[1]}, "text": text}
        document = {"uri": self.uri, "version": self.version}
        self.tell("textDocument/didChange", {"textDocument": document, "contentChanges": [change]})

    def key(self, character: str) -> None:
        """Type a character at the cursor."""
        here = self.line, self.column
        self.change(character, here, here)
        if character == "\n":
            self.line, self.column = self.line + 1, 0
        else:
            self.column += 1

    @property
    def cursor(self) -> dict[str, int]:
        """Return the position of the next key."""
        return {"line": self.line, "character": self.column}

    def cpu(self) -> float:
        """Return the processor time of the server, without its checking process."""
        return processor(self.process.pid)

    def cpu_of_checks(self) -> float:
        """Return the processor time of the checking process, onnx's inference included."""
        total, parents = 0.0, [self.process.pid]
        while parents:
            tasks = Path(f"/proc/{parents.pop()}/task").glob("*/children")
            found = [int(pid) for task in tasks for pid in task.read_text().split()]
            total += sum(map(processor, found))
            parents += found
        return total

    def close(self) -> None:
        """End the session."""
        self.wait(self.ask("shutdown", None))
        self.tell("exit", None)
        self.process.wait(20)


def processor(pid: int) -> float:
    """Return the processor time of a process in seconds."""
    tasks = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9


def _here(editor: Editor) -> dict[str, Any]:
    return {"textDocument": {"uri": editor.uri}, "position": editor.cursor}


def _document(editor: Editor) -> dict[str, Any]:
    return {"textDocument": {"uri": editor.uri}}


def _screen(editor: Editor) -> dict[str, Any]:
    top = {"line": max(editor.line - 25, 0), "character": 0}
    bottom = {"line": editor.line + 25, "character": 0}
    return {"textDocument": {"uri": editor.uri}, "range": {"start": top, "end": bottom}}


_OPTIONS = {"options": {"tabSize": 2, "insertSpaces": True}}

FEATURES: dict[str, Params] = {
    "textDocument/completion": _here,
    "textDocument/hover": _here,
    "textDocument/signatureHelp": _here,
    "textDocument/definition": _here,
    "textDocument/references": lambda e: {**_here(e), "context": {"includeDeclaration": True}},
    "textDocument/documentHighlight": _here,
    "textDocument/prepareRename": _here,
    "textDocument/rename": lambda e: {**_here(e), "newName": "renamed"},
    "textDocument/documentSymbol": _document,
    "workspace/symbol": lambda e: {"query": "softmax"},
    "textDocument/foldingRange": _document,
    "textDocument/selectionRange": lambda e: {**_document(e), "positions": [e.cursor]},
    "textDocument/semanticTokens/full": _document,
    "textDocument/semanticTokens/full/delta": lambda e: {**_document(e), "previousResultId": "0"},
    "textDocument/semanticTokens/range": _screen,
    "textDocument/inlayHint": _screen,
    "textDocument/formatting": lambda e: {**_document(e), **_OPTIONS},
    "textDocument/rangeFormatting": lambda e: {**_screen(e), **_OPTIONS},
    "textDocument/onTypeFormatting": lambda e: {**_here(e), "ch": "\n", **_OPTIONS},
    "textDocument/documentLink": _document,
    "textDocument/codeAction": lambda e: {**_screen(e), "context": {"diagnostics": []}},
    "textDocument/prepareCallHierarchy": _here,
    "onnxtext/graph": lambda e: {"uri": e.uri},
}


def burst(editor: Editor, method: str, typed: str) -> tuple[list[float], str]:
    """Type a text; after each key, cancel the last request if it is open, and send a new one.

    Returns:
        (figures, outcome of the last request: `answered` or an error code). The figures are the
        seconds from the last key to the last answer, and the server's processor time in seconds,
        first after the last key, then in all.
    """
    asked: list[int] = []
    before = editor.cpu()
    start = time.perf_counter()
    for number, character in enumerate(typed):
        time.sleep(max(0.0, start + number * INTERVAL - time.perf_counter()))
        editor.key(character)
        last, used = time.perf_counter(), editor.cpu()
        if asked and asked[-1] not in editor.answers:
            editor.tell("$/cancelRequest", {"id": asked[-1]})
        asked.append(editor.ask(method, FEATURES[method](editor)))
    ends = [editor.wait(number) for number in asked]
    answer = ends[-1][1]
    outcome = str(answer["error"]["code"]) if "error" in answer else "answered"
    now = editor.cpu()
    return [max(end for end, _ in ends) - last, now - used, now - before], outcome


def one_key(editor: Editor, key: str) -> list[float]:
    """Type one key, and wait for its diagnostics.

    Returns:
        The seconds from the key to the first diagnostics and to those of the checker; the processor
        time of the server until the first diagnostics, and until the last; and that of the checking
        processes. A key that keeps the text valid has only the checker's diagnostics.
    """
    editor.checked()
    server, checks = editor.cpu(), editor.cpu_of_checks()
    start = time.perf_counter()
    editor.key(key)
    first = editor.wait_reported()[0][0] - start
    read = editor.cpu() - server
    editor.checked()
    last = editor.wait_reported()[-1][0] - start
    return [first, last, read, editor.cpu() - server, editor.cpu_of_checks() - checks]


def measure_diagnostics(text: str, where: list[str]) -> None:
    """Print the times from a key to its diagnostics."""
    columns = "first, ms | checked, ms | server to first | server in all | checks"
    print(f"| where | key | {columns} |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
    found = places(text)
    with tempfile.TemporaryDirectory() as directory:
        editor = Editor(text, (Path(directory) / "large.onnxtxt").as_uri())
        for place, key in itertools.product(where, (" ", "=", "\n", "x")):
            editor.line = found[place]
            editor.column = len(text.split("\n")[editor.line])
            start = editor.line, editor.column
            figures = one_key(editor, key)
            editor.change("", start, (editor.line, editor.column))
            shown = [f"{1000 * seconds:.0f}" for seconds in figures]
            print("| " + " | ".join([place, repr(key), *shown]) + " |", flush=True)
        editor.close()


def places(text: str) -> dict[str, int]:
    """Return the line numbers of nodes at the `start`, in the `middle` and at the `end`."""
    lines = text.split("\n")
    nodes = [index for index, line in enumerate(lines) if NODE.search(line)]
    return {"start": nodes[0], "middle": nodes[len(nodes) // 2], "end": nodes[-1]}


def measure(text: str, methods: list[str], where: list[str], typed: list[str]) -> list[list[str]]:
    """Measure features; print the rows of the table, and return them."""
    rows = []
    found = places(text)
    with tempfile.TemporaryDirectory() as directory:
        editor = Editor(text, (Path(directory) / "large.onnxtxt").as_uri())
        editor.checked()
        for method in methods:
            for place, kind in itertools.product(where, typed):
                editor.wait(editor.ask(method, FEATURES[method](editor)))
                editor.line = found[place]
                editor.column = len(text.split("\n")[editor.line])
                start = editor.line, editor.column
                figures, outcome = burst(editor, method, TYPED[kind])
                editor.change("", start, (editor.line, editor.column))
                editor.checked()
                shown = [f"{1000 * seconds:.0f}" for seconds in figures]
                rows.append([method, place, kind, *shown, outcome])
                print("| " + " | ".join(rows[-1]) + " |", flush=True)
        editor.close()
    return rows


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=20_000)
    parser.add_argument("--features", nargs="*", default=list(FEATURES))
    parser.add_argument("--places", nargs="*", default=["start", "middle", "end"])
    parser.add_argument("--typed", nargs="*", default=list(TYPED))
    parser.add_argument(
        "--diagnostics", action="store_true", help="measure only diagnostics, for single keys"
    )
    parser.add_argument("--variant", choices=VARIANTS, help="a valid model of this kind")
    parser.add_argument(
        "--mistakes", type=int, default=0, help="number of syntax errors in the text"
    )
    arguments = parser.parse_args()
    make = VARIANTS.get(arguments.variant)
    text = onnxtext.from_binary(
        make(arguments.nodes) if make is not None else next(transformer(arguments.nodes))
    )
    if arguments.mistakes:
        # Remove a comma from some nodes.
        lines = text.split("\n")
        nodes = [index for index, line in enumerate(lines) if " = Add (" in line]
        for number in nodes[:: len(nodes) // arguments.mistakes or 1][: arguments.mistakes]:
            lines[number] = lines[number].replace(", ", " ", 1)
        text = "\n".join(lines)
    if arguments.diagnostics:
        measure_diagnostics(text, arguments.places)
        return
    columns = "last key to last answer, ms | processor then, ms | processor in all, ms"
    print(f"| feature | where | typed | {columns} | outcome |")
    print("| --- | --- | --- | ---: | ---: | ---: | --- |")
    rows = measure(text, arguments.features, arguments.places, arguments.typed)
    for column, name in ((3, "time"), (4, "processor")):
        times = sorted(float(row[column]) for row in rows)
        shown = (times[len(times) // 2], times[int(0.95 * (len(times) - 1))], times[-1])
        print("{}: p50 {:.0f} ms, p95 {:.0f} ms, max {:.0f} ms".format(name, *shown))


if __name__ == "__main__":
    main()
