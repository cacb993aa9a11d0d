# SPDX-License-Identifier: Apache-2.0
"""Apply comments that suppress findings: `# onnxtext: ignore[code, …]`.

A trailing comment applies to its line; a comment on its own line applies to the next line that has
more than a comment. A comment on the first line of a statement, or on the last line of a node, also
applies to findings on its other lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import field

from onnxtext.checker.context.checked_model import CheckedModel
from onnxtext.checker.context.finding import Finding
from onnxtext.checker.context.registry import UNUSED_SUPPRESSION, rules
from onnxtext.checker.engine.finding_positions import TextPlaces
from onnxtext.diagnostics import Diagnostic, Label
from onnxtext.quick_dataclass import dataclass
from onnxtext.source import STRING_OR_COMMENT, Source, Span

_MARK = "onnxtext: ignore"
_COMMENT = re.compile(r"#\s*onnxtext:\s*ignore(?:\[([^\]\n]*)\])?")


@dataclass(slots=True)
class _Suppression:
    """One code in a suppressing comment, or a comment without codes.

    Attributes:
        code: the rule to suppress; "" for all rules.
        span: the span of the code, or of the comment without codes.
    """

    code: str
    span: Span
    used: bool = False


@dataclass(slots=True)
class Suppressions:
    """The comments of a text that suppress findings."""

    source: Source
    _by_line: dict[int, list[_Suppression]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Find the comments that suppress findings."""
        if _MARK not in self.source.text:
            return
        for match in STRING_OR_COMMENT.finditer(self.source.text):
            comment = _COMMENT.match(match[0])
            if comment is not None:
                self._add(match.start(), comment)

    def __bool__(self) -> bool:
        """Whether the text has comments that suppress findings."""
        return bool(self._by_line)

    def _add(self, offset: int, comment: re.Match[str]) -> None:
        source = self.source
        line = source.position(offset).line
        if not source.text[source.line_starts[line - 1] : offset].strip():
            line = self._next_statement(line)
        codes = comment.group(1)
        suppressions = self._by_line.setdefault(line, [])
        if codes is None or not codes.strip():
            suppressions.append(_Suppression("", Span(offset, offset + comment.end())))
            return
        first = offset + comment.start(1)
        for code in re.finditer(r"[^\s,]+", codes):
            span = Span(first + code.start(), first + code.end())
            suppressions.append(_Suppression(code[0], span))

    def _next_statement(self, line: int) -> int:
        """Return the number of the first line after `line` that has more than a comment."""
        while line < len(self.source.line_starts):
            line += 1
            text = self.source.line(line).strip()
            if text and not text.startswith("#"):
                break
        return line

    def suppresses_finding(self, finding: Finding, start: int, places: TextPlaces) -> bool:
        """Whether a comment suppresses a finding; mark suppressing comments as used.

        The comment may apply to the line of the offset `start`, where the finding's first span
        begins, to the first line of the finding's statement, or to the last line of a node.
        `places` finds the statement in the text. If a finding joins several attributes of a node,
        there must be a comment for each attribute.
        """
        place = finding.places[0]
        statement = places.statement(place)
        end = start if statement is None else statement.end
        whole = self.suppresses(finding.code, (places.start(place), end))
        others = [
            other
            for other in finding.places[1:]
            if other.item is place.item and other.part[:1] == ("attributes",) and not other.label
        ]
        starts = [start, *[places.span(other).start for other in others]]
        suppressed = [self.suppresses(finding.code, (offset,)) for offset in starts]  # marks all
        return whole or all(suppressed)

    def suppresses(self, code: str, offsets: Iterable[int]) -> bool:
        """Whether comments in the lines of `offsets` suppress rule `code`; mark them as used."""
        suppressed = False
        for line in {self.source.position(offset).line for offset in offsets}:
            for suppression in self._by_line.get(line, ()):
                if suppression.code in ("", code):
                    suppression.used = suppressed = True
        return suppressed

    def unsuppressed(self, findings: list[Finding], subject: CheckedModel) -> list[Finding]:
        """Return the findings that no comment suppresses; mark suppressing comments as used."""
        if not self:
            return findings
        places = TextPlaces(self.source, subject)
        return [
            finding
            for finding in findings
            if not self.suppresses_finding(finding, places.span(finding.places[0]).start, places)
        ]

    def unused(self, active: frozenset[str]) -> list[Diagnostic]:
        """Return a diagnostic for each code, or comment without codes, that suppressed nothing.

        `active` are the codes of the enabled rules. Codes of disabled rules are skipped. Return []
        if the rule `unused-suppression` is disabled.
        """
        if UNUSED_SUPPRESSION.code not in active:
            return []
        result = []
        all_rules = rules()
        for suppression in (item for items in self._by_line.values() for item in items):
            code = suppression.code
            if suppression.used or (code in all_rules and code not in active):
                continue
            message = f"this comment suppresses nothing: `{code}` finds nothing here"
            if not code:
                message = "this comment suppresses nothing"
            elif code not in all_rules:
                message = f"there is no rule `{code}`"
            result.append(
                Diagnostic(
                    UNUSED_SUPPRESSION.code,
                    message,
                    "warning",
                    source=self.source,
                    labels=(Label(suppression.span),),
                    help="remove it",
                )
            )
        return result
