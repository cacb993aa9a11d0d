# SPDX-License-Identifier: Apache-2.0
from collections.abc import Sequence

from onnxtext.ast.model import Graph
from onnxtext.ast.section_paths import Named, PathStep

def metadata_blocks(blocks: Sequence[tuple[str, Named | str]]) -> list[str]: ...
def annotation_lines(graphs: Sequence[tuple[Sequence[PathStep], Graph]]) -> list[str]: ...
