# SPDX-License-Identifier: Apache-2.0
from onnxtext.ast.model import Node, ValueInfo
from onnxtext.ast.paths import Named, Step

def described_values(
    lists: tuple[tuple[str, list[ValueInfo]], ...], prefix: tuple[Step, ...], tied: bool
) -> list[Named]: ...
def described_nodes(nodes: list[Node], prefix: tuple[Step, ...], tied: bool) -> list[Named]: ...
