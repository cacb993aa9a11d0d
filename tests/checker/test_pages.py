# SPDX-License-Identifier: Apache-2.0
"""Every rule has a page; its example breaks only that rule, its fixed example breaks none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import onnxtext
from onnxtext import diagnostics
from onnxtext.checker.context.registry import families, rules
from tests.corpus import SHARED

PAGES = Path(diagnostics.__file__).parent / "pages"


def page(slug: str) -> str:
    return (PAGES / f"{slug}.md").read_text("utf-8")


def example(slug: str, heading: str) -> str:
    found = re.search(rf"^## {heading}\n~~~onnxtxt\n(.*?)^~~~$", page(slug), re.M | re.S)
    assert found is not None, f"{slug} has no {heading}"
    return found.group(1)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "w.bin").write_bytes(bytes(8))
    return tmp_path


def select(slug: str) -> list[str] | None:
    return [slug] if rules()[slug].level == "lint" else None


@pytest.mark.parametrize("slug", rules())
def test_the_example_breaks_the_rule_and_no_other(slug: str, directory: Path) -> None:
    found = onnxtext.check(example(slug, "Example"), base_dir=directory, select=select(slug))
    assert {item.code for item in found} == {slug}
    for item in found:
        assert item.span is not None
        assert item.message[0] == "`" or not item.message[0].isupper()
        assert not item.message.endswith(".")


@pytest.mark.parametrize("slug", rules())
def test_the_fixed_example_breaks_no_rule(slug: str, directory: Path) -> None:
    found = onnxtext.check(example(slug, "Fixed"), base_dir=directory, select=select(slug))
    assert not found


@pytest.mark.parametrize("slug", rules())
def test_the_example_breaks_the_same_rule_as_a_binary(slug: str, directory: Path) -> None:
    text = example(slug, "Example")
    if slug in ("unused-suppression", "backslash-lost"):  # rules for texts only
        assert not onnxtext.check(onnxtext.to_binary(text))
        return
    data = onnxtext.to_binary(text)
    found = onnxtext.check(data, base_dir=directory, select=select(slug))
    assert {item.code for item in found} == {slug}
    for item in found:
        assert item.path
        assert item.span is None
    assert not onnxtext.check(
        onnxtext.to_binary(example(slug, "Fixed")), base_dir=directory, select=select(slug)
    )


def test_every_rule_has_a_page() -> None:
    own = {path.stem for path in PAGES.glob("*.md")}
    assert set(rules()) <= own
    for slug, rule in rules().items():
        text = page(slug)
        assert text.startswith(f"# {slug}\nRule: ")
        assert "\nWhy: " in text
        assert " Source: " in text
        assert rule.title
    for other in own - set(rules()):  # their pages state the error instead
        assert "\nRule: " not in page(other), other


@pytest.mark.data
def test_the_rules_of_the_specification_exist() -> None:
    assert SHARED is not None
    table = (SHARED.parent / "reference" / "ir-rules.md").read_text("utf-8")
    listed: dict[str, str] = {}
    for line in table.splitlines():
        if line.startswith("| ") and not line.startswith("| slug"):
            slugs, level, *_ = line[1:].split("|")
            listed |= dict.fromkeys(re.split(r"[,/ ]+", slugs.strip()), level.strip())
    assert set(listed) <= set(rules())
    for slug, level in listed.items():
        assert level.replace(",", " ").split()[0] == rules()[slug].level, slug


def test_rules_are_in_one_family_each() -> None:
    slugs = [rule.slug for family in families() for rule in family.rules]
    assert len(slugs) == len(set(slugs))
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", slug) for slug in slugs)
