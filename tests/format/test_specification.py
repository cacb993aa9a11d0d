# SPDX-License-Identifier: Apache-2.0
"""The formatter knows every construct of the specification."""

from __future__ import annotations

import pytest

from tests.format.laws import assert_format_laws
from tests.test_spec import RIGHT, Block, name_of

MODELS = [block for block in RIGHT if block.kind == "model"]


@pytest.mark.parametrize("block", MODELS, ids=name_of)
def test_models_of_the_specification_keep_the_laws(block: Block) -> None:
    assert_format_laws(block.text)
