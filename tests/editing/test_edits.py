# SPDX-License-Identifier: Apache-2.0
"""Edits of syntax trees: a text and its binary model change in the same way."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import onnx
import onnx.helper as oh
import onnx.numpy_helper as nh
import pytest

import onnxtext
from onnxtext import OnnxTextError, ast, editing
from onnxtext.ast.map_names import defined_names
from onnxtext.editing.set_shapes import set_several_shapes
from onnxtext.format.tokens_with_comments import comments_of
from tests.corpus import EXAMPLES, REPOSITORY
from tests.replacements import replaced
from tests.seeds import seeded

TEXT = """\
# head
<onnxtext: 1, ir_version: 10, opset_import: ["":21]>
g (float[N, 4] x, bool c) => (float[N, 4] y) # graph
< float[4] w = [1,2,3,4], float[N, 4] a >
{
  # first
  [one] a = Relu(x) # behind
  [two] b = Mul( a, w )
  float[N, 4] d = If (c) <
    then_branch = t () => (float[N, 4] u) { u = Neg (b) },  # takes b
    else_branch = e () => (float[N, 4] v) { v = Abs (a) }>
  [drop] e = Identity (d)
  s = Sum (e, d)
  y = Softmax <axis: int = 1> (s)
}
"""


def edited(edit: Callable[..., Any], text: str = TEXT, /, **options: Any) -> str:
    """Return a text after an edit, which changes the binary model in the same way."""
    data = onnxtext.to_binary(text)
    result = editing.apply(text, partial(edit, **options)).content
    assert isinstance(result, str)
    binary = editing.apply(data, partial(edit, **options)).content
    assert isinstance(binary, bytes)
    assert onnxtext.to_binary(result) == binary
    return result


def changed(*pairs: tuple[str, str]) -> str:
    """Return the text with replacements."""
    return replaced(TEXT, *pairs)


def test_rename_changes_a_value_and_its_uses() -> None:
    result = edited(editing.rename, old="b", new="renamed")
    assert result == changed(("b = Mul( a, w )", "renamed = Mul (a, w)"), ("(b)", "(renamed)"))


@pytest.mark.parametrize("name", ["a", "two", "u"])
def test_the_old_name_as_the_new_name_changes_nothing(name: str) -> None:
    assert edited(editing.rename, old=name, new=name) == TEXT


def test_rename_changes_declarations() -> None:
    result = edited(editing.rename, old="a", new="A/0")
    assert 'float[N, 4] "A/0" >' in result
    assert '[one] "A/0" = Relu (x) # behind' in result
    assert 'v = Abs ("A/0")' in result


def test_rename_changes_a_label() -> None:
    assert "[zwei] b = Mul (a, w)" in edited(editing.rename, old="two", new="zwei")


def test_rename_changes_a_nested_value() -> None:
    result = edited(editing.rename, old="u", new="inner")
    assert "(float[N, 4] inner) { inner = Neg (b) },  # takes b" in result


def test_omitted_inputs_do_not_get_the_name_of_an_unnamed_input() -> None:
    text = 'g (float[2] "", float m) => (float[2] y) {\n  y = Clip ("", , m)\n}\n'
    for content in (text, onnxtext.to_binary(text)):
        with pytest.raises(OnnxTextError, match="stands for omitted inputs"):
            editing.apply(content, partial(editing.rename, old="", new="x"))
        with pytest.raises(OnnxTextError) as caught:
            editing.apply(content, partial(editing.rename, old="q", new="x"))
        assert caught.value.diagnostics[0].help == "the model has `m`, `y`"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("aa", "z", "there is no value or node `aa`"),
        ("aa", "aa", "there is no value or node `aa`"),
        ("a", "b", "`b` is already a value of `g`"),
        ("a", "u", "`u` is already a value of `t`"),
        ("u", "a", "`a` is already a value of `g`"),
        ("one", "two", "another node already has the label `two`"),
        ("a", "", "a name cannot be empty"),
        ("", "z", "an empty name cannot be renamed"),
    ],
)
def test_impossible_renames_are_errors(old: str, new: str, said: str) -> None:
    with pytest.raises(OnnxTextError, match=said):
        edited(editing.rename, old=old, new=new)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("d", "w", "`w` is already a value of `g`"),
        ("d", "x", "`x` is already a value of `g`"),
        ("w", "d", "`d` is already a value of `step`"),
        ("w0", "w", None),
        ("w1", "other", None),
        ("w", "other", None),
    ],
)
def test_bindings_of_training_are_renamed(old: str, new: str, said: str | None) -> None:
    text = """<onnxtext: 1, ir_version: 8, opset_import: [18]>
