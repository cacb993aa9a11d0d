# SPDX-License-Identifier: Apache-2.0
"""The documentation site: its strict build succeeds, is complete, and can be read from disk."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import onnxtext
from onnxtext.cli.group import VERBS
from onnxtext.diagnostics.code_pages import documented_codes
from tests.corpus import REPOSITORY
from tests.pages import PAGES

pytest.importorskip("mkdocs", reason="the extra `docs` is not installed")

ENVIRONMENT = {**os.environ, "NO_MKDOCS_2_WARNING": "true"}


def mkdocs(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", *words],
        cwd=REPOSITORY,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=True,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The whole site, built strictly: by `.ci/run`, which sets `ONNXTEXT_SITE`, or here."""
    if built := os.environ.get("ONNXTEXT_SITE"):
        return Path(built)
    place = tmp_path_factory.mktemp("site")
    done = mkdocs("--site-dir", place)
    assert (done.stdout, done.stderr) == ("", "")
    return place


@cache
def hooks() -> Any:
    spec = importlib.util.spec_from_file_location("hooks", REPOSITORY / "docs" / "hooks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# ---- The whole site -----------------------------------------------------------------------------


@pytest.mark.thorough
def test_the_site_is_complete(site: Path) -> None:
    result = {path.relative_to(site).as_posix() for path in site.rglob("*.html")}
    pages = {Path(page).stem for page in PAGES if page.startswith("docs/")}
    assert {f"{name}.html" for name in pages} <= result
    assert {page.replace(".md", ".html") for page in hooks().SOURCES} <= result
    assert {f"codes/{code}.html" for code in documented_codes()} <= result
    help_page = (site / "help.html").read_text("utf-8")
    for verb in VERBS:
        assert f'id="onnxtext-{verb}"' in help_page, verb
    reference = (site / "reference.html").read_text("utf-8")
    for name in set(onnxtext.__all__) - {"__version__"}:
        assert f'id="onnxtext.{name}"' in reference, name


@pytest.mark.thorough
def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    for path in site.rglob("*.html"):
        text = path.read_text("utf-8")
        loaded = re.findall(r'<(?:script|img|iframe)[^>]* src="?([^" >]+)', text)
        loaded += re.findall(r'<link[^>]* rel="?(?:stylesheet|icon|preconnect)[^>]*', text)
        assert [each for each in loaded if re.search(r"(?:https?:)?//", each)] == [], path


@pytest.mark.thorough
def test_styles_load_nothing_from_elsewhere(site: Path) -> None:
    """Style sheets and styles in pages load no font, picture or style from other hosts."""
    styles = {path: path.read_text("utf-8") for path in site.rglob("*.css")}
    assert styles
    for path in site.rglob("*.html"):
        styles[path] = "".join(
            re.findall(r"<style[^>]*>(.*?)</style>", path.read_text("utf-8"), re.S)
        )
    for path, text in styles.items():
        loaded = re.findall(r"url\(\s*[\"']?([^)\"']*)", text) + re.findall(r"@import[^;]*", text)
        assert [each for each in loaded if re.match(r"(?:https?:)?//", each)] == [], path


@pytest.mark.thorough
def test_fences_lists_and_tables_are_rendered(site: Path) -> None:
    for path in site.rglob("*.html"):
        text = path.read_text("utf-8")
        article = re.sub(r"<(pre|code).*?</\1>", "", text[text.find("<article") :], flags=re.S)
        assert not re.search(r"```|~~~|^\| |\]\(", article, re.MULTILINE), path
        for paragraph in re.findall(r"<p>.*?</p>", article, re.DOTALL):
            assert not re.search(r"^ *(?:- |\d+\. )", paragraph, re.MULTILINE), (path, paragraph)


@pytest.mark.thorough
def test_the_search_works_from_the_disk(site: Path) -> None:
    browser = shutil.which("chromium")
    if browser is None:
        pytest.skip("there is no chromium")
    words = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=20000"]
    page = f"{(site / 'index.html').as_uri()}?q=softmax"
    done = subprocess.run(
        [browser, *words, "--dump-dom", page],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert re.search(r"\d+ matching documents", done.stdout)


# ---- Its parts ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("[x](missing.md)", "missing.md"),
        ("[x](other.md#missing)", "#missing"),
        ("[x](#missing)", "#missing"),
        ("[x](/other.md)", "/other.md"),
    ],
)
def test_broken_links_fail(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, wrong: str, message: str
) -> None:
    """The settings of the site reject links to missing pages and anchors."""
    from mkdocs.commands.build import build
    from mkdocs.config import load_config
    from mkdocs.exceptions import Abort

    pages = tmp_path / "docs"
    pages.mkdir()
    (pages / "other.md").write_text("# Other\n")
    index = pages / "index.md"
    settings: dict[str, Any] = {
        "docs_dir": str(pages),
        "site_dir": str(tmp_path / "site"),
        "nav": ["index.md", "other.md"],
        "theme": {"name": "mkdocs"},
        "plugins": [],
        "hooks": [],
    }
    for text, fails in (
        ("# Index\n\n[x](other.md#other)\n", False),
        (f"# Index\n\n{wrong}\n", True),
    ):
        index.write_text(text)
        config = load_config(str(REPOSITORY / "mkdocs.yml"), **settings)
        if not fails:
            build(config)
            continue
        with pytest.raises(Abort):
            build(config)
        assert message in caplog.text


def test_links_are_translated() -> None:
    translate = hooks().on_page_markdown
    repository = hooks().repository()

    def page(name: str) -> Any:
        return SimpleNamespace(file=SimpleNamespace(src_uri=name))

    def link(source: str, target: str) -> str:
        (found,) = re.findall(r"\]\((.*)\)", translate(f"[x]({target})", page(source)))
        return str(found)

    assert link("index.md", "docs/git.md#limits") == "git.md#limits"
    assert link("index.md", "grammar/SPEC.md") == "spec.md"
    assert link("spec.md", "onnxtext.lark") == f"{repository}/blob/main/grammar/onnxtext.lark"
    assert link("examples/index.md", "loop.md") == "loop.md"  # missing: the build fails
    assert link("examples/index.md", "collatz.onnxtxt") == "collatz.md"
    assert link("language.md", "../examples/README.md") == "examples/index.md"
    assert link("language.md", "https://example.com/a.md") == "https://example.com/a.md"
    assert link("language.md", "#top") == "#top"
    fenced = "```sh run\n[x](docs/git.md)\n```"
    assert translate(fenced, page("index.md")) == fenced.replace(" run", "")


def test_nested_lists_are_indented_for_python_markdown() -> None:
    text = "- a\n  b\n\n  ```sh\n  c\n    - d\n  ```\n- e\n  1. f\n     g\n\nh\n  i\n"
    result = "- a\n    b\n\n    ```sh\n    c\n      - d\n    ```\n\n- e\n\n    1. f\n        g\n\n"
    result += "h\n  i\n"
    assert hooks().nest(text) == result
