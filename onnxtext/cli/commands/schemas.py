# SPDX-License-Identifier: Apache-2.0
"""`onnxtext schemas`: operators of other domains, for the checker and the editor."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from onnxtext.ast.qualified_names import plain_domain, qualified_name
from onnxtext.cli.command_errors import CommandError, io_errors
from onnxtext.cli.commands.check import report_findings
from onnxtext.cli.group import SuggestingGroup
from onnxtext.cli.load_settings import load_project
from onnxtext.cli.named_files import output_path
from onnxtext.cli.options import FileName, one_of, reporting_options
from onnxtext.cli.report import Reporter
from onnxtext.cli.streams import print_to_stdout
from onnxtext.io.files import write_atomically
from onnxtext.plurals import count_noun

if TYPE_CHECKING:
    from onnxtext.ast.schemas import SchemaFile
    from onnxtext.checker.context.signatures import Schemas, Signature

SCHEMAS = FileName(".onnxschema")

EXPLANATION = """\b
Examples:
  onnxtext schemas list
  onnxtext schemas show com.microsoft.FusedMatMul
  onnxtext schemas import onnxruntime -o onnxruntime.onnxschema
  onnxtext schemas check operators.onnxschema

\b
A schema file has signatures of operators:
  com.acme.Scale <alpha: float = 1.0> (T x, T bias?) => (T y)
    where T: float16 | float

\b
A project lists its schema files in pyproject.toml:
  [tool.onnxtext]
  schemas = ["operators.onnxschema"]

