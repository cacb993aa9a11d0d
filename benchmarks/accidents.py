# SPDX-License-Identifier: Apache-2.0
"""Make one common human mistake in valid texts, and measure the messages and the fixes.

    python -m benchmarks.accidents [--count NUMBER] [--seed NUMBER] [--kinds] [--show KIND]

The texts are examples, models of the reference, official texts and printed real models. Mistakes
after which a text still has no syntax error are not counted.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

import onnxtext
from benchmarks.accident_kinds import KINDS
from benchmarks.tables import aligned
from onnxtext.diagnostics import Diagnostic
from onnxtext.diagnostics.model import apply_edits, safe_fixes
from onnxtext.source import Source
from onnxtext.syntax.parse import parse_partial
from tests.corpus import EXAMPLES, REPOSITORY, SHARED, index, shared_model, shared_models

_LARGEST = 5_000
_ROUNDS = 3
"""Fixes are applied to the fixed text again, up to this number of times."""


@dataclass(frozen=True, slots=True)
class Accident:
    """A text with one mistake: its kind, the valid text, and the lines of the mistake."""

    kind: str
    valid: str
    text: str
    lines: range


@cache
def valid_texts() -> list[list[str]]:
    """Return groups of valid texts of models, of at most `_LARGEST` characters."""
    spec = (REPOSITORY / "grammar" / "SPEC.md").read_text(encoding="utf-8")
    groups = [
        [path.read_text(encoding="utf-8") for path in EXAMPLES],
        re.findall(r"(?ms)^```onnxtxt[^\n]*\n(.*?)^```$", spec),
    ]
    if SHARED is not None:
        paths = [SHARED / "official_texts" / entry["file"] for entry in index("official_texts")]
        groups.append([path.read_text(encoding="utf-8", errors="replace") for path in paths])
        small = [one for one in map(shared_model, shared_models()) if len(one) < _LARGEST]
        groups.append([onnxtext.from_binary(one) for one in small])
    return [[one for one in dict.fromkeys(texts) if _is_valid(one)] for texts in groups]


def _is_valid(text: str) -> bool:
    return 40 < len(text) <= _LARGEST and not syntax_errors(text) and meaning(text) is not None


def syntax_errors(text: str) -> tuple[Diagnostic, ...]:
    """Return the syntax errors of a text."""
    return parse_partial(Source(text, "t"), "model")[1]


def meaning(text: str) -> bytes | None:
    """Return the binary model of a text; None if it has errors."""
    try:
        return onnxtext.to_binary(text)
    except Exception:  # also data files that are missing
        return None


def accidents(count: int, seed: int) -> Iterator[Accident]:
    """Yield texts with one mistake each and at least one syntax error."""
    choose = random.Random(seed)
    weights = [kind.weight for kind in KINDS]
    while count:
        text = choose.choice(choose.choice(valid_texts()))
        (kind,) = choose.choices(KINDS, weights)
        places = list(kind.pattern.finditer(text))
        if not places:
            continue
        place = choose.choice(places)
        new = kind.broken(place, choose)
        broken = text[: place.start()] + new + text[place.end() :]
        # The mistake is where the texts begin to differ, and up to where they are equal again.
        first = next((i for i, (a, b) in enumerate(zip(place[0], new, strict=False)) if a != b),
                     min(len(new), len(place[0])))  # fmt: skip
        line = text.count("\n", 0, place.start() + first) + 1
        if broken != text and syntax_errors(broken):
            count -= 1
            yield Accident(kind.name, text, broken, range(line, line + 1 + new.count("\n", first)))


def _fixed(text: str, safe: bool) -> str:
    """Return a text after its safe fixes, or all of them, as `check --fix` applies them."""
    for _ in range(_ROUNDS):
        found = syntax_errors(text)
        fixes = safe_fixes(found if safe else [_as_safe(item) for item in found])
        if not fixes:
            break
        text = apply_edits(text, [edit for fix in fixes for edit in fix.edits])
    return text


def _as_safe(item: Diagnostic) -> Diagnostic:
    fix = item.fix and replace(item.fix, applicability="safe")
    return replace(item, fix=fix)


def measured(one: Accident) -> dict[str, bool]:
    """Return what is true of the errors of a text with a mistake, and of their fixes."""
    found, model = syntax_errors(one.text), meaning(one.valid)
    first = found[0]
    after_safe, after_all = (meaning(_fixed(one.text, safe)) for safe in (True, False))
    return {
        "right line": first.position is not None and first.position.line in one.lines,
        "one error": len(found) == 1,
        "safe fixes mend": after_safe == model,
        "all fixes mend": after_all == model,
        "safe: other meaning": after_safe not in (None, model),
        "all: other meaning": after_all not in (None, model),
        "help or fix": first.help is not None or first.fix is not None,
    }


def main(count: int, seed: int, kinds: bool, show: str | None) -> None:
    """Print a table of all texts, or of each kind of mistake."""
    sums: dict[str, list[dict[str, bool]]] = defaultdict(list)
    for one in accidents(count, seed):
        sums["all"].append(measured(one))
        sums[one.kind].append(sums["all"][-1])
        if one.kind == show:
            print("".join(map(str, syntax_errors(one.text))), sums["all"][-1], sep="\n")
    rows = [["kind", "texts", *sums["all"][0]]]
    for kind in sorted(sums) if kinds else ["all"]:
        shares = [sum(one[name] for one in sums[kind]) / len(sums[kind]) for name in rows[0][2:]]
        rows.append([kind, str(len(sums[kind])), *(f"{100 * share:.2f} %" for share in shares)])
    print("\n".join(aligned(rows)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Measure messages and fixes of common mistakes.")
    parser.add_argument("--count", type=int, default=2000, help="how many texts are drawn")
    parser.add_argument("--seed", type=int, default=1, help="the seed of the texts")
    parser.add_argument("--kinds", action="store_true", help="a row for each kind of mistake")
    parser.add_argument("--show", help="print the errors of this kind of mistake")
    options = parser.parse_args()
    main(options.count, options.seed, options.kinds, options.show)
