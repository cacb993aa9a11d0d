# SPDX-License-Identifier: Apache-2.0
"""Edited trees written back to their texts: the tree is right, comments and the rest stay."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import onnxtext
from onnxtext import ast, editing
from onnxtext.format.tokens_with_comments import comments_of
from onnxtext.printer import print_model
from onnxtext.proto.encode.lower import LowerError, lower_model
from tests.corpus import EXAMPLES, REPOSITORY
from tests.seeds import draws, seeded

Edit = Callable[[random.Random, ast.Model], object]


def some_nodes(draw: random.Random, model: ast.Model) -> list[ast.Node]:
    """Return the nodes of a random graph or function; an empty list if none has nodes."""
    return draw.choice([graph.nodes for graph in ast.walk_graphs(model) if graph.nodes] or [[]])


def rename(draw: random.Random, model: ast.Model) -> None:
    names = [name for node in ast.walk_nodes(model) for name in node.outputs if name]
    old = draw.choice(names or [""])
    new = {old: f"renamed.{draw.randrange(9)}"}
    for node in ast.walk_nodes(model):
        node.inputs = tuple([new.get(name, name) for name in node.inputs])
        node.outputs = tuple([new.get(name, name) for name in node.outputs])


def remove_node(draw: random.Random, model: ast.Model) -> None:
    nodes = some_nodes(draw, model)
    if nodes:
        del nodes[draw.randrange(len(nodes))]


def insert_nodes(draw: random.Random, model: ast.Model) -> None:
    nodes = some_nodes(draw, model)
    at = draw.randrange(len(nodes) + 1)
    names = [f"new{draw.randrange(99)}" for _ in range(draw.randrange(1, 4))]
    nodes[at:at] = [ast.Node("Neg", (name,), (f"{name}_out",)) for name in names]


def move_node(draw: random.Random, model: ast.Model) -> None:
    nodes = some_nodes(draw, model)
    if nodes:
        node = nodes.pop(draw.randrange(len(nodes)))
        nodes.insert(draw.randrange(len(nodes) + 1), node)


def lists_of(model: ast.Model) -> list[tuple[object, str]]:
    """Return (object, field) of each list or tuple of a model whose order has a meaning."""
    fields = ("inputs", "outputs", "values", "nodes", "attributes", "opset_imports", "functions")
    owners = [model, *ast.walk_graphs(model), *ast.walk_nodes(model)]
    return [(o, field) for o in owners for field in fields if len(getattr(o, field, ())) > 1]


def reorder(draw: random.Random, model: ast.Model) -> None:
    for owner, field in draw.sample(lists_of(model), min(3, len(lists_of(model)))):
        items = getattr(owner, field)
        if not isinstance(owner, ast.Node) or field == "attributes":
            setattr(owner, field, type(items)(draw.sample(items, len(items))))


def change_attribute(draw: random.Random, model: ast.Model) -> None:
    for node in some_nodes(draw, model)[:1]:
        result = ast.Attribute("added", ast.AttributeType.INT, draw.randrange(9))
        node.attributes = (*node.attributes, result)


def change_header(draw: random.Random, model: ast.Model) -> None:
    model.producer_name = draw.choice(["somebody", None])
    model.ir_version = draw.randrange(3, 12)
    model.metadata = [*model.metadata, ("key", "value")]


def change_values(draw: random.Random, model: ast.Model) -> None:
    for value in (*model.graph.inputs, *model.graph.values):
        if isinstance(value.type, ast.TensorType) and value.data is None and draw.random() < 0.5:
            value.type = replace(value.type, shape=("batch",))
    if model.graph.values and draw.random() < 0.5:
        del model.graph.values[draw.randrange(len(model.graph.values))]


def strip_metadata(draw: random.Random, model: ast.Model) -> None:
    for node in ast.walk_nodes(model):
        node.metadata = ()
        node.decorators = tuple(
            [decorator for decorator in node.decorators if decorator.name != "meta"]
        )


EDITS: list[Edit] = [
    rename, remove_node, insert_nodes, move_node, reorder, change_attribute, change_header,
    change_values, strip_metadata,
]  # fmt: skip


def commented(draw: random.Random, text: str) -> str:
    """Add comments above and at the end of lines, where no string is open."""
    lines = []
    opened = False
    for index, line in enumerate(text.split("\n")):
        opened ^= line.count('"""') % 2 == 1
        if not opened and '"""' not in line and draw.random() < 0.3:
            lines.append(f"  # above {index}")
        plain = not opened and '"""' not in line
        lines.append(line + f"  # behind {index}" * (plain and draw.random() < 0.2))
    return "\n".join(lines)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.__name__)
