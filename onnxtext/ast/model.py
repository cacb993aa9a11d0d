# SPDX-License-Identifier: Apache-2.0
"""Data classes of models, graphs, functions, nodes and the values they declare.

Strings of protobuf `string` fields are `str`; bytes that are not UTF-8 are lone surrogates
(`surrogateescape`), so every byte string has exactly one `str`. A field is None if the text omits
it: a presence default of the text (`Model.presence`) then decides what is stored.

`at` is the character offset of a statement in its text; -1 for a statement that was not parsed.
Comparisons ignore `at`. `syntax.span_map` computes the spans of a statement's parts on demand.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Literal

from onnxtext.ast.records import Decorator, Record
from onnxtext.ast.types import Type
from onnxtext.quick_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable

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
        metadata: the (key, value) pairs that the metadata section of the text has for the value.
            Pairs that are written at the value are in a `@meta` decorator instead.
        at: the character offset in the text; -1 if the value was not parsed.
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
        op_type: the name of the called operator or function.
        inputs: the names of the inputs; "" for an omitted optional input.
        outputs: the names of the outputs; "" for an omitted output.
        output_types: the types before the outputs, which are stored as `value_info` entries. The
            tuple is () if no output has a type. Otherwise it has one item per output, which is None
            for an output without a type.
        attributes: the attributes, in order.
        name: the node's label; None if the text omits it.
        domain: the domain of the operator; None if the text omits it (`Add`), "" if the text gives
            an empty domain (`.Add`).
        overload: the overload of the called function; None if the text omits it.
        decorators: the decorators before the node.
        metadata: the (key, value) pairs that the metadata section of the text has for the node.
            Pairs that are written at the node are in a `@meta` decorator instead.
        at: the character offset in the text; -1 if the node was not parsed.
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
        tensor_name: the name of the quantized tensor.
        entries: (key, value) pairs: a quantization parameter, such as `SCALE_TENSOR`, and the name
            of the tensor that contains the parameter.
    """

    tensor_name: str
    entries: tuple[tuple[str, str], ...]

    def renamed(self, names: Callable[[str], str]) -> Annotation:
        """Return the annotation with `names` applied to the name of each tensor."""
        entries = tuple([(key, names(value)) for key, value in self.entries])
        return Annotation(names(self.tensor_name), entries)


@dataclass(slots=True)
class Graph:
    """A graph (`GraphProto`): the main graph, or a graph in an attribute or in `training`.

    Attributes:
        name: the graph's name.
        inputs: the inputs; an input with data is also an initializer.
        outputs: the outputs.
        values: the `<…>` list: value infos and initializers, mixed.
        nodes: the nodes, in order.
        decorators: the decorators before the graph.
        quantization: the annotations, which name the scale and zero point of quantized tensors.
        metadata: the (key, value) pairs that the metadata section of the text has for the graph.
            Pairs that are written at the graph are in a `@meta` decorator instead.
        value_metadata: maps names of values to their (key, value) pairs in the metadata section. It
            has only values whose `value_info` entry has no statement of its own: typed outputs of
            nodes, and the inputs, outputs and initializers that `@value_info(…)` selects.
        at: the character offset in the text; -1 if the graph was not parsed.
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
    """An operator set (`OperatorSetIdProto`): `"ai.onnx.ml": 5`, or `21` without a domain."""

    domain: str | None
    version: int


@dataclass(frozen=True, slots=True)
class Presence:
    """The presence defaults of a text: what is stored for fields that the text omits (SPEC 11).

    Attributes:
        version: the language version, which the header gives as `onnxtext: 1`. None if the header
            does not give it; then the defaults of the official parser apply.
        explicit: the fields that are stored even if they are empty, such as `node.domain`.
    """

    version: int | None = None
    explicit: tuple[str, ...] = ()


@dataclass(slots=True)
class Function:
    """A model-local function (`FunctionProto`).

    Attributes:
        name: the function's name.
        inputs: the inputs. A type is optional, and is stored as a `value_info` entry.
        outputs: the outputs. A type is optional, and is stored as a `value_info` entry.
        attributes: the attribute parameters; each is a name, or an `Attribute` with a type or
            default.
        values: the `<…>` list of value infos.
        nodes: the body.
        domain: the domain of the function; None if the text omits it.
        overload: the overload; None if the text omits it.
        doc_string: the documentation; None if the text omits it.
        opset_imports: the imported operator sets, in order.
        decorators: the decorators before the function.
        presence: the presence defaults of a function in a text of its own; None inside a model.
        metadata: the (key, value) pairs that the metadata section of the text has for the function.
            Pairs that are written at the function are in a `@meta` decorator instead.
        value_metadata: maps names of typed node outputs to their (key, value) pairs in the metadata
            section.
        at: the character offset in the text; -1 if the function was not parsed.
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
    """A way in which a file encodes all messages of a type differently from the canonical encoding.

    Examples: `packed(attribute.ints)`, `order(node, 1, 2, 3, 4, 7, 5)`.

    Attributes:
        name: `packed`, `unpacked` or `order`.
        arguments: for `packed` and `unpacked`, the name of a field; for `order`, the name of a
            message and the numbers of its fields.
    """

    name: str
    arguments: tuple[str | int, ...]

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.arguments))})"


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
        item: the syntax tree of the part, such as a `Node`. A metadata entry is a (key, value)
            pair, a message without a syntax of its own is a `Record`.
        presence: the presence defaults of the text.
    """

    item: FragmentItem
    presence: Presence = field(default_factory=Presence)


@dataclass(slots=True)
class Training:
    """How a model is trained (`TrainingInfoProto`).

    Attributes:
        initialization: the graph that computes the initial values; None if there is none.
        algorithm: the graph of one training step; None if there is none.
        initialization_binding: pairs of names, in order: an initializer, and the output of
            `initialization` that sets the initializer.
        update_binding: pairs of names, in order: an initializer, and the output of `algorithm`
            that updates the initializer.
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
        kind: `store` for a directory with one file per blob, `safetensors` for a single file.
        path: the path relative to the directory of the text, with `/` between its parts.
    """

    kind: Literal["store", "safetensors"]
    path: str


@dataclass(slots=True)
class Model:
    """A model (`ModelProto`). A header field is None if the text omits it.

    Attributes:
        graph: the main graph.
        functions: the model-local functions.
        presence: the presence defaults of the text.
        ir_version: version of the IR.
        opset_imports: the imported operator sets, in order.
        producer_name: the tool that made the model.
        producer_version: the version of the tool that made the model.
        domain: the model's namespace, in reverse-DNS form.
        model_version: version of the model itself.
        doc_string: documentation.
        metadata: the (key, value) pairs of `metadata_props`, in order.
        decorators: the decorators before the header.
        training: the contents of the `training` sections, in order.
        configurations: the contents of the `configuration` sections, in order.
        encoding_habits: differences from the canonical encoding that all messages of a type have,
            such as another order of fields.
        encoding: all other differences from the canonical encoding, as a patch; None if there are
            none.
        resources: the bytes of the blobs in the text, by digest, in order.
        metadata_left_out: whether the text has `metadata none`. Such a text was printed without
            metadata, except in its header, and cannot be converted to a binary.
        places: the directories and files with the other blobs, in order.
        resources_left_out: whether the text has `resources none`. Such a text was printed without
            the bytes of its blobs, and cannot be converted to a binary.
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
