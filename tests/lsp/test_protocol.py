# SPDX-License-Identifier: Apache-2.0
"""Every request is answered exactly once; outdated requests are not computed."""

from __future__ import annotations

import asyncio
import io
import json
import os
import random
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest

from onnxtext.lsp.server.server import Server, create_server
from onnxtext.lsp.server.stdio import BadHeader, PipeReader
from tests.lsp.documents import EXAMPLES, example, large
from tests.seeds import draws, fresh_seed

URI = "file:///m.onnxtxt"
TEXT = "<ir_version: 10, opset_import: [21]>\ng (float[2] x) => (float[2] y) {\n  y = Relu (x)\n}\n"
SEED = fresh_seed()


class Wire:
    """A server in this process, and its answers. No check ends."""

    def __init__(self) -> None:
        self.server: Server = create_server()
        self.server.checker.submit = lambda *_args: None  # type: ignore[method-assign]
        self.protocol: Any = self.server.protocol
        self.protocol.set_writer(self, include_headers=False)
        self.answers: dict[Any, list[dict[str, Any]]] = {}
        self.logged: list[str] = []
        self.published: list[dict[str, Any]] = []
        self.number = 0

    def write(self, data: bytes) -> None:
        """Collect the answers, the log and the diagnostics of the server."""
        message = json.loads(data)
        if message.get("method") == "window/logMessage":
            self.logged.append(message["params"]["message"])
        elif message.get("method") == "textDocument/publishDiagnostics":
            self.published.append(message["params"])
        elif "method" not in message:
            self.answers.setdefault(message["id"], []).append(message)

    def close(self) -> None:
        """Do nothing: there is no stream."""

    def send(self, **message: Any) -> None:
        """Pass a message to the server, as if it had been read."""
        text = json.dumps({"jsonrpc": "2.0", **message})
        self.protocol.handle_message(json.loads(text, object_hook=self.protocol.structure_message))

    def ask(self, method: Any, params: Any) -> int:
        """Send a request; return its id."""
        self.number += 1
        self.send(id=self.number, method=method, params=params)
        return self.number

    async def settle(self) -> None:
        """Wait until every request is answered."""
        end = time.monotonic() + 120
        while time.monotonic() < end:
            if all(index in self.answers for index in range(1, self.number + 1)):
                return
            await asyncio.sleep(0.001)
        missing = set(range(1, self.number + 1)) - set(self.answers)
        raise AssertionError(f"not answered: {sorted(missing)}, seed {SEED}")

    async def start(self, text: str = TEXT) -> None:
        """Initialize the server and open a document."""
        self.ask("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
        await self.settle()
        self.send(method="initialized", params={})
        document = {"uri": URI, "languageId": "onnxtxt", "version": 1, "text": text}
        self.send(method="textDocument/didOpen", params={"textDocument": document})

    def code(self, number: int) -> int | None:
        """Return the code of the error that a request was answered with; None for a result."""
        (answer,) = self.answers[number]
        return answer["error"]["code"] if "error" in answer else None


def run(test: Callable[[Wire], Awaitable[None]]) -> None:
    """Run a test in a new event loop, and stop the server at its end."""

    async def main() -> None:
        wire = Wire()
        try:
            await test(wire)
        finally:
            wire.server.checker.close()
        assert all(len(answers) == 1 for key, answers in wire.answers.items() if key is not None)

    asyncio.run(asyncio.wait_for(main(), 300))


HERE = {"textDocument": {"uri": URI}, "position": {"line": 2, "character": 6}}
RANGE = {"start": {"line": 0, "character": 0}, "end": {"line": 3, "character": 0}}
OPTIONS = {"tabSize": 2, "insertSpaces": True}
ITEM = {"name": "g", "kind": 2, "uri": URI, "range": RANGE, "selectionRange": RANGE}
REQUESTS: dict[str, dict[str, Any]] = {
    "textDocument/completion": HERE,
    "textDocument/hover": HERE,
    "textDocument/signatureHelp": HERE,
    "textDocument/definition": HERE,
    "textDocument/references": {**HERE, "context": {"includeDeclaration": True}},
    "textDocument/documentHighlight": HERE,
    "textDocument/prepareRename": HERE,
    "textDocument/rename": {**HERE, "newName": "z"},
    "textDocument/documentSymbol": {"textDocument": {"uri": URI}},
    "workspace/symbol": {"query": "y"},
    "textDocument/foldingRange": {"textDocument": {"uri": URI}},
    "textDocument/selectionRange": {"textDocument": {"uri": URI}, "positions": [RANGE["start"]]},
    "textDocument/semanticTokens/full": {"textDocument": {"uri": URI}},
    "textDocument/semanticTokens/full/delta": {
        "textDocument": {"uri": URI},
        "previousResultId": "0",
    },
    "textDocument/semanticTokens/range": {"textDocument": {"uri": URI}, "range": RANGE},
    "textDocument/inlayHint": {"textDocument": {"uri": URI}, "range": RANGE},
    "textDocument/formatting": {"textDocument": {"uri": URI}, "options": OPTIONS},
    "textDocument/rangeFormatting": {
        "textDocument": {"uri": URI},
        "range": RANGE,
        "options": OPTIONS,
    },
    "textDocument/onTypeFormatting": {**HERE, "ch": "\n", "options": OPTIONS},
    "textDocument/documentLink": {"textDocument": {"uri": URI}},
    "textDocument/codeAction": {
        "textDocument": {"uri": URI},
        "range": RANGE,
        "context": {"diagnostics": []},
    },
    "codeAction/resolve": {"title": "x"},
    "textDocument/prepareCallHierarchy": HERE,
    "callHierarchy/incomingCalls": {"item": ITEM},
    "callHierarchy/outgoingCalls": {"item": ITEM},
    "completionItem/resolve": {"label": "Relu"},
    "onnxtext/graph": {"uri": URI},
    "onnxtext/graphPlace": {"uri": URI},
    "onnxtext/graphCompare": {"uri": URI},
    "onnxtext/graphFind": {"uri": URI, "words": "relu"},
    "onnxtext/graphNode": {"uri": URI, "id": "g0n0"},
}
FILES = {
    "onnxtext/checked": {"uri": "file:///none"},
    "onnxtext/fromBinary": {"uri": "file:///none"},
    "onnxtext/toBinary": {"text": "g", "original": "file:///none"},
    "onnxtext/verify": {"uri": "file:///none"},
    "onnxtext/convert": {"uri": "file:///none", "target": "file:///none", "direction": "x"},
}
"""Requests about files."""


def places(params: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the paths of all parts of parameters; `data` may be anything."""
    yield path
    keys: Any = params if isinstance(params, dict) else ()
    for key in range(len(params)) if isinstance(params, list) else keys:
        yield from places(params[key], (*path, key))


def replaced(params: Any, path: tuple[Any, ...], part: Any) -> Any:
    """Return a copy of parameters with one part replaced, or removed if it is `...`."""
    if not path:
        return part
    result = params.copy()
    if len(path) == 1 and part is ...:
        del result[path[0]]
    else:
        result[path[0]] = replaced(result[path[0]], path[1:], part)
    return result


MAY_BE_MISSING = {("positions", 0), ("item", "uri")}  # an empty list; it has a name as well
WRONG: list[Any] = [None, True, 1.5, [None], {"a": 1}, [[]]]
"""Values with the wrong type for strings, numbers, objects and lists of objects."""


def test_invalid_parameters_are_answered() -> None:
    """If any part of the parameters is missing or has a wrong type, the answer is an error."""

    async def test(wire: Wire) -> None:
        await wire.start()
        asked: dict[int, Any] = {}
        for method, params in (REQUESTS | FILES).items():
            for path in places(params):
                parts = WRONG
                if path[-1:] in (("includeDeclaration",), ("insertSpaces",), ("kind",)):
                    parts = [part for part in WRONG if part is not True]
                if path and path not in MAY_BE_MISSING:
                    parts = [*parts, ...]
                for part in parts:
                    wrong = replaced(params, path, part)
                    asked[wire.ask(method, wrong)] = method, wrong
        for line in (-1, 10**30, "1"):
            wrong = replaced(HERE, ("position", "line"), line)
            asked[wire.ask("textDocument/hover", wrong)] = line
        await wire.settle()
        assert not {number: what for number, what in asked.items() if wire.code(number) != -32602}
        right = [wire.ask(method, params) for method, params in REQUESTS.items()]
        await wire.settle()
        assert {wire.code(number) for number in right} == {None}

    run(test)


def test_requests_in_a_wrong_state_are_errors() -> None:
    async def test(wire: Wire) -> None:
        early = wire.ask("textDocument/hover", HERE)
        assert wire.code(early) == -32002
        await wire.start()
        unknown = [wire.ask("textDocument/sing", {}), wire.ask("$/nothing", None)]
        again = wire.ask("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
        wire.send(id=[1], method="textDocument/hover", params=HERE)
        wire.send(id=1.5, method="textDocument/hover", params=HERE)
        wire.send(id=None, method="textDocument/hover", params=HERE)
        wire.protocol.handle_message([])
        for method in (3, None, "textDocument/didChange", "$/cancelRequest", "nothing"):
            wire.send(method=method, params={"id": {}})
        notifications = [
            wire.ask("textDocument/didClose", {"textDocument": {"uri": URI}}),
            wire.ask("initialized", {}),
            wire.ask("$/cancelRequest", {"id": 1}),
        ]
        wire.send(id="no request", result=3)
        wire.send(id="no request", error=3)
        waiting = wire.ask("textDocument/hover", HERE)
        wire.ask("shutdown", None)
        late = [wire.ask("textDocument/hover", HERE), wire.ask("shutdown", None)]
        await wire.settle()
        assert {wire.code(number) for number in unknown} == {-32601}
        assert {wire.code(number) for number in notifications} == {-32600}
        assert wire.code(again) == -32600
        assert [answer["error"]["code"] for answer in wire.answers[None]] == [-32600] * 4
        assert wire.code(waiting) == -32800
        assert [wire.code(number) for number in late] == [-32600, -32600]

    run(test)


@pytest.mark.parametrize("number", [0, -1, 10**30, "", "\ud800", "1"])
def test_requests_with_the_same_id_are_all_answered(number: int | str) -> None:
    async def test(wire: Wire) -> None:
        await wire.start()
        for method, params in REQUESTS.items():
            wire.send(id=number, method=method, params=params)
            wire.send(id=number, method=method, params=params)
            wire.send(id=number, result=None)  # a response without a request
        while len(wire.answers.get(number, ())) < 2 * len(REQUESTS):
            await asyncio.sleep(0.001)
        assert all("error" not in answer for answer in wire.answers.pop(number))

    run(test)


def test_initialize_survives_any_parameters() -> None:
    right: dict[str, Any] = {
        "processId": None,
        "rootUri": "file:///",
        "workspaceFolders": [{"uri": "file:///", "name": "x"}],
        "capabilities": {"general": {"positionEncodings": ["utf-8"]}},
    }
    wire, rng = Wire(), random.Random(SEED)
    for path in places(right):
        for part in rng.sample([*WRONG, -1, "x", "\ud800", 10**30, []], 4):
            first = wire.ask("initialize", replaced(right, path, part))
            assert wire.code(first) in (None, -32602), (path, part, SEED)
            if wire.code(first) is None:
                assert wire.code(wire.ask("initialize", right)) == -32600, SEED
                wire = Wire()
    assert wire.code(wire.ask("initialize", right)) is None


def change(version: int) -> dict[str, Any]:
    """Return the notification of a new version, which has one more blank."""
    place = {"line": 2, "character": 14}
    edit = {"range": {"start": place, "end": place}, "text": " "}
    return {"textDocument": {"uri": URI, "version": version}, "contentChanges": [edit]}


@pytest.mark.thorough
@pytest.mark.parametrize("method", REQUESTS)
def test_cancelled_and_outdated_requests_are_not_computed(method: str) -> None:
    async def test(wire: Wire) -> None:
        await wire.start()
        asked: list[int] = []
        for number in range(20):
            wire.send(method="textDocument/didChange", params=change(number + 2))
            if asked and number % 2:
                wire.send(method="$/cancelRequest", params={"id": asked[-1]})
            asked.append(wire.ask(method, REQUESTS[method]))
        before = wire.protocol.computed
        await wire.settle()
        codes = [wire.code(number) for number in asked]
        assert codes[-1] is None
        assert codes[0:-1:2] == [-32800] * 10
        if "textDocument" in REQUESTS[method] or method.startswith("onnxtext/graph"):
            assert set(codes[1:-1:2]) == {-32801}
            assert wire.protocol.computed == before + 1
        else:
            assert wire.protocol.computed == before + 10

    run(test)


def test_a_large_text_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """While keys arrive, nothing is parsed; after the last one the text is parsed once."""

    async def test(wire: Wire) -> None:
        await wire.start(large())
        first = wire.ask("textDocument/hover", HERE)
        await wire.settle()
        assert wire.code(first) is None
        document = wire.server.documents[URI]
        document.version.cost = 10.0  # as if the text took long to parse
        versions = []
        now = time.monotonic()
        with monkeypatch.context() as clock:
            # Even on a slow machine, no pause between keys is long enough to start parsing.
            clock.setattr(time, "monotonic", lambda: now)
            for index in range(10):
                wire.send(method="textDocument/didChange", params=change(index + 2))
                versions.append(document.version)
                wire.ask("textDocument/completion", HERE)
                for _ in range(5):
                    await asyncio.sleep(0)
        await wire.settle()
        assert [version.is_parsed for version in versions] == [False] * 9 + [True]

    run(test)


def test_syntax_errors_do_not_wait_for_a_check() -> None:
    async def test(wire: Wire) -> None:
        await wire.start(large())
        lines = large().split("\n")
        line = next(number for number, text in enumerate(lines) if " = Softmax" in text)
        place = {"line": line, "character": lines[line].index(" = Softmax")}
        end = {**place, "character": place["character"] + 1}
        for version, (old_end, new) in enumerate(((place, "="), (end, "")), 2):
            edit = {"range": {"start": place, "end": old_end}, "text": new}
            identifier = {"uri": URI, "version": version}
            params = {"textDocument": identifier, "contentChanges": [edit]}
            wire.send(method="textDocument/didChange", params=params)
            while not wire.published or wire.published[-1]["version"] != version:
                await asyncio.sleep(0.001)
            assert bool(wire.published[-1]["diagnostics"]) == bool(new)

    run(test)


def test_an_edit_stops_a_long_answer() -> None:
    async def test(wire: Wire) -> None:
        await wire.start(large())
        asked = wire.ask("textDocument/documentSymbol", {"textDocument": {"uri": URI}})
        while not wire.protocol.running:
            await asyncio.sleep(0)
        wire.send(method="textDocument/didChange", params=change(2))
        await wire.settle()
        assert wire.code(asked) == -32801
        asked = wire.ask("textDocument/documentSymbol", {"textDocument": {"uri": URI}})
        while not wire.protocol.running:
            await asyncio.sleep(0)
        wire.send(method="$/cancelRequest", params={"id": asked})
        await wire.settle()
        assert wire.code(asked) == -32800

    run(test)


# ---- Anything in any order ----------------------------------------------------------------------

PIECES = [
    "(",
    ")",
    "<",
    "{",
    "}",
    '"',
    '"""',
    "\n",
    "\r",
    "𝄞",
    "\u2028",
    "=",
    "y = Relu (x)\n",
    ",",
]
NAMES = ["z", "", '"', "a b", "\n", "𝄞\x00", "x" * 5000, "}", 'b"\\xff"', "\ud800"]
ODD: list[Any] = [None, True, -1, 10**30, 1.5, "x", [], {}, [{}], {"uri": URI}, "\ud800"]


def spoiled(rng: random.Random, value: Any) -> Any:
    """Return a copy of parameters with one random part replaced."""
    if isinstance(value, dict) and value and rng.random() < 0.8:
        key = rng.choice(list(value))
        return {**value, key: spoiled(rng, value[key])}
    return rng.choice(ODD)


def position(rng: random.Random) -> dict[str, int]:
    return {"line": rng.choice([0, 2, 3, 10, 40, 10**9]), "character": rng.choice([0, 3, 7, 10**9])}


def message(rng: random.Random, uris: list[str]) -> tuple[str, Any]:
    """Return a notification or request."""
    uri = rng.choice(uris)
    named: dict[str, Any] = {"uri": uri}
    match rng.randrange(10):
        case 0:
            text = example(rng.choice(sorted(path.stem for path in EXAMPLES.glob("*.onnxtxt"))))
            item = {**named, "languageId": "onnxtxt", "version": 1, "text": text}
            return "textDocument/didOpen", {"textDocument": item}
        case 1:
            method = rng.choice(["textDocument/didClose", "textDocument/didSave"])
            return method, {"textDocument": named}
        case 2 | 3 | 4:
            edits = []
            for _ in range(rng.randint(1, 3)):
                place = {"start": position(rng), "end": position(rng)}
                edits.append({"range": place, "text": rng.choice(PIECES)})
            if rng.random() < 0.05:
                edits = [{"text": rng.choice(PIECES) * 50}]
            version = {**named, "version": rng.randint(-3, 30)}
            return "textDocument/didChange", {"textDocument": version, "contentChanges": edits}
        case _:
            method = rng.choice(list(REQUESTS))
            params = {**REQUESTS[method]}
            if "textDocument" in params:
                params["textDocument"] = named
            if "position" in params:
                params["position"] = position(rng)
            if "newName" in params:
                params["newName"] = rng.choice(NAMES)
            return method, params


async def anything(wire: Wire, seed: int, count: int) -> None:
    rng = random.Random(seed)
    await wire.start()
    uris = [URI, *(f"file:///{index}.onnxtxt" for index in range(5)), "untitled:a", "\ud800", ""]
    for _ in range(count):
        method, params = message(rng, uris)
        if rng.random() < 0.15:
            params = spoiled(rng, params)
        if method in REQUESTS:
            number = wire.ask(method, params)
            if rng.random() < 0.3:
                wire.send(method="$/cancelRequest", params={"id": number - rng.randrange(3)})
        else:
            wire.send(method=method, params=params)
        if rng.random() < 0.2:
            await asyncio.sleep(0)
        if rng.random() < 0.02:
            await wire.settle()
    await wire.settle()
    alive = wire.ask("textDocument/foldingRange", {"textDocument": {"uri": URI}})
    await wire.settle()
    assert wire.code(alive) is None
    internal = [
        answers[0]
        for answers in wire.answers.values()
        if answers[0].get("error", {}).get("code") in (-32603, -32001)
    ]
    assert not internal, (seed, internal[:3])
    assert not wire.logged, (seed, wire.logged[:3])  # errors of handlers, whose result is null


@pytest.mark.thorough
def test_random_messages_are_answered() -> None:
    run(lambda wire: anything(wire, SEED, draws(625)))


BODY = b"{body}"
HEADERS: dict[bytes, list[bytes | None]] = {
    b"Content-Length: 6\r\n\r\n{body}": [BODY],
    b"content-length:6\n\n{body}": [BODY],
    b"Content-Type: x\r\nContent-Length: 6\r\n\r\n{body}": [BODY],
    b"Content-Length: 0\r\n\r\n": [b""],
    b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n": [None],
    b"Content-Length: -6\r\n\r\n": [None],
    b"Content-Length: \xb2\r\n\r\n": [None],
    b"Content-Length: \r\n\r\n": [None],
    b"\xff\x00\r\n\r\n\r\n\r\n": [None],
    b"x" * 1_000_000 + b"\r\n\r\n": [None],
    b"\r\n\r\nContent-Length: 6\r\n\r\n{body}": [BODY],
}


@pytest.mark.parametrize("sent", HEADERS, ids=lambda sent: repr(sent[:40]))
def test_invalid_headers_are_skipped(sent: bytes) -> None:
    """After any header, the next message is read."""

    async def main() -> None:
        sent_all = sent + b"Content-Length: 4\r\n\r\nnext"
        reader = PipeReader(io.BytesIO(sent_all))
        found: list[bytes | None] = []
        while not found or found[-1] != b"next":
            try:
                found.append(await reader.message())
            except BadHeader:
                found.append(None)
        assert found == [*HEADERS[sent], b"next"]
        assert await reader.message() is None

    asyncio.run(main())


def test_a_pipe_is_read_without_blocking() -> None:
    async def main() -> None:
        read, write = os.pipe()
        with os.fdopen(read, "rb") as stream:
            reader = PipeReader(stream)
            os.write(write, b"Content-Length: 4\r\n\r\nbody")
            assert await reader.message() == b"body"
            assert not reader.has_input()
            os.write(write, b"Content-Length: 5\r\n\r\nmore")
            while not reader.has_input():
                await asyncio.sleep(0.001)
            os.close(write)
            assert await reader.message() is None

    asyncio.run(main())