def test_drawn_edits_keep_comments(path: Path, edit: Edit) -> None:
    draw = seeded()
    text = commented(draw, path.read_text())
    tree = onnxtext.parse(text)
    edit(draw, tree)
    result = onnxtext.rewrite(text, tree)
    assert onnxtext.parse(result) == tree
    lost = Counter(comments_of(text)) - Counter(comments_of(result))
    # Only a comment after a removed item on its line may be removed, too.
    assert not [comment for comment in lost if comment.startswith("# above")]
    if edit is change_header:  # it may remove the name of the producer
        named = [line for line in text.split("\n") if "producer_name" in line]
        lost -= Counter(comment for line in named for comment in comments_of(line))
    if edit not in (remove_node, change_values, strip_metadata):
        assert not lost


def test_nothing_changes_without_an_edit() -> None:
    for path in EXAMPLES:
        text = path.read_text()
        assert onnxtext.rewrite(text, onnxtext.parse(text)) == text


TEXT = """\ufeff# head
<onnxtext: 1, ir_version: 10, opset_import: ["":21]>   # header
g (float [N] x, # the x
   float[M] z) => (float[N] y)
< float[2] w = {1.50, 2.0} # weight
>
{
  # first
  a = Relu(x) # behind
  # second

  b = Add( a , w )
  c = If (b) <then_branch = t () => (float[N] u) {
      # deep
      u = Neg( b )  # inner
      # deeper
  }>
  [lab] d = Foo < alpha=1.50, # alpha
     beta = 2> (c)   # foo
  y = Tanh (d)
}
"""


def test_only_what_is_edited_changes() -> None:
    tree = onnxtext.parse(TEXT)
    tree.graph.nodes[1].op_type = "Sub"
    assert onnxtext.rewrite(TEXT, tree) == TEXT.replace("Add( a , w )", "Sub (a, w)")


def test_nested_graphs_keep_their_comments() -> None:
    tree = onnxtext.parse(TEXT)
    branch = tree.graph.nodes[2].attributes[0].value
    assert isinstance(branch, ast.Graph)
    branch.nodes[0].op_type = "Abs"
    assert onnxtext.rewrite(TEXT, tree) == TEXT.replace("Neg( b )", "Abs (b)")


def test_line_ends_stay() -> None:
    text = TEXT.replace("\n", "\r\n")
    tree = onnxtext.parse(text)
    tree.graph.nodes[1].op_type = "Sub"
    assert onnxtext.rewrite(text, tree) == text.replace("Add( a , w )", "Sub (a, w)")


def test_comments_in_a_statement_stay_where_they_are() -> None:
    tree = onnxtext.parse(TEXT)
    node = tree.graph.nodes[3]
    node.op_type, node.name = "Bar", None
    assert onnxtext.rewrite(TEXT, tree) == TEXT.replace("[lab] d = Foo", "d = Bar")
    node.name = "a label"
    result = onnxtext.rewrite(TEXT.replace("[lab] ", ""), tree)
    assert result == TEXT.replace("[lab] d = Foo", '["a label"] d = Bar')


def test_comments_between_changed_tokens_are_above_the_statement() -> None:
    tree = onnxtext.parse(TEXT)
    tree.graph.nodes[3].attributes = ()
    result = onnxtext.rewrite(TEXT, tree)
    assert "\n  # alpha\n  [lab] d = Foo (c)   # foo\n" in result


def test_any_part_of_a_statement_with_comments_can_change() -> None:
    """Whatever is replaced, added or removed, the text becomes the edited model."""
    text = (REPOSITORY / "examples" / "decision_trees.onnxtxt").read_text()
    before = onnxtext.parse(text).graph.nodes[0]
    assert len(before.attributes) > 10
    for index in range(len(before.attributes)):
        for held in ((), (replace(before.attributes[index], name="new"),), before.attributes[:2]):
            tree = onnxtext.parse(text)
            (node, *_) = tree.graph.nodes
            node.attributes = (*before.attributes[:index], *held, *before.attributes[index + 1 :])
            result = onnxtext.rewrite(text, tree)
            assert onnxtext.parse(result) == tree
            assert Counter(comments_of(result)) == Counter(comments_of(text))


