# SPDX-License-Identifier: Apache-2.0
"""Define the peers to measure. Each module converts with one peer, and imports no other."""

from __future__ import annotations

from dataclasses import dataclass

REFERENCE = "onnx"
"""The reference: the official printer and parser."""


@dataclass(frozen=True, slots=True)
class Peer:
    """A converter, or another way to run one.

    Attributes:
        name: its name in options and results.
        module: the module that converts; None for our command line.
        reads: the name of the peer whose text it parses.
        prints: whether its conversion to text is measured, too.
        of_many: whether it is measured only on workloads of many models.
    """

    name: str
    module: str | None
    reads: str
    prints: bool = True
    of_many: bool = False


PEERS = (
    Peer(REFERENCE, "official", REFERENCE),
    Peer("onnxtext", "ours", "onnxtext"),
    Peer("onnxtext (official text)", "ours", REFERENCE, prints=False),
    Peer("onnxtext (CLI)", None, "onnxtext", of_many=True),
    Peer("protobuf-text", "protobuf_text", "protobuf-text"),
    Peer("protobuf-json", "protobuf_json", "protobuf-json"),
)


def named(name: str) -> Peer:
    """Return a peer by name."""
    return next(peer for peer in PEERS if peer.name == name)
