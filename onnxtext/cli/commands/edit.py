# SPDX-License-Identifier: Apache-2.0
"""`onnxtext edit`: edit a model in place with one command."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from functools import partial, wraps
from typing import TYPE_CHECKING, Any

import click

from onnxtext.cli.edited_files import EditTarget, new_findings, read, show, write
from onnxtext.cli.group import SuggestingGroup, examples_of
from onnxtext.cli.load_settings import schemas_of_project
from onnxtext.cli.named_files import InputFile
from onnxtext.cli.options import MODEL, Integer, add_options, reporting_options
from onnxtext.cli.report import Reporter
from onnxtext.diagnostics import Diagnostic
from onnxtext.io.text_or_binary import decode_text, is_binary

if TYPE_CHECKING:
    from onnxtext.ast.model import Model

EXAMPLES = """\b
Examples:
  onnxtext edit model.onnx rename hidden features
  onnxtext edit model.onnx set-shape 'x=[batch,3,224,224]' --diff
  onnxtext edit model.onnx make-symbolic x 0 batch --fix -o dynamic.onnx
  onnxtext edit model.onnx extract --from embedding --to logits -o part.onnx
  onnxtext edit model.onnxtxt set-attribute conv1 'pads = [1, 1, 1, 1]'
  onnxtext edit model.onnxtxt insert 'p2 = Softmax (p)' --instead-of p
  onnxtext edit model.onnx remove dropout_3
  onnxtext edit model.onnx replace-weight w=@w.npy
  onnxtext edit model.onnx set-opset 21
  onnxtext edit model.onnx strip metadata

\b
Exit status:
  0  the edit was made, or shown
  1  findings: the file is not a model or has errors, the edit is not
     possible, or the model is invalid after it (it is written nevertheless)
  2  could not run: wrong usage, a file is missing or cannot be read or
     written, or an existing file would have to be overwritten"""

Edit = Callable[["Model"], "list[str] | None"]
"""A function that edits the tree of a model in place, and returns notes for the user or None."""


class _EditGroup(SuggestingGroup):
    """The command `edit`, with its FILE before the name of the edit."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; `onnxtext edit rename --help` needs no FILE."""
        if (
            args
            and args[0] in self.commands
            and not self.commands.keys() & set(args[1:2])
            and not set(ctx.help_option_names).isdisjoint(args[1:])
        ):
            args = ["FILE", *args]
        return super().parse_args(ctx, args)

    def hint(self, ctx: click.Context, name: str, others: list[str]) -> str:
        """Return a hint for an unknown edit: a similar name, or that FILE comes before the edit."""
        edit = ctx.params["file"]
        if edit not in self.commands:
            return super().hint(ctx, name, others)
        return f"FILE comes first: {ctx.command_path} {shlex.join([name, edit, *others])}"


@click.group("edit", cls=_EditGroup, epilog=EXAMPLES)
@click.argument("file", metavar="FILE", type=MODEL)
@click.pass_context
def command(context: click.Context, file: str) -> None:
    """Edit a model in place with one command.

    FILE is a text (.onnxtxt, .onnxtext) or a binary model; with -, the command reads standard
    input and writes to standard output. In a text, comments and the layout of unchanged parts are
    kept. The file is replaced atomically. Refer to a value by its name, and to a node by its label
    or one of its outputs. `onnxtext edit rename --help` shows the options of one command.
    """
    context.obj = file


_OPTIONS = (
    click.option("--diff", is_flag=True, help="Write nothing; show what would change."),
    click.option(
        "-o",
        "--output",
        metavar="OUT",
        type=MODEL,
        help="The file to write instead of FILE, or - for standard output. Its suffix "
        "determines whether a text or a binary model is written.",
    ),
    click.option("-f", "--force", is_flag=True, help="Overwrite OUT if it exists."),
)