def test_comments_stay_in_their_branch() -> None:
    text = """\
g (float x, bool c) => (y) {
  y = If (c) <
    then_branch = a () => (float z) {
      t = Relu (x)
      z = Abs (t)
    },
    else_branch = @value_info("z") b () => (float z) {
      t = Neg (x)  # negative
      float "z" = Abs (t)
    },
  >
}
"""
    model = onnxtext.parse(text)
    editing.rename(model, "z", "q")
    renamed = text.replace('float "z"', "float q").replace('"z"', '"q"').replace("z", "q")
    assert onnxtext.rewrite(text, model) == renamed


def test_comments_above_a_removed_statement_stay() -> None:
    tree = onnxtext.parse(TEXT)
    del tree.graph.nodes[0]
    result = onnxtext.rewrite(TEXT, tree)
    assert result == TEXT.replace("  a = Relu(x) # behind\n", "")


def test_invalid_texts_are_errors() -> None:
    with pytest.raises(onnxtext.OnnxTextError, match="here:1:"):
        onnxtext.rewrite("g (", onnxtext.parse(TEXT), name="here")


SECTIONS = """<onnxtext: 1, opset_import: ["":21]>
g (float[2]  x,   # same
   float[2]  "z" ) => (float[2] y) <  float[2] a > {
  # same
  [lab]  a  = Relu(x)  # same
  c = Foo <k=1, # same
     g=sub () => (float[2] u) {
       u = Neg( "z" )   # same
     }> ( a )
  y = Add(a,c)
}

# same
quantization {   # same
  a : [ "SCALE":"z" ]   # same
  "y": ["SCALE" : "a",]
}
metadata{
  # same
  output "y" { k : "v" }   # same
  value_info a { k:"v"  # same
     "l":  "m" }
  node a { t:"u" }   # same
  node c { t : "w" }
}
# same
"""


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("old", "changes"),
    [
        (
            "x",
            [
                ("float[2]  x,", "float[2] new,"),
                ("a  = Relu(x)", "a = Relu (new)"),
                ("[lab]  a =", "[lab] a ="),
            ],
        ),
        ("lab", [("[lab]  a  = Relu(x)", "[new] a = Relu (x)")]),
        (
            "y",
            [
                ("=> (float[2] y)", "=> (float[2] new)"),
                ("y = Add(a,c)", "new = Add (a, c)"),
                ('"y": ["SCALE"', 'new: ["SCALE"'),
                ('output "y"', "output new"),
            ],
        ),
        ("c", [("  c = Foo", "  new = Foo"), ("Add(a,c)", "Add (a, new)"), ("node c", "node new")]),
    ],
)
def test_a_rename_changes_only_the_statements_with_the_name(
    old: str, changes: list[tuple[str, str]], end: str
) -> None:
    """Sections in any order and spelling stay, and equal comments stay in their places."""
    text = expected = SECTIONS.replace("\n", end)
    for before, after in changes:
        assert before in expected
        expected = expected.replace(before, after)
    tree = onnxtext.parse(text)
    editing.rename(tree, old, "new")
    assert onnxtext.rewrite(text, tree) == expected


def test_names_in_paths_that_are_spelled_differently_are_renamed() -> None:
    tree = onnxtext.parse(SECTIONS)
    editing.rename(tree, "a", "new")
    result = onnxtext.rewrite(SECTIONS, tree)
    assert onnxtext.parse(result) == tree
    assert '  node new { t:"u" }   # same\n' in result  # printed: node [lab]
    assert comments_of(result) == comments_of(SECTIONS)


def test_an_extraction_keeps_comments_in_order() -> None:
    text = SECTIONS
    for number in range(text.count("# same")):
        text = text.replace("# same", f"# {number}", 1)
    tree = onnxtext.parse(text)
    editing.extract(tree, [], ["a"])
    result = onnxtext.rewrite(text, tree)
    assert onnxtext.parse(result) == tree
    kept = comments_of(result)
    assert kept == [comment for comment in comments_of(text) if comment in kept]
    assert "  [lab]  a  = Relu(x)  # 2\n" in result
    assert '  node a { t:"u" }   # ' in result
    assert "output" not in result


