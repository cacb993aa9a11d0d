# SPDX-License-Identifier: Apache-2.0
"""Section binding: store each section entry in the item (node, value …) that it names (SPEC 13)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from functools import cached_property, partial
from itertools import chain, islice
from typing import Any

from onnxtext.ast.byte_strings import to_bytes
from onnxtext.ast.compact_form.list_order import order_first
from onnxtext.ast.model import Annotation, Function, Graph, Model, Node, ValueInfo
from onnxtext.ast.records import Decorator, Field
from onnxtext.ast.section_paths import PathStep, first_output, function_key, generated_values
from onnxtext.diagnostics import Subject
from onnxtext.select_core import core, core_module
from onnxtext.syntax.actions.metadata_section import AboveItem, MetadataBlock, MetadataItem, Pairs
from onnxtext.syntax.actions.sections import Sections
from onnxtext.syntax.actions.semantic_error import SemanticError
from onnxtext.syntax.grammar.lexer import Token

DANGLING = "metadata-dangling"
"""The diagnostic code for an entry whose path matches no item."""
_MAX_ERRORS = 500
"""Maximum number of errors while metadata is attached.

It is high because `recovery` later removes the errors that other errors cause.
"""


class _Names:
    """Indexes of the nodes and values of a graph or function; the first of equal names wins."""

    def __init__(self, owner: Graph | Function) -> None:
        self.owner = owner

    @cached_property
    def nodes(self) -> dict[str, Node]:
        """The nodes by the name of the first output (see `first_output`)."""
        return {first_output(node): node for node in reversed(self.owner.nodes)}

    @cached_property
    def labels(self) -> dict[str, Node]:
        """The nodes with a label, by label."""
        return {node.name: node for node in reversed(self.owner.nodes) if node.name}

    @cached_property
    def outputs(self) -> dict[str, ValueInfo]:
        """The outputs by name."""
        return {value.name: value for value in reversed(self.owner.outputs)}

    @cached_property
    def declared(self) -> dict[str, ValueInfo]:
        """The value infos without data in the `<…>` list, by name."""
        values = reversed(self.owner.values)
        return {value.name: value for value in values if value.data is None}

    @cached_property
    def values(self) -> dict[str, ValueInfo]:
        """The values by name; inputs take precedence over outputs, outputs over `declared`."""
        inputs = {value.name: value for value in reversed(self.owner.inputs)}
        return {**self.declared, **self.outputs, **inputs}

    @cached_property
    def tensors(self) -> dict[str, ValueInfo]:
        """The initializers in the `<…>` list, by name."""
        values = reversed(self.owner.values)
        return {value.name: value for value in values if value.data is not None}

    @cached_property
    def generated(self) -> AbstractSet[str]:
        """The names of `value_info` entries without a statement of their own."""
        return generated_values(self.owner)


def attach_sections(model: Model, sections: Sections) -> None:
    """Store the sections in a model; store metadata and quantization in the items that they name.

    Raises:
        SemanticError: a path is invalid or matches no item. The `partial_value` of the error is
            the model with the entries whose paths match.
    """
    model.training = sections.training
    model.configurations = sections.configurations
    model.encoding = sections.encoding
    model.resources = sections.resources.blobs
    model.places = sections.resources.places
    model.resources_left_out = sections.resources.left_out
    if sections.order is not None:
        model.has_order = True
        model.graph.decorators = order_first([*sections.order, *model.graph.decorators])
    binding = SectionBinding()
    model.metadata_left_out = sections.metadata is True
    if isinstance(sections.metadata, list) and sections.metadata:
        binding.attach_all(model.graph, sections.metadata, partial(binding.attach_any, model))
    for offset, path, pairs in sections.quantization:
        binding.annotate(model.graph, offset, path, pairs)
    if binding.semantic_errors:
        first, *others = binding.semantic_errors
        first.partial_value, first.others = model, tuple(others)
        raise first


class SectionBinding:
    """Binds the sections of one model; builds indexes of names on demand.

    Attributes:
        semantic_errors: the first `_MAX_ERRORS` errors for paths that are invalid or match no item.
    """

    def __init__(self) -> None:
        self.semantic_errors: list[SemanticError] = []
        self._compared = 0
        self._names: dict[int, _Names] = {}
        self._functions: dict[tuple[str, str, str], Function] | None = None

    def _of(self, owner: Graph | Function) -> _Names:
        names = self._names.get(id(owner))
        if names is None:
            names = self._names[id(owner)] = _Names(owner)
        return names

    def attach_all(
        self, owner: Graph | Function, blocks: list[Any], attach: Callable[[Any], None]
    ) -> None:
        """Bind the metadata blocks of a model, or the blocks inside the block of a function.

        `owner` is the main graph or the function. For a function, `blocks` also has the entries of
        the function itself; they are ignored. `attach` binds one block; the native core uses it
        only for some blocks, such as blocks of functions and of graphs in lists.
        """
        if core() == "native":
            core_module("syntax.metadata_section").bind_blocks(blocks, self._of, owner, attach)
            return
        for block in blocks:
            attach(block)

    def attach_any(self, model: Model, block: MetadataBlock) -> None:
        """Bind a metadata block of a model; add any error to `semantic_errors`."""
        try:
            if block.kind == "function":
                self._attach_function(model, block)
            else:
                self._attach(model.graph, block)
        except SemanticError as error:
            self._collect(error)

    def annotate(
        self, graph: Graph, offset: int, path: tuple[PathStep, ...], entries: Pairs
    ) -> None:
        """Bind a quantization annotation; add any error to `semantic_errors`."""
        if len(path) > 1:
            try:
                owner = self._graph_at(graph, path[:-1], Token("", offset))
            except SemanticError as error:
                self._collect(error)
                return
            assert isinstance(owner, Graph)
            graph = owner
        graph.quantization.append(Annotation(path[-1].name, entries))

    def _collect(self, error: SemanticError) -> None:
        if len(self.semantic_errors) < _MAX_ERRORS:
            self.semantic_errors.append(error)

    def _attach_function(self, model: Model, block: MetadataBlock) -> None:
        if self._functions is None:
            self._functions = {function_key(f): f for f in reversed(model.functions)}
        names = [step.name for step in block.path]
        key = (".".join(names[:-1]), names[-1], block.overload or "")
        function = self._functions.get(key)
        if function is None:
            raise self._unknown_function(key, block.kind, len(names) - 1)
        function.metadata = block.entries()
        self.attach_all(function, block.items, partial(self._attach_inside, function))

    def _unknown_function(self, key: tuple[str, str, str], token: str, step: int) -> SemanticError:
        """Return the error for the path of a function that does not exist, with a suggestion.

        `key` is the domain, name and overload in the path. The error marks `token`; `step` is the
        index of the name in the path.
        """
        domain, name, overload = key
        functions = self._functions or {}
        candidates = (other[1] for other in functions if other[::2] == key[::2])
        error = self._dangling("function", name, candidates, token, step)
        path = f"{domain}.{name}" if domain else name
        shown = f"{path}:{overload}" if overload else path
        error.message = f"there is no function `{shown}`"
        error.subject = Subject("function", shown)
        for other in functions:
            written = _written(other[2]) if other[2] else ""
            if other[:2] == key[:2] and written is not None:
                error.instead = None
                error.help = f"write `{path}:{written}`" if written else f"write `{path}`"
                break
        return error

    def _attach_inside(
        self, function: Function, item: MetadataItem | AboveItem | MetadataBlock
    ) -> None:
        if isinstance(item, MetadataBlock):
            try:
                if item.kind == "function":
                    raise SemanticError("a function cannot contain a function", token=item.kind)
                self._attach(function, item)
            except SemanticError as error:
                self._collect(error)

    def _attach(self, root: Graph | Function, block: MetadataBlock) -> None:
        """Store the entries of a metadata block in the item that its path from `root` names."""
        path = block.path
        entries = block.entries()
        if block.kind == "graph":
            self._graph_at(root, path, block.kind).metadata = entries
            return
        owner = self._graph_at(root, path[:-1], block.kind)
        name = path[-1].name
        if block.kind == "node":
            self._node(owner, path[-1], block.kind, len(path) - 1).metadata = entries
        elif path[-1].is_label:
            raise SemanticError(
                "only a node can be named by its label",
                token=block.kind,
                help="write the name without brackets",
            )
        elif block.kind == "tensor":
            self._attach_tensor(owner, name, block)
        else:
            self._attach_value(owner, name, block)

    def _graph_at(
        self, root: Graph | Function, path: tuple[PathStep, ...], token: str
    ) -> Graph | Function:
        """Return the graph at the end of a path such as `node.attribute.node.attribute`.

        The path begins at `root`, which an empty path names. Errors are reported at `token`.

        Raises:
            SemanticError: the path leads to no graph.
        """
        if len(path) % 2:
            raise SemanticError(
                "the path of a graph must alternate between a node and one of its attributes",
                token=token,
                help="write the path as NODE.ATTRIBUTE, such as `y.then_branch`",
            )
        for index in range(0, len(path), 2):
            node_step, step = path[index : index + 2]
            node = self._node(root, node_step, token, index)
            for attribute in node.attributes:
                if attribute.name == step.name:
                    value: Any = attribute.value
                    if step.number is not None and isinstance(value, tuple):
                        value = value[step.number] if step.number < len(value) else None
                    if isinstance(value, Graph):
                        root = value
                        break
            else:
                candidates = (a.name for a in node.attributes)
                raise self._dangling("graph", step.name, candidates, token, index + 1)
        return root

    def _node(self, owner: Graph | Function, path: PathStep, token: str, step: int) -> Node:
        names = self._of(owner)
        by_name = names.labels if path.is_label else names.nodes
        node = by_name.get(path.name)
        if node is None:
            kind = "label" if path.is_label else "node"
            error = self._dangling(kind, path.name, by_name, token, step)
            written = _written(path.name)
            if written is not None and not path.is_label and path.name in names.labels:
                error.instead = f"[{written}]"
            elif written is not None and path.is_label and path.name in names.nodes:
                error.instead, error.help = None, f"write `{written}` without brackets"
            raise error
        return node

    def _attach_value(self, owner: Graph | Function, name: str, block: MetadataBlock) -> None:
        names = self._of(owner)
        match str(block.kind):
            case "value":
                values = names.values
            case "output":
                values = names.outputs
            case _:  # "value_info"
                values = names.declared
        value = values.get(name)
        if value is not None:
            value.metadata = block.entries()
            return
        generated = frozenset[str]() if block.kind == "output" else names.generated
        if name in generated:
            owner.value_metadata[name] = block.entries()
        else:
            candidates = chain(values, generated)
            raise self._dangling(str(block.kind), name, candidates, block.kind, len(block.path) - 1)

    def _attach_tensor(self, owner: Graph | Function, name: str, block: MetadataBlock) -> None:
        names = self._of(owner)
        value = names.tensors.get(name)
        if value is not None:
            value.metadata = block.entries()
            return
        for value in owner.inputs:
            if value.name == name and value.data is not None:
                entries = tuple([Field(key, to_bytes(text)) for key, text in block.entries()])
                value.decorators += (Decorator("data.meta", entries),)
                return
        raise self._dangling(block.kind, name, names.tensors, block.kind, len(block.path) - 1)

    def _dangling(
        self, kind: str, name: str, candidates: Iterable[str], token: str, step: int
    ) -> SemanticError:
        """Return the error for a step of a path that matches no item, with a suggestion.

        `kind` is the kind of item that the step should name, such as "node"; `candidates` are the
        existing names. The error marks `token`; `step` is the index of the step in the path.
        """
        import difflib

        compared = list(islice(candidates, max(_MAX_COMPARED - self._compared, 0)))
        self._compared += len(compared)
        similar = difflib.get_close_matches(name, compared, 1)
        messages = {
            "node": "there is no node with the first output",
            "label": "there is no node with the label",
            "graph": "there is no graph attribute",
            "value_info": "`value_info` has no entry",
        }
        error = SemanticError(
            f"{messages.get(kind, f'there is no {kind}')} `{name}`", token=token, code=DANGLING
        )
        error.step = step
        error.subject = Subject(kind, name)
        if similar:
            error.instead = _written(similar[0])
        return error


def _written(name: str) -> str | None:
    """Return a name as a step of a path, in quotes if needed; None if it needs escapes."""
    if _WORD.fullmatch(name):
        return name
    return f'"{name}"' if name.isprintable() and not set('"\\') & set(name) else None


_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MAX_COMPARED = 10_000
"""The maximum number of names that are compared in one text to find suggestions."""
