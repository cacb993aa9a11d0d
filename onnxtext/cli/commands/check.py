# SPDX-License-Identifier: Apache-2.0
"""`onnxtext check`: check models against the rules of the ONNX IR."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import click

from onnxtext.cli.command_errors import CommandError
from onnxtext.cli.edited_files import EditTarget, new_findings, replace_edited, write
from onnxtext.cli.load_settings import schemas_of_project
from onnxtext.cli.named_files import InputFile
from onnxtext.cli.options import MODEL, Integer, one_of, reporting_options, split_at_commas
from onnxtext.cli.progress import process_files
from onnxtext.cli.report import FINDINGS, Reporter
from onnxtext.cli.streams import read_file
from onnxtext.cli.target_opset import check_targets, convert_content, find_changes, read_targets
from onnxtext.diagnostics.code_pages import documented_codes
from onnxtext.io.text_or_binary import TEXT_SUFFIXES, decode_text, is_binary
from onnxtext.plurals import count_noun

if TYPE_CHECKING:
    from onnxtext.checker.engine.project_settings import Settings
    from onnxtext.diagnostics import Diagnostic
    from onnxtext.editing.opsets import Targets

DEFAULT_MAX_FINDINGS = 100

EXPLANATION = """\b
Examples:
  onnxtext check model.onnxtxt
  onnxtext check --fix model.onnxtxt        applies safe fixes
  onnxtext check --select all model.onnx    also rules that are off by default
  onnxtext check --ignore node-name-duplicate --strict models/*.onnx
  onnxtext check --infer -o typed.onnx model.onnx
  onnxtext check --target-opset 21 model.onnx
  onnxtext check --target-opset 21 -o new.onnx model.onnx

\b
In a text, a comment suppresses a rule for its line or the statement below it:
  # onnxtext: ignore[value-unused]

\b
Settings are read from pyproject.toml; options override them:
  [tool.onnxtext]
  select = ["value-unused"]
  ignore = ["node-name-duplicate"]
  strict = true
  max-findings = 20
  schemas = ["operators.onnxschema"]

\b
Exit status:
  0  no file has errors
  1  findings: a file has errors, or, with --strict, warnings
  2  could not run: wrong usage or settings, or a file is missing or cannot
     be read or written
With several files, every file is tried, and the highest status is used."""


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """The command-line options of `onnxtext check`; project settings are in `Settings`."""

    select: tuple[str, ...]
    ignore: tuple[str, ...]
    strict: bool
    fix: bool
    max_findings: int | None
    infer: bool
    targets: Targets
    output: EditTarget | None
    schemas: tuple[str, ...]


@click.command("check", epilog=EXPLANATION)
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=MODEL)
@click.option(
    "--select",
    multiple=True,
    metavar="RULE",
    callback=split_at_commas,
    shell_complete=one_of(documented_codes),
    help="Turn on a rule that is off by default; `all` turns on every rule that is off by default "
    "and belongs to no profile.",
)
@click.option(
    "--profile",
    multiple=True,
    type=click.Choice(["style"]),
    help="Turn on a group of rules. style: conventions that exporters do not follow, for example: "
    "names are identifiers.",
)
@click.option(
    "--ignore",
    multiple=True,
    metavar="RULE",
    callback=split_at_commas,
    shell_complete=one_of(documented_codes),
    help="Turn off a rule.",
)
@click.option("--strict", is_flag=True, help="Exit with status 1 for warnings, too.")
@click.option(
    "--fix",
    is_flag=True,
    help="Apply safe fixes to texts: correct syntax errors, sort nodes, remove unused initializers "
    "and value infos of unknown values, add missing imports, correct misspelled names. Comments "
    "are kept.",
)
@click.option(
    "--max-findings",
    type=Integer(min=0),
    metavar="N",
    help=f"Show no more than N findings of a file; 0 shows all. [default: {DEFAULT_MAX_FINDINGS}]",
)
@click.option(
    "--schemas",
    multiple=True,
    metavar="SCHEMAS",
    type=click.Path(exists=True, dir_okay=False),
    help="Also check nodes against the operators that this schema file describes; see `onnxtext "
    "schemas`.",
)
@click.option(
    "--infer",
    is_flag=True,
    help="Write the model, with the inferred types of all values, to OUT. A model with errors is "
    "not written.",
)
@click.option(
    "--target-opset",
    "targets",
    multiple=True,
    metavar="N|DOMAIN=N",
    callback=read_targets,
    help="Report what a conversion to version N of the standard operators, or of the operators of "
    "DOMAIN, would change, and what prevents it. With -o, the converted model is written to OUT; "
    "with --fix, it replaces FILE.",
)
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    type=MODEL,
    help="The file that --infer and --target-opset write, or - for standard output. Its suffix "
    "determines whether a text or a binary model is written.",
)
@click.option("-f", "--force", is_flag=True, help="Overwrite OUT if it exists.")
@reporting_options
def command(
    files: tuple[str, ...],
    select: tuple[str, ...],
    profile: tuple[str, ...],
    ignore: tuple[str, ...],
    strict: bool,
    fix: bool,
    max_findings: int | None,
    schemas: tuple[str, ...],
    infer: bool,
    targets: dict[str, int],
    output: str | None,
    force: bool,
    reporter: Reporter,
) -> None:
    """Check models against the rules of the ONNX IR.

    FILE is a text (.onnxtxt, .onnxtext) or a binary model; - is standard input. One run reports
    the findings of all rules, with their places, on standard error; --max-findings limits their
    number.
    """
    target = _target(files, output, force=force) if infer or output or force else None
    if target is not None and (not (infer or targets) or fix):
        raise click.UsageError(
            "-o and -f need --infer or --target-opset, and cannot be combined with --fix."
        )
    choice = CheckOptions(
        (*select, *profile), ignore, strict, fix, max_findings, infer, targets, target, schemas
    )
    _check_codes(choice)
    if targets:
        check_targets(targets)
    inputs = list(map(InputFile.of, dict.fromkeys(files)))
    process_files(inputs, reporter, lambda file, _: _check(file, choice, reporter), "with findings")


def _target(files: tuple[str, ...], output: str | None, *, force: bool) -> EditTarget:
    if output is None or len(files) != 1:
        raise click.UsageError("To write a model, name one FILE, and the file to write: -o OUT.")
    file = InputFile.of(files[0])
    return EditTarget(file.name, file.source, output, force)


def _check_codes(choice: CheckOptions) -> None:
    from onnxtext.checker.context.registry import rules
    from onnxtext.checker.engine.select_rules import is_known
    from onnxtext.suggestions import nearest_name

    for code in (*choice.select, *choice.ignore):
        if not is_known(code):
            meant = nearest_name(code, rules())
            hint = f" Did you mean {meant!r}?" if meant else ""
            raise click.UsageError(f"There is no rule or profile {code!r}.{hint}")


def _check(file: InputFile, choice: CheckOptions, reporter: Reporter) -> None:
    from onnxtext.checker.isolation.inference_client import start_worker

    start_worker()
    with schemas_of_project(file.source, choice.schemas) as settings:
        _check_content(read_file(file), file, settings, choice, reporter)


def _check_content(
    data: bytes, file: InputFile, settings: Settings, choice: CheckOptions, reporter: Reporter
) -> None:
    """Check the content of a file, report findings, and write what the options request."""
    from onnxtext.checker.engine.check_source import check_file, too_deep_diagnostic

    shown = file.name
    select = (*settings.select, *choice.select)
    ignore = tuple([code for code in settings.ignore if code not in choice.select])
    ignore = (*ignore, *choice.ignore)
    if choice.fix:
        data = _fix(data, file, select, ignore, reporter)
    target = choice.output
    if target is None and choice.fix and choice.targets:
        target = EditTarget(shown, file.source, None)
    then = None  # if there is a target, `convert_content` reports the changes below
    if choice.targets and target is None:
        then = partial(find_changes, name=shown, targets=choice.targets)
    try:
        diagnostics = check_file(
            data, name=shown, base_dir=file.directory, select=select, ignore=ignore, then=then
        )
    except RecursionError:
        diagnostics = [too_deep_diagnostic(shown)]
    strict = choice.strict or settings.strict
    limits = (choice.max_findings, settings.max_findings, DEFAULT_MAX_FINDINGS)
    max_findings = next(limit for limit in limits if limit is not None)
    before = after = None  # the model before and after the conversion; None to write nothing
    if target is not None and not _has_errors(diagnostics):
        before = after = data if is_binary(data, shown) else decode_text(data, shown)
        if choice.targets:
            changes, after = convert_content(before, shown, choice.targets)
            diagnostics += changes
    report_findings(diagnostics, max_findings, shown, reporter, strict=strict)
    if target is None:
        return
    if before is None or after is None or _has_errors(diagnostics):
        output = target.output or target.name
        reporter.summary(f"{target.name}: has errors, so {output} is not written")
    else:
        _write(data, before, after, target, choice, reporter)


def _has_errors(diagnostics: list[Diagnostic]) -> bool:
    return any(item.severity == "error" for item in diagnostics)


def _write(
    data: bytes,
    before: str | bytes,
    after: str | bytes,
    target: EditTarget,
    choice: CheckOptions,
    reporter: Reporter,
) -> None:
    """Write the converted model, with inferred types for `--infer`.

    If the conversion from the model `before` to `after` adds errors, or warnings about
    contradictory sizes, report them and write nothing.
    `data` is the content of the input file.
    """
    from onnxtext.editing import apply, write_types

    new_errors = new_findings(target, before, after)
    if new_errors:
        reporter.findings(new_errors, target.name)
        reporter.summary(f"{target.name}: the conversion adds findings, so nothing is written")
        return
    notes: list[str] = []
    if choice.infer:
        typed = apply(after, write_types, name=target.name)
        after, notes = typed.content, list(typed.notes)
    write(target, data, after)
    for note in notes:
        reporter.summary(f"{target.name}: {note}")


def report_findings(
    diagnostics: list[Diagnostic], max_findings: int, name: str, reporter: Reporter, *, strict: bool
) -> None:
    """Report the findings of a file, and set the exit status if there are errors.

    If `strict`, warnings set the exit status, too. At most `max_findings` findings are reported; 0
    means no limit. Errors take precedence, then warnings.
    """
    failing = ("error", "warning") if strict else ("error",)
    chosen = diagnostics
    if max_findings and len(diagnostics) > max_findings:
        rank = {"error": 0, "warning": 1}
        order = sorted(
            range(len(diagnostics)), key=lambda i: (rank.get(diagnostics[i].severity, 2), i)
        )
        chosen = [diagnostics[i] for i in sorted(order[:max_findings])]
    for diagnostic in chosen:
        reporter.found(diagnostic, name)
    if len(chosen) < len(diagnostics):
        more = count_noun(len(diagnostics) - len(chosen), "more finding")
        reporter.summary(f"{name}: {more}; `--max-findings 0` shows all")
    if any(item.severity in failing for item in diagnostics):
        reporter.failed += 1
        reporter.status = max(reporter.status, FINDINGS)


def _fix(
    data: bytes,
    file: InputFile,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    reporter: Reporter,
) -> bytes:
    """Apply safe fixes to a text file in place; return its new content.

    Raises:
        CommandError: the input is standard input or not a text file, or the file cannot be
            replaced.
    """
    from onnxtext.checker.engine.fix_loop import fix_text

    name = file.name
    if file.source is None:
        raise CommandError("no-input", "`--fix` changes files and cannot be used on standard input")
    if file.source.suffix.lower() not in TEXT_SUFFIXES:
        raise CommandError(
            "not-a-text",
            f"{name} is not a text file: `--fix` changes only .onnxtxt and .onnxtext files",
        )
    bom = b"\xef\xbb\xbf" if data.startswith(b"\xef\xbb\xbf") else b""
    fixed = fix_text(data, name=name, base_dir=file.directory, select=select, ignore=ignore)
    if not fixed.done:
        return data
    new = fixed.text.encode("utf-8")
    new = new if new.startswith(bom) else bom + new
    replace_edited(file.source, new, data)
    for line in fixed.done:
        reporter.summary(f"{name}: fixed: {line}")
    return new