def test_only_the_printed_part_of_a_node_decides_whether_it_is_edited() -> None:
    """Stripping the metadata section leaves the nodes as they are."""
    tree = onnxtext.parse(SECTIONS)
    editing.strip(tree, "metadata")
    result = onnxtext.rewrite(SECTIONS, tree)
    head, _, _ = SECTIONS.partition("metadata{")
    assert result.startswith(head)
    assert result.removeprefix(head) == "# same\n# same\n"


def test_values_that_repeat_a_removed_block_are_written_out() -> None:
    text = """<onnxtext: 1>
g (x) => (y) {
  a = Relu (x)
  y = Neg (a)
}
metadata {
  node y { k: "v" }
  node a { k : above }  # a
}
"""
    tree = onnxtext.parse(text)
    editing.extract(tree, [], ["a"])
    result = onnxtext.rewrite(text, tree)
    assert '\nmetadata {\n  node a { k : "v" }  # a\n}\n' in result
    assert onnxtext.parse(result) == tree


ITEMS = """<
  onnxtext: 1,
  opset_import: ["": 21, "d": 1], # operators
>
g (float x, # the x
   float z) => (float a, float b) <
  float v, # of v
  # of w
  float w,
> {
  # of a
  a = Relu (x) # behind

  # of the rest

  b = Neg (z)
  # of c
  c = Abs <p = 1,
    q = 2, # of q
    # of r
    r = 3> (a)
}

# of f
<domain: "d">
f (x) => (y) { y = Relu (x) # in f
}

# of h
<domain: "d">
h (x) => (y) { y = Neg (x) }

training { update_binding: ["v": "a"] } # one
# of two
training { update_binding: ["w": "b"] }
"""


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("field", "before", "after"),
    [
        ("opset_imports", '["": 21, "d": 1]', '["d": 1, "": 21]'),
        (
            "graph.inputs",
            "(float x, # the x\n   float z)",
            "(\n   float z,\n   # the x\n   float x)",
        ),
        ("graph.outputs", "(float a, float b)", "(float b, float a)"),
        (
            "graph.values",
            "  float v, # of v\n  # of w\n  float w,\n",
            "  # of w\n  float w,\n  float v, # of v\n",
        ),
        (
            "graph.nodes",
            ITEMS[ITEMS.index("  # of a") : ITEMS.index("}\n\n# of f")],
            """
  # of the rest

  # of c
  c = Abs <p = 1,
    q = 2, # of q
    # of r
    r = 3> (a)
  b = Neg (z)
  # of a
  a = Relu (x) # behind
""",
        ),
        (
            "graph.nodes[2].attributes",
            "<p = 1,\n    q = 2, # of q\n    # of r\n    r = 3>",
            "<\n    # of r\n    r = 3,\n    # of q\n    q = 2, p = 1>",
        ),
        (
            "functions",
            ITEMS[ITEMS.index("# of f") : ITEMS.index("training")],
            """# of h
<domain: "d">
h (x) => (y) { y = Neg (x) }

# of f
<domain: "d">
f (x) => (y) { y = Relu (x) # in f
}

""",
        ),
        (
            "training",
            ITEMS[ITEMS.index("\ntraining") :],
            """# of two
training { update_binding: ["w": "b"] }

training { update_binding: ["v": "a"] } # one
""",
        ),
    ],
    ids=lambda value: value if re.fullmatch(r"[a-z_.0-9\[\]]+", value) else "",
)
def test_moved_items_take_their_comments_along(
    field: str, before: str, after: str, end: str
) -> None:
    """A comment that a blank line separates from the item stays where it is."""
    text = ITEMS.replace("\n", end)
    tree = onnxtext.parse(text)
    name = field.rpartition(".")[2]
    owner: object = tree
    if field.startswith("graph.nodes["):
        owner = tree.graph.nodes[2]
    elif field.startswith("graph."):
        owner = tree.graph
    items = getattr(owner, name)
    setattr(owner, name, type(items)(reversed(items)))
    result = onnxtext.rewrite(text, tree)
    assert onnxtext.parse(result) == tree
    assert ITEMS.count(before) == 1
    assert result == ITEMS.replace(before, after).replace("\n", end)


