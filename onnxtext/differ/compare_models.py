# SPDX-License-Identifier: Apache-2.0
"""Compare two models: match their items (`match_graphs`), then compare each matched pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from onnxtext.ast.model import Function, Graph, Model, Training
from onnxtext.ast.qualified_names import qualified_name
from onnxtext.ast.tensors_and_attributes import Attribute
from onnxtext.conversion_errors import lowering_error
from onnxtext.diagnostics import Diagnostic, OnnxTextError
from onnxtext.differ.collected_changes import Collector, NameMap
from onnxtext.differ.compare_graphs import GraphComparer
from onnxtext.differ.compare_messages import compare_messages
from onnxtext.differ.compare_values import attribute_path
from onnxtext.differ.graph_lists import GraphLists, replaced_fields
from onnxtext.differ.grouped_changes import count_operators, find_groups
from onnxtext.differ.matching.match_graphs import match_graphs
from onnxtext.differ.matching.match_lists import match_keys, match_rest, moved_pairs
from onnxtext.differ.model_side import ModelSide
from onnxtext.differ.result import Category, FieldChange, ItemPosition, ModelDiff
from onnxtext.differ.statement_text import (
    attribute_statement,
    function_statement,
    graph_statement,
    indent_text,
)
from onnxtext.io.memory import paused_collector
from onnxtext.printer.quoting import quote_string, quote_word
from onnxtext.proto.encode.lower import LowerError, lower_model
from onnxtext.weights.find_blobs import BlobReader
from onnxtext.wire.reader import WireError


def compare(old: ModelSide, new: ModelSide) -> ModelDiff:
    """Return all differences of two models.

    Raises:
        OnnxTextError: a text cannot be encoded as a model, or graphs, types or records are nested
            too deeply.
    """
    comparer = Comparer(old, new)
    try:
        with paused_collector():
            comparer.model()
    except LowerError as error:
        raise _unlowerable(old, new, error) from None
    except (RecursionError, WireError):  # records become messages, which are read again
        message = "graphs, types or records are nested too deeply to be compared"
        raise OnnxTextError(Diagnostic("too-deep", message, file=new.label)) from None
    diff = replace(
        comparer.out.result(old.label, new.label),
        operators=count_operators(old.model, new.model),
        groups=find_groups(comparer.out.items, comparer.out.matches),
    )
    if old.model.metadata_left_out or new.model.metadata_left_out:
        # One text was printed without metadata, so differences of metadata mean nothing.
        ignored: tuple[Category, ...] = ("metadata",)
        items = [i if i.kind == "model" else i.without(ignored) for i in diff.items]
        diff = replace(diff, items=tuple([item for item in items if item is not None]))
    return diff


def _unlowerable(old: ModelSide, new: ModelSide, error: LowerError) -> OnnxTextError:
    """Return an error that names the model that cannot be encoded.

    If this model has a text, the error has a position. If both models can be encoded as a whole,
    the error has the message of `error` and names the new model.
    """
    for side in (old, new):
        try:
            side.encoder.model(side.model)
        except LowerError as found:
            if side.source is not None:
                return lowering_error(found, side.source)
            return OnnxTextError(Diagnostic(found.code, found.message, file=side.label))
    return OnnxTextError(Diagnostic(error.code, error.message, file=new.label))


class Comparer:
    """Compares two models."""

    def __init__(self, old: ModelSide, new: ModelSide) -> None:
        self.out = Collector()
        self._old = old
        self._new = new
        self._sides = old, new
        self._graphs = GraphComparer(old, new, self.out)

    # ---- Models -----------------------------------------------------------------------------

    def model(self) -> None:
        """Compare the models, and collect the differences in `out`.

        Raises:
            LowerError: a statement cannot be encoded.
        """
        old, new = self._old.model, self._new.model
        for side in self._sides:
            if side.model.metadata_left_out:
                self.out.note(f"{side.label} was printed without its metadata")
            if side.model.resources_left_out:
                self.out.note(f"{side.label} was printed without its weights")
        self._model_head(old, new)
        names = NameMap()
        replaced = replaced_fields(old.decorators) | replaced_fields(new.decorators)
        if "graph" not in replaced:
            names = self._graphs.graphs(old.graph, new.graph, "graph", "graph", None)
        if "training_info" not in replaced:
            self._trainings(old.training, new.training, names)
        if "functions" not in replaced:
            self._functions(old.functions, new.functions)
        if not (self.out.items or self.out.renames):
            _collect_encoding_differences(self._old, self._new, self.out)

    def _model_head(self, old: Model, new: Model) -> None:
        parts = []
        for side, model in zip(self._sides, (old, new), strict=True):
            head_only = replace(
                model, graph=Graph("", at=model.graph.at), functions=[], training=[]
            )
            parts.append(b"".join(side.encoder.model(head_only)))
        changes = compare_messages("ModelProto", *parts)
        positions = self._old.position("", 0), self._new.position("", 0)
        self.out.record_changed("model", "", *positions, changes)

    def _trainings(self, old: Sequence[Training], new: Sequence[Training], names: NameMap) -> None:
        def describe(side: int, index: int) -> tuple[str, ItemPosition, str]:
            position = self._sides[side].position(f"training_info[{index}]")
            return str(index), position, _training_text((old, new)[side][index])

        counts = len(old), len(new)
        pairs = [(index, index) for index in range(min(counts))]
        for index, *_ in self.out.matched_pairs("training_info", counts, pairs, pairs, describe):
            self._training(old[index], new[index], f"training_info[{index}]", names)

    def _training(self, old: Training, new: Training, path: str, names: NameMap) -> None:
        positions = self._old.position(path), self._new.position(path)
        changes: list[FieldChange] = []
        names_of = {"initialization": names, "algorithm": names}
        for step in names_of:
            old_item, new_item = getattr(old, step), getattr(new, step)
            graph_path = f"{path}.{step}"
            if old_item is not None and new_item is not None:
                names_of[step] = self._graphs.graphs(
                    old_item, new_item, graph_path, graph_path, names
                )
            elif old_item is not new_item:
                before, after = (
                    None if g is None else graph_statement(g) for g in (old_item, new_item)
                )
                changes.append(FieldChange(step, "model", before, after))
        parts = []
        # The keys name values of the main graph or of the algorithm.
        initialization, algorithm = (item.get for item in names_of.values())
        for side, training, initial, get in (
            (self._old, old, initialization, algorithm),
            (self._new, new, str, str),
        ):
            head_only = Training(
                None,
                None,
                [(get(key), initial(value)) for key, value in training.initialization_binding],
                [(get(key), get(value)) for key, value in training.update_binding],
            )
            parts.append(side.encoder.training(head_only))
        changes += compare_messages("TrainingInfoProto", *parts)
        self.out.record_changed("training_info", path, *positions, changes)

    def _functions(self, old: Sequence[Function], new: Sequence[Function]) -> None:
        keys = [list(map(_function_name, part)) for part in (old, new)]
        pairs = match_keys(*keys)
        for key in (self._function_content, self._function_outputs, self._function_body):
            pairs = match_rest(pairs, old, new, key)  # match renamed functions

        def path(side: int, index: int) -> str:
            return f"functions[{quote_string(keys[side][index])}]"

        def describe(side: int, index: int) -> tuple[str, ItemPosition, str]:
            function = (old, new)[side][index]
            position = self._sides[side].position(path(side, index), function.at)
            return keys[side][index], position, function_statement(function)

        for old_index, new_index, was_moved in self.out.matched_pairs(
            "function", (len(old), len(new)), pairs, pairs, describe
        ):
            paths = path(0, old_index), path(1, new_index)
            self._function(old[old_index], new[new_index], paths, moved=was_moved)

    def _function_content(self, side: int, function: Function) -> tuple[object, ...]:
        """Return a key for matching renamed functions: input names, output names and nodes."""
        nodes = map(self._sides[side].encoder.node, function.nodes)
        return (*_function_interface(function), *nodes)

    def _function_outputs(self, side: int, function: Function) -> tuple[object, ...]:
        """Return a key for matching renamed functions: the interface and the node outputs."""
        return (*_function_interface(function), *[node.outputs for node in function.nodes])

    def _function_body(self, side: int, function: Function) -> tuple[object, ...]:
        """Return a key for matching renamed functions: the nodes only.

        A function without nodes gets a unique key, so that it matches no other function.
        """
        return tuple(map(self._sides[side].encoder.node, function.nodes)) or (id(function),)

    def _function(self, old: Function, new: Function, paths: Sequence[str], *, moved: bool) -> None:
        bodies = GraphLists.of(old, paths[0]), GraphLists.of(new, paths[1])
        match = match_graphs(*bodies, None, self._sides, nested=True)
        parts = []
        for side, function in zip(self._sides, (old, new), strict=True):
            head_only = replace(
                function,
                inputs=[],
                outputs=[],
                attributes=(),
                values=[],
                nodes=[],
                value_metadata={},
            )
            parts.append(side.encoder.function(head_only))
        changes = compare_messages("FunctionProto", *parts)
        changes += self._parameters(old.attributes, new.attributes)
        positions = self._old.position(paths[0], old.at), self._new.position(paths[1], new.at)
        self.out.record_changed("function", _function_name(new), *positions, changes, moved=moved)
        self._graphs.bodies(match)

    def _parameters(self, old: Parameters, new: Parameters) -> list[FieldChange]:
        """Compare the attribute parameters of two functions."""
        changes: list[FieldChange] = []
        before = {_parameter_name(parameter): parameter for parameter in old}
        after = {_parameter_name(parameter): parameter for parameter in new}
        for name in dict.fromkeys((*before, *after)):
            one, other = before.get(name), after.get(name)
            path = attribute_path(name)
            if isinstance(one, Attribute) and isinstance(other, Attribute):
                changes += self._graphs.values.attribute(one, other, path)
            elif one != other:
                texts = _parameter_text(one), _parameter_text(other)
                changes.append(FieldChange(path, "model", *texts))
        # FunctionProto stores parameters without and with a default in two separate lists.
        for kind in (str, Attribute):
            names = [[n for n in side if isinstance(side[n], kind)] for side in (before, after)]
            for place, new_place in moved_pairs(match_keys(*names)):
                path = attribute_path(names[1][new_place])
                changes.append(FieldChange.moved(path, place, new_place))
        return changes


Parameters = Sequence[str | Attribute]
"""The attribute parameters of a function. Each is a name, or an attribute with type or default."""


def _parameter_name(parameter: str | Attribute) -> str:
    return parameter.name if isinstance(parameter, Attribute) else parameter


def _parameter_text(parameter: str | Attribute | None) -> str | None:
    if isinstance(parameter, Attribute):
        return attribute_statement(parameter)
    return None if parameter is None else quote_word(parameter)


def _function_name(function: Function) -> str:
    """Return `domain.name:overload`, which identifies a function (IR spec, Functions)."""
    return qualified_name(function.domain, function.name, function.overload)


def _function_interface(function: Function) -> tuple[object, ...]:
    names = [value.name for value in (*function.inputs, *function.outputs)]
    return len(function.inputs), *names


def _training_text(training: Training) -> str:
    graphs = [("initialization", training.initialization), ("algorithm", training.algorithm)]
    lines = [f"{name}: {graph_statement(graph)}" for name, graph in graphs if graph is not None]
    return "\n".join(["training {", *map(indent_text, lines), "}"])


# ---- Encoding -------------------------------------------------------------------------------


def _collect_encoding_differences(old: ModelSide, new: ModelSide, out: Collector) -> None:
    """Compare the encodings of two files with equal models, and add the differences to `out`.

    If `out` is then still empty, both models are encoded canonically and their bytes are compared,
    to prove that the diff missed nothing. If the bytes differ, a change of the kind `model` is
    added. This check is skipped if weights are missing, or if a text was printed without its
    weights or metadata.
    """
    old_encoding, new_encoding = _encoding(old.model), _encoding(new.model)
    if old_encoding != new_encoding:
        out.count_encoding_change("model", old_encoding, new_encoding, "model")
    elif old.model.encoding is not None and old.model.encoding != new.model.encoding:
        out.count_encoding_change("model", "one order of fields", "another", "model")
    if not out.is_empty or old.reader.left_out or new.reader.left_out:
        return
    if old.model.metadata_left_out or new.model.metadata_left_out:
        return
    digested = [b"".join(side.encoder.model(_canonical(side.model))) for side in (old, new)]
    if digested[0] == digested[1]:
        return
    try:
        complete = [
            lower_model(
                _canonical(side.model), BlobReader(side.base, side.model.places, side.model)
            )
            for side in (old, new)
        ]
    except LowerError:
        return  # weights are missing; the encodings in `digested` contain their digests instead
    if complete[0] != complete[1]:
        note = "the models differ in a field that the diff does not compare: please report this"
        change = FieldChange("", "model", None, note)
        out.record_changed("model", "", old.position(""), new.position(""), [change])


def _canonical(model: Model) -> Model:
    return replace(model, encoding_habits=(), encoding=None)


def _encoding(model: Model) -> str:
    """Describe how a file's bytes differ from the canonical encoding."""
    habits = list(map(str, model.encoding_habits))
    if model.encoding is not None:
        habits.append("another order or form of fields")
    return ", ".join(habits) or "canonical encoding"