g (float[2] x) => (float[2] y) <float[2] w = [1, 2]> { y = Mul (x, w) }
training {
  initialization: init () => (float[2] w0) { w0 = Constant <value = float[2] [1, 1]> () }
  algorithm: step () => (float[2] w1) { d = Mul (w, w)  w1 = Sub (w, d) }
  initialization_binding: ["w": "w0"]
  update_binding: ["w": "w1"]
}
"""
    if said is not None:
        with pytest.raises(OnnxTextError, match=said):
            edited(editing.rename, text, old=old, new=new)
        return
    result = edited(editing.rename, text, old=old, new=new)
    assert not [finding for finding in onnxtext.check(result) if finding.severity == "error"]
    assert result.count(new) >= text.count(f'"{old}"') + 1


def test_names_in_sections_are_renamed() -> None:
    text = (REPOSITORY / "examples" / "quantized.onnxtxt").read_text()
    for name in dict.fromkeys(defined_names(onnxtext.parse(text).graph)):
        result = edited(editing.rename, text, old=name, new="another name")
        back = edited(editing.rename, result, old="another name", new=name)
        assert onnxtext.to_binary(back) == onnxtext.to_binary(text)


def test_names_in_records_are_renamed() -> None:
    text = """\
<onnxtext: 1, ir_version: 11, opset_import: [24]>
main (float[4] x, bool c) => (float[4] y) {
  @device("h", sharding_spec: [{tensor_name: "h", device: [0]}])
  @set(metadata_props: [{key: "k", value: "h"}])
  h = Relu (x)
  y = If (c) <
    then_branch = @set(
      quantization_annotation: [
        {
          tensor_name: "p"
          quant_parameter_tensor_names: [{key: "SCALE_TENSOR", value: "h"}]
        },
      ],
    )
    a () => (float[4] p) {
      p = Neg (h)
    },
    else_branch = b () => (float[4] r) {
      r = Abs (h)
    },
  >
}