def test_a_moved_item_may_also_change() -> None:
    tree = onnxtext.parse(ITEMS)
    first, *_, last = tree.graph.nodes
    first.decorators = (ast.Decorator("doc", (ast.Field(None, b"new"),)),)
    last.attributes = last.attributes[::-1]
    tree.graph.nodes.reverse()
    result = onnxtext.rewrite(ITEMS, tree)
    assert onnxtext.parse(result) == tree
    assert '\n  b = Neg (z)\n  # of a\n  @doc("new")\n  a = Relu (x) # behind\n}\n' in result
    assert Counter(comments_of(result)) == Counter(comments_of(ITEMS))


def test_metadata_blocks_of_moved_nodes_stay() -> None:
    """The order of the blocks has no meaning; `above` still repeats the same value."""
    text = """<onnxtext: 1>
g (x) => (b) {
  a = Relu (x)
  b = Neg (x)
}
metadata {
  node a { k: '''
    two
    lines
    ''' } # a
  node b { k: above } # b
}
""".replace("'''", '"""')
    tree = onnxtext.parse(text)
    tree.graph.nodes.reverse()
    moved = text.replace("  a = Relu (x)\n  b = Neg (x)\n", "  b = Neg (x)\n  a = Relu (x)\n")
    assert onnxtext.rewrite(text, tree) == moved
    tree = onnxtext.parse(text)
    tree.graph.nodes[0].metadata = (("k", "other\nlines"),)
    result = onnxtext.rewrite(text, tree)
    assert onnxtext.parse(result) == tree
    assert "above" not in result
    assert comments_of(result) == ["# a", "# b"]
    tree.graph.nodes[1].metadata = tree.graph.nodes[0].metadata
    assert "node b { k: above } # b" in onnxtext.rewrite(text, tree)


OTHER_ORDER = """<
  onnxtext: 1,
  opset_import: [21],
  ir_version: 11,
>
g (x) => (float[1] y) <
  float[1] v = {1},
  float[1] w = {2},
> { y = Relu (x) }
order { @initializers(w, v) } # of order
# of two
configuration two { num_devices: 2 } # behind two
configuration one { num_devices: 1 }
# of v
training { update_binding: ["v": "y"] }
training { update_binding: ["w": "y"] } # behind w
metadata { value x { k: "v" } }
"""


@pytest.mark.parametrize(
    ("field", "before", "after"),
    [
        (
            "configurations",
            OTHER_ORDER[OTHER_ORDER.index("# of two") : OTHER_ORDER.index("# of v")],
            "configuration one { num_devices: 1 }\n\n# of two\n"
            "configuration two { num_devices: 2 } # behind two\n",
        ),
        (
            "training",
            OTHER_ORDER[OTHER_ORDER.index("# of v") : OTHER_ORDER.index("metadata")],
            'training { update_binding: ["w": "y"] } # behind w\n\n# of v\n'
            'training { update_binding: ["v": "y"] }\n',
        ),
    ],
)
def test_sections_move_only_among_their_kind(field: str, before: str, after: str) -> None:
    """Sections and header entries in another than the canonical order keep their order."""
    tree = onnxtext.parse(OTHER_ORDER)
    getattr(tree, field).reverse()
    tree.ir_version = 12
    result = onnxtext.rewrite(OTHER_ORDER, tree)
    assert result == OTHER_ORDER.replace("version: 11", "version: 12").replace(before, after)
    assert onnxtext.parse(result) == tree


def test_new_sections_precede_the_next_of_their_kind() -> None:
    tree = onnxtext.parse(OTHER_ORDER)
    tree.training.insert(0, ast.Training(update_binding=[("w", "x")]))
    tree.configurations.insert(0, ast.Configuration("zero", ast.Record()))
    result = onnxtext.rewrite(OTHER_ORDER, tree)
    assert onnxtext.parse(result) == tree
    new = ['configuration "zero" {}', 'training {\n  update_binding: ["w": "x"]\n}']
    for text in new:
        assert result.count(text) == 1
        result = result.replace(f"\n\n{text}\n", "\n")
    assert result == OTHER_ORDER


