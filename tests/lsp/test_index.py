# SPDX-License-Identifier: Apache-2.0
"""The index of a document: laws for every example and for edited examples."""

from __future__ import annotations

import random
import re
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onnxtext.ast.model import Graph, Model
from onnxtext.ast.section_paths import PathStep
from onnxtext.ast.visit import walk_nodes
from onnxtext.checker.context.signatures import newest_versions
from onnxtext.checker.engine.partial_parse import read_partial
from onnxtext.lsp.features.text_edits import minimal_edits
from onnxtext.lsp.index.completion_context import context_at
from onnxtext.lsp.index.cursor import symbol_at, target_at
from onnxtext.lsp.index.document import Document
from onnxtext.lsp.index.index import Index
from onnxtext.lsp.index.operators import schemas_of, valid_strings
from onnxtext.lsp.index.plain_statements import match_plain
from onnxtext.lsp.index.section_names import section_names
from onnxtext.lsp.index.statement_spans import SpanMapCache
from onnxtext.source import Source
from onnxtext.syntax.actions.strings import name_of
from onnxtext.syntax.section_spans import section_spans
from tests.lsp.documents import EXAMPLES, example, large
from tests.running import grows_at_most, limited
from tests.seeds import draws

NAMES = sorted(path.stem for path in EXAMPLES.glob("*.onnxtxt"))


def index_of(text: str, cache: SpanMapCache | None = None) -> Index:
    source = Source(text)
    return Index(source, read_partial(source)[0], cache or SpanMapCache())


def test_a_brace_in_a_comment_begins_no_section() -> None:
    assert section_spans("metadata # {") == []
    assert section_spans("metadata # {\n# }\n{}") == [("metadata", 0, 18, 19)]


@pytest.mark.parametrize("unit", [" #", "#\n", "metadata # ", "metadata\n", "configuration a"])
def test_sections_are_found_in_linear_time(unit: str) -> None:
    with limited(1):
        assert section_spans("metadata" + unit * 50_000) == []


def test_patterns_take_linear_time() -> None:
    with limited(1):
        assert match_plain("node", "y = Add (" + " " * 100_000 + "# x\nx)") is None


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_found_at_its_offset(name: str) -> None:
    text = example(name)
    index = index_of(text)
    assert isinstance(index.model, Model)
    nodes = sum(1 for _ in walk_nodes(index.model))
    assert sum(s.kind == "node" for s in index.statements) == nodes
    count = 0
    for key, symbol in index.symbols.items():
        for occurrence in symbol.occurrences:
            span = index.span(occurrence)
            assert span is not None, symbol
            assert name_of(text[slice(*span)]) == symbol.name
            for offset in (span.start, span.end):
                at_cursor = target_at(index, offset)
                assert at_cursor is not None
                assert at_cursor.span == span
                assert at_cursor.key == key
            count += 1
    uses = sum(len([n for n in node.inputs if n]) for node in walk_nodes(index.model))
    defined = sum(len([n for n in node.outputs if n]) for node in walk_nodes(index.model))
    assert count >= uses + defined
    assert all(symbol.defined for symbol in index.symbols.values())


@pytest.mark.parametrize("name", NAMES)
def test_span_maps_are_cached_by_text(name: str) -> None:
    """An index with cached span maps of an older version equals a fresh one."""
    cache = SpanMapCache()
    text = example(name)
    first = index_of(text, cache)
    for statement in first.statements:
        first.located(statement)
    at = text.index("(", text.index("\n>\n") if "\n>\n" in text else 0)
    later = text[:at] + "  # a comment in between\n" + text[at:]
    second, fresh = index_of(later, cache), index_of(later)
    assert [s.at for s in second.statements] == [s.at for s in fresh.statements]
    for one, other in zip(second.statements, fresh.statements, strict=True):
        left, right = second.located(one), fresh.located(other)
        assert left is not None
        assert right is not None
        assert left.span == right.span


def test_names_refer_to_symbols_of_their_scope() -> None:
    index = index_of(example("collatz"))
    text = index.source.text
    found = symbol_at(index, text.index("Div (n, two") + 8)
    assert found is not None
    symbol, at_cursor = found
    assert at_cursor.name == "two"
    assert symbol.scope is index.scopes[0]
    assert len(symbol.occurrences) == 3
    inner = symbol_at(index, text.index("Div (n, two") + 5)
    assert inner is not None
    assert inner[0].scope is not None
    assert inner[0].scope.name == "step"
    assert target_at(index, text.index("# Control") + 3) is None
    label = index_of(example("convnet"))
    spotted = target_at(label, label.source.text.index("[detect]") + 2)
    assert spotted is not None
    assert spotted.kind == "label"


