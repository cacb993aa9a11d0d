# SPDX-License-Identifier: Apache-2.0
"""Read the pages of documentation and their fenced blocks."""

from __future__ import annotations

import re

import onnxtext
from onnxtext.ast import Fragment
from onnxtext.printer import print_fragment, print_model
from onnxtext.source import Source
from onnxtext.syntax.parse import parse_fragment
from tests.corpus import REPOSITORY

VERSION = "<onnxtext: 1>\n"
PAGES = tuple(
    sorted(
        path.relative_to(REPOSITORY).as_posix()
        for pattern in ("*.md", "docs/*.md", "grammar/*.md", "examples/*.md", "benchmarks/*.md")
        for path in REPOSITORY.glob(pattern)
    )
)


def read(page: str) -> str:
    """Return the text of a page, or of another file."""
    return (REPOSITORY / page).read_text(encoding="utf-8")


def prose(page: str) -> str:
    """Return the text of a page without its fenced blocks."""
    return re.sub(r"^ *```.*?^ *```$", "", read(page), flags=re.MULTILINE | re.DOTALL)


def blocks(page: str, info: str) -> list[str]:
    """Return the fenced blocks of a page with exactly this info string."""
    found = re.findall(
        rf"^( *)```{re.escape(info)}\n(.*?)^ *```$", read(page), re.DOTALL | re.MULTILINE
    )
    return [re.sub(rf"^{indent}", "", text, flags=re.MULTILINE) for indent, text in found]


def infos(page: str) -> list[str]:
    """Return the info strings of the fenced blocks of a page, in order."""
    return re.findall(r"^ *```(\S.*)$", read(page), re.MULTILINE)


def snippets(page: str) -> dict[str, tuple[str, str]]:
    """Return the onnxtext blocks of a page by name: kind and text."""
    found = re.findall(r"^```onnxtxt (\w+) (\w+)\n(.*?)^```$", read(page), re.DOTALL | re.MULTILINE)
    return {name: (kind, text) for kind, name, text in found}


def fragment(text: str, kind: str) -> Fragment:
    """Return the AST of a snippet that is not a whole model."""
    return parse_fragment(Source(VERSION + text, "page.md"), kind)


def canonical(text: str, kind: str) -> str:
    """Return a snippet as the printer prints it."""
    if kind == "model":
        return print_model(onnxtext.parse(text))
    printed = print_fragment(fragment(text, kind)).removeprefix(VERSION)
    if kind != "nodes":
        return printed
    lines = printed.splitlines()
    assert (lines[0], lines[-1]) == ("{", "}")
    return "".join(f"{line.removeprefix('  ')}\n" for line in lines[1:-1])


def table(page: str, start: str) -> list[list[str]]:
    """Return the rows of the first table whose first heading is `start`."""
    (rows,) = re.findall(rf"^\| {start} \|.*\n((?:^\|.*\n)+)", read(page), re.MULTILINE)
    return [row.strip("| ").split(" | ") for row in rows.splitlines()[1:]]
