# SPDX-License-Identifier: Apache-2.0
"""Run conversions in parallel or with one core, interrupt them, measure how their work grows."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import ModuleType
from typing import Any, TypeVar
from unittest import mock

from onnxtext.select_core import Core

T = TypeVar("T")


@contextmanager
def using(core: Core, *modules: ModuleType) -> Iterator[None]:
    """Make modules use this core. Mocks with `return_value` take 25 times as long to create."""

    def chosen() -> Core:
        return core

    with ExitStack() as stack:
        for module in modules:
            stack.enter_context(mock.patch.object(module, "core", chosen))
        yield


def in_two_threads(convert: Callable[[], T]) -> list[T]:
    """Return the results of a conversion that runs in two threads in parallel."""
    results: list[T] = []
    threads = [threading.Thread(target=lambda: results.append(convert())) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def interrupt(convert: Callable[[], object], after: float) -> float:
    """Interrupt a conversion, as Ctrl-C does.

    Args:
        convert: the conversion; repeated until it is interrupted.
        after: seconds until the signal.

    Returns:
        The processor time used, in seconds.

    Raises:
        AssertionError: it was not interrupted.
    """
    started = time.process_time()
    gc.disable()  # hypothesis has a callback for garbage collections, which swallows the exception
    timer = threading.Timer(after, os.kill, (os.getpid(), signal.SIGINT))
    try:
        timer.start()  # within `try`: on a busy machine, the signal may come at once
        for _ in range(100):
            convert()
        timer.join()
    except KeyboardInterrupt:
        return time.process_time() - started
    finally:
        timer.cancel()
        timer.join()
        gc.enable()
    raise AssertionError("nothing was interrupted")


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Limit the processor time of the `with` block; the limit is higher on a slow machine."""
    before = slowness()
    started = time.process_time()
    yield
    spent = time.process_time() - started
    limit = seconds * max(before, slowness())
    assert spent < limit, f"it takes {spent:.2f} s of the processor; the limit is {limit:.2f} s"


def slowness() -> float:
    """Return by which factor the machine is now slower than a usual one; at least 1."""
    started = time.process_time()
    for number in range(200_000):
        _ = number % 7
    return max(1.0, (time.process_time() - started) / 0.006)


def grows_at_most(seconds: Callable[[int], float], small: int, large: int, factor: float) -> bool:
    """Return whether the time for a large size is at most `factor` times that for a small one.

    A busy machine may double a single time, so up to five pairs of times are compared.

    Args:
        seconds: returns the processor time for a size.
        small: the small size; times below 20 ms count as 20 ms.
        large: the large size.
        factor: the limit; choose it between linear and quadratic growth.
    """
    seconds(small)  # imports modules and fills caches
    return any(seconds(large) < factor * max(seconds(small), 0.02) for _ in range(5))


def count_calls(function: Callable[[], object]) -> int:
    """Return how many Python functions a function calls, directly and indirectly.

    The count measures work independently of the machine. The function runs twice: the first run,
    which may fill caches, is not counted.
    """
    calls = 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal calls
        calls += event == "call"

    function()
    before = sys.getprofile()
    sys.setprofile(count)
    try:
        function()
    finally:
        sys.setprofile(before)
    return calls
