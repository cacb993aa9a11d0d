# SPDX-License-Identifier: Apache-2.0
"""Plan and verify the edits of `--fix`.

Edits change the text in place, which keeps comments and layout. To verify them, the edited text is
parsed. If its syntax tree does not equal the expected tree, the edits are dropped.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from onnxtext.ast.model import Function, Graph, Model, Node, OpsetImport, ValueInfo
from onnxtext.ast.visit import walk_graphs
from onnxtext.checker.context.checked_model import CheckedModel
from onnxtext.checker.context.finding import Finding, Repair
from onnxtext.checker.engine.sort_nodes import safe_order
from onnxtext.diagnostics import Edit, Fix, Label, OnnxTextError
from onnxtext.diagnostics.model import apply_edits, overlaps
from onnxtext.source import Source, Span, line_start
from onnxtext.syntax.grammar.lexer import load_lexer
from onnxtext.syntax.parse import parse_model
from onnxtext.syntax.span_map import map_spans


@dataclass(frozen=True, slots=True)
class RepairResult:
    """The result of repairing a text.

    Attributes:
        text: the new text, or the old text if nothing was repaired.
        done: the titles of the applied repairs; () if nothing was repaired.
    """

    text: str
    done: tuple[str, ...]


def apply_repairs(
    source: Source, subject: CheckedModel, findings: Iterable[Finding]
) -> RepairResult:
    """Apply the repairs of findings to a text; skip repairs of kind `respell`, which are guesses.

    Apply at most `MAX_REPAIRS` repairs. If two repairs have overlapping edits, only the first is
    applied. All repairs are verified together. If this fails, the first `_MAX_VERIFIED_ALONE`
    repairs are added one by one, and each repair that fails is dropped. A fragment is returned
    unchanged.
    """
    model = subject.model
    if model is None:  # a fragment
        return RepairResult(source.text, ())
    planned: list[PlannedRepair] = []
    seen: set[int] = set()
    taken: list[Span] = []  # sorted
    for finding in findings:
        repair = finding.repair
        if len(planned) == MAX_REPAIRS:
            break
        if repair is None or (repair.kind == "sort" and id(repair.item) in seen):
            continue
        seen.add(id(repair.item))
        change = plan_fix(source, subject, repair)
        if change is not None and not any(overlaps(taken, edit.span) for edit in change.edits):
            change.title += f" [{finding.code}]"
            planned.append(change)
            taken = sorted([*taken, *[edit.span for edit in change.edits]])
    kept = planned
    if planned and not _is_verified(source, model, planned):
        kept = []
        for change in planned[:_MAX_VERIFIED_ALONE]:
            if _is_verified(source, model, [*kept, change]):
                kept.append(change)
    text = apply_edits(source.text, [edit for change in kept for edit in change.edits])
    return RepairResult(text, tuple([change.title for change in kept]))


def fix_of(
    source: Source, subject: CheckedModel, finding: Finding, labels: Sequence[Label]
) -> Fix | None:
    """Return the fix that an editor offers for a finding; its edits are not verified.

    `labels` are the labels of the finding's places in the text. Return None if the finding has no
    repair, or if planning fails or would take too long.
    """
    repair = finding.repair
    if repair is None:
        return None
    if repair.kind == "respell":
        return _respell(source, repair, labels) if len(labels) == len(finding.places) else None
    if repair.kind == "sort" and len(repair.item.nodes) > _MAX_SORTED:
        return None
    change = plan_fix(source, subject, repair)
    return None if change is None else Fix(change.title, tuple(change.edits))


_MAX_SORTED = 300
"""The maximum number of nodes of a graph for which an editor offers to sort the nodes."""
MAX_REPAIRS = 500
"""The maximum number of repairs to apply at once."""
_MAX_VERIFIED_ALONE = 20
"""The maximum number of repairs to verify one by one if verifying all together fails."""


@dataclass(slots=True)
class PlannedRepair:
    """A planned repair: its edits of the text, and its effect on the syntax tree.

    Attributes:
        order: for `sort` repairs, the node indices of the graph in the new order; otherwise None.
    """

    title: str
    edits: list[Edit]
    repair: Repair
    order: list[int] | None = None


def plan_fix(source: Source, subject: CheckedModel, repair: Repair) -> PlannedRepair | None:
    """Plan the edits of a repair; None for the kind `respell`, or if the edits are not possible."""
    try:
        match repair.kind:
            case "import":
                return _import(source, repair)
            case "rename":
                return _rename(source, subject, repair)
            case "remove":
                return _remove(source, subject, repair)
            case "sort":
                return _sort(source, subject, repair)
    except (ValueError, LookupError):
        pass
    return None


# ---- Imports ------------------------------------------------------------------------------------


def _import(source: Source, repair: Repair) -> PlannedRepair | None:
    domain, version = repair.argument
    entry = f'"{domain}": {version}' if domain else f"{version}"
    owner = repair.item
    if isinstance(owner, Model) and not domain and owner.ir_version in (1, 2):
        return None  # without imports, these IR versions imply version 1
    start = 0 if isinstance(owner, Model) else owner.at
    if isinstance(owner, Model):
        end = owner.graph.at
    else:
        end = map_spans(source, owner.at, "function").find("name").span.start
    tokens = load_lexer().tokens(source.text, start, min(end, start + 100_000))
    if not domain and (isinstance(owner, Function) or owner.presence.version is None):
        entry = f'"": {version}'
    title = f"import version {version} of {domain or 'the standard operators'}"
    words = list(map(str, tokens))
    if "opset_import" in words:
        index = words.index("opset_import")
        bracket = tokens[index + 2]
        offset = bracket.at + 1
        rest = bracket[1:].strip() if len(bracket) > 1 else words[index + 3]
        added = entry if rest in ("]", "") else f"{entry}, "
    elif "<" in words:
        index = words.index("<")
        # This raises ValueError if the tokens lack the end of a long header; then, `plan_fix`
        # returns None.
        closing = words.index(">", index)
        last = tokens[closing - 1]
        offset = last.end
        line = line_start(source.text, last.at)
        indent = source.text[line : line + _indentation(source.text[line : last.at])]
        broken = "\n" in source.text[tokens[index].at : tokens[closing].at]
        gap = f"\n{indent}" if broken and closing - index > 1 else " "
        lead = "" if last == "<" else gap if last == "," else f",{gap}"
        comma = "," if last == "," and broken else ""
        added = f"{lead}opset_import: [{entry}]{comma}"
    else:
        offset, added = end, f"<opset_import: [{entry}]>\n"
    edit = Edit(Span(offset, offset), source.with_line_ends(added))
    return PlannedRepair(title, [edit], repair)


def _indentation(text: str) -> int:
    """Return the number of spaces and tabs at the start of a text."""
    return len(text) - len(text.lstrip(" \t"))


# ---- Names --------------------------------------------------------------------------------------


def _rename(source: Source, subject: CheckedModel, repair: Repair) -> PlannedRepair | None:
    right, uses = repair.argument
    if any(subject.resolved.original(node) is not node for node, _ in uses):
        return None  # the inputs are written in a decorator
    from onnxtext.printer.quoting import value_name  # a slow import, rarely needed

    edits = []
    for node, index in uses:
        span = map_spans(source, node.at, "node").find("names", index).span
        edits.append(Edit(span, value_name(right)))
    return PlannedRepair(f"write `{right}` for `{repair.item}`", edits, repair)


def _respell(source: Source, repair: Repair, labels: Sequence[Label]) -> Fix | None:
    wrong, right = repair.argument
    starts = [label.span.start for label in labels if not label.message]
    spans = [Span(start, start + len(wrong)) for start in starts]
    if any(source.text[span.start : span.end] != wrong for span in spans):
        return None
    edits = tuple([Edit(span, right) for span in sorted(spans)])
    return Fix(f"write `{right}` for `{wrong}`", edits, "unsafe")


# ---- Removing -----------------------------------------------------------------------------------


def _remove(source: Source, subject: CheckedModel, repair: Repair) -> PlannedRepair | None:
    value = subject.resolved.original(repair.item)
    if not isinstance(value, ValueInfo) or value.at < 0:
        return None
    span = map_spans(source, value.at, "value_info").span
    text = source.text
    start, end = span.start, span.end
    lexer = load_lexer()
    following = lexer.token(text, end)
    if following == ",":
        assert following is not None
        end = following.at + 1
        line_end = text.find("\n", end)
        # Remove the whole line if it holds nothing else, not even a comment.
        line = line_start(text, start)
        if not text[line:start].strip() and line_end >= 0 and not text[end:line_end].strip():
            start, end = line, line_end + 1
        else:
            while end < len(text) and text[end] == " ":
                end += 1
    else:
        before = text.rfind(",", 0, start)
        if before >= 0 and not text[before + 1 : start].strip():
            start = before
    edit = Edit(Span(start, end), "")
    return PlannedRepair(f"remove `{value.name}`", [edit], repair._replace(item=value))


# ---- Sorting ------------------------------------------------------------------------------------


def _sort(source: Source, subject: CheckedModel, repair: Repair) -> PlannedRepair | None:
    from onnxtext.format.lists import OFF, ON

    graph = repair.item
    nodes: list[Node] = graph.nodes
    order = safe_order(subject, graph)
    if order is None:
        return None
    blocks = _blocks(source.text, _node_spans(source, subject, nodes))
    if blocks is None:
        return None
    texts = [source.text[start:end] for start, end in blocks]
    moved = [(place, texts[index]) for place, index in enumerate(order) if place != index]
    if any(OFF in text or ON in text for _, text in moved):
        return None  # the comment starts or ends a region, so it cannot move with a node
    edits = [Edit(Span(*blocks[place]), text) for place, text in moved]
    return PlannedRepair("sort the nodes", edits, repair, order)


def _node_spans(source: Source, subject: CheckedModel, nodes: list[Node]) -> list[Span]:
    """Return the spans of nodes.

    Also store the spans of the nodes nested in them: to sort these, nothing is parsed again.

    Raises:
        ValueError: no node begins at the offset of one of the nodes.
    """
    known: dict[int, Span] = subject.memo.setdefault("node_spans", {})
    for node in nodes:
        parts = [] if node.at in known else [map_spans(source, node.at, "node")]
        for part in parts:
            if part.rule.startswith("node"):
                known[part.span.start] = part.span
            parts += [item for item in (*part.parts.values(), *part.items) if item is not None]
    return [known[node.at] for node in nodes]


def _blocks(text: str, spans: list[Span]) -> list[tuple[int, int]] | None:
    """Return for each node the range of its text and comments, as (start, end) offsets.

    `spans` are the spans of the nodes, without comments. A comment on its own line belongs to the
    node below it. A trailing comment belongs to the node before it on the line (docs/design.md,
    Layout). Blank lines are not moved.

    Return None if a node shares a line with another node or a brace, and any node has a comment: a
    comment that moves with its node could comment out other text on the line.
    """
    result = []
    shared = False
    for index, span in enumerate(spans):
        floor = spans[index - 1].end if index else 0
        line = text.rfind("\n", floor, span.start) + 1
        first, end = span.start, span.end
        if (index and not line) or text[line:first].strip():
            shared = True
        else:
            first = _with_comments_above(text, line, floor) + _indentation(text[line:first])
        is_last = index + 1 == len(spans)
        limit = len(text) if is_last else spans[index + 1].start
        line_end = text.find("\n", end, limit)
        trailing = text[end : limit if line_end < 0 else line_end].rstrip()
        if line_end < 0 and not is_last:
            shared = True
        elif trailing.lstrip().startswith("#"):
            end += len(trailing)
        else:
            shared = shared or bool(trailing)
        result.append((first, end))
    if shared and result != [(span.start, span.end) for span in spans]:
        return None
    return result


def _with_comments_above(text: str, line: int, floor: int) -> int:
    """Return the start of the comment lines directly above a line; `line` if there are none.

    `line` is the start of the line. `floor` is the offset at which the search stops.
    """
    while line > floor:
        above = line_start(text, line - 1)
        if above < floor or not text[above : line - 1].strip().startswith("#"):
            break
        line = above
    return line


# ---- Verification -------------------------------------------------------------------------------


def _is_verified(source: Source, model: Model, changes: list[PlannedRepair]) -> bool:
    """Whether the text with the edits of `changes` parses to `model` with the same changes."""
    edits = [edit for change in changes for edit in change.edits]
    try:
        parsed = parse_model(Source(apply_edits(source.text, edits), source.name))
        return parsed == _model_after_repairs(model, changes)
    except (OnnxTextError, KeyError):  # KeyError: a decorator holds the item, so it was not copied
        return False


def _model_after_repairs(model: Model, changes: Iterable[PlannedRepair]) -> Model:
    """Return the syntax tree that the edited text must have: a copy of a model with all changes."""
    memo: dict[int, object] = {}
    changed = copy.deepcopy(model, memo)
    removed: set[int] = set()
    for change in changes:
        repair = change.repair
        if repair.kind == "import":
            owner = memo[id(repair.item)]
            domain, version = repair.argument
            assert isinstance(owner, (Model, Function))
            quotes = isinstance(owner, Function) or owner.presence.version is None
            owner.opset_imports.insert(0, OpsetImport(domain or ("" if quotes else None), version))
        elif repair.kind == "rename":
            right, uses = repair.argument
            for node, index in uses:
                copied = memo[id(node)]
                assert isinstance(copied, Node)
                inputs = list(copied.inputs)
                inputs[index] = right
                copied.inputs = tuple(inputs)
        elif repair.kind == "remove":
            removed.add(id(memo[id(repair.item)]))
        elif repair.kind == "sort":
            graph = memo[id(repair.item)]
            assert isinstance(graph, (Graph, Function))
            assert change.order is not None
            graph.nodes = [graph.nodes[index] for index in change.order]
    for graph in walk_graphs(changed) if removed else ():
        graph.values = [value for value in graph.values if id(value) not in removed]
    return changed
