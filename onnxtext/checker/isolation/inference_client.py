# SPDX-License-Identifier: Apache-2.0
"""Run onnx's shape inference for models and single nodes in a pool of child processes."""

from __future__ import annotations

import atexit
import contextlib
import os
import time
from collections.abc import Mapping
from threading import Lock
from typing import Any

from onnxtext.checker.isolation.child_main import FINE, MEMORY
from onnxtext.checker.isolation.child_process import Failure, Worker, WorkerDied

_MAX_IDLE = 2
"""The maximum number of idle processes to keep."""
_MAX_LOST_SECONDS = 6.0
"""The maximum processor time in seconds that all failed requests of one check may take."""
_START_COST = 0.05
"""The processor time in seconds that starting a process takes."""
MAX_FAILED = 50
"""The maximum number of failed requests of one check; later requests are not sent."""
_MAX_CACHED = 50_000
"""The maximum number of answers to cache."""
_LARGEST_CACHED = 1 << 14
"""The maximum size in bytes of a request whose answer is cached."""
SECONDS = {"model": 1.0, "node": 0.5, "body": 0.5}
"""The limit of processor time in seconds for an empty request, by kind of request."""
_SECONDS_PER_BYTE = 20e-6
_MEMORY = 1 << 30
"""The limit of memory in bytes for a request of 0 bytes."""
_MEMORY_PER_BYTE = 64
_RETRY_DELAY = 60.0
"""Seconds to wait for the next attempt after a process could not be started."""

Answer = list[bytes] | str | Failure
"""The results of a request (a list), onnx's error message (a `str`), or a `Failure`."""
Answers = dict[object, list[bytes] | str]
"""A cache that maps the arguments of `node` requests to answers; failures are not stored."""


