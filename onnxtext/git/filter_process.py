# SPDX-License-Identifier: Apache-2.0
"""The long-running filter process: one Python for all files that a git command touches.

Source: gitattributes(5), "Long Running Filter Process"; git/Documentation/technical/
long-running-process-protocol.txt. Version 2, capabilities clean and smudge. Git writes a request as
a whole before it reads the answer, so the content is taken in before anything is sent.
"""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable, Iterator
from typing import IO

from onnxtext.git.content import HEAD, Converted, clean, is_binary, is_source, smudge, too_large
from onnxtext.git.pktline import PacketError, read_list, write_content, write_flush, write_lines

CAPABILITIES = ("clean", "smudge")
_IN_MEMORY = 16 << 20
"""Content of more bytes waits in a temporary file until it is known whether it is converted."""
_CHUNK = 1 << 20


def serve(
    source: IO[bytes],
    target: IO[bytes],
    *,
    limit: Callable[[], int],
    warn: Callable[[str, str], None],
) -> None:
    """Answer the requests of git until it closes the stream.

    Args:
        source: where git writes.
        target: where git reads.
        limit: gives the most bytes of a model that is cleaned; asked at the first one.
        warn: is told of what could not be converted: the path of the file, and why.

    Raises:
        PacketError: the other side is no git, or has gone away in the middle of a request.
    """
    _greet(source, target)
    while True:
        try:
            request = _pairs(read_list(source))
        except EOFError:
            return
        command, name = request.get("command", ""), request.get("pathname", "")
        _answer(command, name, source, target, limit, warn)
        target.flush()


def _greet(source: IO[bytes], target: IO[bytes]) -> None:
    """Agree on version 2 and on what we can do."""
    try:
        greeting = [line.rstrip(b"\n") for line in read_list(source)]
        if greeting[:1] != [b"git-filter-client"] or b"version=2" not in greeting:
            raise PacketError("this is no git that speaks version 2 of the filter protocol")
        write_lines(target, "git-filter-server", "version=2")
        target.flush()
        offered = {line.rstrip(b"\n") for line in read_list(source)}
    except EOFError:
        raise PacketError("the stream ends before git has said what it wants") from None
    able = [name for name in CAPABILITIES if f"capability={name}".encode() in offered]
    write_lines(target, *[f"capability={name}" for name in able])
    target.flush()


def _pairs(lines: Iterator[bytes]) -> dict[str, str]:
    """`key=value` lines; paths need not be UTF-8."""
    pairs = [line.rstrip(b"\n").decode("utf-8", "surrogateescape").partition("=") for line in lines]
    return {key: value for key, _, value in pairs}


def _answer(
    command: str,
    name: str,
    source: IO[bytes],
    target: IO[bytes],
    limit: Callable[[], int],
    warn: Callable[[str, str], None],
) -> None:
    with tempfile.SpooledTemporaryFile(_IN_MEMORY) as content:
        try:
            trouble = _take_in(source, content)
            if trouble is not None:
                raise trouble
            converted = Converted(None) if is_source(name) else _convert(command, content, limit)
            content.seek(0)
        except OSError as error:  # the disk of the temporary file, most likely
            warn(name, f"left as it is: {error.strerror or error}")
            converted = None
        except MemoryError:
            warn(name, "left as it is: there is not enough memory")
            converted = None
        if converted is None:
            write_lines(target, "status=error")
            return
        for warning in converted.warnings:
            warn(name, warning)
        _send(target, content if converted.data is None else io.BytesIO(converted.data))


def _send(target: IO[bytes], content: IO[bytes]) -> None:
    """Send content; that it could not be read to its end is said behind it."""
    write_lines(target, "status=success")
    status: tuple[str, ...] = ()  # an empty list: the status stands
    try:
        for piece in iter(lambda: content.read(_CHUNK), b""):
            write_content(target, piece)
    except OSError:
        status = ("status=error",)
    write_flush(target)
    write_lines(target, *status)


def _take_in(source: IO[bytes], content: IO[bytes]) -> OSError | None:
    """Read the content of a request to its end, even if it cannot be kept; the reason if so."""
    trouble: OSError | None = None
    for packet in read_list(source):
        if trouble is None:
            try:
                content.write(packet)
            except OSError as error:
                trouble = error
    return trouble


def _convert(command: str, content: IO[bytes], limit: Callable[[], int]) -> Converted | None:
    """Convert content; what will be passed through in any case is not read as a whole."""
    size = content.tell()
    content.seek(0)
    if command == "clean":
        most = limit()
        if (why := too_large(size, most)) is not None:
            return Converted(None, (why,))
        return clean(content.read(), limit=most)
    if command == "smudge":
        head = content.read(HEAD)
        return Converted(None) if is_binary(head) else smudge(head + content.read())
    return None  # nothing that we have offered
