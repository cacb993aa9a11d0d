# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command import TEXT, binary


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A binary model."""
    path = tmp_path / "m.onnx"
    path.write_bytes(binary())
    return path


@pytest.fixture
def text(tmp_path: Path) -> Path:
    """The same model as a text, in a directory of its own."""
    path = tmp_path / "texts" / "m.onnxtxt"
    path.parent.mkdir()
    path.write_text(TEXT)
    return path