def test_scopes_end_at_their_brackets() -> None:
    index = index_of(example("collatz"))
    text = index.source.text
    for scope in index.scopes:
        assert isinstance(scope.original, Graph)
        end = index.scope_end(scope)
        assert text[end - 1] == "}"
        inside = text[text.index("{", scope.original.at) : end]
        assert inside.count("{") == inside.count("}")
        assert index.scope_at(scope.original.at + 1) is scope
    offset = text.index("tripled_plus_one = Add")
    found = index.scope_at(offset)
    assert found is not None
    assert found.name == "triple"


def test_training_graphs_end_at_their_brackets() -> None:
    index = index_of("""\
<onnxtext: 1, ir_version: 11, opset_import: [24]>
main (float[1] x) => (float[1] y) <float[1] w = {1}> {
  y = Abs (x)
}
metadata {
  value y { k: "v" }
}
training {
  initialization: init () => (float[1] w0) { w0 = Abs (w) }
  algorithm: step () => (float[1] w1) { w1 = Neg (y) }
  initialization_binding: ["w": "w0"]
}
training {
  algorithm: again () => (float[1] w1) { w1 = Neg (y) }
}
""")
    text = index.source.text
    for scope in index.scopes:
        end = index.scope_end(scope)
        assert text[end - 1] == "}"
        assert text[scope.original.at : end].count("{") == (2 if scope.name == "main" else 1)
        assert index.scope_at(end - 1) is scope


def test_a_graph_without_nodes_ends_at_its_bracket() -> None:
    text = "<ir_version: 10> g (float[0] x = {}) => () <float[0] y = {}> { } # }\n"
    index = index_of(text)
    assert index.scope_end(index.scopes[0]) == text.index(" #")


@pytest.mark.parametrize(
    "text",
    [
        "g () => () {} ⟦metadata {}⟧",
        "g () => () {}⟦metadata\n# {\n{ node\ntraining { k: \"}\" } }⟧ # }",
        "g () => () {}\r⟦order { }⟧⟦encoding{}⟧ ⟦resources none⟧ ⟦metadata {}⟧",
        'g () => () {}⟦configuration "a {" {num_devices: 2, device: ["}"]}⟧ ⟦metadata {}⟧',
        '@doc("""\nmetadata {\n""") g () => () {} # metadata {\n',
        'g () => () {}\n  ⟦metadata { graph { k: """\norder { }\n""" } }⟧',
        "metadata () => () { training = order (x) <a = training () => () {}> }",
        "g () => () {\n  y = A (x\n  ⟦metadata {⟧\n    node",
        'g () => () {\n  y = A <s = "abc> ()\n}\n⟦metadata {\n  graph { k: "order {" }\n}⟧\n',
    ],
)  # fmt: skip
def test_sections_are_found_in_any_layout(text: str) -> None:
    plain = text.replace("⟦", "").replace("⟧", "")
    spans = section_spans(plain)
    assert [plain[span.at : span.end] for span in spans] == re.findall("⟦(.*?)⟧", text, re.DOTALL)
    assert all(plain[span.at : span.inside].startswith(span.keyword) for span in spans)


