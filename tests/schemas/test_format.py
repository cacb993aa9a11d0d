# SPDX-License-Identifier: Apache-2.0
"""Random schema files survive printing and parsing; errors in schema files have places."""

from __future__ import annotations

import random
from typing import Any

import onnx
import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

import onnxtext
from onnxtext import ast
from onnxtext.ast.schemas import FormalAttribute, FormalValue, OperatorSchema, SchemaFile
from onnxtext.checker.context.operator_tables import BUNDLED
from onnxtext.checker.engine.project_schemas import check_schemas
from onnxtext.diagnostics import Diagnostic
from onnxtext.diagnostics.full import render
from onnxtext.highlight import classify
from onnxtext.printer.schemas import print_schemas
from onnxtext.schemas.convert_schemas import convert_schema
from onnxtext.source import Source
from onnxtext.syntax.parse import parse_partial
from onnxtext.tensor.element_types import ELEMENTS
from tests.seeds import draws, fresh_seed, seeded

GIVEN = """\
<
  onnxtext: 1,
  opset_import: [21, "acme": 2],
>

@doc("A product.")
acme.Product <
  transA: int = 0,
  alpha: float = 1.0,
  @doc("Which ones.")
  axes?: ints,
  @values("none", "relu")
  activation: string = "none",
  ...,
> (T a, T b, I sizes?, @least(2) T others...) => (T y, seq(float) z?)
  where T: float16 | float, I: int64 {
  c = MatMul (a, b)
  y, z = If (c) <then_branch = t () => (p) { p = Relu (c) }, else_branch = e () => (q) {}>
}

@since(2)
@deprecated("use Gemm")
acme.Product (float a) => (float y)
"""


def read(text: str) -> tuple[SchemaFile | None, tuple[Diagnostic, ...]]:
    result: Any
    result, errors = parse_partial(Source(text, "a.onnxschema"), "schema_fragment")
    return result, errors


# ---- Round trip ---------------------------------------------------------------------------------

WORDS = st.sampled_from(
    ["x", "T1", "Relu", "where", "float", "seq", "inf", "metadata", "any", "a b", "", "é", '"', "1",
     "onnx", "true", "_", "com", "b\n"]
)  # fmt: skip
NAMES = WORDS | st.text(min_size=1, max_size=8)
DOCS = st.just("") | st.text(max_size=20) | st.just("Two\n  lines.\n\n")
VARIABLES = ("T", "T1", "where_", "V")
ELEMENT = st.sampled_from(sorted(ELEMENTS))


def utf8(text: str) -> bool:
    return not any(0xD800 <= ord(character) <= 0xDFFF for character in text)


NAMES, DOCS = NAMES.filter(utf8), DOCS.filter(utf8)


def test_a_default_without_a_type_survives() -> None:
    """`undefined =>` would begin a graph, so the printer writes a space between the two."""
    tensor = ast.Tensor(ast.TensorType("undefined"), ast.NoData())
    attribute = ast.Attribute("t", ast.AttributeType.TENSOR, tensor)
    formals = [FormalAttribute(attribute, required=False)]
    file = SchemaFile([OperatorSchema("Op", "acme", attributes=formals)])
    assert read(print_schemas(file)) == (file, ())


def types() -> st.SearchStrategy[ast.Type]:
    leaves = ELEMENT.map(ast.TensorType) | ELEMENT.map(ast.SparseTensorType)
    return st.recursive(
        leaves,
        lambda inner: (
            inner.map(ast.SequenceType)
            | inner.map(ast.OptionalType)
            | st.builds(ast.MapType, ELEMENT, inner)
        ),
        max_leaves=3,
    )


@st.composite
def values(draw: st.DrawFn, variables: list[str], *, last: bool) -> FormalValue:
    options = ["single", "optional", *(["variadic"] if last else [])]
    result = FormalValue(
        draw(NAMES),
        draw(st.sampled_from(variables) | types()) if variables else draw(types()),
        draw(st.sampled_from(options)),
        doc=draw(DOCS),
    )
    if result.option == "variadic":
        result.min_arity = draw(st.integers(0, 5))
        result.homogeneous = draw(st.booleans())
    return result


@st.composite
def formals(draw: st.DrawFn, variables: list[str]) -> list[FormalValue]:
    count = draw(st.integers(0, 3))
    result = [draw(values(variables, last=index == count - 1)) for index in range(count)]
    for index, value in enumerate(result):
        value.name += f"_{index}"
    return result


DEFAULTS: dict[ast.AttributeType, st.SearchStrategy[Any]] = {
    ast.AttributeType.INT: st.integers(-(1 << 63), (1 << 63) - 1),
    ast.AttributeType.FLOAT: st.floats(width=32, allow_nan=False).map(ast.Float32.of),
    ast.AttributeType.STRING: st.binary(max_size=6),
    ast.AttributeType.INTS: st.lists(st.integers(-9, 9), min_size=1, max_size=3).map(tuple),
    ast.AttributeType.FLOATS: st.binary(min_size=4, max_size=4).map(ast.Floats),
    ast.AttributeType.STRINGS: st.lists(st.binary(max_size=4), min_size=1, max_size=3).map(tuple),
    ast.AttributeType.TYPE_PROTO: types(),
}


