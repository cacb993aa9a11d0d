# SPDX-License-Identifier: Apache-2.0
"""`onnxtext.show`: the same text in a terminal, as a string and as HTML."""

from __future__ import annotations

import io
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import onnxtext
from onnxtext.show_model.annotate_text import escape_controls_in_lines
from onnxtext.show_model.html import MAX_LINES, MAX_OPEN, to_html
from tests.corpus import REPOSITORY, onnx_directory, wheel_models
from tests.show_model.test_show_command import weighted
from tests.strategies import models

COLOR = re.compile(r"\x1b\[[0-9;]*m")


class Page(HTMLParser):
    """The text of a page, and its folds; fails if elements are not nested properly."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.text = ""
        self.folds: list[bool] = []
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in ("style", "pre", "span", "details", "summary"), tag
        self._open.append(tag)
        if tag == "details":
            self.folds.append(("open", None) in attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag
        if tag == "summary":
            self.text += "\n"

    def handle_data(self, data: str) -> None:
        if "style" not in self._open:
            self.text += data


def assert_alike(shown: onnxtext.Shown) -> Page:
    """All forms have the same text, except for control characters that are escaped."""
    html = shown._repr_html_()
    page = Page(html)
    text = escape_controls_in_lines(str(shown)).rstrip("\n")
    assert page.text.rstrip("\n") == text
    assert repr(shown) == text  # the tests have no terminal
    return page


@pytest.mark.thorough
@given(models())
@pytest.mark.filterwarnings("ignore::onnxtext.OnnxTextWarning")
def test_all_forms_of_any_model_have_the_same_text(model: bytes) -> None:
    assert_alike(onnxtext.show(onnx.ModelProto.FromString(model)))


@pytest.mark.parametrize("path", wheel_models()[::12])
def test_all_forms_of_real_models_have_the_same_text(path: str) -> None:
    page = assert_alike(onnxtext.show(onnx_directory() / path))
    assert "metadata {" not in page.text


@given(st.lists(st.tuples(st.sampled_from(["Whitespace", "String.Doc", "Name", "Comment"]),
                          st.text(alphabet='a <>{}()[]"\n&\x07é', max_size=9))))  # fmt: skip
def test_html_has_the_text_of_all_pieces(pieces: list[tuple[str, str]]) -> None:
    text = "".join([piece for _, piece in pieces])
    page = Page(to_html(pieces))
    assert page.text.rstrip("\n") == escape_controls_in_lines(text).rstrip("\n")


def test_names_strings_and_comments_are_escaped() -> None:
    evil = "</div><script>alert(1)</script>"
    text = f'g (float["{evil}"] "{evil}") => () {{ y = Op <s = """\n{evil}\n"""> () # {evil}\n}}'
    shown = onnxtext.show(text)
    assert evil in str(shown)
    assert_alike(shown)


def test_parts_and_sources_are_shown_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = weighted()
    path = tmp_path / "m.onnx"
    path.write_bytes(data)
    model = onnx.ModelProto.FromString(data)
    texts = {str(onnxtext.show(item)) for item in (data, path, model, onnxtext.from_binary(data))}
    assert len(texts) == 1
    assert "# min 0" in texts.pop()
    assert "main (" in str(onnxtext.show(model.graph))
    assert "Add (x, w)" in str(onnxtext.show(model.graph.node[0]))
    with pytest.raises(TypeError, match="pathlib"):
        onnxtext.show("model.onnx")
    cut = str(onnxtext.show(data, start="z", end=["y"]))
    assert "Relu (z)" in cut
    assert "Add (" not in cut
    assert "Exp" in str(onnxtext.show(data, graph="yes"))
    assert "Abs" not in str(onnxtext.show(data, find="Relu", context=0))
    with pytest.raises(onnxtext.OnnxTextError, match="did you mean"):
        onnxtext.show(data, graph="yess")

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdout", Terminal())
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    colored = repr(onnxtext.show(data))
    assert COLOR.search(colored)
    assert COLOR.sub("", colored) == str(onnxtext.show(data)).rstrip("\n")


def test_a_message_is_shown_without_a_model_around_it() -> None:
    node = onnx.helper.make_node("Relu", ["x"], ["y"], doc_string="d")
    node.metadata_props.add(key="k", value="v")
    statement = '@doc("d")\ny = Relu (x)\n'
    assert str(onnxtext.show(node)) == statement
    body = statement.replace("@", "  @").replace("y =", "  y =")
    graph = onnx.helper.make_graph([node], "g", [], [])
    assert str(onnxtext.show(graph)) == f"g () => () {{\n{body}}}\n"
    imports = [onnx.helper.make_opsetid("", 21)]
    function = onnx.helper.make_function("d", "F", ["x"], ["y"], [node], imports)
    head = '<domain: "d", opset_import: ["": 21]>\n'
    assert str(onnxtext.show(function)) == f"{head}F (x) => (y) {{\n{body}}}\n"
    constant = onnx.numpy_helper.from_array(np.arange(999))
    shown = str(onnxtext.show(onnx.helper.make_node("Constant", [], ["c"], value=constant)))
    assert re.fullmatch(r'c = Constant <value = int64\[999\] blob"\w+"> \(\) # min 0.*\n', shown)


def test_quantization_annotations_of_a_message_are_shown() -> None:
    """A section of a model has them, but a graph or node alone has no sections."""
    graph = onnx.helper.make_graph([], "g", [], [])
    annotation = graph.quantization_annotation.add(tensor_name="y")
    annotation.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="w")
    node = onnx.helper.make_node("Op", [], ["y"], body=graph)
    function = onnx.helper.make_function("d", "F", [], ["y"], [node], [])
    for message in (graph, node, function):
        text = onnxtext.dumps(message)
        assert 'value: "w"' in text
        shown = str(onnxtext.show(message))
        assert text.replace("<onnxtext: 1>\n", "").replace("onnxtext: 1, ", "") == shown


def test_metadata_of_functions_and_graphs_is_left_out() -> None:
    text = '@meta("a", "b")\n{}f (x) => (y) {{\n  @meta("c", "d")\n  y = Relu (x)\n}}\n'
    for header in ('<domain: "d", opset_import: ["": 20]>\n', ""):
        shown = str(onnxtext.show(text.format(header)))
        assert "  y = Relu (x)\n" in shown
        assert "meta(" not in shown


def test_long_lists_are_folded() -> None:
    values = ",\n".join([f"float w{index} = 1" for index in range(MAX_OPEN + 2)])
    nodes = "\n".join([f"y{index} = A (x)" for index in range(3)])
    page = assert_alike(onnxtext.show(f"g (x) => (y0) <{values}> {{ {nodes} }}"))
    assert page.folds == [False, True]  # the constants, the nodes
    few = (REPOSITORY / "examples" / "classifier.onnxtxt").read_text("utf-8")
    assert False not in assert_alike(onnxtext.show(few)).folds


def test_long_texts_are_cut() -> None:
    nodes = "\n".join([f"y{index} = A (x)" for index in range(MAX_LINES + 50)])
    page = Page(onnxtext.show(f"g (x) => (y0) {{ {nodes} }}")._repr_html_())
    assert page.text.count("\n") <= MAX_LINES + 1
    assert "more lines" in page.text
