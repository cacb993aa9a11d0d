# SPDX-License-Identifier: Apache-2.0
"""The manual page has the help of every command, and is well-formed."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys

import click

import onnxtext
from onnxtext.cli.group import VERBS
from onnxtext.cli.manual import commands, manual_page, markdown
from tests.cli.command import run

PAGE = manual_page()


def plain(text: str) -> str:
    """Return the text of a line of the page, as it is shown."""
    for escape, meant in ((r"\-", "-"), (r"\(aq", "'"), (r"\(dq", '"'), (r"\(ha", "^"),
                          (r"\(ti", "~"), (r"\(ga", "`"), (r"\&", ""), (r"\e", "\\")):  # fmt: skip
        text = text.replace(escape, meant)
    return text


def test_the_page_has_every_command_and_option() -> None:
    shown = plain(PAGE)
    paths = [path for _, path in commands()]
    assert paths[0] == "onnxtext"
    assert {f"onnxtext {verb}" for verb in VERBS} | {"onnxtext git install"} <= set(paths)
    assert re.findall(r'^\.SS "(.*)"$', shown, re.MULTILINE) == paths[1:]
    for context, path in commands():
        for parameter in context.command.get_params(context):
            record = parameter.get_help_record(context)
            if isinstance(parameter, click.Option) and record is not None:
                assert f"\n.TP\n.B {record[0]}\n" in shown, (path, record)
    assert f"onnxtext {onnxtext.__version__}" in shown
    assert "--clientProcessId" not in shown  # hidden


def test_lines_begin_with_known_requests_only() -> None:
    """A line of text that begins with a period or an apostrophe would be a request."""
    requests = re.findall(r"^['.](\w*)", PAGE, re.MULTILINE)
    assert set(requests) == {"TH", "nh", "SH", "SS", "B", "PP", "TP", "nf", "fi"}
    assert requests.count("nf") == requests.count("fi") > 10
    assert "\b" not in PAGE
    assert "\n\n" not in PAGE


def test_groff_renders_the_page_without_warnings() -> None:
    formatter = shutil.which("groff")
    if formatter is None:
        return  # the tests above check the structure
    done = subprocess.run(
        [formatter, "-man", "-ww", "-K", "utf8", "-T", "utf8", "-P", "-cbou"],
        input=PAGE.encode(),
        capture_output=True,
        check=True,
    )
    assert done.stderr == b""
    words = done.stdout.decode().split()
    assert "onnxtext from-binary [OPTIONS] [IN]..." in " ".join(words)
    for context, _ in commands():
        # Examples keep their lines.
        for line in re.findall(r"^  (onnxtext .*)$", context.command.epilog or "", re.MULTILINE):
            assert " ".join(line.split()) in " ".join(words)


def test_the_page_of_the_site_has_every_help_text() -> None:
    page = markdown()
    for context, path in commands():
        assert f"# {path}\n\n```text\nUsage: {path} " in page
        context.terminal_width = 80
        assert context.get_help() in page


def test_the_module_prints_the_page() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "onnxtext.cli.manual"], capture_output=True, text=True, check=True
    )
    assert done.stdout == PAGE
    assert (
        run("--help").out.decode().splitlines()[0] == "Usage: onnxtext [OPTIONS] COMMAND [ARGS]..."
    )
