# SPDX-License-Identifier: Apache-2.0
"""Drive a headless Chromium through its debugging pipe (Chrome DevTools Protocol)."""

from __future__ import annotations

import fcntl
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PROGRAM = shutil.which("chromium")
SECONDS = 120.0
_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-extensions", "--hide-scrollbars", "--host-resolver-rules=MAP * ~NOTFOUND",
    "--remote-debugging-pipe",
)  # fmt: skip


class Failed(Exception):
    """Raised if an expression that the page evaluates throws an exception."""


class Browser:
    """A browser with pages, which records their problems.

    Attributes:
        problems: messages of the console, exceptions, and requests for anything but a page.
    """

    def __init__(self, write: int, read: int) -> None:
        self._write, self._read = write, read
        self._number = 0
        self._buffer = b""
        self._session: str | None = None
        self.problems: list[str] = []

    def call(self, method: str, **params: Any) -> Any:
        """Call a method of the protocol and return its result."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._write, data) :]
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise Failed(answer["error"]["message"])
                return answer["result"]
            self._note(answer)

    def _next(self) -> Any:
        end = time.monotonic() + SECONDS
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], max(0.0, end - time.monotonic()))
            part = os.read(self._read, 1 << 20) if ready else b""
            if not part:
                raise TimeoutError("the browser does not answer")
            self._buffer += part
        message, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)

    def _note(self, event: Any) -> None:
        params = event.get("params", {})
        match event.get("method"):
            case "Runtime.exceptionThrown":
                details = params["exceptionDetails"]
                text = details.get("exception", {}).get("description", details["text"])
                self.problems.append(f"exception: {text}")
            case "Runtime.consoleAPICalled":
                words = [str(each.get("value", "")) for each in params["args"]]
                self.problems.append(f"{params['type']}: {' '.join(words)}")
            case "Log.entryAdded":
                self.problems.append(f"log: {params['entry']['text']}")
            case "Network.requestWillBeSent":
                url = params["request"]["url"]
                if not url.startswith(("file:", "blob:", "data:")):
                    self.problems.append(f"request: {url}")
            case "Page.javascriptDialogOpening":
                self.problems.append(f"dialog: {params['message']}")

    def open(self, path: Path, *, width: int = 1400, height: int = 850, dark: bool = False) -> None:
        """Open a file in a new page."""
        self._session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        found = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = found["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        self.call("Page.navigate", url=path.as_uri())

    def run(self, script: str) -> Any:
        """Return the value of an expression in the page; promises are awaited."""
        found = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in found:
            details = found["exceptionDetails"]
            raise Failed(details.get("exception", {}).get("description", details["text"]))
        return found["result"].get("value")

    def wait(self, condition: str, seconds: float = SECONDS) -> Any:
        """Wait until an expression is true, and return it."""
        end = time.monotonic() + seconds
        while True:
            try:
                found = self.run(condition)
            except Failed:  # the page is not there yet
                found = None
            if found:
                return found
            if time.monotonic() > end:
                raise TimeoutError(f"{condition}; problems: {self.problems}")
            time.sleep(0.02)

    def key(self, key: str, *, modifiers: int = 0, code: int = 0) -> None:
        """Press a key; modifiers are 1 for Alt, 2 for Control, 8 for Shift."""
        text = {"text": key} if len(key) == 1 and modifiers in (0, 8) else {}
        if key == "Enter":
            text = {"text": "\r"}
        common = {"key": key, "modifiers": modifiers, "windowsVirtualKeyCode": code}
        self.call("Input.dispatchKeyEvent", type="keyDown", **common, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def click(self, x: float, y: float) -> None:
        """Click at a position in the page, in CSS pixels."""
        common = {"x": x, "y": y, "button": "left", "clickCount": 1}
        self.call("Input.dispatchMouseEvent", type="mousePressed", **common)
        self.call("Input.dispatchMouseEvent", type="mouseReleased", **common)

    def click_on(self, expression: str) -> None:
        """Click on the middle of an element once it no longer moves.

        Drawing a graph again moves its nodes: the position has to be the same two frames later.
        """
        self.click(
            *self.wait(
                f"""(async () => {{
                const middle = () => {{
                  const box = ({expression}).getBoundingClientRect();
                  return [box.x + box.width / 2, box.y + box.height / 2];
                }};
                const frame = () => new Promise((done) => requestAnimationFrame(done));
                const before = middle();
                await frame();
                await frame();
                const [x, y] = middle();
                return x === before[0] && y === before[1] && [x, y];
                }})()"""
            )
        )


@contextmanager
def browser(profile: Path) -> Iterator[Browser]:
    """Run a browser with its own profile."""
    assert PROGRAM is not None
    theirs, ours = os.pipe(), os.pipe()

    def descriptors() -> None:
        # Move them first: their numbers may be 3 and 4 already.
        commands, answers = [fcntl.fcntl(fd, fcntl.F_DUPFD, 10) for fd in (theirs[0], ours[1])]
        os.dup2(commands, 3)
        os.dup2(answers, 4)

    child = subprocess.Popen(
        [PROGRAM, *_FLAGS, f"--user-data-dir={profile}"],
        close_fds=False,
        preexec_fn=descriptors,  # noqa: PLW1509 (it calls nothing else)
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "HOME": str(profile)},
    )
    os.close(theirs[0])
    os.close(ours[1])
    try:
        yield Browser(theirs[1], ours[0])
    finally:
        child.terminate()
        try:
            child.wait(10)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        os.close(theirs[1])
        os.close(ours[0])
