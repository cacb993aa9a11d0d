# SPDX-License-Identifier: Apache-2.0
"""Hooks of mkdocs: add pages from outside of `docs/`, and adapt GitHub's Markdown.

Each page has one source. README, the language reference and the pages about codes are taken from
their places in the repository; the help of the commands and the Python reference are generated.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from pymdownx.slugs import slugify

import onnxtext
from onnxtext.cli.manual import markdown as help_of_commands
from onnxtext.diagnostics.code_pages import documented_codes, page_summary, read_page

ROOT = Path(__file__).resolve().parent.parent
COPIED = {
    "README.md": "index.md",
    "grammar/SPEC.md": "spec.md",
    "examples/README.md": "examples/index.md",
    "vscode-extension/README.md": "extension.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CHANGELOG.md": "changelog.md",
    **{
        f"examples/{path.name}": f"examples/{path.stem}.md"
        for path in sorted((ROOT / "examples").glob("*.onnxtxt"))
    },
}
"""Files of the repository and their pages of the site."""

SOURCES = {page: name for name, page in COPIED.items()}
FENCE = re.compile(r"^( *)(```|~~~)(\w+) [^\n]*$", re.MULTILINE)
LINK = re.compile(r"(!?\[[^\]]*\]\()([^)\s:]+)(\))")
IMAGE = re.compile(r"!\[[^\]]*\]\(([^)\s:]+)\)")
ITEM = re.compile(r"( *)((?:[-*]|\d+\.) +)")


def on_config(config: Any) -> Any:
    """Let headings have the anchors that GitHub gives them."""
    config.mdx_configs["toc"]["slugify"] = slugify(case="lower")
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are not in `docs/`."""
    pages = {page: (ROOT / name).read_text("utf-8") for name, page in COPIED.items()}
    for page, text in pages.items():
        if SOURCES[page].endswith(".onnxtxt"):
            pages[page] = f"# {Path(page).stem}\n\n```onnxtxt\n{text}```\n"
    pages["help.md"] = help_of_commands()
    pages["reference.md"] = python_reference()
    pages["codes/index.md"] = index_of_codes()
    pages |= {f"codes/{code}.md": read_page(code) for code in documented_codes()}
    for page, text in pages.items():
        files.append(File.generated(config, page, content=text))
        for image in IMAGE.findall(text) if page in SOURCES else ():
            path = posixpath.join(posixpath.dirname(SOURCES[page]), image)
            if not path.startswith("docs/"):
                files.append(
                    File.generated(config, f"assets/{path}", abs_src_path=str(ROOT / path))
                )
    return files


def index_of_codes() -> str:
    """Return the page that lists all codes."""
    rows = [f"| [{code}]({code}.md) | {page_summary(code)} |" for code in documented_codes()]
    head = "The codes of findings. `onnxtext explain CODE` prints the same pages."
    return "\n".join(["# Codes", "", head, "", "| code | meaning |", "| --- | --- |", *rows, ""])


def python_reference() -> str:
    """Return the page with the docstrings of everything that the package exports."""
    names = [name for name in onnxtext.__all__ if name not in ("__version__", "ast")]
    parts = [
        "# Python reference",
        "From the docstrings. [The Python package](python.md) is the introduction.",
    ]
    parts += [f"::: onnxtext.{name}" for name in names]
    parts.append("::: onnxtext.ast\n    options:\n      members: true")
    return "\n\n".join(parts) + "\n"


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Adapt a page: links out of `docs/`, words after the language of a fence, nested lists."""
    name = SOURCES.get(page.file.src_uri, f"docs/{page.file.src_uri}")
    parts = re.split(r"(^ *(?:```|~~~).*?^ *(?:```|~~~)$)", markdown, flags=re.M | re.S)
    for number, part in enumerate(parts):
        if number % 2:
            parts[number] = FENCE.sub(r"\1\2\3", part)
        else:
            parts[number] = LINK.sub(lambda match: _link(match, name, page), part)
    return nest("".join(parts))


def _link(match: re.Match[str], name: str, page: Page) -> str:
    """Return a link that works on the site, for one that works in the repository."""
    target, mark, anchor = match[2].partition("#")
    if not target:
        return match[0]
    wanted = posixpath.normpath(posixpath.join(posixpath.dirname(name), target))
    if wanted.startswith("docs/") and not name.startswith("docs/"):
        wanted_page = wanted.removeprefix("docs/")
    elif wanted in COPIED:
        wanted_page = COPIED[wanted]
    elif match[1].startswith("!") and not wanted.startswith("docs/"):
        wanted_page = f"assets/{wanted}"
    elif not wanted.startswith("docs/") and (ROOT / wanted).exists():
        return f"{match[1]}{repository()}/blob/main/{wanted}{mark}{anchor}{match[3]}"
    else:
        return match[0]
    place = posixpath.relpath(wanted_page, posixpath.dirname(page.file.src_uri) or ".")
    return f"{match[1]}{place}{mark}{anchor}{match[3]}"


def repository() -> str:
    """Return the address of the repository."""
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    (address,) = re.findall(r'^Repository = "(.*?)"', text, re.MULTILINE)
    return str(address)


def nest(markdown: str) -> str:
    """Adapt lists to Python-Markdown: four columns a level, blank lines around long items."""
    lines: list[str] = []
    columns, fenced, loose = [0], "", False
    for line in markdown.split("\n"):
        text = line.lstrip(" ")
        indent = len(line) - len(text)
        if text and not fenced:
            while indent < columns[-1]:
                columns.pop()
        depth = len(columns) - 1
        extra = max(0, indent - columns[-1])
        item = None if fenced else ITEM.match(line)
        if item and extra == 0:
            if loose and lines and lines[-1]:
                lines.append("")  # else the item would belong to the paragraph before it
            columns.append(indent + len(item[2]))
        elif depth == 0 and text:
            loose = False
        loose = loose or (not text and depth > 0)
        lines.append(" " * (4 * depth + extra) + text if text else "")
        if text.startswith(("```", "~~~")):
            fenced = "" if fenced else text[:3]
    return "\n".join(lines)
