# SPDX-License-Identifier: Apache-2.0
"""`onnxtext lsp`: run the language server for editors."""

from __future__ import annotations

import gc
import signal

import click

from onnxtext.cli.options import Integer
from onnxtext.cli.streams import stdin_buffer, stdout_buffer

EXAMPLES = """\b
Examples:
  onnxtext lsp                   serve standard input and output
  onnxtext lsp --tcp 2087        wait for one editor on 127.0.0.1:2087

\b
Exit status:
  0  the editor ended the session
  1  the editor sent `exit` without `shutdown`
  2  could not run: wrong usage, or the extra `lsp` is not installed
     (in a clone: pip install -e '.[lsp]')"""


@click.command("lsp", epilog=EXAMPLES)
@click.option("--stdio", is_flag=True, help="Use standard input and output. [default]")
@click.option(
    "--tcp",
    type=Integer(1, 65535),
    metavar="PORT",
    help="Listen on this port of 127.0.0.1 instead.",
)
@click.option(
    "--clientProcessId",
    "client_process",
    type=int,
    hidden=True,
    help="Ignored; some editors pass it.",
)
def command(stdio: bool, tcp: int | None, client_process: int | None) -> int:
    """Run the language server for editors (Language Server Protocol).

    It offers diagnostics, hover, completion, navigation, renaming, formatting and more for
    .onnxtxt files.
    """
    if stdio and tcp is not None:
        raise click.UsageError("--stdio and --tcp cannot be combined.")
    try:
        from onnxtext.lsp.server.server import create_server
    except ModuleNotFoundError as error:
        if error.name is not None and error.name.partition(".")[0] in ("pygls", "lsprotocol"):
            raise click.UsageError(
                "The language server needs the extra `lsp`: in a clone, pip install -e '.[lsp]'."
            ) from None
        raise
    if tcp is None:  # fail early if a stream is closed
        stdin_buffer()
        stdout_buffer()
    # The tree of a long text has hundreds of thousands of objects. Let the garbage collector run
    # rarely: reference counting frees these objects when the text changes.
    gc.set_threshold(1_000_000, 10, 20)
    # `main` lets SIGPIPE end the process. The server must ignore it: if the checking process dies,
    # writing to its pipe fails, and the server starts a new checking process.
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    server = create_server()
    try:
        if tcp is not None:
            server.start_tcp("127.0.0.1", tcp)
        else:
            server.start_io()
    finally:
        server.checker.close()
    return server.status
