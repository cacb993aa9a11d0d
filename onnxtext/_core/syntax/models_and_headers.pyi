# SPDX-License-Identifier: Apache-2.0
from typing import Any

from onnxtext.ast.model import Function, Graph, Model, OpsetImport
from onnxtext.syntax.actions.headers import Header

def header(entries: list[tuple[int, str, Any]]) -> Header: ...
def header_numbers(token: str) -> list[OpsetImport]: ...
def model(
    decorators: list[Any] | None,
    head: Header | None,
    graph: Graph,
    functions: list[Function],
    sections: list[tuple[str, Any]] | None,
) -> Model: ...
def function(
    at: int,
    decorators: list[Any] | None,
    head: Header | None,
    name: str,
    parameters: list[Any] | None,
    inputs: list[Any],
    outputs: list[Any],
    values: list[Any] | None,
    nodes: list[Any],
) -> Function: ...