class ProcessPool:
    """A pool of idle child processes that all threads share.

    Attributes:
        idle: the processes that wait for a request.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self.idle: list[Worker] = []
        self._failed: tuple[float, Failure] | None = None
        atexit.register(self.close)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forget)

    def take(self) -> Worker:
        """Remove an idle process from the pool and return it; if there is none, start a process.

        Raises:
            WorkerDied: no process can be started.
        """
        with self._lock:
            while self.idle:
                worker = self.idle.pop()
                if worker.child.poll() is None:
                    return worker
                worker.child.close()
            if self._failed is not None and time.monotonic() < self._failed[0]:
                raise WorkerDied(self._failed[1])
        try:
            return Worker()
        except OSError as error:
            raise self.start_failed(Failure("unavailable", str(error))) from None

    def start_failed(self, failure: Failure) -> WorkerDied:
        """Record `failure`, the reason why no process can be started; return the error to raise.

        For the next `_RETRY_DELAY` seconds, `take` starts no process: it returns an idle one or
        fails.
        """
        with self._lock:
            self._failed = time.monotonic() + _RETRY_DELAY, failure
        return WorkerDied(failure)

    def give(self, worker: Worker) -> None:
        """Return a process to the pool, or end it if the pool has `_MAX_IDLE` idle processes."""
        with self._lock:
            if len(self.idle) < _MAX_IDLE:
                self.idle.append(worker)
                return
        worker.child.close()

    def close(self) -> None:
        """End all idle processes."""
        with self._lock:
            idle, self.idle = self.idle, []
        for worker in idle:
            worker.child.close()

    def _forget(self) -> None:
        """In a forked process, empty the pool: the processes in it belong to the parent."""
        self._lock = Lock()
        idle, self.idle = self.idle, []
        for worker in idle:
            worker.child.abandon()


POOL = ProcessPool()


def start_worker() -> None:
    """Start a process before the first request, if possible.

    Forking early is better because the child inherits less memory.
    """
    with contextlib.suppress(WorkerDied):
        POOL.give(POOL.take())


class InferenceClient:
    """Sends the requests of one check to child processes, and stops after too many failures.

    Methods return an `Answer`: their results, onnx's error message (a `str`), or a `Failure`.
    Answers of small `node` requests are added to `answers`, a cache that several checks share; the
    constructor clears it if it is full. Failures are cached only within one check, because a later
    check may succeed.

    Attributes:
        failures: the failures of requests, in the order of the requests.
    """

    def __init__(self, answers: Answers | None = None) -> None:
        self.failures: list[Failure] = []
        self._answers = {} if answers is None else answers
        if len(self._answers) >= _MAX_CACHED:
            self._answers.clear()
        self._failed_requests: dict[object, Failure] = {}
        self._lost_seconds = 0.0

    def infer_model(self, data: bytes) -> Answer:
        """Let onnx infer and check the types of an encoded model; return [] if it is valid."""
        return self._ask("model", len(data), data)

    def function_body(
        self, operator: tuple[str, int, str], version: int, node: bytes, types: list[bytes]
    ) -> Answer:
        """Return [encoded function]: the function body that defines a node's operator.

        The operator, given as (name, version of the schema, domain), must have a function body that
        depends on the types of the inputs. `version` is the operator set version of the body; the
        node and the `types` of its inputs are encoded.
        """
        return self._ask("body", len(node), operator, version, node, types)

    def node(
        self,
        operator: tuple[str, int, str],
        node: bytes,
        types: Mapping[str, bytes],
        constants: Mapping[str, bytes],
        opsets: Mapping[str, int],
        version: int,
    ) -> Answer:
        """Infer the types of a node's outputs: return `[name, type, name, type, …]`.

        The node, all types, and the tensors of constant inputs are encoded; `types` and `constants`
        are by name. `operator` is (name, version of the schema, domain). `opsets` has the versions
        of the imported operator sets by domain; `version` is the IR version.
        """
        size = len(node)
        size += sum([len(name) + len(type) for name, type in types.items()])
        size += sum(map(len, constants.values()))
        arguments = operator, node, dict(types), dict(constants), dict(opsets), version
        if size > _LARGEST_CACHED:
            return self._ask("node", size, *arguments)
        key = (
            operator, node, tuple(types.items()), tuple(constants.items()),
            tuple(opsets.items()), version,
        )  # fmt: skip
        cached: Answer | None = self._answers.get(key)
        if cached is None:
            cached = self._failed_requests.get(key)
        if cached is None:
            cached = self._ask("node", size, *arguments)
            if isinstance(cached, Failure):
                self._failed_requests[key] = cached
            elif len(self._answers) < _MAX_CACHED:
                self._answers[key] = cached
        return cached

    def _ask(self, kind: str, size: int, *arguments: Any) -> Answer:
        if self.failures:
            last = self.failures[-1]
            if last.kind in ("unavailable", "stopped"):
                return last
            if self._lost_seconds > _MAX_LOST_SECONDS or len(self.failures) >= MAX_FAILED:
                return self._failed(Failure("stopped"))
        seconds = SECONDS[kind] + _SECONDS_PER_BYTE * size
        memory = _MEMORY + _MEMORY_PER_BYTE * size
        try:
            parts = _request(seconds, memory, kind, *arguments)
        except WorkerDied as died:
            self._lost_seconds += seconds if died.failure.kind == "time" else _START_COST
            return self._failed(died.failure)
        status = parts[0] if parts else b""
        if status == FINE:
            return parts[1:]
        if status == MEMORY:
            return self._failed(Failure("memory"))
        return parts[1].decode("utf-8", "replace") if len(parts) == 2 else ""

    def _failed(self, failure: Failure) -> Failure:
        self.failures.append(failure)
        return failure


def _request(
    seconds: float, memory: int, kind: str, *arguments: Any, is_retry: bool = False
) -> list[bytes]:
    """Send a request to a child process and return its answer.

    The parameters are those of `Worker.ask`. If something other than the request may have killed
    the child, the request is sent once more, with `is_retry`.

    Raises:
        WorkerDied: the request killed the child, the second child died too, or no process could be
            started.
    """
    worker = POOL.take()
    try:
        parts = worker.ask(seconds, memory, kind, *arguments)
    except WorkerDied as died:
        if died.outside and not is_retry:
            return _request(seconds, memory, kind, *arguments, is_retry=True)
        if died.failure.kind == "unavailable":
            raise POOL.start_failed(died.failure) from None
        raise
    POOL.give(worker)
    return parts
