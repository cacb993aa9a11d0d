# SPDX-License-Identifier: Apache-2.0
"""Data classes of models, graphs, functions, nodes and the values they declare.

Strings of protobuf `string` fields are `str`; bytes that are not UTF-8 are lone surrogates
(`surrogateescape`), so every byte string has exactly one `str`. A field is None if the text omits
it: a presence default of the file (`Model.presence`) then decides what is stored.

`at` is the character offset of a statement in its text; -1 for a statement that was not parsed.
Comparisons ignore `at`. `syntax.span_map` computes the spans of a statement's parts on demand.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from onnxtext.ast.records import Decorator, Record
from onnxtext.ast.types import Type

if TYPE_CHECKING:
    from onnxtext.ast.tensors_and_attributes import Attribute, SparseTensor, Tensor, TensorData


@dataclass(slots=True)
class ValueInfo:
    """A value's declaration (`ValueInfoProto`), or an initializer (`TensorProto`).

    `float[N] x` in a list of inputs, outputs or values is a declaration. `float[2] w = {1, 2}` is
    only an initializer in the list of values; in the list of inputs, it is an input and an
    initializer (IR spec, Graphs).

    Attributes:
        name: the value's name.
        type: the value's type; None if no type is stored.
        data: the elements of the initializer; None if the value has no initializer.
        decorators: the decorators before the value.
        metadata: (key, value) entries in the metadata section of the text; an entry at the
            statement itself is in a `@meta` decorator.
        at: offset in the text.
    """

    name: str
    type: Type | None = None
    data: TensorData | SparseTensor | None = None
    decorators: tuple[Decorator, ...] = ()
    metadata: tuple[tuple[str, str], ...] = ()
    at: int = field(default=-1, compare=False, repr=False)


@dataclass(slots=True)
class Node:
    """An operator call (`NodeProto`): `[name] outputs = domain.Op:overload <attributes> (inputs)`.

    Attributes:
        op_type: the operator or function called.
        inputs: names of the values used; "" for an omitted optional input.
        outputs: names of the values defined; "" for an omitted output.
        output_types: the types before the outputs, which are stored as `value_info` entries. ()
            if no output has a type; otherwise one item per output (None for no type).
        attributes: in order.
        name: the node's label; None if not stored.
        domain: None if the text omits it, "" for a domain stored empty (`.Add`).
        overload: None if the text omits it.
        decorators: the decorators before the node.
        metadata: (key, value) entries in the metadata section of the text; an entry at the
            statement itself is in a `@meta` decorator.
        at: offset in the text.
    """

    op_type: str
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    attributes: tuple[Attribute, ...] = ()
    name: str | None = None
    domain: str | None = None
    overload: str | None = None
    output_types: tuple[Type | None, ...] = ()
    decorators: tuple[Decorator, ...] = ()
    metadata: tuple[tuple[str, str], ...] = ()
    at: int = field(default=-1, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Annotation:
    """A quantization annotation (`TensorAnnotation`).

    Attributes:
        tensor_name: the quantized tensor.
        entries: pairs of a parameter, such as `SCALE_TENSOR`, and the name of its tensor.
    """

    tensor_name: str
    entries: tuple[tuple[str, str], ...]


@dataclass(slots=True)
class Graph:
    """A graph (`GraphProto`): the main one, or one in an attribute.

    Attributes:
        name: the graph's name.
        inputs: the inputs; an input with data is also an initializer.
        outputs: the outputs.
        values: the `<…>` list: value infos and initializers, mixed.
        nodes: in order.
        decorators: the decorators before the graph.
        quantization: the annotations, which name the scale and zero point of quantized tensors.
        metadata: (key, value) entries in the metadata section of the text; an entry at the
            statement itself is in a `@meta` decorator.
        value_metadata: the same for `value_info` entries without a statement of their own, by name:
            for typed outputs of nodes, and for initializers with `@value_info(initializers)`.
        at: offset in the text.
    """

    name: str
    inputs: list[ValueInfo] = field(default_factory=list)
    outputs: list[ValueInfo] = field(default_factory=list)
    values: list[ValueInfo] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    decorators: tuple[Decorator, ...] = ()
    quantization: list[Annotation] = field(default_factory=list)
    metadata: tuple[tuple[str, str], ...] = ()
    value_metadata: dict[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    at: int = field(default=-1, compare=False, repr=False)


@dataclass(slots=True)
class OpsetImport:
    """An operator set (`OperatorSetIdProto`): `"ai.onnx.ml": 5`, or `21` with no domain stored."""

    domain: str | None
    version: int


@dataclass(frozen=True, slots=True)
class Presence:
    """The presence defaults of a file: what is stored for omitted fields (SPEC 11).

    Attributes:
        version: the language version (`onnxtext: 1`); None if the file has no such key: then the
            defaults are those of the official parser.
        explicit: the fields that are stored even if they are empty, such as `node.domain`.
    """

    version: int | None = None
    explicit: tuple[str, ...] = ()


@dataclass(slots=True)
class Function:
    """A model-local function (`FunctionProto`).

    Attributes:
        name: the function's name.
        inputs: names and optional types; a type is stored as a `value_info` entry.
        outputs: like the inputs.
        attributes: the parameters: a bare name, or an `Attribute` with a type or default.
        values: the `<…>` list of value infos.
        nodes: the body.
        domain: None if not stored.
        overload: None if not stored.
        doc_string: None if not stored.
        opset_imports: in order.
        decorators: the decorators before the function.
        presence: the presence defaults of a function in a text of its own; None inside a model.
        metadata: (key, value) entries in the metadata section of the text; an entry at the
            statement itself is in a `@meta` decorator.
        value_metadata: the same for the `value_info` entries of typed outputs of nodes, by name.
        at: offset in the text.
    """

    name: str
    inputs: list[ValueInfo] = field(default_factory=list)
    outputs: list[ValueInfo] = field(default_factory=list)
    attributes: tuple[str | Attribute, ...] = ()
    values: list[ValueInfo] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    domain: str | None = None
    overload: str | None = None
    doc_string: str | None = None
    opset_imports: list[OpsetImport] = field(default_factory=list)
    decorators: tuple[Decorator, ...] = ()
    presence: Presence | None = None
    metadata: tuple[tuple[str, str], ...] = ()
    value_metadata: dict[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    at: int = field(default=-1, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class EncodingHabit:
    """A regular difference of a file's encoding from the canonical encoding.

    Examples: `packed(attribute.ints)`, `order(node, 1, 2, 3, 4, 7, 5)`.

    Attributes:
        name: `packed`, `unpacked` or `order`.
        arguments: the name of a field; for `order`, the name of a message and the numbers of its
            fields.
    """

    name: str
    arguments: tuple[str | int, ...]


@dataclass(slots=True)
class EncodingPatch:
    """A patch that turns the encoding of a model into the exact bytes of its file (SPEC 13.5).

    The patch applies to the canonical encoding, changed by the encoding habits.

    Attributes:
        canonical: SHA-256 of the bytes that the patch applies to, in hex.
        patch: copy and insert instructions (`wire.encoding_patch`).
    """

    canonical: str
    patch: bytes


if TYPE_CHECKING:
    FragmentItem = (
        Graph
        | Function
        | Node
        | list[Node]
        | ValueInfo
        | Attribute
        | Tensor
        | SparseTensor
        | Type
        | tuple[str, str]
        | Record
    )


@dataclass(slots=True)
class Fragment:
    """A part of a model in a text of its own: a graph, a node, a tensor, a type and so on.

    Attributes:
        item: the syntax tree: (key, value) for a metadata entry, a `Record` for a message without
            a syntax of its own.
        presence: the presence defaults.
    """

    item: FragmentItem
    presence: Presence = field(default_factory=Presence)


@dataclass(slots=True)
class Training:
    """How a model is trained (`TrainingInfoProto`).

    Attributes:
        initialization: the graph that computes the initial values; None if there is none.
        algorithm: the graph of one training step; None if there is none.
        initialization_binding: pairs of an initializer and the output of `initialization` that
            sets it, in order.
        update_binding: pairs of an initializer and the output of `algorithm` that updates it.
    """

    initialization: Graph | None = None
    algorithm: Graph | None = None
    initialization_binding: list[tuple[str, str]] = field(default_factory=list)
    update_binding: list[tuple[str, str]] = field(default_factory=list)


@dataclass(slots=True)
class Configuration:
    """A set of devices (`DeviceConfigurationProto`).

    Attributes:
        name: the name of the configuration; nodes refer to it.
        record: all other fields.
    """

    name: str
    record: Record


@dataclass(frozen=True, slots=True)
class WeightPlace:
    """A directory or file with blobs outside of the text: `store: "model.weights"`.

    Attributes:
        kind: `store` is a directory with one file per blob, `safetensors` a single file.
        path: relative to the directory of the text, with `/` between its parts.
    """

    kind: Literal["store", "safetensors"]
    path: str


@dataclass(slots=True)
class Model:
    """A model (`ModelProto`). A header field is None if it is not stored.

    Attributes:
        graph: the main graph.
        functions: the model-local functions.
        presence: the presence defaults.
        ir_version: version of the IR.
        opset_imports: in order.
        producer_name: the tool that made the model.
        producer_version: its version.
        domain: the model's namespace, in reverse-DNS form.
        model_version: version of the model itself.
        doc_string: documentation.
        metadata: `metadata_props`, in order.
        decorators: the decorators before the header.
        training: in order.
        configurations: in order.
        encoding_habits: regular differences of the file's encoding from the canonical encoding.
        encoding: all other differences, as a patch; None if there are no others.
        resources: the bytes of the blobs in the text, by digest, in order.
        metadata_left_out: whether the text has `metadata none`: it was printed without the metadata
            below its header, and cannot be converted to a binary.
        places: the directories and files with the other blobs, in order.
        resources_left_out: whether the text has `resources none`: it was printed without the bytes
            of its blobs, and cannot be converted to a binary.
        has_order: whether the main graph's `@value_info` and `@initializers` are in a section
            `order`.
    """

    graph: Graph
    functions: list[Function] = field(default_factory=list)
    presence: Presence = field(default_factory=Presence)
    ir_version: int | None = None
    opset_imports: list[OpsetImport] = field(default_factory=list)
    producer_name: str | None = None
    producer_version: str | None = None
    domain: str | None = None
    model_version: int | None = None
    doc_string: str | None = None
    metadata: list[tuple[str, str]] = field(default_factory=list)
    decorators: tuple[Decorator, ...] = ()
    training: list[Training] = field(default_factory=list)
    configurations: list[Configuration] = field(default_factory=list)
    encoding_habits: tuple[EncodingHabit, ...] = ()
    encoding: EncodingPatch | None = None
    resources: dict[str, bytes | memoryview] = field(default_factory=dict)
    metadata_left_out: bool = False
    places: list[WeightPlace] = field(default_factory=list)
    resources_left_out: bool = False
    has_order: bool = False
