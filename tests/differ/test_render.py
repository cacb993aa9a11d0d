# SPDX-License-Identifier: Apache-2.0
"""Rendered diffs of `golden/old.onnxtxt` and `golden/new.onnxtxt` in all formats.

Run `python3 dev.py bless tests/differ/test_render.py` to rewrite the golden files; read the
difference before you commit it.
"""

from __future__ import annotations

import json as json_module
import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from onnxtext.ast import Node
from onnxtext.differ import EncodingChange, ModelDiff, ModelSide, compare
from onnxtext.differ.render import json, markdown, stat, text
from tests.differ.graphs import chain, diff, model

GOLDEN = Path(__file__).parent / "golden"
FORMS: dict[str, Callable[[ModelDiff], str]] = {
    "text.diff": text.render,
    "color.diff": lambda made: text.render(made, color=True),
    "json.json": json.render,
    "stat.txt": stat.render,
    "markdown.md": markdown.render,
}


@pytest.fixture(scope="module")
def example() -> ModelDiff:
    sides = [
        ModelSide.of_text((GOLDEN / name).read_text(encoding="utf-8"), label=name)
        for name in ("old.onnxtxt", "new.onnxtxt")
    ]
    return compare(*sides)


@pytest.mark.parametrize("name", FORMS)
def test_each_format_equals_its_golden_file(name: str, example: ModelDiff) -> None:
    shown = FORMS[name](example)
    golden = GOLDEN / name
    if os.environ.get("ONNXTEXT_BLESS"):
        golden.write_text(shown, encoding="utf-8")
    assert shown == golden.read_text(encoding="utf-8")


def test_equal_models_have_empty_output() -> None:
    same = diff(model(chain(3)), model(chain(3)))
    assert text.render(same) == ""
    assert stat.render(same) == ""
    assert json_module.loads(json.render(same))["verdict"] == "same"
    assert "The models are the same." in markdown.render(same)


def test_color_only_adds_escapes(example: ModelDiff) -> None:
    colored = text.render(example, color=True)
    assert re.sub("\x1b\\[[0-9;]*m", "", colored) == text.render(example)


def test_control_characters_are_escaped(example: ModelDiff) -> None:
    assert all(line.isprintable() for line in text.render(example).split("\n"))
    hostile = replace(example, old_label="a\x1b[2J\nb", notes=("\x07\u202e",))
    assert all(line.isprintable() for line in text.render(hostile).split("\n"))


def test_markdown_is_fenced() -> None:
    old = model([Node("Relu", ("x",), ("y",))])
    new = model([Node("```\n@all <script> | `", ("x",), ("y",))])
    result = replace(diff(old, new), new_label="``x`` | <b>\n# no title")
    shown = markdown.render(result)
    lines = shown.split("\n")
    fences = [index for index, line in enumerate(lines) if line.startswith("````")]
    assert len(fences) == 2
    outside = [*lines[: fences[0]], *lines[fences[1] + 1 :]]
    assert not any("script" in line or "@all" in line for line in outside)
    assert not any(line.startswith("# no title") for line in lines)


def test_markdown_fits_into_a_comment() -> None:
    nodes = [Node("Relu", ("x",), (f"a{i}",)) for i in range(5000)]
    result = diff(model([]), model(nodes))
    assert len(markdown.render(result)) < 1000  # grouped
    shown = markdown.render(result, every=True)
    assert len(shown) < 65_536
    assert "hunks left out, because the comment would be too long" in shown


def test_markdown_leaves_out_only_hunks_that_do_not_fit() -> None:
    nodes = [Node("Relu", ("x",), (name,)) for name in ("a" * markdown.MAX_CHARACTERS, "small")]
    shown = markdown.render(diff(model([]), model(nodes)), every=True)
    assert "small" in shown
    assert "1 hunk left out, because the comment would be too long" in shown


def test_many_renames_are_cut_short_in_text_only() -> None:
    result = diff(model(chain(200)), model(chain(200, "w")))
    assert text.render(result).count("\n") < 40
    assert "179 more; --all shows them" in text.render(result)
    assert text.render(result, every=True).count("\n~value") == 199
    assert len(json_module.loads(json.render(result))["renames"]) == 199


def test_infinities_are_json() -> None:
    tensor = "g () => () <float[1] w = [{}]> {{}}"
    sides = [ModelSide.of_text("<onnxtext: 1>\n" + tensor.format(n)) for n in ("0", "inf")]
    (item,) = json_module.loads(json.render(compare(*sides)))["items"]
    assert item["fields"][0]["weights"]["max_abs"] == "inf"


def test_notes_and_encoding_differences_are_shown(example: ModelDiff) -> None:
    """The golden files have neither."""
    stored = (EncodingChange("opset_import.domain", "not stored", "stored empty", 1, ""),)
    shown = text.render(replace(example, notes=("short has no weights",), stored=stored))
    assert "@@ not compared @@\n#short has no weights\n" in shown
    assert "opset_import.domain: not stored → stored empty (1 ×)\n" in shown


def test_an_item_that_moved_to_the_same_position_has_a_remark() -> None:
    """Two attributes change places; one of them and the one between them count as moved."""
    old, new = [
        ModelSide.of_text(f"g () => () {{ y = A <{names}> () }}")
        for names in ("a = 1, b = 1, c = 1, d = 1", "a = 1, d = 1, c = 1, b = 1")
    ]
    same = '-  attribute["c"]: at position 2\n+  attribute["c"]: at position 2\n'
    assert f"{same}#  its position relative to other items has changed\n" in str(compare(old, new))
