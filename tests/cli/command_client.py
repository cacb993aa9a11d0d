# SPDX-License-Identifier: Apache-2.0
"""Run a command in a process that `command_server.py` forks, with our streams and environment.

    python -I -S command_client.py ADDRESS ARGUMENT…

ADDRESS is the name of the server's abstract socket. `write_tool` of `command.py` writes a program
`onnxtext` that runs this: for shells, which start commands themselves.
"""

import json
import os
import socket
import sys


def umask() -> int:
    """Return the mask of new files' permissions."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def main(address: str, arguments: list[str]) -> None:
    """Run the command; exit with its status or signal."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    connection.connect(f"\0{address}")
    request = {
        "arguments": arguments,
        "cwd": os.getcwd(),  # noqa: PTH109 - pathlib takes 10 ms to import
        "umask": umask(),
        "environment": dict(os.environ),
    }
    socket.send_fds(connection, [json.dumps(request).encode()], [0, 1, 2])
    connection.recv(100)  # the process id
    code = os.waitstatus_to_exitcode(int(connection.recv(100)))
    if code < 0:
        os.kill(os.getpid(), -code)
    os._exit(code)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