def _verb(name: str) -> Callable[[Callable[..., Edit]], click.Command]:
    """Return a decorator that makes the subcommand `name` from a function returning an `Edit`."""

    def decorate(function: Callable[..., Edit]) -> click.Command:
        @wraps(function)
        def run(
            output: str | None, force: bool, diff: bool, reporter: Reporter, **options: Any
        ) -> None:
            file = InputFile.of(click.get_current_context().obj)
            target = EditTarget(file.name, file.source, output, force, diff)
            edit = function(**options)
            with reporter.reporting(file.name), schemas_of_project(file.source):
                _apply(target, edit, reporter)

        return command.command(name, epilog=examples_of(EXAMPLES, name))(
            add_options(reporting_options(run), *_OPTIONS)
        )

    return decorate


@_verb("rename")
@click.argument("old")
@click.argument("new")
@click.option("--label", is_flag=True, help="OLD names a node, by its label or an output.")
def rename(old: str, new: str, label: bool) -> Edit:
    """Rename the value OLD everywhere; if no value has this name, rename the node labeled OLD.

    With --label, only the label of a node is changed.
    """
    from onnxtext import editing

    return partial(editing.rename, old=old, new=new, label=label)


@_verb("set-shape")
@click.argument("shapes", nargs=-1, required=True, metavar="NAME=[DIM,...]...")
def set_shape(shapes: tuple[str, ...]) -> Edit:
    """Set the shapes of inputs or other declared values, such as 'x=[batch,3,224,224]'.

    Other declared shapes are updated if shape inference shows that they depend on the new shapes.
    Nodes and sizes that do not fit the new shapes, and outputs of unknown shape, are reported.
    """
    from onnxtext.editing.set_shapes import set_several_shapes

    pairs = [_pair(shape, "x=[batch,3]") for shape in shapes]
    return partial(set_several_shapes, shapes=pairs)


@_verb("make-symbolic")
@click.argument("value")
@click.argument("dim", type=int)
@click.argument("name")
@click.option(
    "--also",
    nargs=2,
    type=(str, int),
    multiple=True,
    metavar="VALUE DIM",
    help="Also make dimension DIM of the input VALUE symbolic, with the same name.",
)
@click.option(
    "--fix",
    is_flag=True,
    help="Also change constants that require the old size, such as the target shape of a Reshape.",
)
def make_symbolic(
    value: str, dim: int, name: str, also: tuple[tuple[str, int], ...], fix: bool
) -> Edit:
    """Make dimension DIM of the input VALUE symbolic, for example: x 0 batch.

    All declarations that depend on this dimension change, too. Nodes that allow, or may allow, only
    the old size are reported (exit status 1).
    """
    from onnxtext import editing

    return partial(editing.make_symbolic, dims=[(value, dim), *also], symbol=name, fix=fix)


@_verb("extract")
@click.option(
    "--from", "starts", multiple=True, metavar="VALUE", help="A value that becomes an input."
)
@click.option(
    "--to", "ends", multiple=True, metavar="VALUE", help="A value that becomes an output."
)
def extract(starts: tuple[str, ...], ends: tuple[str, ...]) -> Edit:
    """Keep only the nodes that compute the values --to from the values --from.

    Without --from, the graph's inputs are kept; without --to, its outputs.
    """
    from onnxtext import editing

    if not starts and not ends:
        raise click.UsageError("Name values with --from or --to.")
    return partial(editing.extract, starts=starts, ends=ends)


@_verb("set-attribute")
@click.argument("node")
@click.argument("attribute", metavar="ATTRIBUTE")
def set_attribute(node: str, attribute: str) -> Edit:
    """Set an attribute of NODE, such as 'axis = 1'."""
    from onnxtext import editing

    return partial(editing.set_attribute, node=node, text=attribute)


@_verb("insert")
@click.argument("nodes", metavar="NODES")
@click.option("--after", metavar="NODE", help="Insert the new nodes after this node.")
@click.option("--before", metavar="NODE", help="Insert the new nodes before this node.")
@click.option(
    "--instead-of",
    metavar="VALUE",
    help="Let the other nodes use the first output of the last new node instead of VALUE.",
)
def insert(nodes: str, after: str | None, before: str | None, instead_of: str | None) -> Edit:
    """Insert NODES, written in the text format.

    Without --after and --before, NODES follow the node that computes the VALUE of --instead-of, or
    else the nodes that compute their inputs.
    """
    from onnxtext import editing

    if after is not None and before is not None:
        raise click.UsageError("--after and --before cannot be combined.")
    return partial(editing.insert, text=nodes, after=after, before=before, instead_of=instead_of)


