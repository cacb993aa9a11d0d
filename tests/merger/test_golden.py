# SPDX-License-Identifier: Apache-2.0
"""Every rule of the merge, by example. A file has the three versions and the result.

Run `python3 dev.py bless tests/merger` to rewrite the results; read the difference before you
commit it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from onnxtext.merger import merge
from tests.merger.laws import merged

FILES = sorted((Path(__file__).parent / "golden").glob("*.txt"))
_PART = re.compile(r"^--- (base|ours|theirs|merged.*)\n", re.MULTILINE)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_each_merge_equals_its_golden_result(file: Path) -> None:
    content = file.read_text(encoding="utf-8")
    about, *parts = _PART.split(content)
    base, ours, theirs = parts[1], parts[3], parts[5]
    if "(no valid text)" in about or not base:
        result = merge(base.encode(), ours.encode(), theirs.encode())
    else:
        result = merged(base, ours, theirs)
    notes = "".join([f"# note: {note}\n" for note in result.notes])
    found = f"--- merged, {result.conflicts} conflicts\n{notes}{result.content.decode()}"
    before = content[: content.index("--- merged")] if "--- merged" in content else content
    if os.environ.get("ONNXTEXT_BLESS"):
        file.write_text(before + found, encoding="utf-8")
        content = before + found
    assert content == before + found


def test_golden_files_exist() -> None:
    assert len(FILES) > 15