configuration "h" {
  num_devices: 2
}
"""
    result = onnxtext.format_text(edited(editing.rename, text, old="h", new="new"))
    assert result.count("new") == 5
    assert '@device("h", sharding_spec: [{tensor_name: "new"' in result
    assert '[{key: "k", value: "h"}]' in result
    assert '"SCALE_TENSOR", value: "new"' in result


def test_set_shape_replaces_a_symbol_everywhere() -> None:
    result = edited(editing.set_shape, name="x", shape="[batch, 4]")
    assert "g (float[batch, 4] x, bool c) => (float[batch, 4] y) # graph" in result
    assert "N" not in result.replace("Neg", "")


def test_set_shape_replaces_inferred_numbers() -> None:
    text = TEXT.replace("[N, 4]", "[1, 4]")
    result = edited(editing.set_shape, text, name="x", shape=("N", 4))
    assert "1, 4" not in result  # declared and inferred shapes follow


def test_set_shape_keeps_contradicting_shapes() -> None:
    text = TEXT.replace("[N, 4] y", "[7, 4] y").replace("[N, 4]", "[7, 4]", 1)
    result = edited(editing.set_shape, text, name="x", shape="[8, 5]")
    assert "float[8, 5] x" in result
    assert any(item.severity == "error" for item in onnxtext.check(result))


def test_set_shape_names_outputs_whose_shape_is_unknown() -> None:
    tree = onnxtext.parse(
        """<ir_version: 10, opset_import: ["": 21, "my": 1]>
        g (float[2] x, float[2] other) => (float[2] y, float[2] z, float[2] w, float[?] v) {
          y = my.F (x) z = Neg (x) w = my.F (other) v = my.F (x)
        }"""
    )
    assert editing.set_shape(tree, "x", "[3]") == [
        "`y` keeps the type float[2], but its shape cannot be inferred and may have changed"
    ]
    assert editing.set_shape(tree, "x", "[3]") == []  # it already has this shape
    assert set_several_shapes(tree, [("x", "[4]"), ("y", "[2]")]) == []


def test_set_several_shapes_infers_the_outputs_of_all() -> None:
    header = '<onnxtext: 1, ir_version: 10, opset_import: ["": 21]>\n'
    tree = onnxtext.parse(
        header + "g (float[] a, float[] b) => (float[2, 4] y) { y = MatMul (a, b) }"
    )
    assert set_several_shapes(tree, [("a", "[2, 3]"), ("b", "[3, 4]")]) == []
    text = header + (
        "g (float[A] a, float[A] b, float[C] c) => (float[A] y, float[C] z)"
        " { y = Add (a, b) z = Neg (c) }"
    )
    result = edited(set_several_shapes, text, shapes=[("a", "[B]"), ("b", "[3]"), ("c", "[5]")])
    assert "(float[3] a, float[3] b, float[5] c) => (float[3] y, float[5] z)" in result
    # Between the two new shapes, `Add` has no valid result.
    text = header + "g (float[2] a, float[2] b) => (float[2] y) { y = Add (a, b) }"
    result = edited(set_several_shapes, text, shapes=[("a", "[3]"), ("b", "[3]")])
    assert "(float[3] a, float[3] b) => (float[3] y)" in result


@pytest.mark.parametrize("shape", ["4", "[1", "", "[1] x", "[]]"])
def test_set_shape_rejects_invalid_shapes(shape: str) -> None:
    with pytest.raises(OnnxTextError):
        edited(editing.set_shape, name="x", shape=shape)


def test_extract_cuts_between_two_values() -> None:
    result = edited(editing.extract, starts=["a"], ends=["b"])
    model = onnxtext.loads(result)
    assert [value.name for value in model.graph.input] == ["a"]
    assert [value.name for value in model.graph.output] == ["b"]
    assert [node.op_type for node in model.graph.node] == ["Mul"]
    assert [tensor.name for tensor in model.graph.initializer] == ["w"]
    assert "# head" in result
    assert "  [two] b = Mul( a, w )\n" in result


def test_extract_starts_at_the_inputs_by_default() -> None:
    model = onnxtext.loads(edited(editing.extract, starts=[], ends=["two"]))
    assert [value.name for value in model.graph.input] == ["x"]
    assert [node.op_type for node in model.graph.node] == ["Relu", "Mul"]


def test_extract_needs_all_inputs() -> None:
    with pytest.raises(OnnxTextError, match="to compute `y`, `c` must be given"):
        edited(editing.extract, starts=["a", "b"], ends=["y"])
    with pytest.raises(OnnxTextError, match="there is no value or node `nothing`"):
        edited(editing.extract, starts=["nothing"], ends=["y"])


def test_extracted_models_compute_the_same() -> None:
    model = onnxtext.loads(TEXT)
    values = {"x": np.ones((2, 4), np.float32), "c": np.array(True)}
    from onnx.reference import ReferenceEvaluator

    whole: Any = ReferenceEvaluator(model).run(None, values)
    (first,) = ReferenceEvaluator(part(model, [], ["b"])).run(None, {"x": values["x"]})
    rest: Any = part(model, ["b", "a", "c"], ["y"])
    second: Any = ReferenceEvaluator(rest).run(None, {"b": first, "a": first, "c": values["c"]})
    np.testing.assert_array_equal(whole[0], second[0])


def part(model: onnx.ModelProto, starts: list[str], ends: list[str]) -> Any:
    edit = partial(editing.extract, starts=starts, ends=ends)
    result = editing.apply(model.SerializeToString(), edit).content
    assert isinstance(result, bytes)
    return onnx.ModelProto.FromString(result)


def test_set_attribute_replaces_or_adds() -> None:
    assert "y = Softmax <axis = -1> (s)" in edited(
        editing.set_attribute, node="y", text="axis = -1"
    )
    result = edited(editing.set_attribute, node="one", text='to = "x"')
    assert '[one] a = Relu <to = "x"> (x) # behind' in result


@pytest.mark.parametrize(("node", "text"), [("none", "a = 1"), ("y", "a"), ("y", ""), ("y", "{}")])
def test_impossible_attributes_are_errors(node: str, text: str) -> None:
    with pytest.raises(OnnxTextError):
        edited(editing.set_attribute, node=node, text=text)


@pytest.mark.parametrize(
    ("edit", "text", "code"),
    [
        (editing.set_attribute, 'v = float[2] blob"24ae2dfe8df57c1b"', "blob-missing"),
        (editing.set_attribute, "@set(nope: 1) v = 1", "invalid-record"),
        (editing.insert, 'z = Op <v = float[2] blob"24ae2dfe8df57c1b"> (a)', "blob-missing"),
        (editing.insert, "@set(nope: 1) z = Relu (a)", "invalid-record"),
    ],
)
def test_edits_that_cannot_be_encoded_are_errors(
    edit: Callable[..., Any], text: str, code: str
) -> None:
    options = {"node": "one"} if edit is editing.set_attribute else {}
    with pytest.raises(OnnxTextError) as found:
        editing.apply(onnxtext.to_binary(TEXT), partial(edit, text=text, **options))
    assert [item.code for item in found.value.diagnostics] == [code]


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (partial(editing.rename, old="a", new="\ud800"), "lone surrogate"),
        (partial(editing.set_opset, version=1 << 63, convert=False), "64 bits"),
        (partial(editing.set_opset, version=1, domain="\ud800"), "lone surrogate"),
        (partial(editing.set_shape, name="x", shape=("\ud800", 4)), "lone surrogate"),
        (partial(editing.set_shape, name="x", shape=(-1 << 64, 4)), "64 bits"),
        (partial(editing.make_symbolic, dims=[("x", 0)], symbol="\ud800"), "lone surrogate"),
    ],
)
def test_names_and_numbers_that_cannot_be_encoded_are_errors(
    edit: Callable[..., Any], said: str, binary: bool
) -> None:
    with pytest.raises(OnnxTextError, match=said):
        editing.apply(onnxtext.to_binary(TEXT) if binary else TEXT, edit)


def test_a_label_of_several_nodes_is_not_unknown() -> None:
    text = changed(("[two]", "[one]"))
    with pytest.raises(OnnxTextError, match="2 nodes have the name `one`"):
        edited(editing.remove, text, node="one")
    for label in (False, True):
        with pytest.raises(OnnxTextError, match="2 nodes have the name `one`") as caught:
            edited(editing.rename, text, old="one", new="three", label=label)
        assert "by one of its outputs, with `--label`" in str(caught.value.diagnostics[0].help)
    result = edited(editing.rename, text, old="b", new="three", label=True)
    assert result == changed(("[two] b = Mul( a, w )", "[three] b = Mul (a, w)"))


def test_insert_places_nodes_and_redirects_uses() -> None:
    result = edited(editing.insert, text="z = Sin (a)")
    assert result == changed(("# behind\n", "# behind\n  z = Sin (a)\n"))
    result = edited(editing.insert, text="z = Sin (a)", before="y")
    assert result == changed(("  y = Soft", "  z = Sin (a)\n  y = Soft"))
    result = edited(editing.insert, text="k = Sin (b) l = Cos (k)", instead_of="b")
    assert "  [two] b = Mul( a, w )\n  k = Sin (b)\n  l = Cos (k)\n" in result
    assert "u = Neg (l)" in result
    result = edited(editing.insert, text="r = Sin (x)", instead_of="x")
    assert "  r = Sin (x)\n  # first\n  [one] a = Relu (r) # behind\n" in result
    # `instead_of` is a value, not the label of a node.
    result = edited(editing.insert, changed(("[one]", "[b]")), text="k = Sin (b)", instead_of="b")
    assert "  [two] b = Mul( a, w )\n  k = Sin (b)\n" in result


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"text": "b = Sin (a)"}, "`b` is already a value"),
        ({"text": "z = Sin (a)", "after": "nothing"}, "there is no node `nothing`"),
        ({"text": ""}, "no node to insert"),
        ({"text": "z = Sin (a"}, ""),
        ({"text": "z = Sin (y)", "instead_of": "y"}, "cannot replace `y`: it is an output of `g`"),
        ({"text": "z = Sin (y)", "instead_of": "none"}, "there is no"),
        ({"text": "z = Sin (a)", "instead_of": "a", "after": "b"}, "`z` would be used before"),
        ({"text": "z = Sin (b)", "instead_of": "b", "after": "d"}, "`z` would be used before"),
        ({"text": "z = Sin (b)", "before": "two"}, "`b` would be used before"),
        ({"text": "z = Sin (k) k = Cos (a)"}, "`k` would be used before"),
    ],
)
def test_impossible_insertions_are_errors(options: dict[str, str], said: str) -> None:
    with pytest.raises(OnnxTextError) as caught:
        edited(editing.insert, **options)
    assert said in str(caught.value)


def test_remove_connects_users_to_the_input() -> None:
    result = edited(editing.remove, node="drop")
    assert result == changed(
        ("  [drop] e = Identity (d)\n", ""), ("s = Sum (e, d)", "s = Sum (d, d)")
    )
    result = edited(editing.remove, node="one")
    assert "# first" in result
    assert "[two] b = Mul (x, w)" in result
    assert "v = Abs (x)" in result


def test_remove_keeps_outputs_defined() -> None:
    result = edited(editing.remove, node="y")
    assert "  y = Sum (e, d)\n}" in result
    with pytest.raises(OnnxTextError, match="`y` is an output of `g`, and no remaining node compu"):
        edited(editing.remove, "g (float[1] x) => (float[1] y) { y = Neg (x) }", node="y")
    both = "g (float x) => (float a, float y) { a = Abs (x) y = Neg (a) }"
    with pytest.raises(OnnxTextError, match="`y` and `a` are both outputs of `g`"):
        edited(editing.remove, both, node="y")


@pytest.mark.parametrize(
    ("node", "refused"), [("h", True), ("k", True), ("z", True), ("y", False), ("d", False)]
)
def test_remove_keeps_the_values_that_a_training_uses(node: str, refused: bool) -> None:
    text = """<onnxtext: 1, ir_version: 8, opset_import: [18]>