EVERY_TYPE = """\
<ir_version: 10, opset_import: ["": 21, "d": 1], metadata_props: ["a": "b"]>
g (seq(map(int64, optional(float[2]))) q, opaque(d, t) o, sparse_tensor(float[2]) s) => (float[N] y)
< float[2] w = {1, 2} >
{
  float[N] d = If (c) < then_branch = t () => (float[N] u) { u = Neg (b) } >
  [label] y = d.F <k = 3, l = "x", f = [1.0, 2], t = int64[2] {1, 2}> (d)
}
<domain: "d", opset_import: ["": 21]>
F <k, l = "a"> (i) => (j) { j = Relu (i) }
"""
WRONG: list[object] = ["float", 5, None, 3.5, ["x"], ("y",), b"8 bytes!"]
WRONG += [ast.Node, ast.Node("Relu")]
WRONG += [ast.TensorType("flot"), ast.SequenceType("float"), ast.MapType(5, "x")]  # type: ignore[arg-type]
WRONG += [ast.TensorType("float", shape) for shape in ("N", (1.5,), (2**70,))]  # type: ignore[arg-type]


def places_in(item: Any) -> Iterator[Callable[[object], None]]:
    """Yield, for each value in a tree, a function that replaces the value."""
    for name in getattr(type(item), "__dataclass_fields__", ()):
        yield partial(object.__setattr__, item, name)
        yield from places_in(getattr(item, name))
    for index, inner in enumerate(item if isinstance(item, (list, tuple)) else ()):
        if isinstance(item, list):
            yield partial(item.__setitem__, index)
        yield from places_in(inner)


def test_wrong_values_in_trees_are_errors_of_our_own() -> None:
    """The result of `rewrite` is a text without errors, or an `OnnxTextError`."""
    draw = seeded()
    count = len(list(places_in(onnxtext.parse(EVERY_TYPE))))
    assert count > 150
    codes = set()
    for _ in range(draws(200)):
        tree = deepcopy(onnxtext.parse(EVERY_TYPE))  # trees share types
        place = next(islice(places_in(tree), draw.randrange(count), None))
        place(draw.choice(WRONG))
        try:
            onnxtext.parse(onnxtext.rewrite(EVERY_TYPE, tree))
        except onnxtext.OnnxTextError as error:
            codes.add(error.diagnostics[0].code)
    assert codes == {"edit-refused"}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("float", r"inputs\[0\]\.type is a str, not a TensorType \| SparseTensorType"),
        (ast.SequenceType("float"), r"inputs\[0\]\.type\.element is a str, not a TensorType"),  # type: ignore[arg-type]
        (ast.TensorType("float", (1.5,)), r"type\.shape\[0\] is a float, not an int \| str"),  # type: ignore[arg-type]
        (ast.TensorType(None), r"type\.element is None, not a str"),  # type: ignore[arg-type]
        (ast.TensorType("float", 5), r"type\.shape is an int, not a tuple\[int"),  # type: ignore[arg-type]
    ],
)
def test_the_error_names_the_wrong_value(wrong: Any, message: str) -> None:
    tree = onnxtext.parse(TEXT)
    tree.graph.inputs[0].type = wrong
    with pytest.raises(onnxtext.OnnxTextError, match=message):
        onnxtext.rewrite(TEXT, tree)

    def edit(model: ast.Model) -> None:
        model.graph.inputs[0].type = wrong

    with pytest.raises(onnxtext.OnnxTextError, match=message):
        editing.apply(onnxtext.to_binary(TEXT), edit)


@pytest.mark.parametrize("wrong", [None, ast.SequenceType(ast.TensorType("float"))])
@pytest.mark.parametrize(("index", "expected"), [(0, "TensorType"), (1, "SparseTensorType")])
def test_an_initializer_without_a_tensor_type_is_an_error(
    wrong: ast.Type | None, index: int, expected: str
) -> None:
    sparse = "sparse_tensor(float[4]) s = sparse(float[1] [7], int64[1] [2])"
    text = NODE_OF_ATTRIBUTES.replace("}>", f"}}, {sparse}>", 1)
    tree = onnxtext.parse(text)
    tree.graph.values[index].type = wrong
    with pytest.raises(
        onnxtext.OnnxTextError, match=rf"values\[{index}\]\.type .*, not a {expected}"
    ):
        onnxtext.rewrite(text, tree)


def test_a_list_in_place_of_a_tuple_is_an_error() -> None:
    tree = onnxtext.parse(NODE_OF_ATTRIBUTES)
    tree.graph.nodes[0].inputs = ["x"]  # type: ignore[assignment]
    with pytest.raises(onnxtext.OnnxTextError, match=r"inputs is a list, not a tuple\[str"):
        onnxtext.rewrite(NODE_OF_ATTRIBUTES, tree)


