# SPDX-License-Identifier: Apache-2.0
"""`onnxtext explain-type`: explain where the type of a value comes from."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from onnxtext.cli.load_settings import schemas_of_project
from onnxtext.cli.named_files import InputFile
from onnxtext.cli.options import MODEL, Integer, reporting_options
from onnxtext.cli.report import Reporter
from onnxtext.cli.streams import print_to_stdout, read_file
from onnxtext.diagnostics.terminal_text import escape_controls
from onnxtext.io.memory import paused_collector
from onnxtext.io.text_or_binary import decode_text, is_binary
from onnxtext.plurals import count_noun
from onnxtext.source import Source

if TYPE_CHECKING:
    from onnxtext.checker.context.checked_model import CheckedModel
    from onnxtext.checker.context.finding import Place
    from onnxtext.checker.context.scopes import Scope

EXAMPLES = """\b
Examples:
  onnxtext explain-type model.onnx logits
  onnxtext explain-type model.onnxtxt --line 120
  onnxtext explain-type model.onnx a --graph loop.body --all
  onnxtext explain-type model.onnx logits --json | jq '.[].sizes[].kind'

\b
Exit status:
  0  the type was explained
  1  findings: the file is not a model or has syntax errors, or it has no
     such value
  2  could not run: wrong usage, or a file is missing or cannot be read"""

_STEPS = 6
_LARGEST = 32 << 20
"""Maximum size in bytes of a file to read names from: completion must be fast."""
_MOST = 1000
_PLAIN = re.compile(r"[\w/.][\w/.:+@%,-]*", re.ASCII)
"""Names without special characters of shells; only these names are completed."""


def complete_value(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[str]:
    """Return names of values, and labels, that begin with `incomplete`, in the order of the model.

    At most `_MOST` names are returned, none with special characters of shells. Return [] if the
    model cannot be read or is larger than `_LARGEST`.
    """
    holder: click.Context | None = context
    while holder is not None and not holder.params.get("file"):
        holder = holder.parent
    if holder is None:
        return []
    try:
        names = dict.fromkeys(_names(Path(str(holder.params["file"])).expanduser()))
    except (OSError, ValueError, RuntimeError):  # a file that is not a model has no values
        return []
    fitting = [name for name in names if name.startswith(incomplete) and _PLAIN.fullmatch(name)]
    return fitting[:_MOST]


def _names(path: Path) -> Iterator[str]:
    from onnxtext.ast.model import Fragment, Model
    from onnxtext.ast.visit import walk_graphs
    from onnxtext.checker.engine.partial_parse import read_partial
    from onnxtext.proto.decode.lift import lift_model

    if not path.is_file() or path.stat().st_size > _LARGEST:
        return
    data = path.read_bytes()
    with paused_collector():
        root: Model | Fragment | None
        if is_binary(data, path.name):
            root = lift_model(data)
        else:
            root, _ = read_partial(Source(decode_text(data, path.name), path.name))
    for graph in () if root is None else walk_graphs(root):
        for value in (*graph.inputs, *graph.values):
            yield value.name
        for node in graph.nodes:
            yield from node.outputs
            if node.name:
                yield node.name


@click.command("explain-type", epilog=EXAMPLES)
@click.argument("file", metavar="FILE", type=MODEL)
@click.argument("values", nargs=-1, metavar="[VALUE]...", shell_complete=complete_value)
@click.option(
    "--graph",
    metavar="NAME",
    help="The graph or function that defines the values: its name, or the node and attribute of a "
    "nested graph (loop.body). Default: the main graph if it defines the value, else the first "
    "graph or function that does.",
)
@click.option(
    "--line",
    type=Integer(min=1),
    metavar="N",
    help="In a text, explain the values that the statement at line N defines; with VALUE, explain "
    "the value of this name in the graph around line N.",
)
@click.option(
    "--depth",
    type=Integer(min=2),
    default=_STEPS,
    metavar="N",
    help="Show up to N steps of each chain of nodes.",
)
@click.option("--all", "whole", is_flag=True, help="Show all steps.")
@click.option("--json", "as_json", is_flag=True, help="Write one JSON list, with all steps.")
@reporting_options
def command(
    file: str,
    values: tuple[str, ...],
    graph: str | None,
    line: int | None,
    depth: int,
    whole: bool,
    as_json: bool,
    reporter: Reporter,
) -> None:
    """Show where the types of values come from, or why they are unknown.

    FILE is a text or a binary model; - is standard input. VALUE is the name of a value, or the
    label of a node to explain all of its outputs. The origin of each size is shown: declared in an
    input, stored in a weight, inferred by nodes, assumed (only a declaration gives it), or unknown.
    The chain of nodes that compute the size follows.
    """
    if not values and line is None:
        raise click.UsageError("Name a VALUE, or a statement with --line.")
    source = InputFile.of(file)
    with reporter.reporting(source.name), schemas_of_project(source.source):
        data = read_file(source)
        with paused_collector():
            model = _Model(data, source)
            chosen = model.choose(values, graph, line)
            if as_json:
                objects = [item for value in chosen for item in model.objects(*value)]
                print_to_stdout(json.dumps(objects, indent=2, ensure_ascii=True))
            else:
                shown = [model.text(scope, value, None if whole else depth)
                         for scope, value in chosen]  # fmt: skip
                print_to_stdout("\n\n".join(shown))
        if model.errors:
            note = "has errors (see `onnxtext check`), so more types may be unknown"
            reporter.summary(f"{source.name}: {note}")


class _Model:
    """A checked model whose types are explained.

    Attributes:
        errors: whether the model has errors.
    """

    def __init__(self, data: bytes, file: InputFile) -> None:
        from onnxtext.checker.engine.finding_positions import TextPlaces
        from onnxtext.checker.engine.model_paths import ModelPaths
        from onnxtext.checker.explain_type.size_origins import SizeExplainer
        from onnxtext.checker.inference.onnx_errors import errors_of
        from onnxtext.checker.inference.shape_inference import CompleteInference

        self._name = file.name
        self._source: Source | None = None
        self._subject = self._parse_and_check(data, file.directory)
        self._inference = (
            None if self._subject.is_recursive else CompleteInference.of(self._subject)
        )
        findings = [] if self._inference is None else self._inference.findings
        self._explainer = SizeExplainer(self._subject, findings)
        self.errors = bool(errors_of(self._subject))
        self._paths = ModelPaths(self._subject)
        self._places: TextPlaces | None = None
        if self._source is not None:
            self._places = TextPlaces(self._source, self._subject, budget=10_000)

    def _parse_and_check(self, data: bytes, base: Path) -> CheckedModel:
        """Parse and check the model; set `_source` if it is a text."""
        from onnxtext.ast.model import Model
        from onnxtext.checker.engine.check_source import encode_for_checks, parse_any
        from onnxtext.checker.engine.check_tree import run_rules
        from onnxtext.conversion_errors import check_declared_size, lift_binary

        if is_binary(data, self._name):
            model = lift_binary(data, self._name)
            return run_rules(model, base_dir=base, encoded=lambda: data)[0]
        self._source = Source(decode_text(data, self._name), self._name)
        root = parse_any(self._source)
        check_declared_size(root, self._source)
        encoded = None
        if isinstance(root, Model):
            encoded, _ = encode_for_checks(root, self._source, base)
        return run_rules(root, base_dir=base, encoded=encoded)[0]

    # ---- Selection of values ----------------------------------------------------------------

    def choose(
        self, names: tuple[str, ...], graph: str | None, line: int | None
    ) -> list[tuple[Scope, str]]:
        """Return (graph or function body, name) of each value to explain.

        Raises:
            OnnxTextError: there is no graph `graph`, a name matches no value and no label, or the
                line does not exist. Without `names`, also: no value is defined at the line.
        """
        from onnxtext.show_model.show_error import ShowError

        if self._source is not None and line is not None:
            lines = len(self._source.line_starts) - self._source.text.endswith("\n")
            if line > lines:
                raise ShowError.of(f"the text has {count_noun(lines, 'line')}", self._name)
        scopes = self._subject.scopes
        if graph is not None:
            from onnxtext.show_model.find_bodies import find_bodies

            root: Any = self._subject.root
            root = getattr(root, "item", root)
            owners = {id(body.graph) for body in find_bodies(root, graph, self._name)}
            scopes = [scope for scope in scopes if id(scope.original) in owners]
        if not names:
            return self._at_line(scopes, line or 1)
        chosen = []
        for name in names:
            matches = [(scope, value) for scope in scopes for value in _values(scope, name)]
            if not matches:
                candidates = [name for scope in scopes for name in scope.position]
                candidates += [node.name for scope in scopes for node in scope.nodes if node.name]
                raise ShowError.unknown("value or node", name, candidates, self._name)
            if line is not None and (offset := self._last_statement(scopes, line)) is not None:
                matches = [match for match in matches if match[0] is offset[0]] or matches
            first_scope = matches[0][0]
            chosen += [match for match in matches if match[0] is first_scope]
        return chosen

    def _at_line(self, scopes: list[Scope], line: int) -> list[tuple[Scope, str]]:
        """Return (scope, name) of each value defined at a line, or else the last line before it."""
        from onnxtext.ast.model import Node
        from onnxtext.show_model.show_error import ShowError

        if self._source is None:
            raise ShowError.of("a binary model has no lines", self._name, "name a value instead")
        statement = self._last_statement(scopes, line)
        names: list[str] = []
        if statement is not None:
            scope, item = statement
            defined = item.outputs if isinstance(item, Node) else (item.name,)
            names = [name for name in dict.fromkeys(defined) if name in scope.position]
        if statement is None or not names:
            raise ShowError.of(f"no value is defined at line {line}", self._name)
        return [(statement[0], name) for name in names]

    def _last_statement(self, scopes: list[Scope], line: int) -> tuple[Scope, Any] | None:
        """Return (scope, node or value) of the last statement at or before a line.

        Return None if there is no statement, or for a binary model.
        """
        if self._source is None:
            return None
        best: tuple[int, Scope, Any] | None = None
        for scope in scopes:
            items: list[Any] = [*scope.given.values(), *scope.nodes]
            for item in items:
                offset: int = getattr(self._subject.resolved.original(item), "at", -1)
                is_above = offset >= 0 and self._source.position(offset).line <= line
                if is_above and (best is None or offset > best[0]):
                    best = offset, scope, item
        return None if best is None else best[1:]

    # ---- Explanations -----------------------------------------------------------------------

    def text(self, scope: Scope, name: str, max_steps: int | None) -> str:
        """Explain a value as text, with up to `max_steps` steps per chain (None: all)."""
        from onnxtext.checker.explain_type.explanation import explain_value, explanation_lines
        from onnxtext.checker.explain_type.inferred_facts import scope_views

        views = [] if self._inference is None else scope_views(self._inference, scope)
        if not views:
            calls = "functions call themselves"
            reason = calls if self._inference is None else "the model has errors"
            return escape_controls(f"`{name}`: unknown type, because {reason}")
        explained = explain_value(self._explainer, views[0], name)
        found = list(explanation_lines(explained, self._where, max_steps))
        notes = list(self._notes(scope, name, views))
        return "\n".join([escape_controls(line) for line in (*found[:2], *notes, *found[2:])])

    def _notes(self, scope: Scope, name: str, views: list[Any]) -> Iterator[str]:
        """Yield notes on other calls of the function `scope`, and on other values called `name`.

        `views` has the inferred types of the function for each distinct call.
        """
        from onnxtext.checker.context.finding import Place
        from onnxtext.checker.inference.explain_shape_errors import spell_type

        if len(views) > 1:
            types = {None if v.type(name) is None else spell_type(v.type(name)) for v in views[1:]}
            listed = ", ".join(sorted([f"`{type or 'unknown'}`" for type in types]))
            caller = views[0].caller()
            at = "" if caller is None else f" at {self._where(Place(caller[1], ('op_type',)))}"
            others = "calls with other arguments give the types"
            yield f"  this explains the call{at}; {others} {listed}"
        places = [
            self._where(Place(*other.definition(name)))
            for other in self._subject.scopes
            if other is not scope and name in other.position
        ]
        if places:
            how = "--graph" if self._source is None else "--line or --graph"
            ending = f" and {len(places) - 5} more" if len(places) > 5 else ""
            yield f"  also defined at {', '.join(places[:5])}{ending}: choose with {how}"

    def objects(self, scope: Scope, name: str) -> Iterator[dict[str, Any]]:
        """Yield JSON objects that explain a value: one or, in a function, one per distinct call.

        Yield nothing if the graph or function has no inferred types.
        """
        from onnxtext.checker.explain_type.explanation import as_object, explain_value
        from onnxtext.checker.explain_type.inferred_facts import scope_views

        for view in [] if self._inference is None else scope_views(self._inference, scope):
            yield as_object(explain_value(self._explainer, view, name), self._where_object)

    def _where(self, place: Place) -> str:
        """Return a place for display: a line of the text, or a path in a binary model."""
        if self._source is None or self._places is None:
            return self._path(place)
        return f"line {self._source.position(self._places.span(place).start).line}"

    def _path(self, place: Place) -> str:
        return self._paths.path(place._replace(part=())) or "model"

    def _where_object(self, place: Place) -> dict[str, Any]:
        if self._source is None or self._places is None:
            return {"path": self._path(place)}
        position = self._source.position(self._places.span(place).start)
        return {"line": position.line, "column": position.column}


def _values(scope: Scope, name: str) -> list[str]:
    """Return the name if the scope defines it, else the outputs of nodes with this label."""
    if name in scope.position:
        return [name]
    return [
        output
        for node in scope.nodes
        if node.name == name
        for output in node.outputs
        if output in scope.position
    ]
