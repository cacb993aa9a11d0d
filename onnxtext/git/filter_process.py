# SPDX-License-Identifier: Apache-2.0
"""Run as git's long-running filter process: one Python process for all files of a git command.

Source: gitattributes(5), "Long Running Filter Process"; git/Documentation/technical/
long-running-process-protocol.txt. We implement version 2 with the capabilities clean and smudge.
Git writes a whole request before it reads the answer, so we read all content before we send
anything. Messages are packets with a length prefix: gitprotocol-common(5), "pkt-line Format".
"""

from __future__ import annotations

import io
import re
import tempfile
from collections.abc import Callable, Iterator
from typing import IO

from onnxtext.git.clean_smudge import ConvertedFile, clean, is_source, smudge, too_large
from onnxtext.io.text_or_binary import HEAD, has_binary_content

CAPABILITIES = ("clean", "smudge")
_IN_MEMORY = 16 << 20
"""Content of more bytes than this is buffered in a temporary file instead of memory."""
_CHUNK = 1 << 20

MAX_PACKET_BYTES = 65_516
"""Maximum number of bytes in a packet (LARGE_PACKET_DATA_MAX of git)."""

_FLUSH = b"0000"
_LENGTH = re.compile(rb"[0-9a-fA-F]{4}")


class PacketError(Exception):
    """The stream does not contain pkt-lines, or ends within a pkt-line."""


def read_packet(stream: IO[bytes]) -> bytes | None:
    """Return the content of the next packet; None for a flush packet, which ends a list.

    Raises:
        EOFError: the stream ends before the packet.
        PacketError: the stream ends within the packet, or is not pkt-line.
    """
    head = stream.read(4)
    if not head:
        raise EOFError
    if head == _FLUSH:
        return None
    size = int(head, 16) - 4 if _LENGTH.fullmatch(head) else -1
    if not 0 <= size <= MAX_PACKET_BYTES:
        raise PacketError(f"invalid packet length {head!r}")
    content = stream.read(size)
    if len(content) < size:
        raise PacketError("the stream ends within a packet")
    return content


def read_list(stream: IO[bytes]) -> Iterator[bytes]:
    """Yield the contents of the packets before the next flush packet.

    Raises:
        EOFError: the stream ends before the first packet.
        PacketError: the stream ends later, or is not pkt-line.
    """
    first = True
    while True:
        try:
            packet = read_packet(stream)
        except EOFError:
            if first:
                raise
            raise PacketError("the stream ends within a list of packets") from None
        if packet is None:
            return
        yield packet
        first = False


def write_lines(stream: IO[bytes], *lines: str) -> None:
    """Write each line as a text packet, then a flush packet."""
    for line in lines:
        data = line.encode() + b"\n"
        stream.write(b"%04x%b" % (len(data) + 4, data))
    stream.write(_FLUSH)


def write_content(stream: IO[bytes], content: bytes) -> None:
    """Write content of any length as packets, without the final flush packet."""
    view = memoryview(content)
    for start in range(0, len(view), MAX_PACKET_BYTES):
        part = view[start : start + MAX_PACKET_BYTES]
        stream.write(b"%04x" % (len(part) + 4))
        stream.write(part)


def serve(
    source: IO[bytes],
    target: IO[bytes],
    *,
    limit: Callable[[], int],
    warn: Callable[[str, str], None],
) -> None:
    """Answer the requests of git until it closes the stream.

    Args:
        source: the stream of git's requests.
        target: the stream for our answers.
        limit: returns the maximum size of a model to convert; called when needed.
        warn: receives the path of a file, and a warning, such as why the file was not converted.

    Raises:
        PacketError: the client is not git, or the stream is not pkt-line or ends within a request.
    """
    _greet(source, target)
    while True:
        try:
            request = _pairs(read_list(source))
        except EOFError:
            return
        _answer(request, source, target, limit, warn)
        target.flush()


