# SPDX-License-Identifier: Apache-2.0
"""Pages work in a browser: linked text and graph, definitions, folds, searches, differences."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import onnxtext
from tests.viewer.chromium import PROGRAM, Browser, browser
from tests.viewer.test_page import TEXT

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(PROGRAM is None, reason="there is no chromium"),
]

# Row elements by line, counted from 1.
HELPERS = """(() => {
window.rowOf = (line, mark = '') => [...document.querySelectorAll(`.window .row${mark}`)]
  .find((row) => row.querySelector('.gutter').textContent === String(line));
window.here = () => Number(document.querySelector('.row.here .gutter')?.textContent);
const all = (selector, from = document) => [...from.querySelectorAll(selector)];
const titleOf = (node) => node.querySelector('.title')?.textContent;
window.named = (line, name) => all('.named', rowOf(line)).find((each) => each.textContent === name);
window.nodes = () => all('.node').map(titleOf);
window.node = (title) => all('.node').find((each) => titleOf(each) === title);
window.selected = () => document.querySelector('.node.selected .title')?.textContent;
window.uses = () => all('.use').map((each) => each.textContent);
window.touchAll = () => {
  for (const each of all('.changes .title, .overview')) { each.click(); each.open = true; }
  for (const each of all('.named')) each.dispatchEvent(new Event('pointerover', { bubbles: true }));
};
window.shownWords = () => document.body.innerText + all('[title]').map((each) => each.title);
window.type = (selector, words) => {
  const input = document.querySelector(selector);
  input.value = words;
  input.dispatchEvent(new Event('input', { bubbles: true }));
};
})()"""


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("chromium")) as result:
        yield result


@pytest.fixture
def page(chromium: Browser, tmp_path: Path) -> Iterator[Browser]:
    chromium.problems.clear()
    yield chromium
    assert chromium.problems == []


def show(page: Browser, path: Path, *sources: str | bytes | Path, width: int = 1400) -> None:
    """Open the page of a model, or of two."""
    target = path / "page.html"
    target.write_text(onnxtext.view(*sources), encoding="utf-8")
    page.open(target, width=width)
    page.wait("document.documentElement.dataset.state === 'graph'")
    page.run(HELPERS)


def line_of(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n") + 1


def test_a_line_selects_its_node_and_a_node_its_line(page: Browser, tmp_path: Path) -> None:
    show(page, tmp_path, TEXT)
    assert set(page.run("nodes()")) >= {"MatMul", "If", "Relu", "Identity", "x", "y"}
    for operator in ("MatMul", "Relu", "Identity"):
        line = line_of(TEXT, operator)
        page.click_on(f"rowOf({line}).querySelector('.operator')")
        page.wait(f"selected() === '{operator}'")
        assert page.run("here()") == line
        assert page.run("location.hash") == f"#L{line}"
    for title, part in (("MatMul", "h ="), ("If", "[choose]"), ("x", "x, bool"), ("Relu", "p =")):
        page.click_on(f"node('{title}').querySelector('.title')")
        page.wait(f"here() === {line_of(TEXT, part)}")
        assert page.run("selected()") == title
    # The arrow keys work in the text and in the graph.
    page.run("document.querySelector('.scroller').focus()")
    page.click_on(f"rowOf({line_of(TEXT, 'h =')}).querySelector('.operator')")
    page.key("ArrowDown")
    page.wait("selected() === 'If'")
    page.run("document.querySelector('#picture').focus()")
    page.key("ArrowUp")
    page.wait(f"selected() === 'c' && here() === {line_of(TEXT, 'bool c')}")


def test_a_name_leads_to_its_definition_and_back(page: Browser, tmp_path: Path) -> None:
    show(page, tmp_path, TEXT)
    use, definition = line_of(TEXT, "Identity"), line_of(TEXT, "h =")
    page.click_on(f"named({use}, 'h')")
    page.wait(f"here() === {definition}")
    page.wait("selected() === 'MatMul'")
    assert page.run("uses()") == ["h", "h", "h"]
    assert page.run("document.querySelector('.use.definition').closest('.row') === rowOf(here())")
    words = page.run("document.querySelector('.status .words').textContent")
    assert "h: float[N, 2]" in words
    assert "2 uses" in words
    page.key("Enter")  # the next use
    page.wait(f"here() === {line_of(TEXT, 'Relu')}")
    page.key("ArrowLeft", modifiers=1, code=37)
    page.wait(f"here() === {definition}")
    page.key("ArrowLeft", modifiers=1, code=37)
    page.wait(f"here() === {use}")
    page.key("ArrowRight", modifiers=1, code=39)
    page.wait(f"here() === {definition}")


def test_folds_open_and_close(page: Browser, tmp_path: Path) -> None:
    show(page, tmp_path, TEXT)
    start, inside = line_of(TEXT, "then_branch"), line_of(TEXT, "Relu")
    page.click_on(f"rowOf({start}).querySelector('.fold')")
    page.wait(f"!rowOf({inside})")
    assert page.run(f"rowOf({start}).querySelector('.folded').textContent") == "… 1 line"
    # Selecting a node inside the fold opens it.
    page.click_on("node('Relu').querySelector('.title')")
    page.wait(f"here() === {inside}")
    page.run("document.querySelector('[title=\"Fold everything\"]').click()")
    page.wait(f"!rowOf({inside})")
    page.run("document.querySelector('[title=\"Unfold everything\"]').click()")
    page.wait(f"!!rowOf({inside})")
    page.run("document.querySelector('.scroller').focus()")
    page.click_on(f"rowOf({inside}).querySelector('.operator')")
    page.key("ArrowLeft")
    page.wait(f"here() === {start}")
    page.key("ArrowLeft")
    page.wait(f"!rowOf({inside})")
    page.key("ArrowRight")
    page.wait(f"!!rowOf({inside})")


def test_searching_selects_each_match(page: Browser, tmp_path: Path) -> None:
    show(page, tmp_path, TEXT)
    page.key("/")
    page.wait("document.activeElement.className === 'find'")
    page.run("type('.find', 'float[n')")
    page.wait(f"document.querySelector('.matches').textContent === '1/{TEXT.count('float[N')}'")
    first = page.run("here()")
    page.key("Enter")
    page.wait("document.querySelector('.matches').textContent.startsWith('2/')")
    page.key("Enter", modifiers=8)
    page.wait("document.querySelector('.matches').textContent.startsWith('1/')")
    assert page.run("here()") == first == line_of(TEXT, "float[N")
    assert page.run("document.querySelectorAll('.match.current').length") >= 1
    page.run("type('.find', 'Float[N')")
    page.wait("document.querySelector('.matches').textContent === 'none'")
    page.run("type('#search', 'relu')")
    page.wait("document.querySelector('.node.match .title')?.textContent === 'Relu'")


def test_differences_are_marked(page: Browser, tmp_path: Path) -> None:
    new = TEXT.replace("p = Relu (h)", "t = Tanh (h)\n      p = Relu (t)").replace(
        "  h =", "  # new\n  h ="
    )
    new = new.replace("q = Identity (h)", "q = Abs (h)")
    show(page, tmp_path, TEXT, new)
    assert page.run("document.querySelectorAll('.row.plus').length") == 4
    assert page.run("document.querySelectorAll('.row.minus').length") == 2
    assert page.run("node('Tanh').classList.contains('added')")
    titles = page.run(
        "[...document.querySelectorAll('.changes .title')].map((each) => each.textContent)"
    )
    assert any("Identity became Abs" in title or "node" in title for title in titles)
    seen = []
    for index in range(len(titles)):
        page.run(f"document.querySelectorAll('.changes .title')[{index}].click()")
        seen.append(page.run("document.querySelector('.row.here').className"))
    assert any("plus" in each for each in seen)
    page.run("document.querySelector('.scroller').focus()")
    page.key("Home")
    page.key("n")
    page.wait("document.querySelector('.row.here').textContent.includes('# new')")
    page.key("n")
    page.wait("document.querySelector('.row.here.minus').textContent.includes('Relu')")
    page.key("p")
    page.wait("document.querySelector('.row.here').textContent.includes('# new')")
    assert page.run("document.querySelector('.changed-word').textContent")


def test_removed_nodes_lead_to_their_old_line(page: Browser, tmp_path: Path) -> None:
    new = TEXT.replace("  h = MatMul (x, W) # a comment\n", "").replace("(h)", "(x)")
    show(page, tmp_path, TEXT, new)
    page.click_on("node('MatMul').querySelector('.title')")
    page.wait("document.querySelector('.row.here.minus')?.textContent.includes('MatMul')")
    page.click_on("node('x').querySelector('.title')")
    page.wait("selected() === 'x'")
    page.click_on("document.querySelector('.row.minus .operator')")
    page.wait("selected() === 'MatMul'")


HOSTILE = [
    "</script><script>window.ran = 1</script>",
    "<img src=x onerror='window.ran = 1'>",
    "<svg onload=window.ran=1>",
    "\u202emoc.live\u2066",
    "\u2028\u2029\x00\x7f",
    '"];window.ran=1;//',
    "javascript:window.ran=1",
    "${window.ran=1}`",
    "https://example.invalid/x.png",
    "__proto__",
    "constructor",
]


def test_names_and_texts_cannot_run_scripts(page: Browser, tmp_path: Path) -> None:
    """Names, strings, types, comments, metadata and file names with markup and controls."""
    from onnx import TensorProto, helper

    nodes = []
    for place, name in enumerate(HOSTILE):
        source = HOSTILE[place - 1] + "." if place else "x"
        nodes.append(helper.make_node("Gelu" if place % 2 else "Relu", [source], [name + "."],
                                      name=f"{name}/{name}/{place}", doc_string=name))  # fmt: skip
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, HOSTILE[:3])
    y = helper.make_tensor_value_info(HOSTILE[-1] + ".", TensorProto.FLOAT, HOSTILE[3:5])
    model = helper.make_model(helper.make_graph(nodes, HOSTILE[0], [x], [y], doc_string=HOSTILE[1]))
    model.producer_name = HOSTILE[0]
    for name in HOSTILE:
        entry = model.metadata_props.add()
        entry.key, entry.value = name, name
    data = model.SerializeToString()
    path = tmp_path / "<img src=x onerror=window.ran=1>.onnx"
    path.write_bytes(data)
    comment = f"# {HOSTILE[0]} {HOSTILE[3]}\n" + onnxtext.from_binary(data)
    changed = comment.replace("Relu", "Tanh")
    other = tmp_path / "&lt;script&gt;.onnxtxt"
    other.write_text(changed, encoding="utf-8")
    for sources in ((path,), (comment,), (path, other)):
        show(page, tmp_path, *sources)
        for row in range(page.run("document.querySelectorAll('.row').length")):
            page.run(f"document.querySelectorAll('.row .operator')[{row}]?.click()")
        page.run("touchAll()")
        for name in HOSTILE:
            page.run(f"type('.find', {json.dumps(name)}); type('#search', {json.dumps(name)})")
        page.run("new Promise((done) => setTimeout(done, 300))")
        assert page.run("window.ran") is None
        loading = "img, iframe, object, script[src], link:not([rel=icon])"
        assert page.run(f"document.querySelectorAll('{loading}').length") == 0
        assert not set(page.run("shownWords()")) & set("\u202e\u2066\u2028\u2029\x00")


def large(count: int) -> str:
    """Return a text of that many nodes in blocks, without labels."""
    nodes = []
    for index in range(count):
        before = f"v{index - 1}" if index else "x"
        nodes.append(
            f"  v{index} = Add ({before}, v{index - 7})"
            if index > 7
            else f"  v{index} = Relu ({before})"
        )
    body = "\n".join(nodes)
    head = "<\n  onnxtext: 1,\n  ir_version: 10,\n  opset_import: [21],\n>\n"
    return f"{head}g (float[N] x) => (float[N] v{count - 1}) {{\n{body}\n}}\n"


def test_5000_nodes_are_usable(page: Browser, tmp_path: Path) -> None:
    text = large(5000)
    show(page, tmp_path, text)
    # Only visible rows are elements.
    assert page.run("document.querySelectorAll('.row').length") < 200
    assert page.run("document.querySelectorAll('*').length") < 12_000
    assert page.run("document.querySelector('.sheet').offsetHeight") >= 5000 * 20
    page.run("document.querySelector('.scroller').scrollTop = 60_000")
    page.wait("!!rowOf(3010)")
    assert page.run("document.querySelectorAll('.row').length") < 200
    page.run("type('.find', 'v4000 =')")
    page.wait(f"here() === {line_of(text, 'v4000 =')}")
    page.click_on(f"named({line_of(text, 'v4000 =')}, 'v3993')")
    page.wait(f"here() === {line_of(text, 'v3993 =')}")
    page.run("type('#search', 'v4321')")
    page.wait("document.querySelector('#matches').textContent === '1'")
    page.run("document.querySelector('#search').focus()")
    page.key("Enter")
    page.wait("document.querySelector('#details h2')?.textContent === 'Add'")
    # The limit is loose: on an idle machine, this takes less than a second.
    seconds = page.run("""(async () => {
      const start = performance.now();
      for (let at = 0; at < 20; at += 1) {
        document.querySelector('.scroller').scrollTop = at * 5000;
        await new Promise(requestAnimationFrame);
      }
      return (performance.now() - start) / 1000;
    })()""")
    assert seconds < 20