@pytest.mark.parametrize(
    "text",
    [
        "g () ⟦⟧=> ⟦⟧() {}",
        "<onnxtext: 1, opset_import: [21⟦⟧] ⟦⟧, ir_version: 10 ⟦⟧>⟦⟧ g () => () {}",
        "g () => () { y = A <a ⟦⟧= 1 ⟦⟧, b = [1 ⟦⟧, 2], c: int ⟦⟧= 1> ⟦⟧(x ⟦⟧, y) }",
        'g () => () { y = A (x) } metadata { node y { k: """\n⟦⟧k\n⟦⟧""" } }',
        '@doc("""\n g () => () { y = ⟦⟧\n""") g () => () {}',
    ],
)  # fmt: skip
def test_nothing_is_completed_where_no_item_begins(text: str) -> None:
    index = index_of(text.replace("⟦⟧", ""))
    places = [found.start() - 2 * number for number, found in enumerate(re.finditer("⟦⟧", text))]
    contexts = [context_at(index, at) for at in places]
    assert [each for each in contexts if each.kind != "nothing" and each.is_free] == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("g () => () <⟦⟧> { }", "declaration"), ("g () => () { y = A (x) ⟦⟧", "body"),
        ("g () => () { y = A (x) <a = 1> ⟦⟧}", "body"), ("g () => () { [l] ⟦⟧", "body"),
        ("g () => () { y = A (x, ⟦⟧", "inputs"),
        ("g () => () { y = A <a = [1, ⟦⟧", "attribute-value"),
        ("g () => () { y = A <a = 1, ⟦⟧", "attribute"), ("<onnxtext: 1, ⟦⟧", "header"),
        ('@doc("""\na\n""") g () => () { y = ⟦⟧', "operator"), ("y = A (x) ⟦⟧", "body"),
        ("g () => () {} metadata { ⟦⟧", "section"), ("g () => () {}\n  metadata { ⟦⟧", "section"),
    ],
)  # fmt: skip
def test_an_item_is_completed_where_it_begins(text: str, kind: str) -> None:
    found = context_at(index_of(text.replace("⟦⟧", "")), text.index("⟦⟧"))
    assert (found.kind, found.is_free) == (kind, True)


@pytest.mark.parametrize("text", [")", ">", "# a\n) x"])
def test_nothing_follows_a_text_that_begins_with_a_closing_bracket(text: str) -> None:
    assert context_at(index_of(text), len(text)).kind == "nothing"


def test_a_prefix_is_on_one_line() -> None:
    index = index_of('g () => () {\r y = A (x, "a\rb')
    assert "\r" not in context_at(index, len(index.source.text)).prefix


def test_names_in_sections_refer_to_symbols() -> None:
    text = """\
metadata {
  graph { "pkg.torch": "{}" }
  output x { a: above }
  node "q 1".then_branch.mul { rule: "r" }
  node gs.graphs[1].y { k: \"\"\"
    node z { }
    \"\"\" }
  function my.ops.Gelu:f16 { origin: "lib"  node y { k: "v" } }
}
quantization { x: ["SCALE_TENSOR": "s"]  [a].then_branch.c: [] }
"""
    found = section_names(text, section_spans(text))
    for item in found:
        assert name_of(text[slice(*item.span)]) == item.name
    assert [item.name for item in found if item.is_label] == ["a"]
    assert [(item.name, item.path, item.within) for item in found] == [
        ("x", (), None),
        ("q 1", (), None),
        ("mul", ((PathStep("q 1"), PathStep("then_branch")),), None),
        ("gs", (), None),
        ("y", ((PathStep("gs"), PathStep("graphs", 1)),), None),
        ("Gelu", (), None),
        ("y", (), ("my.ops", "Gelu", "f16")),
        ("x", (), None),
        ("s", (), None),
        ("a", (), None),
        ("c", ((PathStep("a", None, True), PathStep("then_branch")),), None),
    ]


def test_names_in_a_list_without_its_bracket_are_found() -> None:
    text = 'quantization { x: ["SCALE_TENSOR": "s" }\n'
    assert [item.name for item in section_names(text, section_spans(text))] == ["x", "s"]


def test_reading_sections_without_colons_takes_linear_time() -> None:
    def seconds(count: int) -> float:
        graph = "".join(f"a{n} = Relu (b{n})\n" for n in range(count))
        lists = "".join(f'w{n} ["SCALE_TENSOR" "s{n}"]\n' for n in range(count))
        text = f"training {{ algorithm g () => () {{ {graph} }} }}\nquantization {{ {lists} }}\n"
        started = time.process_time()
        assert section_names(text, section_spans(text)) == []
        return time.process_time() - started

    assert grows_at_most(seconds, 300, 2400, factor=16)