NODE_OF_ATTRIBUTES = """<ir_version: 10, opset_import: ["": 21]>
g () => () <float[2] w = {1, 2}> { y = F <i = 1, s = "x", f = 1.5> (w) }
"""


def _set_attribute(index: int, value: Any) -> Callable[[ast.Model], None]:
    def edit(model: ast.Model) -> None:
        node = model.graph.nodes[0]
        attributes = list(node.attributes)
        attributes[index] = replace(attributes[index], value=value)
        node.attributes = tuple(attributes)

    return edit


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda model: setattr(model.graph.nodes[0], "op_type", "\ud800"), "lone surrogate"),
        (lambda model: setattr(model.graph.nodes[0], "op_type", None), "op_type is None, not"),
        (lambda model: setattr(model.graph.nodes[0], "inputs", ("\ud800",)), r"inputs\[0\] is '"),
        (_set_attribute(0, ()), r"\[0\]\.value is a tuple, but the type is INT"),
        (_set_attribute(2, 3), r"\[2\]\.value is an int, but the type is FLOAT"),
        (_set_attribute(1, True), r"\[1\]\.value is a bool, but the type is STRING"),
        (_set_attribute(2, ast.Float32(-1)), r"bits is -1, not a pattern of 32 bits"),
        (_set_attribute(2, ast.Float32(1 << 70)), r"bits does not fit in a signed 64-bit integer"),
    ],
)
def test_wrong_names_and_attributes_are_errors(
    edit: Callable[[ast.Model], None], message: str
) -> None:
    tree = onnxtext.parse(NODE_OF_ATTRIBUTES)
    edit(tree)
    with pytest.raises(onnxtext.OnnxTextError, match=message):
        onnxtext.rewrite(NODE_OF_ATTRIBUTES, tree)


@pytest.mark.parametrize(
    "wrong",
    [
        ast.RawData(bytes(12)),
        ast.RawData(b"x"),
        ast.TypedData(b"x"),
        ast.FieldData((("float_data", b"x"),)),
        ast.FieldData((("floats", bytes(8)),)),
    ],
)
def test_data_that_does_not_fit_its_type_is_an_error(wrong: ast.TensorData) -> None:
    tree = onnxtext.parse(EVERY_TYPE)
    tree.graph.values[0].data = wrong
    with pytest.raises(onnxtext.OnnxTextError, match=r"data is not the data of float\[2\]"):
        onnxtext.rewrite(EVERY_TYPE, tree)
    tree = onnxtext.parse(EVERY_TYPE)
    wrong_tensor = ast.Tensor(ast.TensorType("int64", (2,)), wrong)
    made = ast.Attribute("t", ast.AttributeType.TENSOR, wrong_tensor)
    tree.graph.nodes[1].attributes = (made,)
    with pytest.raises(onnxtext.OnnxTextError, match=r"data is not the data of int64\[2\]"):
        print_model(tree)


@pytest.mark.parametrize("convert", [print_model, lower_model])
@pytest.mark.parametrize("wrong", [None, 5, "x"])
def test_printing_and_encoding_wrong_trees_are_errors(
    convert: Callable[[ast.Model], object], wrong: Any
) -> None:
    tree = onnxtext.parse(NODE_OF_ATTRIBUTES)
    tree.graph.nodes[0] = wrong
    with pytest.raises(
        onnxtext.OnnxTextError, match=r"nodes\[0\] is (None|a str|an int), not a Node"
    ):
        convert(tree)


