# SPDX-License-Identifier: Apache-2.0
from onnxtext.ast.model import Function, Graph
from onnxtext.ast.section_paths import Named, PathStep

def described_parts(
    owner: Graph | Function, prefix: tuple[PathStep, ...], tied: bool, to_place: bool
) -> list[Named]: ...
def has_metadata(graphs: list[Graph | Function]) -> bool: ...