@pytest.mark.parametrize(
    ("line", "kind", "operator"),
    [
        ("y = |", "operator", []),
        ("y = a.b.|", "operator", ["a", "b"]),
        ("y, z = Sp|", "operator", []),
        ("[n] float[2] y = |", "operator", []),
        ("y = Conv (|", "inputs", ["Conv"]),
        ("y = a.Conv:f <a = 1> (x, |", "inputs", ["a", "Conv"]),
        ("y = Conv <|", "attribute", ["Conv"]),
        ("y = Conv (x) <group = 1, |", "attribute", ["Conv"]),
        ("y = Conv <pads = [1, 2, |", "attribute-value", ["Conv"]),
        ("y = Conv <auto_pad = |", "attribute-value", ["Conv"]),
        ("y = If (c) <then_branch = g () => () { z = |", "operator", []),
        ("y = If (c) <then_branch = g () => () { z = Add (|", "inputs", ["Add"]),
        ("y = If (c) <then_branch = g (|", "declaration", []),
        ("y = Conv <a = @|", "reference", []),
        ("@|", "decorator", []),
        ("|", "body", []),
        ("# y = |", "nothing", []),
    ],
)  # fmt: skip
def test_the_line_decides_the_completion_context(line: str, kind: str, operator: list[str]) -> None:
    text = example("convnet")
    at = text.index("  direction =")
    result = text[:at] + line.replace("|", "") + "\n" + text[at:]
    context = context_at(index_of(result), at + line.index("|"))
    assert context.kind == kind
    assert context.operator == operator


@given(st.text("ab\n", max_size=60), st.text("ab\n", max_size=60))
def test_minimal_edits_produce_the_text(old: str, new: str) -> None:
    result = old
    for edit in reversed(minimal_edits(old, new)):
        result = result[: edit.span.start] + edit.text + result[edit.span.end :]
    assert result == new


def test_one_keystroke_is_one_edit() -> None:
    text = large()
    at = random.Random(1).randrange(len(text))
    (edit,) = minimal_edits(text, text[:at] + "x" + text[at:])
    assert len(edit.text) < 1000


def test_enumerated_values_come_from_descriptions() -> None:
    """Values from descriptions include the default of the schema."""
    schemas = schemas_of(None)
    version = newest_versions()[""]

    def values(operator: str, attribute: str) -> list[str]:
        signature = schemas.find("", operator, version)
        assert signature is not None
        return sorted(valid_strings(signature, attribute))

    assert values("LSTM", "direction") == ["bidirectional", "forward", "reverse"]
    assert values("Conv", "auto_pad") == ["NOTSET", "SAME_LOWER", "SAME_UPPER", "VALID"]
    assert values("ScatterND", "reduction") == ["add", "max", "min", "mul", "none"]
    assert values("DepthToSpace", "mode") == ["CRD", "DCR"]
    assert values("Pad", "mode") == ["constant", "edge", "reflect", "wrap"]
    assert values("Einsum", "equation") == []


@settings(max_examples=draws(60))
@given(st.sampled_from(NAMES), st.data())
def test_texts_with_errors_have_an_index(name: str, data: st.DataObject) -> None:
    """An invalid statement affects only itself and statements that merge with it."""
    text = example(name)
    document = Document.open("file:///x", Path("/x"), text, 1, "utf-16")
    whole = document.version.index
    nodes = [s for s in whole.statements if s.kind == "node" and s.scope.parent is None]
    chosen = data.draw(st.sampled_from(nodes))
    located = whole.located(chosen)
    assert located is not None
    span = located.find("operator") or located.span
    broken = text[: span.start] + "= " + text[span.start :]
    index = index_of(broken)
    kept = {n for s in index.statements if s.kind == "node" for n in s.item.outputs}
    lost = {n for s in whole.statements if s.kind == "node" for n in s.item.outputs} - kept
    inside = [s for s in whole.statements if located.span.start <= s.at <= located.span.end]
    assert lost <= {n for s in inside if s.kind == "node" for n in s.item.outputs}


def test_many_functions_are_indexed_fast() -> None:
    function = '<domain: "d", opset_import: [21]>\nF{} <a> (x) => (y) {{\n  y = Relu (x)\n}}\n'
    text = "<ir_version: 10>\ng () => () {}\n" + "".join(map(function.format, range(500)))
    index = index_of(text)
    with limited(1):
        assert len(index.symbols) == 2000  # function, parameter, input and output


def test_the_context_stays_that_of_the_list_behind_a_string() -> None:
    for line, kind in (
        ('Add (x, "a b"|', "inputs"),
        ('Resize <mode = "cubic"|', "attribute-value"),
    ):
        text = f"<ir_version: 10>\ng (float x) => (float y) {{\n  y = {line}"
        context = context_at(index_of(text.replace("|", "")), text.index("|"))
        assert (context.kind, context.is_free) == (kind, False)