g (float[2] x) => (float[2] y, float[2] z) <float[2] w = [1, 2]> {
  h = Identity (x)
  k = Neg (w)
  y = Mul (x, w)
  z = Identity (h)
}
training {
  algorithm: step () => (float[2] w1) { d = Mul (w, h)  w1 = Sub (d, k) }
  update_binding: ["w": "w1"]
}
"""
    if refused or node == "y":
        with pytest.raises(
            OnnxTextError, match="`training_info` uses" if refused else "is an output"
        ):
            edited(editing.remove, text, node=node)
        return
    result = edited(editing.remove, text, node=node)
    assert not [finding for finding in onnxtext.check(result) if finding.severity == "error"]


def test_replace_weight_changes_data_and_type() -> None:
    array = np.arange(4, dtype=np.float32)
    assert "float[4] w = [0, 1, 2, 3]," in edited(editing.replace_weight, name="w", array=array)
    big_endian = array.astype(">f4")
    assert "[0, 1, 2, 3]," in edited(editing.replace_weight, name="w", array=big_endian)
    notes = editing.apply(TEXT, partial(editing.replace_weight, name="w", array=np.zeros(2))).notes
    assert notes == ("the type of `w` changes from float[4] to double[2]",)
    with pytest.raises(OnnxTextError, match="there is no weight `v`"):
        edited(editing.replace_weight, name="v", array=array)
    with pytest.raises(OnnxTextError, match="ONNX has no tensors of type"):
        edited(editing.replace_weight, name="w", array=np.array([object()]))


def test_large_weights_stay_out_of_the_graph() -> None:
    big = np.random.default_rng(0).random((20, 20), dtype=np.float32)
    model = onnxtext.loads(TEXT)
    model.graph.initializer[0].CopyFrom(onnx.numpy_helper.from_array(big, "w"))
    text = onnxtext.dumps(model)
    result = edited(editing.replace_weight, text, name="w", array=big + 1)
    assert len(result) == len(text)
    assert result.count("base64") == 1
    new = onnxtext.loads(result).graph.initializer[0]
    np.testing.assert_array_equal(onnx.numpy_helper.to_array(new), big + 1)


def test_replace_weight_changes_constants() -> None:
    text = TEXT.replace("[two]", "k = Constant <value = float[1] {5}> ()\n  [two]")
    result = edited(editing.replace_weight, text, name="k", array=np.ones(2, np.int64))
    assert "k = Constant <value = int64[2] [1, 1]> ()" in result


@pytest.mark.parametrize(
    "graph",
    [
        '(float[1] w) => (float[1] y, float[1] w) <@doc("d") float[1] w = [1]> { y = Neg (u) }',
        "(float[1] w = [1]) => (float[1] y) <float[1] w> { y = Neg (w) }",
        "(bool c) => (y) { float[1] w = Constant <value = float[1] [1]> () y = Neg (w) }",
    ],
)
def test_replace_weight_changes_every_declaration(graph: str) -> None:
    text = f"<onnxtext: 1, ir_version: 10, opset_import: [21]> g {graph}"
    result = edited(editing.replace_weight, text, name="w", array=np.ones(3, np.float32))
    assert "float[1] w" not in result
    assert result.count("float[3] w") == graph.count("float[1] w")


def test_replace_weight_changes_declarations_that_it_contradicts() -> None:
    text = """<onnxtext: 1, ir_version: 10, opset_import: [21]>
        g (float[1] x) => (float[1] y, float[N] w) <float[1] w = [1]> { y = Neg (x) }"""
    result = edited(editing.replace_weight, text, name="w", array=np.ones(2, np.float32))
    assert "float[N] w)" in result
    result = edited(editing.replace_weight, text, name="w", array=np.ones(2, np.int64))
    assert "int64[2] w)" in result


def test_replace_weight_refuses_the_name_of_several_weights() -> None:
    branch = "g () => (float[1] z) <float[1] w = [1]> { z = Neg (w) }"
    text = f"""<onnxtext: 1, ir_version: 10, opset_import: [21]>
        g (bool c) => (y) {{ y = If (c) <then_branch = {branch}, else_branch = {branch}> }}"""
    with pytest.raises(OnnxTextError, match="2 weights have the name `w`"):
        edited(editing.replace_weight, text, name="w", array=np.ones(1, np.float32))


def test_set_opset_changes_the_import() -> None:
    assert edited(editing.set_opset, version=13) == changed(('"":21', '"":13'))
    assert '"my.domain": 3' in edited(editing.set_opset, version=3, domain="my.domain")
    with pytest.raises(OnnxTextError):
        edited(editing.set_opset, version=0)


def test_strip_removes_one_kind_of_field() -> None:
    text = onnxtext.dumps(onnxtext.loads((REPOSITORY / "examples/extensions.onnxtxt").read_text()))
    for what in ("metadata", "doc", "value-info"):
        model = onnxtext.loads(edited(editing.strip, text, what=what))
        words = {"metadata": "metadata_props", "doc": "doc_string", "value-info": "value_info {"}
        assert words[what] not in str(model)
    with pytest.raises(OnnxTextError, match="`all` cannot be stripped"):
        edited(editing.strip, what="all")


def drawn(draw: random.Random, tree: ast.Model) -> tuple[Callable[..., Any], dict[str, Any]]:
    """Return an edit of something in a tree."""
    nodes = list(ast.walk_nodes(tree))
    names = [name for node in nodes for name in node.outputs if name]
    values = [*names, *[value.name for value in tree.graph.inputs]]
    node, value = draw.choice(names), draw.choice(values)
    edits: list[tuple[Callable[..., Any], dict[str, Any]]] = [
        (editing.rename, {"old": value, "new": "a new name"}),
        (editing.remove, {"node": node}),
        (editing.set_attribute, {"node": node, "text": "added = [1, 2]"}),
        (editing.insert, {"text": f'"new" = Neg ("{value}")', "instead_of": value}),
        (editing.insert, {"text": '"new" = Neg ()', "after": node}),
        (editing.extract, {"starts": [], "ends": [value]}),
        (editing.strip, {"what": draw.choice(["metadata", "doc", "value-info"])}),
        (editing.set_opset, {"version": draw.randrange(1, 22)}),
    ]
    return draw.choice(edits)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_drawn_edits_change_text_and_binary_alike(path: Any) -> None:
    draw = seeded()
    text = path.read_text()
    for _ in range(8):
        edit, options = drawn(draw, onnxtext.parse(text))
        try:
            result = edited(edit, text, **options)
        except OnnxTextError as error:
            refused = error.diagnostics[0].code
        else:
            refused, text = "", result
        codes = ("", "edit-refused", "edit-unknown-name", "opset-conversion")
        assert refused in codes, (edit, options)
        assert set(comments_of(text)) <= set(comments_of(path.read_text()))


def test_extracted_values_get_the_types_that_are_inferred() -> None:
    tree = onnxtext.parse(
        "<ir_version: 10, opset_import: [21]> g (float[N, 4] x) => (float[N, 4] y)"
        " { a = Relu (x) b = Transpose (a) c = Transpose (b) y = Abs (c) }"
    )
    editing.extract(tree, ["a"], ["b"])
    (entering,), (leaving,) = tree.graph.inputs, tree.graph.outputs
    assert entering.type == ast.TensorType("float", ("N", 4))
    assert leaving.type == ast.TensorType("float", (4, "N"))


def test_initializers_with_value_infos_are_edited_alike() -> None:
    """`value_info` entries of a weight are renamed and removed with the weight."""
    text = TEXT.replace("\ng (", "\n@value_info(initializers)\ng (")
    array = np.zeros((2, 4), np.float32)
    model = onnxtext.loads(edited(editing.replace_weight, text, name="w", array=array))
    (info,) = [each for each in model.graph.value_info if each.name == "w"]
    assert [dim.dim_value for dim in info.type.tensor_type.shape.dim] == [2, 4]
    model = onnxtext.loads(edited(editing.extract, text, starts=[], ends=["a"]))
    assert not [each for each in model.graph.value_info if each.name == "w"]
    with pytest.raises(OnnxTextError, match="there is no declared value `w`"):
        edited(editing.set_shape, text, name="w", shape="[1]")


def test_extract_can_return_inputs_and_weights() -> None:
    text = TEXT.replace("bool c)", "bool c, float[1] d0 = {1})")
    model = onnxtext.loads(edited(editing.extract, text, starts=[], ends=["a", "c", "d0", "a"]))
    assert [value.name for value in model.graph.output] == ["a", "c", "d0"]
    assert [value.name for value in model.graph.input] == ["x", "c", "d0"]
    onnx.checker.check_model(model)
    model = onnxtext.loads(edited(editing.extract, starts=["a", "a"], ends=["b", "b"]))
    assert [value.name for value in model.graph.input] == ["a"]
    with pytest.raises(OnnxTextError, match="`e` would be both an input and"):
        edited(editing.extract, starts=["e", "d"], ends=["e", "y"])


def test_removed_values_leave_nothing_behind() -> None:
    result = edited(editing.remove, TEXT.replace("[drop] e", "[drop] float[N, 4] e"), node="drop")
    assert "e" not in {each.name for each in onnxtext.loads(result).graph.value_info}
    model = onnxtext.loads(TEXT)
    model.graph.quantization_annotation.add(tensor_name="e")
    result = edited(editing.remove, onnxtext.dumps(model), node="drop")
    assert not onnxtext.loads(result).graph.quantization_annotation
    # The node that now defines the output `y` loses its type, which contradicts the type of `y`.
    result = edited(editing.remove, TEXT.replace("s = Sum", "float[7] s = Sum"), node="y")
    assert "\n  y = Sum (e, d)\n" in result


def test_strip_removes_empty_doc_strings() -> None:
    model = onnxtext.loads(TEXT)
    for node in model.graph.node:
        node.doc_string = ""
    text = onnxtext.dumps(model)
    assert "explicit" in text
    model = onnxtext.loads(edited(editing.strip, text, what="doc"))
    assert not any(node.HasField("doc_string") for node in model.graph.node)


def test_strip_changes_every_tensor_and_parameter() -> None:
    noted = '@doc("Doc") @meta("Key": "v")'
    text = f"""<onnxtext: 1, ir_version: 11, opset_import: [21, "f": 1]>
        g (@data.doc("Doc") @data.meta("Key": "v") float[1] x = [1]) => (float[1] y) <
          sparse_tensor(float[4]) s = sparse({noted} float[1] [1], {noted} int64[1] [2]),
        > {{
          y = f.F <p = sparse_tensor(float[4]) sparse({noted} float[1] [1], int64[1] [2])> (x)
        }}
        <domain: "f", opset_import: [21]> F <@doc("Doc") p = {noted} float[1] [1]> (u) => (v) {{
          v = Neg (u)
        }}"""
    for what, word in (("doc", "Doc"), ("metadata", "Key")):
        assert word not in edited(editing.strip, text, what=what)


def test_rename_distinguishes_labels_and_values() -> None:
    text = TEXT.replace("[two]", "[b]")
    assert "[two] b = Mul (a, w)" in edited(editing.rename, text, old="b", new="two", label=True)
    assert "[b] two = Mul (a, w)" in edited(editing.rename, text, old="b", new="two")
    assert "[two] a = Relu (x)" in edited(editing.rename, text, old="a", new="two", label=True)
    with pytest.raises(OnnxTextError, match="there is no node `w`"):
        edited(editing.rename, text, old="w", new="two", label=True)


def test_comments_and_layout_inside_of_a_statement_stay() -> None:
    text = TEXT.replace("[1,2,3,4]", "[1, # one\n  2,   3,4]")
    result = edited(editing.rename, text, old="w", new="weights")
    assert result == text.replace(" w =", " weights =").replace("Mul( a, w )", "Mul (a, weights)")


NESTED = """\
<onnxtext: 1, ir_version: 10, opset_import: [21]>
g (float[2] x, bool c) => (float[2] y) {
  a = Relu (x)
  b = Neg (a)
  y = If (c) <
    then_branch = t () => (float[2] p) { k = Abs (x) p = Add (a, b) },
    else_branch = e () => (float[2] q) { q = Add (b, b) },
  >
}
"""


def test_inserted_nodes_follow_the_values_of_a_nested_graph() -> None:
    result = edited(editing.insert, NESTED, text="n = Add (k, a)")
    assert (
        result.index("k = Abs (x)")
        < result.index("n = Add (k, a)")
        < result.index("p = Add (a, b)")
    )
    assert not [item for item in onnxtext.check(result) if item.severity == "error"]


def test_nodes_that_use_an_input_of_a_nested_graph_are_inserted_first() -> None:
    text = """<onnxtext: 1, ir_version: 10, opset_import: [21]>
        g (float[2] x, int64 n) => (float[2] y) {
          y = Loop (n, , x) <body = b (int64 i, bool c, float[2] s) => (bool d, float[2] t) {
            d = Identity (c)
            t = Neg (s)
          }>
        }"""
    result = edited(editing.insert, text, text="r = Abs (s)", instead_of="s")
    assert result.index("r = Abs (s)") < result.index("d = Identity (c)")
    assert "t = Neg (r)" in result


@pytest.mark.parametrize(
    "options",
    [
        {"text": "a = Sqrt (x)", "before": "p"},  # hides the outer `a` in the nested graph
        {"text": "k = Sqrt (x)", "after": "b", "instead_of": "b"},  # is hidden by the nested `k`
    ],
)
def test_inserted_values_hide_no_other_values(options: dict[str, str]) -> None:
    with pytest.raises(OnnxTextError, match="is already a value of"):
        edited(editing.insert, NESTED, **options)


def test_removed_nodes_are_not_replaced_by_hidden_values() -> None:
    with pytest.raises(
        OnnxTextError, match="its input `a` is hidden by another `a` in a nested graph of a node"
    ):
        edited(editing.remove, NESTED.replace("k = ", "a = "), node="b")


def test_extract_keeps_inputs_with_default_values() -> None:
    text = """<onnxtext: 1, ir_version: 3, opset_import: [8]>
        g (float[2] x, float[2] w = {1, 2}, float[2] v = {1, 2}) => (float[2] y) {
          a = Add (x, w) b = Relu (a) y = Mul (b, v)
        }"""
    graph = onnxtext.loads(edited(editing.extract, text, starts=["a"], ends=["y"])).graph
    assert [value.name for value in graph.input] == ["a", "v"]
    assert [tensor.name for tensor in graph.initializer] == ["v"]


def test_insert_after_an_input_of_a_nested_graph_follows_the_nodes_that_it_uses() -> None:
    text = """<onnxtext: 1, ir_version: 10, opset_import: [21]>
        g (float[2] s, float[3, 2] x) => (float[2] y) {
          y = Scan <num_scan_inputs = 1, body = b (float[2] a, float[2] e) => (float[2] o) {
            t = Abs (e) o = Add (a, t)
          }> (s, x)
        }"""
    result = edited(editing.insert, text, text="c = Sub (a, t)", instead_of="a")
    assert onnxtext.check(result) == []
    assert "o = Add (c, t)" in result


def test_replace_weight_changes_the_declared_type_of_a_constant_in_a_function() -> None:
    text = """<onnxtext: 1, ir_version: 10, opset_import: [21, "f": 1]>
        g (float[2] x) => (float[2] y) { y = f.F (x) }
        <domain: "f", opset_import: [21]>
        F (u) => (v) { float[2] c = Constant <value = float[2] {1, 2}> () v = Add (u, c) }"""
    result = edited(editing.replace_weight, text, name="c", array=np.zeros((1, 2), np.float32))
    assert "float[1, 2] c = Constant" in result


def test_replace_weight_removes_the_old_data_of_a_constant() -> None:
    old = np.arange(1000, dtype=np.float32)
    node = oh.make_node("Constant", [], ["c"], value=nh.from_array(old))
    graph = oh.make_graph([node], "g", [], [oh.make_empty_tensor_value_info("c")])
    text = onnxtext.from_binary(oh.make_model(graph, ir_version=10).SerializeToString())
    result = edited(editing.replace_weight, text, name="c", array=-old)
    assert result.count("base64") == 1


def test_extract_keeps_inputs_whose_initializers_have_other_types() -> None:
    text = """<onnxtext: 1, ir_version: 8, opset_import: [21]>
        g (float[2] x, float[N] w, float[N] v) => (float[2] y)
        <float[2] w = {1, 2}, float[2] v = {3, 4}> { a = Add (x, w) y = Mul (a, v) }"""
    graph = onnxtext.loads(edited(editing.extract, text, starts=["x", "w"], ends=["y"])).graph
    assert [value.name for value in graph.input] == ["x", "w", "v"]
    assert [tensor.name for tensor in graph.initializer] == ["w", "v"]


def test_extract_moves_the_metadata_of_a_weight_that_becomes_an_output() -> None:
    text = """<onnxtext: 1, ir_version: 10, opset_import: [21]>
        @value_info(initializers)
        g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Add (x, w) }
        metadata { value_info w { k: "w" } }"""
    result = edited(editing.extract, text, starts=[], ends=["y", "w"])
    assert result.count('k: "w"') == 1
    assert onnxtext.loads(result).graph.output[1].metadata_props[0].value == "w"


def test_extract_keeps_what_describes_the_kept_values() -> None:
    text = """<onnxtext: 1, ir_version: 10, opset_import: [21, "f": 1]>
        @value_info(initializers)
        g (float[2] x) => (float[2] y) <float s = 1, float r = 3, float[2] w = {1, 2}> {
          float[2] a = Relu (x)
          b = f.F (a)
          y = Add (b, w)
          z = Neg (y)
          v = f.F:two (z)
        }
        <domain: "f", opset_import: [21]> F (u) => (v) { v = Neg (u) }
        <domain: "f", overload: "two", opset_import: [21]> F (u) => (v) { v = Abs (u) }
        metadata { value a { k: "a" } value w { k: "w" } value y { k: "y" } }
        quantization {
          a: ["SCALE_TENSOR": "s"]
          x: ["SCALE_TENSOR": "r"]
          y: ["SCALE_TENSOR": "r", "ZERO_POINT_TENSOR": "x"]
        }"""
    model = onnxtext.loads(edited(editing.extract, text, starts=["a"], ends=["z"]))
    graph = model.graph
    assert [tensor.name for tensor in graph.initializer] == ["s", "w"]
    assert [annotation.tensor_name for annotation in graph.quantization_annotation] == ["a"]
    described = [*graph.input, *graph.value_info]
    found = {
        annotation.name: annotation.metadata_props[0].value
        for annotation in described
        if annotation.metadata_props
    }
    assert found == {"a": "a", "w": "w", "y": "y"}
    assert [function.overload for function in model.functions] == [""]


def test_strip_removes_doc_strings_in_set_decorators() -> None:
    text = (
        '<onnxtext: 1> @set(doc_string: "d") g (x) => (y) { @set(doc_string: "n") y = Relu (x) }\n'
    )
    result = edited(editing.strip, text, what="doc")
    assert "doc_string" not in result
    assert (
        onnxtext.to_binary(result)
        == editing.apply(onnxtext.to_binary(text), lambda tree: editing.strip(tree, "doc")).content
    )


def test_remove_drops_the_metadata_of_the_inner_value_that_becomes_an_output() -> None:
    text = """<onnxtext: 1, ir_version: 10, opset_import: [21]>
