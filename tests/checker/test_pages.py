# SPDX-License-Identifier: Apache-2.0
"""Every rule has a page. Its example breaks only this rule; its fixed example breaks no rule."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import onnxtext
from onnxtext import diagnostics
from onnxtext.checker.context.registry import families, rules
from tests.corpus import SHARED

PAGES = Path(diagnostics.__file__).parent / "pages"


def page(code: str) -> str:
    file = PAGES / f"{code}.md"
    assert file.exists(), f"the rule {code} needs the page {file}"
    return file.read_text("utf-8")


def example(code: str, heading: str) -> str:
    found = re.search(rf"^## {heading}\n~~~onnxtxt\n(.*?)^~~~$", page(code), re.M | re.S)
    assert found is not None, f"{code} has no {heading}"
    return found.group(1)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "w.bin").write_bytes(bytes(8))
    return tmp_path


def select(code: str) -> list[str] | None:
    return [code] if rules()[code].level == "lint" else None


@pytest.mark.parametrize("code", rules())
def test_the_example_breaks_the_rule_and_no_other(code: str, directory: Path) -> None:
    found = onnxtext.check(example(code, "Example"), base_dir=directory, select=select(code))
    assert {item.code for item in found} == {code}
    for item in found:
        assert item.span is not None
        assert item.message[0] == "`" or not item.message[0].isupper()
        assert not item.message.endswith(".")


@pytest.mark.parametrize("code", rules())
def test_the_fixed_example_breaks_no_rule(code: str, directory: Path) -> None:
    found = onnxtext.check(example(code, "Fixed"), base_dir=directory, select=select(code))
    assert not found


@pytest.mark.parametrize("code", rules())
def test_the_example_breaks_the_same_rule_as_a_binary(code: str, directory: Path) -> None:
    text = example(code, "Example")
    if code in ("unused-suppression", "backslash-lost"):  # rules for texts only
        assert not onnxtext.check(onnxtext.to_binary(text))
        return
    data = onnxtext.to_binary(text)
    found = onnxtext.check(data, base_dir=directory, select=select(code))
    assert {item.code for item in found} == {code}
    for item in found:
        assert item.path
        assert item.span is None
    assert not onnxtext.check(
        onnxtext.to_binary(example(code, "Fixed")), base_dir=directory, select=select(code)
    )


def test_every_rule_has_a_page() -> None:
    own = {path.stem for path in PAGES.glob("*.md")}
    assert set(rules()) <= own
    for code, rule in rules().items():
        text = page(code)
        assert text.startswith(f"# {code}\nRule: ")
        assert "\nWhy: " in text
        assert " Source: " in text
        assert re.fullmatch("rule: .+", rule.note)  # one line: `.` matches no line break
    for other in own - set(rules()):  # their pages state the error instead
        assert "\nRule: " not in page(other), other


@pytest.mark.data
def test_the_rules_of_the_specification_exist() -> None:
    assert SHARED is not None
    table = (SHARED.parent / "reference" / "ir-rules.md").read_text("utf-8")
    listed: dict[str, str] = {}
    for line in table.splitlines():
        if line.startswith("| ") and not line.startswith("| slug"):
            codes, level, *_ = line[1:].split("|")
            listed |= dict.fromkeys(re.split(r"[,/ ]+", codes.strip()), level.strip())
    assert set(listed) <= set(rules())
    for code, level in listed.items():
        assert level.replace(",", " ").split()[0] == rules()[code].level, code


def test_rules_are_in_one_family_each() -> None:
    codes = [rule.code for family in families() for rule in family.RULES]
    assert len(codes) == len(set(codes))
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", code) for code in codes)