@_verb("remove")
@click.argument("node")
def remove(node: str) -> Edit:
    """Remove NODE; its first input replaces its output in all uses."""
    from onnxtext import editing

    return partial(editing.remove, node=node)


@_verb("replace-weight")
@click.argument("weights", nargs=-1, required=True, metavar="NAME=@FILE.npy...")
def replace_weight(weights: tuple[str, ...]) -> Edit:
    """Replace the elements of weights by arrays of .npy files."""
    from onnxtext import editing
    from onnxtext.cli.array_arguments import read_array

    pairs = [_weight(weight) for weight in weights]

    def edit(model: Model) -> list[str]:
        return [
            note
            for name, value in pairs
            for note in editing.replace_weight(model, name, read_array(value))
        ]

    return edit


@_verb("set-opset")
@click.argument("version", type=Integer(min=1))
@click.option(
    "--domain",
    default="",
    show_default=False,
    metavar="DOMAIN",
    help="The domain of the operator set. Default: the standard operators.",
)
@click.option("--no-convert", is_flag=True, help="Change only the version, not the nodes.")
def set_opset(version: int, domain: str, no_convert: bool) -> Edit:
    """Convert the model to VERSION of an operator set.

    If a node cannot be converted, nothing is changed.
    """
    from onnxtext import editing

    return partial(editing.set_opset, version=version, domain=domain, convert=not no_convert)


@_verb("strip")
@click.argument("what", nargs=-1, required=True, metavar="metadata|doc|value-info...",
                type=click.Choice(["metadata", "doc", "value-info"]))  # fmt: skip
def strip(what: tuple[Any, ...]) -> Edit:
    """Remove metadata, doc strings, or the types of values that are neither inputs nor outputs."""
    from onnxtext import editing

    def edit(model: Model) -> None:
        for part in what:
            editing.strip(model, part)

    return edit


def _pair(text: str, example: str) -> tuple[str, str]:
    """Split `NAME=VALUE` at the last `=`, or raise a UsageError that shows `example`."""
    name, equals, value = text.rpartition("=")
    if not equals or not name:
        raise click.UsageError(f"{text!r} is not of the form {example!r}.")
    return name, value


def _weight(text: str) -> tuple[str, str]:
    """Split `w=@w.npy` at the first `=@` into `w` and `@w.npy`; other equals signs are allowed.

    Raises:
        click.UsageError: `text` has another form.
    """
    name, equals, file = text.partition("=@")
    if not equals:
        _, value = _pair(text, "w=@w.npy")
        raise click.UsageError(f"{value!r} does not begin with @: name a file, as in w=@w.npy.")
    if not name or not file:
        raise click.UsageError(f"{text!r} is not of the form 'w=@w.npy'.")
    return name, f"@{file}"


def _apply(target: EditTarget, edit: Edit, reporter: Reporter) -> None:
    """Edit a file, write or show the result, and report notes and the errors that the edit adds."""
    from onnxtext.editing import Obstacle, apply

    data = read(target)
    before = data if is_binary(data, target.name) else decode_text(data, target.name)
    edited = apply(before, edit, name=target.name)
    for note in edited.notes:
        if not isinstance(note, Obstacle):
            reporter.found(Diagnostic("edit-note", note, "info"), target.name)
    if target.diff:
        show(before, edited.content, target, reporter.color)
    else:
        write(target, data, edited.content)
    findings = new_findings(target, before, edited.content)
    for note in edited.notes:
        # Skip a note that repeats a finding: the finding also has positions.
        if isinstance(note, Obstacle) and not any(
            note.startswith(finding.message) for finding in findings
        ):
            findings.append(Diagnostic("edit-obstacle", note, "warning"))
    reporter.findings(findings, target.name)
