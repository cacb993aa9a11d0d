# SPDX-License-Identifier: Apache-2.0
"""`--fix` repairs findings and changes nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import onnxtext
from onnxtext.checker.context.scopes import sorted_order
from onnxtext.checker.engine import fix_edits, fix_loop
from onnxtext.checker.engine.fix_loop import fix_text
from onnxtext.diagnostics import OnnxTextError
from onnxtext.diagnostics.model import apply_edits
from tests.checker.models import codes, text
from tests.diagnostics.found import fix_of
from tests.seeds import draws


def fixed(source: str, *select: str) -> tuple[str, tuple[str, ...]]:
    result = fix_text(source.encode(), name="t.onnxtxt", select=list(select))
    return result.text, result.done


MESSY = """\
<
  onnxtext: 1,
  ir_version: 10, # IR
>
# the graph
main (float[4] x) => (float[4] y) <
  float[4] unused = [0, ...], # first
  float[4] gone, # second
  # third
  float[4] used = [1, ...], float[4] other,
> {
  # fourth
  y = Add (t, used) # fifth

  hidden = Relu (x)
  # sixth
  t = Neg (
    # seventh
    hiden
  ) # eighth
} # ninth
"""


W = "float[4] bias = [0, ...],"
WITH_ERRORS = {
    "a misspelled input": (
        "y = Add (x, bais)", ("y = Add (x, bias)", "write `bias` for `bais` [value-undefined]"),
    ),
    "an undefined input": ("y = Add (x, None)", None),
    "a missing input": ("y = Add (x, )", None),
    "an unknown operator": ("y = Ad (x, x)", None),
    "a node in a comment": ("# t = Add (x, bias)\n  y = Relu (t)", None),
    "a name that differs in its number": (
        "layer_1 = Abs (x)\n  layer_11 = Add (layer_1, bias)\n  y = Relu (layer_12)", None,
    ),
    "a short name that differs in two letters": ("W_up = Add (x, bias)\n  y = Relu (up)", None),
    "a misspelled definition": (
        "csales = Add (x, bias)\n  t = Relu (scales)\n  y = Add (t, scales)", None,
    ),
    "two similar names": (
        "x100 = Abs (x)\n  x1000 = Add (x100, bias)\n  y = Relu (x100o)", None,
    ),
}  # fmt: skip
"""For each text with an error: its nodes, and (nodes, title) after the repair, if there is one."""


@pytest.mark.parametrize("name", WITH_ERRORS)
def test_nothing_is_removed_or_guessed_if_the_text_has_errors(name: str) -> None:
    """A value may seem unused because of an error."""
    nodes, repaired = WITH_ERRORS[name]
    source = text(nodes, values=W)
    result, done = fixed(source)
    assert result == (source if repaired is None else source.replace(nodes, repaired[0]))
    assert done == (() if repaired is None else repaired[1:])


@pytest.mark.parametrize("header", ["", "<ir_version: 10, opset_import: [21]>\n"])
def test_a_name_of_another_type_is_not_inserted(header: str) -> None:
    for element, wanted in (("string", 0), ("float", 1)):
        inputs = f"float[2] x, {element}[2] words"
        source = f"{header}main ({inputs}) => (float[2] y) {{ y = Add (x, word) }}"
        assert len(fixed(source)[1]) == wanted


def test_repairs_that_cannot_be_planned_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fix_edits, "MAX_REPAIRS", 20)
    decorated = 'outer{0} = Relu (x)\n@set(input: ["outr{0}"]) inner{0} = Neg ()\n'
    nodes = "".join(decorated.format(letter * 6) for letter in "abcdefghijklmnopqrstuvw")
    source = text(f"{nodes}tensor = Relu (x)\ny = Neg (tensr)")
    assert fixed(source)[1] == ("write `tensor` for `tensr` [value-undefined]",)


def test_a_misspelled_value_info_is_not_removed() -> None:
    source = text("hidden = Abs (x)\n  y = Relu (hidden)", values="float[4] hiden,")
    assert fixed(source) == (source, ())
    (finding,) = onnxtext.check(source)
    assert finding.help == "did you mean `hidden`?"
    (edit,) = fix_of(finding).edits
    assert apply_edits(source, [edit]) == source.replace("hiden,", "hidden,")


def test_many_repairs_at_once_keep_every_comment() -> None:
    result, done = fixed(MESSY, "value-unused")
    assert len(done) >= 5
    assert not codes(result, select=["value-unused"])
    words = "IR the graph first second third fourth fifth sixth seventh eighth ninth"
    for word in words.split():
        assert word in result
    assert result.index("hidden = Relu") < result.index("t = Neg") < result.index("y = Add")
    assert result.index("# fourth") == result.index("  y = Add") - len("# fourth\n")
    assert result.index("# sixth") < result.index("t = Neg")
    assert "Add (t, used) # fifth\n" in result
    assert fixed(result, "value-unused") == (result, ())


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<onnxtext: 1, ir_version: 10>", "<onnxtext: 1, ir_version: 10, opset_import: [21]>"),
        (
            "<onnxtext: 1, ir_version: 10, opset_import: []>",
            "<onnxtext: 1, ir_version: 10, opset_import: [21]>",
        ),
        (
            '<onnxtext: 1, ir_version: 10, opset_import: ["my": 1]>',
            '<onnxtext: 1, ir_version: 10, opset_import: [21, "my": 1]>',
        ),
        (
            "<\n  onnxtext: 1,\n  ir_version: 10,\n>",
            "<\n  onnxtext: 1,\n  ir_version: 10,\n  opset_import: [21],\n>",
        ),
        ("<ir_version: 10>", '<ir_version: 10, opset_import: ["": 21]>'),
    ],
)
def test_missing_imports_are_added(before: str, after: str) -> None:
    body = "\ng (float[4] x) => (float[4] y) { y = Relu (x) }\n"
    assert fixed(before + body)[0] == after + body


def test_imports_of_functions() -> None:
    model = text(
        "y = my.f (x)", opsets='21, "my": 1', rest='<domain: "my"> f (a) => (b) { b = Relu (a) }\n'
    )
    result, done = fixed(model)
    assert done
    assert '<domain: "my", opset_import: ["": 21]> f' in result
    assert not codes(result)


@pytest.mark.parametrize("parameters", ["", "<k> "])
def test_imports_of_functions_without_header(parameters: str) -> None:
    """`<k>` is not a header."""
    function = f'@set(domain: "my") # why\nf {parameters}(a) => (b) {{ b = Relu (a) }}\n'
    model = text("y = my.f (x)", opsets='21, "my": 1', rest=function)
    result, done = fixed(model)
    assert done
    assert result == model.replace("\nf ", '\n<opset_import: ["": 21]>\nf ')
    assert not codes(result)


def test_valid_or_unfixable_texts_stay() -> None:
    for nodes in ("y = Relu (x)", "y = Rellu (x)", "a = Neg (b)\nb = Neg (a)\ny = Relu (a)"):
        model = text(nodes)
        assert fixed(model) == (model, ())
    for broken in ("g () => (", text("y = Add (x x, x)")):  # the second fix is a guess
        assert fixed(broken) == (broken, ())


def test_safe_fixes_of_syntax_errors_come_first() -> None:
    head, nodes = text("\ny = Relu (a)\na = Neg (x)").split("\n", 1)
    wrong = head.replace(", opset", " opset") + "\n" + nodes.replace("a =", "a :=")
    assert fixed(wrong) == (
        text("\na = Neg (x)\ny = Relu (a)"),
        ("add `,` [missing-comma]", "write `=` [wrong-mark]", "sort the nodes [node-order]"),
    )


def test_syntax_errors_without_a_safe_fix_stay() -> None:
    wrong = text("a := Neg (x)\ny = Add (a a, x)")
    assert fixed(wrong) == (wrong.replace(":=", "="), ("write `=` [wrong-mark]",))


def test_more_syntax_errors_than_the_parser_reports_are_fixed() -> None:
    right = text("\n".join(f"y{i} = Neg (x)" for i in range(250)) + "\ny = Neg (y0)")
    wrong = right.replace(" = Neg", " := Neg")
    assert len(onnxtext.check(wrong)) < 250
    assert fixed(wrong) == (right, ("write `=` [wrong-mark]",) * 251)


def test_errors_without_a_safe_fix_do_not_hide_later_errors() -> None:
    unclear = "\n".join(f"y{i} = Add (a a, x)" for i in range(150))
    right = text(f"{unclear}\ny = Neg (x)")
    assert fixed(right.replace(" = Neg", " := Neg")) == (right, ("write `=` [wrong-mark]",))


def test_fixes_that_leave_as_many_syntax_errors_are_dropped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wrong = text("y := Neg (x)")
    (error,) = onnxtext.check(wrong)

    def refuse(*_: object) -> None:
        raise OnnxTextError(error)

    monkeypatch.setattr(fix_loop, "parse_any", refuse)
    assert fixed(wrong) == (wrong, ())


def test_findings_carry_their_repair() -> None:
    for nodes in ("y = Relu (a)\na = Neg (x)", "hidden = Neg (x)\ny = Relu (hiden)"):
        model = text(nodes)
        (finding,) = onnxtext.check(model)
        result = apply_edits(model, fix_of(finding).edits)
        assert not codes(result)
        assert result == fixed(model)[0]
    (wrong,) = onnxtext.check(text("y = Rellu (x)"))
    assert fix_of(wrong).applicability == "unsafe"


def test_unused_initializers_are_removed_unless_the_rule_is_ignored() -> None:
    model = text("y = Relu (x)", values="float[1] w = [1],\nfloat[1] v = [2],")
    result, done = fixed(model)
    assert len(done) == 2
    assert "float[1]" not in result
    kept = fix_text(model.encode(), name="t.onnxtxt", ignore=["value-unused"])
    assert (kept.text, kept.done) == (model, ())


def test_suppressed_findings_are_not_repaired() -> None:
    model = text("y = Relu (xx) # onnxtext: ignore[value-undefined]")
    assert fixed(model) == (model, ())


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ('"the hidden"', '"the hiden"'),
        ('"say \\"hidden\\""', '"say hidden"'),
        ('"float16"', "flaot16"),
        (r'b"two\nlines"', '"two lines"'),
    ],
)
def test_names_are_inserted_as_the_printer_writes_them(right: str, wrong: str) -> None:
    model = text(f"{right} = Neg (x)\ny = Relu ({wrong})")
    assert f"y = Relu ({right})" in fixed(model)[0]


@pytest.mark.parametrize("call", ["f.scaled_up <al_pha = 1.0>", 'f."scaled up" <al_pha = 1.0>'])
def test_guessed_operators_and_attributes_are_quoted_if_needed(call: str) -> None:
    function = """<domain: "f", opset_import: [21]>
    "scaled up" <"al pha"> (x) => (y) {
      a = Constant <value_float: float = @"al pha"> ()
      y = Mul (x, a)
    }
    """
    model = text(f"y = {call} (x)", opsets='21, "f": 1', rest=function)
    while fixes := [finding.fix for finding in onnxtext.check(model) if finding.fix is not None]:
        model = apply_edits(model, fixes[0].edits)
    assert 'y = f."scaled up" <"al pha" = 1.0> (x)' in model
    assert not codes(model)


@settings(max_examples=draws(60))
@given(st.permutations(list(range(8))), st.data())
def test_nodes_in_any_order_are_sorted(order: list[int], data: st.DataObject) -> None:
    """Any acyclic graph in any order becomes an equivalent sorted one."""
    lines = []
    for index in order:
        choices = ["x", *[f"v{other}" for other in range(index)]]
        used = data.draw(st.lists(st.sampled_from(choices), min_size=1, max_size=3))
        lines.append(f"v{index} = Sum ({', '.join(used)}) # {index}")
    source = text("\n".join(lines), outputs="float[4] v7")
    result, _ = fixed(source)
    assert not codes(result)
    before, after = onnxtext.parse(source), onnxtext.parse(result)
    key = lambda node: node.outputs  # noqa: E731
    assert sorted(before.graph.nodes, key=key) == sorted(after.graph.nodes, key=key)
    for index in order:
        line = next(line for line in result.splitlines() if f"v{index} = " in line)
        assert line.endswith(f"# {index}")


def test_nodes_with_comments_that_turn_formatting_off_or_on_are_not_moved() -> None:
    nodes = "# {0}: off\ny = Neg(a)\n# {0}: on\na = Abs(x)"
    directive, comment = (text(nodes.format(word)) for word in ("fmt", "note"))
    assert fixed(directive) == (directive, ())
    assert fixed(comment)[0] != comment


SHARED_LINES = [
    # the nodes before and after sorting, with the braces; None if they stay as they are
    ("{ y = Relu (a) a = Neg (x) }", "{ a = Neg (x) y = Relu (a) }"),
    ("{ y = Relu (a)\n  a = Neg (x) }", "{ a = Neg (x)\n  y = Relu (a) }"),
    ("{ # first\n  y = Relu (a)\n  a = Neg (x) }  # end",
     "{ # first\n  a = Neg (x)\n  y = Relu (a) }  # end"),
    ("{ y = Relu (\n  a\n) a = Neg (x)\n}", "{ a = Neg (x) y = Relu (\n  a\n)\n}"),
    # A comment that moves before the brace or the other node would comment it out.
    ("{ y = Relu (a) # comment\n  a = Neg (x) }", None),
    ("{ y = Relu (a)\n  # comment\n  a = Neg (x) }", None),
]  # fmt: skip


@pytest.mark.parametrize(("nodes", "wanted"), SHARED_LINES)
def test_nodes_that_share_lines_are_sorted(nodes: str, wanted: str | None) -> None:
    head = "<ir_version: 10, opset_import: [21]>\nmain (float[4] x) => (float[4] y) "
    result = fix_text((head + nodes).encode(), name="model.onnxtxt")
    assert result.text == head + (wanted or nodes)
    assert len(result.done) == (wanted is not None)


def test_sorting_moves_as_few_nodes_as_possible() -> None:
    nodes = onnxtext.parse(text("a = Neg (x)\nb = Neg (d)\nc = Neg (a)\nd = Neg (c)")).graph.nodes
    assert sorted_order(nodes) == [0, 2, 3, 1]
