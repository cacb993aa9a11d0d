# SPDX-License-Identifier: Apache-2.0
"""Memory: no garbage collection while large trees grow; what is freed is used again; none left."""

from __future__ import annotations

import contextlib
import errno
import gc
from collections.abc import Iterator
from functools import cache


@contextlib.contextmanager
def paused_collector() -> Iterator[None]:
    """No garbage collection while a tree grows: it would walk it again and again."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


_LARGE = 4 << 20
_KEPT = 31 << 20


def reuse_memory(size: int) -> None:
    """Have the C library keep freed memory for what comes next, if something large is converted.

    glibc gives large blocks back to the system, and takes new ones page by page, which costs a
    tenth of a conversion; once a block of up to 32 MiB was freed, it keeps what is not larger.
    Elsewhere this does nothing. The block is never touched.

    Args:
        size: of what is converted, in bytes.
    """
    if size > _LARGE:
        _free_large_block()


@cache
def _free_large_block() -> None:
    """Free one large block; glibc keeps the higher threshold until the process ends."""
    bytes(_KEPT)  # of zeros that nobody writes, unlike those of a bytearray


_SAID = ("failed to map segment", "annot allocate memory")


def lacks_memory(error: BaseException | None) -> bool:
    """Whether an error comes from a lack of memory: libraries say so in ways of their own."""
    while error is not None:
        if isinstance(error, MemoryError):
            return True
        if isinstance(error, OSError) and error.errno == errno.ENOMEM:
            return True
        if isinstance(error, ImportError) and any(said in str(error) for said in _SAID):
            return True
        error = error.__cause__ or error.__context__
    return False
