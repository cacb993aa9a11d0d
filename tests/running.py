# SPDX-License-Identifier: Apache-2.0
"""Run conversions in parallel, and interrupt them."""

from __future__ import annotations

import gc
import os
import signal
import threading
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


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
    timer.start()
    try:
        for _ in range(100):
            convert()
    except KeyboardInterrupt:
        return time.process_time() - started
    finally:
        timer.join()
        gc.enable()
    raise AssertionError("nothing was interrupted")