\b
Exit status:
  0  success
  1  findings: a schema file has errors
  2  could not run: wrong usage or settings, the package or operator is
     unknown, or a file is missing or cannot be read or written"""


def _domains() -> list[str]:
    """Return the known domains, for shell completion."""
    return [name or "ai.onnx" for name in _known_schemas(()).domains()]


def _operators() -> list[str]:
    """Return the full names of operators in domains that onnx lacks, for shell completion."""
    schemas = _known_schemas(())
    domains = [name for name in schemas.domains() if not schemas.knows(name)]
    return [f"{domain}.{name}" for domain in domains for name in sorted(schemas.names(domain))]


@click.group("schemas", cls=SuggestingGroup, epilog=EXPLANATION)
def command() -> None:
    """Describe operators of other domains for `check` and the editor.

    A table of the operators of onnxruntime comes with onnxtext. A project can describe others in
    schema files.
    """


@command.command("import")
@click.argument("package", shell_complete=one_of(lambda: ["onnxruntime"]))
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    type=SCHEMAS,
    help="The schema file to write; standard output by default. Bodies of operators in an existing "
    "file are kept.",
)
@reporting_options
def import_(package: str, output: str | None, reporter: Reporter) -> None:
    """Write a schema file with the schemas that an installed PACKAGE offers.

    The package is imported in a separate process, so its code runs. It offers the schemas that it
    registers with onnx, or the schemas of its entry point in the group `onnxtext.schemas`.
    """
    from onnxtext.printer.schemas import print_schemas
    from onnxtext.schemas.importing import SchemaImportError, import_schemas, with_bodies

    with reporter.reporting(output or package):
        path = output_path(output)
        old = _parse_file(path) if path is not None and path.exists() else None
        try:
            imported = import_schemas(package)
        except SchemaImportError as error:
            raise CommandError("schema-import", error.message, error.help) from None
        text = print_schemas(imported if old is None else with_bodies(imported, old))
        if path is None:
            print_to_stdout(text, "")
        else:
            with io_errors("write", output):
                write_atomically(path, text.encode("utf-8", "surrogateescape"))
            domains = Counter(schema.domain or "ai.onnx" for schema in imported.schemas)
            counts = ", ".join(f"{count} of {domain}" for domain, count in domains.items())
            operators = count_noun(len(imported.schemas), "operator")
            reporter.summary(f"{output}: {operators}: {counts}")


def _parse_file(path: Path) -> SchemaFile:
    from onnxtext.schemas.reading import parse_schema_file, read_bytes

    with io_errors("read", path):
        data = read_bytes(path)
    return parse_schema_file(data, str(path))


@command.command("check")
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=SCHEMAS)
@click.option("--strict", is_flag=True, help="Exit with status 1 for warnings, too.")
@reporting_options
def check(files: tuple[str, ...], strict: bool, reporter: Reporter) -> None:
    """Check schema files, and the bodies of the operators in them."""
    for name in dict.fromkeys(files):
        with reporter.reporting(name):
            from onnxtext.checker.engine.project_schemas import check_schemas
            from onnxtext.schemas.reading import read_bytes

            with io_errors("read", name):
                data = read_bytes(Path(name))
            report_findings(check_schemas(data, name), 0, name, reporter, strict=strict)


def _known_schemas(files: tuple[str, ...]) -> Schemas:
    """Return the operators of onnx, the bundled table, the current directory's project and `files`.

    Raises:
        CommandError: the settings or a schema file cannot be read, or are invalid.
    """
    from onnxtext.checker.context.signatures import Schemas

    _, tables = load_project(None, files)
    return Schemas(tables)


_schemas_option = click.option(
    "--schemas",
    "files",
    multiple=True,
    metavar="FILE",
    type=SCHEMAS,
    help="Include the operators of this schema file.",
)


@command.command("list")
@click.argument("domain", required=False, shell_complete=one_of(_domains))
@_schemas_option
@reporting_options
def list_(domain: str | None, files: tuple[str, ...], reporter: Reporter) -> None:
    """List the domains with known operators, or the operators of a DOMAIN."""
    with reporter.reporting("onnxtext"):
        schemas = _known_schemas(files)
        if domain is None:
            for name in schemas.domains():
                origins = [table.origin for table in schemas.tables(name)]
                if schemas.knows(name):
                    origins.insert(0, "onnx")
                operators = count_noun(len(schemas.names(name)), "operator")
                version = schemas.newest(name)
                shown = name or "ai.onnx"
                print_to_stdout(f"{shown} {version}: {operators}, from {', '.join(origins)}")
        else:
            domain = plain_domain(domain)
            names = schemas.names(domain)
            if not names:
                raise CommandError(
                    "unknown-operator",
                    f"no operators of the domain `{domain}` are known",
                    help="`onnxtext schemas list` shows the known domains",
                )
            for name in sorted(names):
                print_to_stdout(qualified_name(domain, name))


@command.command("show")
@click.argument("operator", shell_complete=one_of(_operators))
@_schemas_option
@reporting_options
def show(operator: str, files: tuple[str, ...], reporter: Reporter) -> None:
    """Show the versions of an OPERATOR, such as com.microsoft.FusedMatMul, oldest first."""
    with reporter.reporting("onnxtext"):
        from onnxtext.printer.schemas import signature_text
        from onnxtext.schemas.convert_schemas import convert_schema
        from onnxtext.suggestions import nearest_name

        schemas = _known_schemas(files)
        domain, _, name = operator.rpartition(".")
        domain = plain_domain(domain)
        signatures = [schemas.find(domain, name, since) for since in schemas.history(domain, name)]
        if not signatures:
            help = "`onnxtext schemas list DOMAIN` shows the operators of a domain"
            if meant := nearest_name(name, schemas.names(domain)):
                help = f"did you mean `{f'{domain}.{meant}'.removeprefix('.')}`?"
            raise CommandError("unknown-operator", f"there is no operator `{operator}`", help=help)
        texts = []
        for signature in signatures:
            assert signature is not None, "every version in the history has a signature"
            origin = signature.origin or "onnx"
            schema = signature.source or convert_schema(_onnx_schema(signature))
            texts.append(f"# {origin}\n{signature_text(schema)}\n")
        print_to_stdout("\n".join(texts), "")


def _onnx_schema(signature: Signature) -> object:
    import onnx.defs  # noqa: F401  (loads the whole package: without it, schemas lack defaults)

    from onnxtext.checker.context.signatures import schema_of

    return schema_of(signature)
