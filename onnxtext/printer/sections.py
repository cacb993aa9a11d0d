# SPDX-License-Identifier: Apache-2.0
"""Print the sections at the end of a model, such as `metadata { … }` (SPEC 13)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter

from onnxtext.ast.compact_form.list_order import ORDERS
from onnxtext.ast.model import Configuration, EncodingPatch, Function, Graph, Model, Training
from onnxtext.ast.section_paths import Named, PathStep, list_parts, walk_model
from onnxtext.ast.visit import list_graphs
from onnxtext.printer.decorators import decorator_lines
from onnxtext.printer.graphs_and_nodes import domain_text
from onnxtext.printer.layout import STEP, WIDTH, bracket_list
from onnxtext.printer.quoting import quote_string, quote_word, string_value, value_name
from onnxtext.printer.records import field_text
from onnxtext.printer.resources import base64_parts
from onnxtext.printer.statement_layout import column
from onnxtext.select_core import core, core_module

Pairs = Sequence[tuple[str, str]]


def section_parts(
    model: Model, graph_text: Callable[[Graph, str, int], str], *, in_full: bool
) -> Iterator[Sequence[str]]:
    """Yield the text of each section except `encoding` and `resources`.

    The text is a sequence of parts to be joined, without a final newline.

    `graph_text` returns the text of a graph, given the indentation of its statement and its start
    column. With `in_full`, repeated values of metadata are printed in full, not as `above`.
    """
    graphs = list_graphs(model)
    metadata: Sequence[str] = ["metadata none"]
    if not model.metadata_left_out:
        metadata = _metadata(model, graphs, in_full=in_full)
    if metadata:
        yield metadata
    quantization = _quantization(model, graphs)
    if quantization:
        yield quantization
    for training in model.training:
        yield (_training(training, graph_text),)
    for configuration in model.configurations:
        yield (_configuration(configuration),)
    if model.has_order:
        listed = [item for item in model.graph.decorators if item.name in ORDERS]
        inner = decorator_lines(listed, STEP)
        yield (f"order {{\n{inner}}}" if listed else "order {}",)


def _metadata(model: Model, graphs: Sequence[Graph | Function], *, in_full: bool) -> Sequence[str]:
    """Return the `metadata` section as parts to be joined; () if it would be empty.

    `graphs` are all graphs and functions of the model; for `in_full`, see `section_parts`.
    """
    if not _in_section(graphs):
        return ()
    # (indentation, block); a `str` is the first or last line of the blocks of a function
    blocks: list[tuple[str, Named | str]] = []
    for function, parts in list_parts(model):
        indent = STEP if function is None else STEP * 2
        with_metadata = [(indent, named) for named in parts if named.item.metadata]
        if function is None:
            blocks += with_metadata
        elif with_metadata:
            blocks.append((STEP, f"function {_function_path(function)} {{"))
            blocks += with_metadata
            blocks.append((STEP, "}"))
    return ("metadata {\n", *blocks_text(blocks, in_full=in_full), "\n}") if blocks else ()


def blocks_text(
    blocks: Sequence[tuple[str, Named | str]], *, in_full: bool = False
) -> Sequence[str]:
    """Return the text of metadata blocks, as parts to be joined.

    `blocks` has (indentation, block) pairs; a block that is a `str` is printed as one line. With
    `in_full`, repeated values are printed in full.
    """
    if core() == "native" and not in_full:
        parts: list[str] = core_module("printer.metadata").metadata_blocks(blocks)
        return parts
    lines: list[str] = []
    entries_above: dict[str, str] = {}  # the entries of the block directly above
    for indent, block in blocks:
        if isinstance(block, str):
            lines.append(indent + block)
        elif block.kind == "function":
            lines += _entries(block.item.metadata, indent, {})
        else:
            path = path_text(block.path)
            lines.append(f"{indent}{block.kind}{' ' if path else ''}{path} {{")
            lines += _entries(block.item.metadata, indent + STEP, entries_above)
            lines.append(indent + "}")
            entries_above = {} if in_full else dict(block.item.metadata)
            continue
        entries_above = {}
    return ("\n".join(lines),)


def _in_section(graphs: Sequence[Graph | Function]) -> bool:
    """Whether any item has metadata for the section; a fast test before computing paths."""
    for graph in graphs:
        if graph.value_metadata or graph.metadata:
            return True
        for items in (graph.nodes, graph.inputs, graph.outputs, graph.values):
            if any(map(attrgetter("metadata"), items)):
                return True
    return False


def path_text(path: Sequence[PathStep]) -> str:
    """Return the text of a path, such as `[label].then_branch.value`."""
    return ".".join(map(_step_text, path))


def _step_text(step: PathStep) -> str:
    if step.is_label:
        return f"[{quote_word(step.name)}]"
    if step.number is None:
        return quote_word(step.name)
    return f"{value_name(step.name)}[{step.number}]"  # `float[1]` would be a type


def _function_path(function: Function) -> str:
    domain = domain_text(function.domain) if function.domain else ""
    overload = f":{quote_word(function.overload)}" if function.overload else ""
    return domain + quote_word(function.name) + overload


def _entries(entries: Pairs, indent: str, entries_above: dict[str, str]) -> list[str]:
    """Return the lines of metadata entries.

    A value of several lines is printed as `above` if the block directly above, whose entries are
    `entries_above`, has the same entry.
    """
    return [
        f"{indent}{quote_word(key)}: above"
        if entries_above.get(key) == value and "\n" in value
        else f"{indent}{quote_word(key)}: {string_value(value, indent)}"
        for key, value in entries
    ]


def _quantization(model: Model, graphs: Sequence[Graph | Function]) -> Sequence[str]:
    """Return the `quantization` section as parts to be joined; () if it would be empty."""
    if not any(isinstance(graph, Graph) and graph.quantization for graph in graphs):
        return ()
    annotated = [
        (named.path, named.item)
        for function, named in walk_model(model)
        if function is None and isinstance(named.item, Graph) and named.item.quantization
    ]
    if not annotated:
        return ()
    return ("quantization {", *annotation_lines(annotated), "\n}")


def annotation_lines(graphs: Sequence[tuple[Sequence[PathStep], Graph]]) -> Sequence[str]:
    """Return the lines of the annotations of graphs, each after a line break, as parts."""
    if core() == "native":
        parts: list[str] = core_module("printer.metadata").annotation_lines(graphs)
        return parts
    lines = []
    for path, graph in graphs:
        for annotation in graph.quantization:
            head = f"\n{STEP}{path_text((*path, PathStep(annotation.tensor_name)))}: "
            lines.append(_pairs(head, annotation.entries))
    return lines


def _pairs(head: str, pairs: Pairs) -> str:
    """Return `head` and a list of `"key": "value"` pairs."""
    items = [f"{quote_string(key)}: {string_value(value, STEP * 2)}" for key, value in pairs]
    return head + bracket_list(items, "[]", STEP, WIDTH - column(head, 0))


def _training(training: Training, graph_text: Callable[[Graph, str, int], str]) -> str:
    lines = []
    for name in ("initialization", "algorithm"):
        graph = getattr(training, name)
        if graph is not None:
            head = f"{STEP}{name}: "
            lines.append(head + graph_text(graph, STEP, len(head)))
    for name in ("initialization_binding", "update_binding"):
        pairs = getattr(training, name)
        if pairs:
            lines.append(_pairs(f"{STEP}{name}: ", pairs))
    return "\n".join(["training {", *lines, "}"])


def _configuration(configuration: Configuration) -> str:
    lines = [STEP + field_text(field, STEP) for field in configuration.record.fields]
    head = f"configuration {quote_string(configuration.name)} {{"
    return "\n".join([head, *lines, "}"]) if lines else head + "}"


def encoding_text(encoding: EncodingPatch) -> str:
    """Return the text of an `encoding` section, without a newline."""
    patch = f'"""\n{"".join(base64_parts(encoding.patch, "    "))}    """'
    return f'encoding {{\n  canonical: "{encoding.canonical}"\n  patch: {patch}\n}}'
