# SPDX-License-Identifier: Apache-2.0
"""The laws of a three-way merge, on drawn models and edits."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import onnxtext
from benchmarks.merge_trial import resolved
from onnxtext.merger import merge
from tests.cli.command import TEXT, binary
from tests.corpus import EXAMPLES
from tests.merger.laws import merged, statements
from tests.seeds import draws

# ---- Any bytes --------------------------------------------------------------------------------

FILES = st.one_of(
    st.binary(max_size=20),
    st.sampled_from([TEXT.encode(), binary(), TEXT.encode()[:60], b"\xef\xbb\xbf" + TEXT.encode()]),
    st.sampled_from([TEXT.replace("\n", "\r\n").encode(), TEXT.replace("Relu", "Tanh").encode()]),
    st.sampled_from([binary(TEXT.replace("Relu", "Abs")), binary(TEXT.replace("20", "21"))]),
)


@given(FILES, FILES)
def test_changes_of_one_side_are_kept_byte_for_byte(base: bytes, side: bytes) -> None:
    for versions in ((base, base, side), (base, side, base), (base, side, side)):
        result = merge(*versions)
        assert (result.content, result.conflicts, result.notes) == (side, 0, ())


@given(FILES, FILES, FILES)
def test_any_bytes_are_merged_or_a_conflict(base: bytes, ours: bytes, theirs: bytes) -> None:
    result = merge(base, ours, theirs)
    if result.conflicts and not result.is_binary:
        assert result.content.count(b"<<<<<<<") >= 1


# ---- Drawn models and edits -------------------------------------------------------------------


@dataclass(frozen=True)
class Statement:
    """A node and its text."""

    name: str
    operator: str = "Op"
    attributes: tuple[tuple[str, int], ...] = (("a", 1), ("b", 2))
    lead: tuple[str, ...] = ()
    tail: str = ""
    broken: bool = False
    blank: bool = False

    def text(self) -> str:
        lines = ["\n"] * self.blank + [f"  # {comment}\n" for comment in self.lead]
        pairs = [f"{key} = {value}" for key, value in self.attributes]
        if self.broken and pairs:
            inside = "".join([f"    {pair},\n" for pair in pairs])
            call = f"{self.operator} (x) <\n{inside}  >"
        else:
            attributes = ", ".join(pairs)
            call = f"{self.operator} <{attributes}> (x)" if pairs else f"{self.operator} (x)"
        tail = f"  # {self.tail}" if self.tail else ""
        return f"{''.join(lines)}  {self.name} = {call}{tail}\n"


def render(nodes: list[Statement]) -> str:
    head = "<onnxtext: 1, ir_version: 10, opset_import: [20]>\ng (float x) => () {\n"
    return f"{head}{''.join([node.text() for node in nodes])}}}\n"


@dataclass
class Side:
    """The edits of one side; it uses its own numbers and names."""

    name: str
    edits: list[tuple[str, int]] = field(default_factory=list)

    def apply(self, nodes: list[Statement]) -> list[Statement]:
        result = list(nodes)
        for index, (kind, at) in enumerate(self.edits):
            target = nodes[at % len(nodes)].name
            place = next((n for n, node in enumerate(result) if node.name == target), None)
            if place is None:
                continue
            new = f"{self.name}{index}"
            value = 10_000 * (1 + (self.name == "theirs")) + index
            node = result[place]
            match kind:
                case "edit":
                    values = dict(node.attributes)
                    values[next(iter(values)) if values else "a"] = value
                    result[place] = replace(node, attributes=tuple(values.items()))
                case "extend":
                    result[place] = replace(node, attributes=(*node.attributes, (new, value)))
                case "break":
                    result[place] = replace(node, broken=not node.broken)
                case "operator":
                    result[place] = replace(node, operator=f"Op{new}")
                case "above":
                    result[place] = replace(node, lead=(*node.lead, f"above {new}"))
                case "behind":
                    result[place] = replace(node, tail=f"behind {new}")
                case "insert":
                    result.insert(place + 1, Statement(f"v_{new}", attributes=((new, value),)))
                case "delete":
                    del result[place]
                case "move":
                    result.insert((at * 7) % len(result), result.pop(place))
        return result


KINDS = ("edit", "extend", "break", "operator", "above", "behind", "insert", "delete", "move")
ANY = st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 11)), min_size=1, max_size=4)
NODES = st.lists(
    st.builds(
        lambda attributes, comment, tail, broken, blank: Statement(
            "", "Op", attributes, (comment,) if comment else (), tail, broken, blank
        ),
        st.sampled_from([(), (("a", 1),), (("a", 1), ("b", 2))]),
        st.sampled_from(["", "about this", 'with "quotes" and """']),
        st.sampled_from(["", "behind"]),
        st.booleans(),
        st.booleans(),
    ),
    min_size=2,
    max_size=8,
).map(lambda nodes: [replace(node, name=f"n{at}") for at, node in enumerate(nodes)])


