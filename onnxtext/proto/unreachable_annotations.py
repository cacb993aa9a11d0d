# SPDX-License-Identifier: Apache-2.0
"""Convert quantization annotations to `@set` if no `quantization` section can name their graph."""

from __future__ import annotations

from collections.abc import Iterable

from onnxtext.ast.byte_strings import to_bytes
from onnxtext.ast.model import Annotation, Fragment, Function, Graph, Model
from onnxtext.ast.records import Decorator, Field, Record
from onnxtext.ast.section_paths import walk_model


def settle_annotations(root: Model | Fragment, graphs: Iterable[Graph | Function]) -> None:
    """Replace the quantization annotations of a graph by `@set` if no section can name the graph.

    A `quantization` section names a graph by its path in the model. It cannot name graphs in
    functions or fragments, or graphs whose path is ambiguous.

    Args:
        root: a model or fragment that was just decoded; changed in place.
        graphs: all graphs and functions in `root`.
    """
    annotated = [graph for graph in graphs if isinstance(graph, Graph) and graph.quantization]
    if not annotated:
        return
    bound: set[int] = set()
    if isinstance(root, Model):
        bound = {
            id(named.item)
            for function, named in walk_model(root)
            if function is None and named.kind == "graph" and named.tied
        }
    for graph in annotated:
        if id(graph) not in bound:
            records = tuple([_record(annotation) for annotation in graph.quantization])
            field = Field("quantization_annotation", records)
            # Put `@set` first, so that residual decorators override it.
            graph.decorators = (Decorator("set", (field,)), *graph.decorators)
            graph.quantization = []


def _record(annotation: Annotation) -> Record:
    entries = tuple(
        [
            Record((Field("key", to_bytes(key)), Field("value", to_bytes(value))))
            for key, value in annotation.entries
        ]
    )
    fields = [Field("tensor_name", to_bytes(annotation.tensor_name))]
    if entries:
        fields.append(Field("quant_parameter_tensor_names", entries))
    return Record(tuple(fields))
