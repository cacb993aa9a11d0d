# SPDX-License-Identifier: Apache-2.0
from collections.abc import Sequence

from onnxtext.ast.section_paths import Named

def metadata_blocks(blocks: Sequence[tuple[str, Named | str]]) -> list[str]: ...
