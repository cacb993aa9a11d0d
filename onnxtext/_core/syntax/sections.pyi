# SPDX-License-Identifier: Apache-2.0
from collections.abc import Callable
from typing import Any

from onnxtext.ast.section_paths import PathStep
from onnxtext.syntax.actions.sections import MetadataBlock, MetadataItem, RepeatedItem

def plain_step(name: str) -> PathStep: ...
def label_step(label: str) -> PathStep: ...
def metadata_block(
    kind: str,
    path: list[PathStep] | None,
    overload: str | None,
    items: list[MetadataItem | RepeatedItem | MetadataBlock],
) -> MetadataBlock: ...
def metadata_section(
    word: str, items: list[MetadataItem | RepeatedItem | MetadataBlock]
) -> tuple[str, list[MetadataBlock]]: ...
def bind_blocks(blocks: list[Any], names: Any, bind: Callable[[Any], None]) -> None: ...
