# SPDX-License-Identifier: Apache-2.0
"""Who is measured. Each module converts with one of them, and imports nothing of the others."""

from __future__ import annotations

from dataclasses import dataclass

REFERENCE = "onnx"
"""The official printer and parser, to which all others are compared."""


@dataclass(frozen=True, slots=True)
class Peer:
    """One who converts, or another way to have one convert.

    Attributes:
        name: how it is called in options and results.
        module: the module that converts; None for our command line.
        reads: the peer whose text it parses.
        prints: whether it is also measured when printing.
        of_many: whether it is measured on workloads of many models only.
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
    """The peer of that name."""
    return next(peer for peer in PEERS if peer.name == name)
