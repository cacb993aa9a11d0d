# SPDX-License-Identifier: Apache-2.0
from collections.abc import Callable
from typing import Any

from onnxtext.ast.section_paths import PathStep
from onnxtext.syntax.actions.metadata_section import AboveItem, MetadataBlock, MetadataItem

def plain_step(name: str) -> PathStep: ...
def label_step(label: str) -> PathStep: ...
def metadata_block(
    kind: str,
    path: list[PathStep] | None,
    overload: str | None,
    items: list[MetadataItem | AboveItem | MetadataBlock],
) -> MetadataBlock: ...
def metadata_section(
    word: str, items: list[MetadataItem | AboveItem | MetadataBlock]
) -> tuple[str, list[MetadataBlock]]: ...
def bind_blocks(blocks: list[Any], names: Any, bind: Callable[[Any], None]) -> None: ...