@st.composite
def attributes(draw: st.DrawFn) -> FormalAttribute:
    kind = draw(st.sampled_from(ast.AttributeType))
    default = draw(st.none() | DEFAULTS[kind]) if kind in DEFAULTS else None
    required = default is None and draw(st.booleans())
    choices: tuple[str, ...] = ()
    if kind in (ast.AttributeType.STRING, ast.AttributeType.STRINGS):
        choices = tuple(draw(st.lists(NAMES, max_size=3)))
    return FormalAttribute(ast.Attribute(draw(NAMES), kind, default), required, choices, draw(DOCS))


@st.composite
def operators(draw: st.DrawFn) -> OperatorSchema:
    variables = draw(st.lists(st.sampled_from(VARIABLES), unique=True, max_size=3))
    result = OperatorSchema(
        draw(NAMES),
        ".".join(draw(st.lists(NAMES.filter(lambda name: "." not in name), max_size=3))),
        draw(st.integers(1, 30)),
        draw(st.none() | DOCS),
        draw(DOCS),
        draw(st.lists(attributes(), max_size=3, unique_by=lambda item: item.attribute.name)),
        draw(st.booleans()),
        draw(formals(variables)),
        draw(formals(variables)),
    )
    if result.domain == "ai.onnx":
        result.domain = ""
    used = {value.type for value in (*result.inputs, *result.outputs)}
    for name in variables:
        if name in used:
            allowed = draw(st.none() | st.lists(types(), min_size=1, max_size=3, unique=True))
            result.constraints[name] = None if allowed is None else tuple(allowed)
    if draw(st.booleans()):
        result.body = [ast.Node("Relu", ("x",), ("y",)), ast.Node("F", (), ("z", "w"), domain="my")]
    return result


@st.composite
def files(draw: st.DrawFn) -> SchemaFile:
    schemas = draw(
        st.lists(operators(), max_size=3, unique_by=lambda s: (s.domain, s.name, s.since))
    )
    result = SchemaFile(schemas, draw(st.sampled_from([None, 1])))
    if draw(st.booleans()):
        result.opset_imports = [ast.OpsetImport(None, 21), ast.OpsetImport(draw(NAMES), 3)]
        result.producer_name, result.producer_version = draw(NAMES), draw(NAMES)
        result.doc_string = draw(DOCS)
    return result


@pytest.mark.thorough
@seed(fresh_seed())
@settings(max_examples=draws(80))
@given(files())
def test_drawn_files_survive_printing_and_parsing(file: SchemaFile) -> None:
    text = print_schemas(file)
    again, errors = read(text)
    assert not errors, render(errors[0])
    assert again == file, text
    assert print_schemas(again) == text


def test_the_bundled_table_survives_printing_and_parsing() -> None:
    text = BUNDLED.read_text(encoding="utf-8")
    result, errors = read(text)
    assert not errors
    assert result is not None
    assert print_schemas(result) == text


def test_comments_and_blanks_change_nothing() -> None:
    result, errors = read(GIVEN)
    again, more = read(GIVEN.replace("\n", '  # a comment, "where" {\n'))
    assert not errors
    assert not more
    assert again == result


# ---- Mistakes -----------------------------------------------------------------------------------

MISTAKES = {
    "acme.Add (T a) => (T b)": "`T` is neither a type nor a type variable",
    "acme.Add (T a) => (T b) where T: float, U: double":
        "no input or output has the type variable `U`",
    "acme.Add (T a) => (T b) where T: float, T: double": "the type variable `T` is given twice",
    "acme.Add (T a) => (T b) where T: flaot": "`flaot` is not a type",
    "acme.Add (T a) => (T b) where T: float | any": "`any` is not a type",
    "acme.Add (float[2] a) => ()": "a type in a signature cannot have dimensions",
    "acme.Add (seq(float[]) a) => ()": "a type in a signature cannot have dimensions",
    'acme.Add (seq(@denotation("x") float) a) => ()':
        "a type in a signature cannot have decorators",
    'acme.Add (map(int64, @doc("x") float) a) => ()':
        "a type in a signature cannot have decorators",
    "acme.Add (undefined a) => ()": "a value cannot have the type `undefined`",
    "acme.Add (float a, float a) => ()": "the input `a` is given twice",
    "acme.Add (float a..., float b) => ()": "only the last input can be variadic (`...`)",
    "acme.Add <a: int, a: float> () => ()": "the attribute `a` is given twice",
    "acme.Add <..., a: int> () => ()": "`...` must be the last attribute",
    "acme.Add <a: nit> () => ()": "`nit` is not an attribute type",
    "acme.Add <a = @b> () => ()": "a default cannot refer to an attribute parameter",
    "acme.Add <@values(1) a: string> () => ()": "the arguments of `@values` must be strings",
    '@values("a") acme.Add () => ()': "`@values` is not a decorator of a signature",
    "@since(0) acme.Add () => ()":
        "`@since` takes one argument, an integer from 1 to 2147483647",
    "@since(2) @since(3) acme.Add () => ()": "`@since` is given twice",
    "@doc(1) acme.Add () => ()": "`@doc` takes one string",
    "acme.Add () => ()\nacme.Add () => ()": "version 1 of `acme.Add` is given twice",
    "<ir_version: 8> acme.Add () => ()": "`ir_version` is not a key of a schema file's header",
    "acme.Add (@least(2) float a?) => ()": "`@least` is not a decorator of an optional value",
    "acme.Add (@least(2) float a...?) => ()": "`@least` cannot be combined with `...?`",
    "acme.Add (float a)": None,
    "acme.Add (float) => ()": None,
    "acme.Add => ()": None,
    "where (float a) => ()": None,
}  # fmt: skip


