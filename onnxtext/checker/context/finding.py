# SPDX-License-Identifier: Apache-2.0
"""Define what rules yield: findings, their places and their repairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from onnxtext.diagnostics import Severity, Subject

if TYPE_CHECKING:
    from onnxtext.checker.context.signatures import Signature


class Place(NamedTuple):
    """The place of a finding: a statement of the syntax tree, or a part of a statement.

    Attributes:
        item: the statement: a node, value, graph, function, model and so on.
        part: the path from the statement to its part, such as `("inputs", 0)` for the first input
            of a node; `()` for the whole statement.
        label: the text that a diagnostic shows at this place.
    """

    item: Any
    part: tuple[str | int, ...] = ()
    label: str = ""


class Repair(NamedTuple):
    """How to fix a finding in the text.

    Attributes:
        kind: the edit. `sort`: sort the nodes of a graph. `remove`: remove a value. `import`: add
            an operator set to the imports of a model or function. `rename`: correct an undefined
            name in the inputs of nodes. `respell`: correct a wrong word, such as a misspelled
            name; this is a guess that editors offer, but `--fix` does not apply.
        item: the graph, value, model or function to edit. For `rename`, the undefined name. For
            `respell`, the statement that contains the word.
        argument: `()` for `sort` and `remove`. For `import`, (domain, version). For `rename`,
            (right name, uses): each use is a pair (node, 0-based index of the input in the node).
            For `respell`, (wrong word, right word).
    """

    kind: str
    item: Any
    argument: tuple[Any, ...] = ()


def respelling(item: Any, wrong: str, right: str) -> Repair:
    """Return a `respell` repair that replaces the value name `wrong` by `right` in a statement."""
    from onnxtext.printer.quoting import value_name  # a slow import, rarely needed

    return Repair("respell", item, (value_name(wrong), value_name(right)))


class Finding(NamedTuple):
    """A violation of a rule.

    Attributes:
        code: the rule's code, such as `value-undefined`.
        message: the text for users. It must be understandable without the notes and the help, start
            in lower case, and have no final period.
        places: the places in the model that violate the rule or explain the violation; the first is
            the primary place.
        help: tells the user how to fix the model.
        notes: further facts for the user.
        severity: the severity of this finding; None for the severity of its rule.
        repair: the edit that `--fix` or an editor can apply; None if there is none.
        subject: the item that the finding is about, and the name that the help suggests; None if
            no other code needs them.
    """

    code: str
    message: str
    places: tuple[Place, ...]
    help: str
    notes: tuple[str, ...] = ()
    severity: Severity | None = None
    repair: Repair | None = None
    subject: Subject | None = None


def with_schema_origin(
    finding: Finding, signature: Signature, *, is_certain: bool = False
) -> Finding:
    """Return a copy of a finding with a note that names the origin of the operator's schema.

    For a schema of onnx itself, return the finding unchanged. If the signature is `tentative`, a
    finding without a severity becomes a warning. `is_certain` prevents this: the finding holds for
    all versions of the origin.
    """
    if not signature.origin:
        return finding
    severity = finding.severity
    if signature.tentative and not is_certain and severity is None:
        severity = "warning"
    notes = (*finding.notes, f"according to {signature.origin}")
    return finding._replace(notes=notes, severity=severity)


def quote(name: str) -> str:
    """Return a name in backticks, shortened by `truncate`."""
    return f"`{truncate(name)}`"


def truncate(name: str) -> str:
    """Return a name without its middle if it has more than `_MAX_NAME_LENGTH` characters."""
    return name if len(name) <= _MAX_NAME_LENGTH else f"{name[:60]}…{name[-20:]}"


_MAX_NAME_LENGTH = 80


def did_you_mean(suggestion: str | None, otherwise: str) -> str:
    """Return a help text that suggests a name; return `otherwise` if there is no suggestion."""
    return f"did you mean {quote(suggestion)}?" if suggestion else otherwise


def chain_of(names: list[str]) -> str:
    """Quote names and join them by ` -> `; of more than 8, show only the first 4 and the last 3."""
    if len(names) <= 8:
        return " -> ".join(map(quote, names))
    more = f"… ({len(names) - 7} more)"
    return " -> ".join([*map(quote, names[:4]), more, *map(quote, names[-3:])])
