# SPDX-License-Identifier: Apache-2.0
"""Every code has a page. Its example gives only this code; its fixed example gives no code."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

import onnxtext
from onnxtext.diagnostics import OnnxTextError
from onnxtext.diagnostics.code_pages import documented_codes, page_summary, read_page
from onnxtext.source import Source
from onnxtext.syntax.parse import parse_partial
from tests.cli.command import run

PACKAGE = Path(onnxtext.__file__).parent
_SLUG = re.compile(
    r'(?:Diagnostic|CommandError|Diagnosis|SemanticError)\(\s*f?"([a-z0-9]+(?:-[a-z0-9]+)*)"|'
    r'code ?= ?"([a-z0-9-]+)"|(?:"[A-Z]+": |, )"(missing-[a-z]+|un[a-z]+-[a-z]+)"|'
    r'return "([a-z]+-[a-z-]+)", "|^[A-Z]+ = "([a-z]+(?:-[a-z]+)+)"$',
    re.MULTILINE,
)


@cache
def blocks(code: str) -> dict[str, str]:
    found = re.findall(r"^## (\w+)\n~~~onnxtxt\n(.*?)^~~~$", read_page(code), re.M | re.S)
    return dict(found)


def is_syntax(code: str) -> bool:
    """Whether the example on a page has a syntax error."""
    return "Example" in blocks(code) and bool(found_in(blocks(code)["Example"]))


def found_in(text: str) -> list[str]:
    return [item.code for item in parse_partial(Source(text), "model")[1]]


WITH_EXAMPLE = [code for code in documented_codes() if is_syntax(code)]


def used_codes() -> set[str]:
    found: set[str] = set()
    for folder in ("syntax", "wire", "proto", "cli", "tensor", "weights"):
        for path in (PACKAGE / folder).rglob("*.py"):
            for groups in _SLUG.findall(path.read_text("utf-8")):
                found.update(filter(None, groups))
    return found


def test_every_code_in_the_package_has_a_page() -> None:
    used = used_codes()
    assert len(used) > 40
    assert used - set(documented_codes()) == set()


@pytest.mark.parametrize("code", documented_codes())
def test_every_page_has_a_title_a_reason_and_a_summary(code: str) -> None:
    text = read_page(code)
    assert text.startswith(f"# {code}\n")
    assert "\nWhy: " in text
    assert page_summary(code).endswith(".")


def test_many_pages_have_examples() -> None:
    assert len(WITH_EXAMPLE) >= 34


@pytest.mark.parametrize("code", WITH_EXAMPLE)
def test_the_example_gives_only_its_code(code: str) -> None:
    assert found_in(blocks(code)["Example"]) == [code]


@pytest.mark.parametrize("code", WITH_EXAMPLE)
def test_the_fixed_example_is_fine(code: str) -> None:
    assert found_in(blocks(code)["Fixed"]) == []
    assert onnxtext.check(blocks(code)["Fixed"]) == []
    onnxtext.to_binary(blocks(code)["Fixed"])


@pytest.mark.parametrize("code", WITH_EXAMPLE)
def test_a_fix_makes_the_example_parse(code: str) -> None:
    text = blocks(code)["Example"]
    with pytest.raises(OnnxTextError) as caught:
        onnxtext.parse(text)
    (diagnostic,) = caught.value.diagnostics
    if diagnostic.fix is not None:
        assert found_in(diagnostic.fix.apply(text)) == []


def test_explain_prints_the_page() -> None:
    result = run("explain", "missing-comma")
    assert result.status == 0
    assert result.out.decode() == read_page("missing-comma")


def test_explain_lists_all() -> None:
    lines = run("explain", "--list").out.decode().splitlines()
    assert [line.partition(":")[0] for line in lines] == list(documented_codes())


def test_explain_suggests_similar_codes() -> None:
    result = run("explain", "mising-comma")
    assert result.status == 2
    assert "missing-comma" in result.err
    assert run("explain").status == 2
    assert run("explain", "../../api").status == 2