g (float[2] x) => (float[2] y) {
  float[2] b = Neg (x)
  y = Abs (b)
}
metadata {
  value_info b { k: "v" }
  output y { k: "w" }
}
"""
    result = edited(editing.remove, text, node="y")
    assert "\n  y = Neg (x)\n" in result
    assert '"v"' not in result
    assert 'output y { k: "w" }\n' in result
    onnxtext.to_binary(result)


def test_removed_values_leave_the_order_of_lists() -> None:
    """No `value-info-unknown` after the edit, and the other names keep their order."""
    text = """<onnxtext: 1, ir_version: 10, opset_import: [21]>
g (float[2] x) => (float[2] y) <float[2] w = {1, 2}, float[2] b = {3, 4}> {
  float[2] t = Mul (x, w)
  float[2] u = Relu (t)
  float[2] v = Abs (u)
  y = Add (v, b)
}
order {
  @initializers("b", "w")  # b first
  @value_info("v", "u", "t", "w", without: ["x"])
}
"""
    assert not onnxtext.check(text)
    model = onnxtext.parse(text)
    editing.remove(model, "u")
    result = onnxtext.rewrite(text, model)
    assert '@value_info("v", "t", "w", without: ["x"])' in result
    assert not onnxtext.check(result)
    model = onnxtext.parse(text)
    editing.extract(model, ["t"], ["v"])
    result = onnxtext.rewrite(text, model)
    assert "@initializers" not in result
    assert not onnxtext.check(result)