@pytest.mark.parametrize("number", [1 << 63, -(1 << 63) - 1, (1 << 64) - 1, 1 << 70])
@pytest.mark.parametrize(
    ("set_number", "path"),
    [
        (lambda model, number: setattr(model, "ir_version", number), "model.ir_version"),
        (lambda model, number: setattr(model, "model_version", number), "model.model_version"),
        (
            lambda model, number: setattr(model.opset_imports[0], "version", number),
            r"opset_imports\[0\].version",
        ),
        (
            lambda model, number: setattr(
                model.graph.values[0], "type", ast.TensorType("float", (number,))
            ),
            r"values\[0\].type.shape\[0\]",
        ),
        (
            lambda model, number: setattr(
                model.graph, "inputs", [ast.ValueInfo("x", ast.TensorType("float", (number,)))]
            ),
            r"inputs\[0\].type.shape\[0\]",
        ),
        (lambda model, number: _set_attribute(0, number)(model), r"\[0\].value"),
        (
            lambda model, number: setattr(
                model.graph.nodes[0],
                "attributes",
                (ast.Attribute("i", ast.AttributeType.INTS, (1, number)),),
            ),
            r"\[0\].value\[1\]",
        ),
    ],
)
def test_an_integer_that_is_not_signed_64_bit_cannot_be_encoded(
    set_number: Callable[[ast.Model, int], None], path: str, number: int
) -> None:
    tree = onnxtext.parse(NODE_OF_ATTRIBUTES)
    set_number(tree, number)
    said = f"{path} does not fit in a signed 64-bit integer"
    with pytest.raises(onnxtext.OnnxTextError, match=said):
        lower_model(tree)


def test_names_that_are_not_utf_8_are_right_values() -> None:
    text = TEXT_OF_BYTES
    tree = onnxtext.parse(text)
    tree.graph.nodes[0].output_types = (None,)
    assert onnxtext.parse(onnxtext.rewrite(text, tree)) == onnxtext.parse(text)
    tree.graph.values.append(
        ast.ValueInfo("w", ast.TensorType("float", (100,)), ast.Blob("abcd" * 4))
    )
    wrong = ast.Attribute("i", ast.AttributeType.INT, True)
    tree.graph.nodes[0].attributes = (wrong,)
    with pytest.raises(LowerError, match="the blob abcdabcdabcdabcd is not") as found:
        lower_model(tree)
    assert found.value.code == "blob-missing"

    def edit(model: ast.Model) -> None:
        model.graph.nodes[0].decorators = (ast.Decorator("nonsense", ()),)

    with pytest.raises(onnxtext.OnnxTextError, match=r"m\.onnx: error: `@nonsense` is not a"):
        editing.apply(onnxtext.to_binary(text), edit, name="m.onnx")


def test_a_model_without_a_text_of_this_meaning_is_an_error() -> None:
    """The section `metadata` names a node by its first output: the first one with this output."""
    text = """<onnxtext: 1, ir_version: 10, opset_import: [21]>
g (float x) => (float y) {
  a = Relu (x)
  y = Relu (a)
}
metadata {
  node a { namespace: "scope" }
}
"""
    tree = onnxtext.parse(text)
    tree.graph.nodes[1] = deepcopy(tree.graph.nodes[0])
    with pytest.raises(onnxtext.OnnxTextError, match="its text would mean another model"):
        onnxtext.rewrite(text, tree)


@pytest.mark.parametrize(
    ("data", "rest"),
    [
        (f'blob"{"a" * 16}"', ""),
        (f'blob"{"a" * 16}"', 'resources { store: "w" }'),
        ('file"w.npy"', ""),
    ],
)
def test_an_edit_of_a_model_whose_weights_are_missing_is_not_refused(data: str, rest: str) -> None:
    text = f"""<onnxtext: 1, ir_version: 10, opset_import: [21]>
g (float x) => (float y) <float[4] w = {data}> {{
  a = Relu (x)
  y = Relu (a)
}}
{rest}"""
    tree = onnxtext.parse(text)
    tree.graph.nodes[0].op_type = "Neg"
    edited = deepcopy(tree)
    tree.graph.nodes[0].output_types = (None,)
    assert onnxtext.parse(onnxtext.rewrite(text, tree)) == edited


def test_the_error_about_a_wrong_value_has_a_cause_with_a_message() -> None:
    text = "<ir_version: 10, opset_import: [21]>\ng (float x) => (float y) { y = Relu (x) }\n"
    tree = onnxtext.parse(text)
    tree.graph.nodes[0].op_type = "Neg"
    tree.graph.nodes[0].inputs = ["x"]  # type: ignore[assignment]
    with pytest.raises(onnxtext.OnnxTextError, match="is a list, not a tuple") as found:
        onnxtext.rewrite(text, tree)
    assert str(found.value.__cause__) == "the text does not parse to the edited model"


TEXT_OF_BYTES = """<ir_version: 10, opset_import: [21]>
g (float[2] b"\\x80") => (float[2] y) {
    y = Relu (b"\\x80")
}
"""
