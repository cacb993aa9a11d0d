# SPDX-License-Identifier: Apache-2.0
"""Complete names of values and labels of nodes, read from the FILE on the command line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click

_LARGEST = 32 << 20
"""Maximum size in bytes of a file to read names from: completion must be fast."""
_MOST = 1000
_PLAIN = re.compile(r"[\w/.][\w/.:+@%,-]*", re.ASCII)
"""Names without special characters of shells; only these names are completed."""


def complete_value(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[str]:
    """Return names of values, and labels, that begin with `incomplete`, in the order of the model.

    At most `_MOST` names are returned, none with special characters of shells. Return [] if the
    model cannot be read or is larger than `_LARGEST`.
    """
    holder: click.Context | None = context
    while holder is not None and not holder.params.get("file"):
        holder = holder.parent
    if holder is None:
        return []
    try:
        names = dict.fromkeys(_names(Path(str(holder.params["file"])).expanduser()))
    except (OSError, ValueError, RuntimeError):  # a file that is not a model has no values
        return []
    fitting = [name for name in names if name.startswith(incomplete) and _PLAIN.fullmatch(name)]
    return fitting[:_MOST]


def _names(path: Path) -> Iterator[str]:
    from onnxtext.ast.model import Fragment, Model
    from onnxtext.ast.visit import walk_graphs
    from onnxtext.checker.engine.partial_parse import read_partial
    from onnxtext.io.memory import paused_collector
    from onnxtext.io.text_or_binary import decode_text, is_binary
    from onnxtext.proto.decode.lift import lift_model
    from onnxtext.source import Source

    if not path.is_file() or path.stat().st_size > _LARGEST:
        return
    data = path.read_bytes()
    with paused_collector():
        root: Model | Fragment | None
        if is_binary(data, path.name):
            root = lift_model(data)
        else:
            root, _ = read_partial(Source(decode_text(data, path.name), path.name))
    for graph in () if root is None else walk_graphs(root):
        for value in (*graph.inputs, *graph.values):
            yield value.name
        for node in graph.nodes:
            yield from node.outputs
            if node.name:
                yield node.name