@pytest.mark.thorough
@given(NODES, ANY, ANY)
@settings(max_examples=draws(150), deadline=None)
def test_any_edit_is_in_the_merge(
    nodes: list[Statement], ours: list[tuple[str, int]], theirs: list[tuple[str, int]]
) -> None:
    texts = [render(nodes)]
    texts += [render(Side("ours", ours).apply(nodes)), render(Side("theirs", theirs).apply(nodes))]
    text = merged(*texts).content.decode()
    # Each word that a side added is in the merge, possibly in a conflict.
    for side in texts[1:]:
        for word in set(re.findall(r"\w+", side)) - set(re.findall(r"\w+", texts[0])):
            assert word in text


def on_even(edits: list[tuple[str, int]], odd: int) -> list[tuple[str, int]]:
    return [(kind, at // 2 * 2 + odd) for kind, at in edits]


@given(NODES, ANY, ANY)
@settings(max_examples=draws(150), deadline=None)
def test_edits_of_different_statements_merge(
    nodes: list[Statement], ours: list[tuple[str, int]], theirs: list[tuple[str, int]]
) -> None:
    nodes = nodes[: len(nodes) // 2 * 2]  # so that the numbers below stay even or odd
    # Each node is edited, and moved, by at most one side.
    one, two = Side("ours", on_even(ours, 0)), Side("theirs", on_even(theirs, 1))
    base, mine, others = render(nodes), render(one.apply(nodes)), render(two.apply(nodes))
    result = merged(base, mine, others)
    assert not result.conflicts
    text = result.content.decode()
    # The merge has both edits of the syntax tree, at any position of the nodes.
    before = statements(base)
    gone = (before - statements(mine)) + (before - statements(others))
    new = (statements(mine) - before) + (statements(others) - before)
    assert statements(text) == before - gone + new


@given(NODES, ANY, st.permutations(range(8)))
@settings(max_examples=draws(100), deadline=None)
def test_reordering_and_editing_merge(
    nodes: list[Statement], theirs: list[tuple[str, int]], order: list[int]
) -> None:
    moved = [nodes[at] for at in order if at < len(nodes)]
    edits = [(kind, at) for kind, at in theirs if kind != "move"]
    edited = Side("theirs", edits).apply(nodes)
    result = merged(render(nodes), render(moved), render(edited))
    assert not result.conflicts
    names = {node.name for node in edited}
    found = [node.outputs[0] for node in onnxtext.parse(result.content.decode()).graph.nodes]
    assert set(found) == names
    kept = [node.name for node in moved if node.name in names]
    assert [name for name in found if name in kept] == kept


@given(NODES, ANY)
@settings(max_examples=draws(60), deadline=None)
def test_untouched_statements_keep_their_bytes(
    nodes: list[Statement], edits: list[tuple[str, int]]
) -> None:
    edits = [(kind, 1) for kind, _ in edits if kind != "move"]
    first = replace(nodes[0], operator="Mine")
    base, ours = render(nodes), render([first, *nodes[1:]])
    result = merged(base, ours, render(Side("theirs", edits).apply(nodes)))
    assert not result.conflicts
    for node in nodes[2:]:
        assert node.text() in result.content.decode()


# ---- Files ------------------------------------------------------------------------------------


def test_line_ends_and_byte_order_mark_of_ours_are_kept() -> None:
    base = TEXT.replace("y = Relu (x)", "a = Neg (x)\n  y = Relu (a)")
    ours = ("\ufeff" + base.replace("Neg", "Abs")).replace("\n", "\r\n").encode()
    theirs = base.replace("Relu", "Tanh").encode()
    expected = base.replace("Neg", "Abs").replace("Relu", "Tanh")
    assert merge(base.encode(), ours, theirs).content == (
        ("\ufeff" + expected).replace("\n", "\r\n").encode()
    )
    assert merge(base.encode(), theirs, ours).content == expected.replace("\n", "\r\n").encode()


def test_binary_models_are_merged() -> None:
    base = TEXT.replace("y = Relu (x)", "a = Neg (x)\n  y = Relu (a)")
    versions = [base, base.replace("Neg", "Abs"), base.replace("Relu", "Tanh")]
    expected = versions[1].replace("Relu", "Tanh")
    result = merge(*map(binary, versions))
    assert result.is_binary
    assert (result.content, result.conflicts, result.notes) == (binary(expected), 0, ())
    mixed = merge(binary(versions[0]), versions[1].encode(), binary(versions[2]))
    assert (mixed.content.decode(), mixed.conflicts) == (expected, 0)
    conflict = merge(*map(binary, (versions[0], versions[1], base.replace("Neg", "Cos"))))
    assert conflict.conflicts == 1
    assert not conflict.is_binary
    assert binary(resolved(conflict.content.decode(), "ours")) == binary(versions[1])
    assert "text" in conflict.notes[-1]
    added = merge(b"", binary(versions[1]), binary(versions[1].replace("a = ", "[k] a = ")))
    assert added.conflicts == 1


def with_weights(first: bytes, second: bytes) -> bytes:
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper

    nodes = [helper.make_node("Add", ["x", "v"], ["a"]), helper.make_node("Add", ["a", "w"], ["y"])]
    values = [helper.make_tensor_value_info(name, TensorProto.UINT8, [200]) for name in "xy"]
    data = [np.full(200, content[0], np.uint8) for content in (first, second)]
    result = [numpy_helper.from_array(one, name) for one, name in zip(data, "vw", strict=True)]
    graph = helper.make_graph(nodes, "g", values[:1], values[1:], result)
    return helper.make_model(graph).SerializeToString()


def test_weights_of_binary_models_are_merged() -> None:
    versions = [with_weights(b"1", b"2"), with_weights(b"3", b"2"), with_weights(b"1", b"1")]
    result = merge(*versions)
    assert (result.content, result.conflicts) == (with_weights(b"3", b"1"), 0)
    conflict = merge(with_weights(b"1", b"2"), with_weights(b"3", b"2"), with_weights(b"4", b"2"))
    assert conflict.conflicts == 1
    for side, content in (("ours", b"3"), ("theirs", b"4")):
        text = resolved(conflict.content.decode(), side)
        assert onnxtext.to_binary(text) == with_weights(content, b"2")


def test_an_outdated_encoding_section_is_left_out() -> None:
    def oddly(text: str) -> bytes:
        """A model whose version is encoded as an overlong varint."""
        data = binary(text)
        assert data[:2] == b"\x08\x0a"
        return b"\x08\x8a\x00" + data[2:]

    base = TEXT.replace("y = Relu (x)", "a = Neg (x)\n  y = Relu (a)")
    texts = [base, base.replace("Neg", "Abs"), base.replace("Relu", "Tanh")]
    versions = [onnxtext.from_binary(oddly(text)) for text in texts]
    assert all("encoding {" in text for text in versions)
    expected = texts[1].replace("Relu", "Tanh")
    result = merge(*[text.encode() for text in versions])
    assert "encoding section was left out" in result.notes[0]
    assert onnxtext.to_binary(result.content.decode()) == binary(expected)
    models = merge(*map(oddly, texts))
    assert (models.content, models.conflicts) == (binary(expected), 0)


def test_different_presence_defaults_give_a_note() -> None:
    base = TEXT.replace("y = Relu (x)", "a = Neg (x)\n  y = Relu (a)")
    ours = base.replace("  ir_version", "  explicit: [node.domain],\n  ir_version")
    result = merge(base.encode(), ours.encode(), base.replace("Neg", "Abs").encode())
    assert "`onnxtext` or `explicit`" in result.notes[0]


def test_conflicts_have_markers_and_labels() -> None:
    texts = [TEXT.replace("Relu", name).encode() for name in ("Relu", "Tanh", "Abs")]
    result = merge(texts[0], texts[1], texts[2], marker_size=9, labels=("old", "HEAD", ""))
    lines = result.content.decode().split("\n")
    assert [line for line in lines if line[:1] in "<|=>" and len(line) > 8] == [
        "<<<<<<<<< HEAD",
        "||||||||| old",
        "=========",
        ">>>>>>>>>",
    ]


def test_a_line_that_resembles_a_marker_keeps_its_layout() -> None:
    def text(operator: str) -> str:
        return f"g (float x) => (float y) {{\n  z   =   Neg (x)\n  y\n=\n{operator} (z)\n}}\n"

    result = merged(text("Relu"), text("Tanh"), text("Exp"))
    assert resolved(str(result), "theirs") == text("Exp")


@pytest.mark.parametrize("mark", ["ours", "theirs", "base"])
def test_texts_with_conflicts_are_merged_line_by_line(mark: str) -> None:
    broken = TEXT.replace("  y = ", "<<<<<<< a\n  y = Abs (x)\n=======\n  y = ")
    broken = broken.replace("Relu (x)\n", "Relu (x)\n>>>>>>> b\n")
    versions = {"base": TEXT, "ours": TEXT, "theirs": TEXT.replace("20", "21"), mark: broken}
    if mark == "theirs":
        versions["ours"] = TEXT.replace("20", "21")
    result = merge(*[versions[name].encode() for name in ("base", "ours", "theirs")])
    if result.notes:
        assert "line by line" in result.notes[0]
    assert b"21" in result.content


def test_an_invalid_merge_of_lines_is_not_called_merged() -> None:
    """Ours removes one of two brackets, and theirs the other one."""
    head = "<onnxtext: 1, ir_version: 10, opset_import: [20]>\ng (float x) => (float y)\n"
    body = "# 1\n# 2\n# 3\n"
    end = "  y = Relu (x)\n}\n"
    ours, theirs = f"{head}{body}{{\n{end}", f"{head}{{\n{body}{end}"
    result = merge(f"{head}{{\n{body}{{\n{end}".encode(), ours.encode(), theirs.encode())
    assert result.conflicts == 1
    assert result.notes[0].endswith("the whole texts are one conflict")
    assert resolved(str(result), "ours") == ours
    assert resolved(str(result), "theirs") == theirs


def test_a_text_is_shown_if_another_version_cannot_be_read() -> None:
    result = merge(b"", TEXT.encode(), b"\0 no model")
    assert (result.content, result.is_binary) == (TEXT.encode(), True)
    assert str(result) == TEXT


@pytest.mark.parametrize("label", ["a\nb", "a\r", "\0", "\ud800"])
def test_a_label_is_one_line(label: str) -> None:
    with pytest.raises(ValueError, match="cannot be a label"):
        onnxtext.merge(TEXT, TEXT, TEXT, labels=("base", label, "theirs"))
    ours, theirs = TEXT.replace("Relu", "Abs"), TEXT.replace("Relu", "Neg")
    found = onnxtext.merge(TEXT, ours, theirs, labels=("base", "\udc80", "theirs"))
    assert b"<<<<<<< \x80\n" in found.content


def test_without_git_nothing_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    ours, theirs = TEXT.replace("Relu (x)", "Relu (x"), TEXT.replace("20", "21")
    result = merge(TEXT.encode(), ours.encode(), theirs.encode())
    text = result.content.decode()
    assert result.conflicts == 1
    assert "`git merge-file` failed" in result.notes[0]
    assert resolved(text, "ours") == ours
    assert resolved(text, "theirs") == theirs


def test_deeply_nested_texts_are_merged() -> None:
    def nested(depth: int, name: str) -> str:
        inside = f"y = {name} (x)"
        for _ in range(depth):
            inside = f"y = If (x) <then_branch = t () => (float y) {{ {inside} }}>"
        return f"g (bool x) => (float y) {{ {inside} }}\n"

    for depth in (20, 3000):
        texts = [nested(depth, name) for name in ("Relu", "Abs", "Neg")]
        result = merge(*[text.encode() for text in texts])
        assert result.conflicts == 1
        if depth == 20:
            assert "Abs" in resolved(result.content.decode(), "ours")


@pytest.mark.parametrize("file", EXAMPLES)
def test_formatting_and_editing_merge(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    # Like a text that was written by hand.
    base = re.sub(r"(?m)^  (\w+) = (\w+) \((\w+)(.*)\)$", r"   \1  =\2(\3\4 )", text)
    base = base.replace(",\n>", "\n>").replace("  onnxtext: 1,\n", "onnxtext:1,\n")
    theirs = re.sub(r"opset_import: \[(\d+)", "opset_import: [19", base)
    theirs = theirs.replace("}\n", "  more = Identity (more0)\n}\n", 1)
    if "# " in text:
        theirs = theirs.replace("# ", "# A new comment.\n# ", 1)
    assert onnxtext.format_text(base) == text
    for versions in ((base, text, theirs), (base, theirs, text)):
        result = merge(*[version.encode() for version in versions])
        assert not result.conflicts, result.content.decode()
        assert onnxtext.parse(result.content.decode()) == onnxtext.parse(theirs)


@pytest.mark.parametrize("order", ["", "@value_info(initializers)\n", '@value_info("v", values)\n'])
def test_changing_a_deleted_value_is_a_conflict(order: str) -> None:
    """The conflict is found although the `value_info` list also has entries of initializers."""
    text = f"""\
<onnxtext: 1, ir_version: 10, opset_import: [20]>
{order}g (float x) => (y) <float w = {{1}}, float v = {{2}}> {{
  a = Relu (x)
  b = Abs (x)
  y = Sum (a, w, v)
}}
"""
    ours = text.replace("  b = Abs (x)\n", "")
    theirs = text.replace("<float w", "<float b, float w")
    result = merge(*map(binary, (text, ours, theirs)))
    assert (result.conflicts, result.is_binary) == (1, False)
    assert "float b = Abs" in result.content.decode()


def test_a_renamed_value_is_listed_with_its_new_name() -> None:
    """One side renames an initializer; the other one adds it to `value_info`, by the decorator."""
    base = """\
<onnxtext: 1, ir_version: 10, opset_import: [20]>
g (float x) => (y) <float w = 1, float v = 2> {
  y = Sum (x, w, v)
}
"""
    ours = base.replace("w =", "renamed =").replace(", w,", ", renamed,")
    theirs = base.replace("g (", '@value_info("w")\ng (')
    for versions in ((base, ours, theirs), (base, theirs, ours)):
        result = merge(*[text.encode() for text in versions])
        assert str(result) == ours.replace("g (", '@value_info("renamed")\ng (')


HEADER = '<ir_version: 10, opset_import: ["": 21]>\n'


@pytest.mark.parametrize("swap", [False, True])
def test_an_appended_input_stays_at_the_end(swap: bool) -> None:
    base, ours, theirs = [
        f"{HEADER}g ({inputs}) => (float[2] y) {{\n  y = Op (a, b)\n}}\n"
        for inputs in ("float a, float b", "float a, float b, float c", "float b, float a")
    ]
    result = merged(base, theirs, ours) if swap else merged(base, ours, theirs)
    assert not result.conflicts
    assert b"(float b, float a, float c)" in result.content


def test_only_the_first_item_replaces_the_first_item() -> None:
    first, last = "  a = Relu (x)\n", "  y = Abs (c)\n}\n"
    head = f"{HEADER}g (float[2] x) => (float[2] y) {{\n"
    base = f"{head}{first}  m = Mul (a, a)\n  c = Conv (m)\n{last}"
    added = "  p = Add (c, c)\n  q = Relu (p)\n  r = Add (q, q)\n"
    ours = f"{head}  c = Conv (x)\n{added}  y = Abs (r)\n}}\n"
    result = merged(base, ours, base.replace(first, "  [one] a = Relu (x)\n"))
    conflict = result.content.decode().partition("<<<<<<<")[2].partition(">>>>>>>")[0]
    assert "[one] a = Relu (x)" in conflict
    assert "q = Relu" not in conflict


@pytest.mark.parametrize("swap", [False, True])
def test_a_comment_added_to_a_deleted_blob_is_kept(swap: bool) -> None:
    base, trained = [
        onnxtext.from_binary(
            onnxtext.to_binary(f"{HEADER}g (float x) => (y) <{weights}> {{ y = Sum (x, v, w) }}"),
            inline_limit=0,
        )
        for weights in ("float[1] v = [1], float[1] w = [2]", "float[1] v = [3], float[1] w = [4]")
    ]
    noted = base.replace("resources {\n", "resources {\n  # from the lab\n")
    _ = merged(base, noted, trained) if swap else merged(base, trained, noted)
