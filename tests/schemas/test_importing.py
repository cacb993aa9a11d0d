# SPDX-License-Identifier: Apache-2.0
"""Packages whose schemas cannot be imported: the message and its help."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from onnxtext.schemas.importing import SchemaImportError, import_schemas


def test_a_name_with_a_null_character_is_an_error() -> None:
    with pytest.raises(SchemaImportError) as found:
        import_schemas("a\0b")
    assert found.value.help == "check the name of the package"


def test_a_python_that_cannot_be_run_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = str(tmp_path / "python")
    monkeypatch.setattr(sys, "executable", python)
    with pytest.raises(SchemaImportError, match="cannot start a Python process") as found:
        import_schemas("onnxruntime")
    assert found.value.help == f"check that {python} can be run"