def _greet(source: IO[bytes], target: IO[bytes]) -> None:
    """Negotiate version 2 of the filter protocol, and our capabilities.

    Raises:
        PacketError: the client is not git with version 2 of the protocol, or the stream is not
            pkt-line or ends too early.
    """
    try:
        greeting = [line.rstrip(b"\n") for line in read_list(source)]
        if greeting[:1] != [b"git-filter-client"] or b"version=2" not in greeting:
            raise PacketError("the client is not git with version 2 of the filter protocol")
        write_lines(target, "git-filter-server", "version=2")
        target.flush()
        offered = {line.rstrip(b"\n") for line in read_list(source)}
    except EOFError:
        raise PacketError("the stream ends before git has sent its capabilities") from None
    common = [name for name in CAPABILITIES if f"capability={name}".encode() in offered]
    write_lines(target, *[f"capability={name}" for name in common])
    target.flush()


def _pairs(lines: Iterator[bytes]) -> dict[str, str]:
    """Parse `key=value` lines; paths need not be UTF-8."""
    pairs = [line.rstrip(b"\n").decode("utf-8", "surrogateescape").partition("=") for line in lines]
    return {key: value for key, _, value in pairs}


def _answer(
    request: dict[str, str], source: IO[bytes], target: IO[bytes], limit: Callable[[], int],
    warn: Callable[[str, str], None],
) -> None:  # fmt: skip
    """Read the content of a request, convert it, and send the result; see `serve`."""
    command, name = request.get("command", ""), request.get("pathname", "")
    with tempfile.SpooledTemporaryFile(_IN_MEMORY) as content:
        converted = None
        try:
            _receive(source, content)
            converted = (
                ConvertedFile(None) if is_source(name) else _convert(command, name, content, limit)
            )
            content.seek(0)
        except OSError as error:  # the temporary file cannot be written or read
            warn(name, f"left unchanged: {error.strerror or error}")
        except MemoryError:
            warn(name, "left unchanged: there is not enough memory")
        if converted is None:
            write_lines(target, "status=error")
            return
        for warning in converted.warnings:
            warn(name, warning)
        _send(target, content if converted.data is None else io.BytesIO(converted.data))


def _send(target: IO[bytes], content: IO[bytes]) -> None:
    """Send `status=success` and content, then an error status if the content cannot be read."""
    write_lines(target, "status=success")
    status: tuple[str, ...] = ()  # an empty list confirms the first status
    try:
        for piece in iter(lambda: content.read(_CHUNK), b""):
            write_content(target, piece)
    except OSError:
        status = ("status=error",)
    write_lines(target)  # the end of the content
    write_lines(target, *status)


def _receive(source: IO[bytes], content: IO[bytes]) -> None:
    """Read the content of a request into a file.

    Raises:
        OSError: the content cannot be stored; the request was read to its end nevertheless.
        MemoryError: there is not enough memory; the request was read to its end nevertheless.
        PacketError: the stream ends within the content, or is not pkt-line.
    """
    failure: OSError | MemoryError | None = None
    try:
        for packet in read_list(source):
            if failure is None:
                try:
                    content.write(packet)
                except (OSError, MemoryError) as error:
                    failure = error
    except EOFError:
        raise PacketError("the stream ends before the content of a file") from None
    if failure is not None:
        raise failure


def _convert(
    command: str, name: str, content: IO[bytes], limit: Callable[[], int]
) -> ConvertedFile | None:
    """Convert content with the command `clean` or `smudge`; return None for other commands.

    A file that is too large to clean, and binary content to smudge, are not read into memory.
    """
    size = content.tell()
    content.seek(0)
    if command == "clean":
        max_bytes = limit()
        if (warning := too_large(size, max_bytes)) is not None:
            return ConvertedFile(None, (warning,))
        return clean(content.read(), limit=max_bytes, name=name)
    if command == "smudge":
        head = content.read(HEAD)
        if has_binary_content(head):
            return ConvertedFile(None)
        return smudge(head + content.read(), limit=limit())
    return None  # not one of our capabilities
