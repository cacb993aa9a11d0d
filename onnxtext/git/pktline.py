# SPDX-License-Identifier: Apache-2.0
"""Read and write git's pkt-line format: packets of up to 65,516 bytes with a length prefix.

Source: gitprotocol-common(5), "pkt-line Format".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import IO

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


def write_flush(stream: IO[bytes]) -> None:
    """Write a flush packet."""
    stream.write(_FLUSH)