@pytest.mark.parametrize("text", MISTAKES)
def test_mistakes_are_reported_at_their_place(text: str) -> None:
    good = "" if text[0] == "<" else "acme.Good (float a) => (float b)\n"
    _, errors = read(good + text + "\n")
    assert errors
    assert errors[0].labels[0].span.start >= len(good) - 1
    wanted = MISTAKES[text]
    if wanted is not None:
        assert [error.message for error in errors] == [wanted]


def mutated(text: str, rng: random.Random) -> str:
    """Return a text with some parts removed, repeated or replaced."""
    for _ in range(rng.choice((1, 1, 2, 5))):
        at, end = sorted((rng.randrange(len(text) + 1), rng.randrange(len(text) + 1)))
        end = min(end, at + rng.choice((1, 2, 10, 60)))
        match rng.randrange(4):
            case 0:
                text = text[:at] + text[end:]
            case 1:
                text = text[:end] + text[at:end] + text[end:]
            case 2:
                marks = ["(", ")", "<", ">", "{", "}", "...", "?", "|", "where", "=>", "@", '"',
                         ":", "=", "[", "float[", "@doc(", "\0", "é", "\ud800"]  # fmt: skip
                text = text[:at] + rng.choice(marks) + text[end:]
            case 3:
                start = rng.randrange(len(text) + 1)
                text = text[:at] + text[start : start + 20] + text[end:]
    return text


@pytest.mark.thorough
def test_broken_files_have_errors_with_places() -> None:
    count = draws(75)
    rng = seeded()
    tried = 0
    for _ in range(count):
        text = mutated(GIVEN, rng)
        result, errors = read(text)
        for error in errors:
            assert error.labels, (text, error)
            assert 0 <= error.labels[0].span.start <= error.labels[0].span.end <= len(text), text
            render(error)
        if not errors:
            assert result is not None
            printed = print_schemas(result)
            assert read(printed)[0] == result, text
        tried += bool(errors)
        check_schemas(text.encode("utf-8", "surrogatepass"), "a.onnxschema")
    assert tried > count // 4


def test_strings_after_an_inserted_mark_are_reported() -> None:
    _, errors = read('=1,@d("")s?:s,t["","")\n str"""')
    assert [error.code for error in errors][:2] == ["syntax-error", "missing-equals"]


DEEP = {
    "types": f"my.F ({'seq(' * 5000}float{')' * 5000} x) => ()",
    "bodies": "my.F (float x) => (float y) "
    + "{ y = If (x) <then_branch = a () => (b) " * 5000
    + "}" * 5000,
    "values": f"my.F <a = {'[' * 50_000}> () => ()",
    "decorators": "my.F <" + '@doc("x") ' * 20_000 + " a: int> () => ()",
    "names": f"{'my.' * 50_000}F () => ()",
    "choices": f"my.F (T x) => (T y) where T: {'float | ' * 100_000} float",
    "signatures": "".join([f"my.F{n} (T x) => (T y) where T: float\n" for n in range(3000)]),
    "nothing": "",
    "bytes": "\0" * 1000,
}


@pytest.mark.parametrize("kind", DEEP)
def test_hostile_files_are_read_or_rejected(kind: str) -> None:
    found = check_schemas(DEEP[kind].encode(), "a.onnxschema")
    for finding in found:
        assert finding.labels or finding.code == "too-deep"
    assert bool(found) == (kind in ("types", "bodies", "values", "decorators", "bytes"))


def test_a_value_can_be_named_where() -> None:
    text = "g (float where) => (float y) {\n  y = Relu (where)\n}\n"
    assert onnxtext.format_text(text) == text
    assert "".join(piece for _, _, piece in classify(text)) == text
    assert {kind for _, kind, piece in classify(text) if piece == "where"} == {"Name.Variable"}


def test_a_type_listed_twice_does_not_lift_a_constraint() -> None:
    constraint = "T", ["tensor(float)", "tensor(float)"], ""
    formal = onnx.defs.OpSchema.FormalParameter("x", "T")
    schema = onnx.defs.OpSchema(
        "Twice", "my", 1, inputs=[formal], outputs=[formal], type_constraints=[constraint]
    )
    assert convert_schema(schema).constraints == {"T": (ast.TensorType("float"),)}
