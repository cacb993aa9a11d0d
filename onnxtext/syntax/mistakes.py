# SPDX-License-Identifier: Apache-2.0
"""What is probably meant where a token fits nowhere: the usual mistakes, and changes of one token.

Every change is tried (`trial`) before it is told: it must lead on behind the mistake.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from dataclasses import replace as replace_fields
from math import inf

from onnxtext.diagnostics import Edit, Label
from onnxtext.source import Span
from onnxtext.syntax.corrections import Budget, find_correction
from onnxtext.syntax.expected import SAMPLES, describe, found_words, sentence
from onnxtext.syntax.lexer import Token
from onnxtext.syntax.mistakes_foreign import NODES
from onnxtext.syntax.mistakes_idioms import IDIOMS, headers, heads
from onnxtext.syntax.mistakes_lookalike import lookalikes
from onnxtext.syntax.mistakes_order import ORDER, foreign_words, lone_string
from onnxtext.syntax.mistakes_spelling import SPELLING
from onnxtext.syntax.mistakes_structure import CUT_SHORT, STRUCTURE
from onnxtext.syntax.scene import Mistake, Scene, insert, replace, span_of
from onnxtext.syntax.trial import FAR, MOST_TOKENS

_CLOSERS = {"RPAR": "LPAR", "RSQB": "LSQB", "RBRACE": "LBRACE", "MORETHAN": "LESSTHAN"}
_OPENERS = {opener: closer for closer, opener in _CLOSERS.items()}
_MISSING = {
    "COMMA": "missing-comma",
    "EQUAL": "missing-equals",
    **dict.fromkeys(_CLOSERS, "unclosed-bracket"),
    **dict.fromkeys(_OPENERS, "missing-bracket"),
}
_OPENING = frozenset("([{<")
_CLOSING = frozenset(")]}>")
_MARKS = {*_MISSING, "_ARROW", "COLON", "DOT"}

_USUAL = 0.5
_ANOTHER = 2.5
"""The cost of a usual mistake, and of a mistake that follows in the next line."""
_WHILE = 3
"""So many tokens fit where a change is plausible."""
_CHEAP = 1.9
"""A correction that costs more says less than the usual mistake that is like it."""

_ALL = (lookalikes, *IDIOMS, *NODES, *ORDER, *SPELLING, *STRUCTURE)
_CUT_SHORT = (*CUT_SHORT, lone_string, headers, heads, foreign_words)


def find_mistake(scene: Scene, budget: Budget) -> Mistake | None:
    """The mistake that a token that fits nowhere betrays; None if it could be anything."""
    usual = _usual(scene)
    if usual is not None and (not usual.edits or scene.beyond_doubt(usual.edits)):
        return usual
    cut_short = scene.fresh is not None
    place = scene if scene.fresh is None else scene.until(scene.fresh)
    best = None if usual is not None else _best_change(place, cut_short)
    if best is not None and place.beyond_doubt([best.edit]):
        return _told(place, best)
    limit = inf
    if usual is not None and _comes_again(scene, usual.edits):
        return usual
    if best is not None and _comes_again(place, [best.edit]):
        return _told(place, best)
    if usual is not None and is_plausible(scene, usual.edits):
        limit = _USUAL + _ANOTHER
    elif best is not None and (cut_short or is_plausible(place, [best.edit])):
        limit = best.cost + _ANOTHER
    elif ends_too_soon(scene):
        return None
    found = correct(scene, budget, usual, limit)
    if found is not None:
        return found
    if best is not None:
        usual = _told(place, best)
    elif usual is None and (found := correct(scene, budget, far=MOST_TOKENS)) is not None:
        return replace_fields(found, doubt=inf)
    return None if usual is None else replace_fields(usual, doubt=limit)


def is_plausible(scene: Scene, edits: Sequence[Edit]) -> bool:
    """Whether parsing accepts enough tokens after these edits; a later error is allowed."""
    outcome = scene.attempt(*edits)
    return outcome is not None and (outcome.fine or outcome.next_line or outcome.count >= _WHILE)


def _comes_again(scene: Scene, edits: Sequence[Edit]) -> bool:
    """Whether the next mistake is at a token of the same kind: probably it is the same mistake."""
    outcome = scene.attempt(*edits, most=FAR)
    if outcome is None or outcome.count < _WHILE or scene.token is None:
        return False
    at = outcome.resume
    for _ in range(outcome.count):
        token = scene.lexer.token(scene.text, at)
        at = len(scene.text) if token is None else token.at + len(token)
    token = scene.lexer.token(scene.text, at)
    return token is not None and scene.name(token) == scene.name(scene.token)


def ends_too_soon(scene: Scene) -> bool:
    """Whether the next statement is right if what there is of the one before is left out."""
    return scene.fresh is not None and scene.good([_leave_out(scene, scene.fresh)], _WHILE)


def _usual(scene: Scene) -> Mistake | None:
    """The mistake, if it is one of those that people usually make."""
    for recognizer in _CUT_SHORT if scene.fresh is not None else _ALL:
        for mistake in recognizer(scene):
            if not mistake.edits or scene.good(mistake.edits, mistake.least):
                return mistake
    return None


def _leave_out(scene: Scene, end: int) -> Edit:
    """The edit that removes a statement, up to where the next one begins."""
    return Edit(Span(scene.stretch.start, end), "")


def _best_change(scene: Scene, cut_short: bool) -> _Change | None:
    """The change of one token that leads on best."""
    best: tuple[float, _Change] | None = None
    for change in _changes(scene, cut_short):
        outcome = scene.attempt(change.edit)
        if outcome is None:
            continue
        # `b = 2` behind a comma is enough: the next one may be missing, too.
        entry = change.missing == "COMMA" and outcome.count == 3
        closed = cut_short and outcome.count and change.missing != "COMMA"
        if not (outcome.good or entry or closed):
            continue
        score = min(outcome.count + change.instead, MOST_TOKENS) - change.cost
        if best is None or score > best[0]:
            best = score, change
    return None if best is None else best[1]


def correct(
    scene: Scene,
    budget: Budget,
    usual: Mistake | None = None,
    limit: float = inf,
    far: int = FAR,
) -> Mistake | None:
    """The smallest change behind which the text goes on for long; None if there is none.

    Args:
        scene: the surroundings.
        budget: of the search.
        usual: a usual mistake that may be meant.
        limit: what it may cost.
        far: how many tokens must fit behind it.
    """
    found = find_correction(scene, budget, limit, far)
    if found is None:
        return None
    if usual is not None and found.cost > _CHEAP:
        return replace_fields(usual, edits=(found.edit,), title="", doubt=found.cost)
    place = scene
    begins = not found.left_out and scene.text[scene.line_start : found.at].isspace()
    if begins or scene.text.find("\n", found.at, scene.at) >= 0 or found.at == scene.fresh:
        place = scene.until(found.at)
    words = ranked_words(place)
    before = scene.text.find("\n", place.end, found.at) >= 0
    if not found.left_out and before and not place.between:
        return _incomplete(place, found.edit, words, found.cost)
    token = place.token
    span = span_of(token) if token is not None else Span(place.at, place.at)
    message = f"expected {sentence(words)}, found {found_words(token)}"
    title = ""
    if found.exchanged:
        title = f"exchange {' and '.join(map(found_words, found.left_out))}"
    edits = (found.edit,)
    return Mistake("syntax-error", message, span, edits, title, "unsafe", doubt=found.cost)


def ranked_words(scene: Scene) -> list[str]:
    """What would fit, in words, the likeliest first."""
    names = scene.expected()
    scores = {name: _score(scene, name) for name in names}
    return describe(names, scores)


def _score(scene: Scene, name: str) -> float:
    sample = SAMPLES.get(name)
    if sample is None or scene.token is None:
        return 0
    outcomes = (
        scene.attempt(insert(scene.at, f" {sample} ")),
        scene.attempt(Edit(span_of(scene.token), f" {sample} ")),
    )
    return max(outcome.count if outcome is not None else 0 for outcome in outcomes)


@dataclass(frozen=True, slots=True)
class _Change:
    """A change of one token.

    Attributes:
        cost: how far-fetched it is, in tokens.
        edit: the change.
        missing: the terminal of the mark that it adds; "" if it does something else.
        token: the token that it concerns.
        title: as of a fix.
        instead: 1 if the token at hand is gone afterwards, and so is not counted.
    """

    cost: float
    edit: Edit
    missing: str = ""
    token: Token | None = None
    title: str = ""
    instead: int = 0


def _changes(scene: Scene, cut_short: bool) -> Iterator[_Change]:
    """The changes of one token that could be meant."""
    names = scene.expected()
    for name in names:
        if name in _MARKS and (name in _CLOSERS or name == "COMMA" or not cut_short):
            cost = 0.5 if name in _MISSING else 0.8
            yield _Change(cost, _addition(scene, name), name, None, f"add `{SAMPLES[name]}`")
    if scene.token is None or cut_short:
        return
    token = scene.token
    remove = f"remove {found_words(token)}"
    yield _Change(1.2, Edit(span_of(token), ""), "", token, remove, 1)
    for name in names:
        if name in _MARKS:
            # `{` for `<` may be a slip; any other mark only serves to go on reading.
            alike = {SAMPLES[name], token} <= _OPENING or {SAMPLES[name], token} <= _CLOSING
            title = f"write `{SAMPLES[name]}` instead" if alike else ""
            yield _Change(1.6, replace(token, SAMPLES[name]), "", token, title, 1)
        elif name in SAMPLES and name != "DECORATOR":
            sample = f" {SAMPLES[name]} "
            yield _Change(1.6, replace(token, sample), "", token, "", 1)
            yield _Change(1.4, insert(token.at, sample), "", token)
    if len(scene.done) > 1:
        last = scene.done[-1]
        yield _Change(1.9, Edit(span_of(last), ""), "", last, f"remove {found_words(last)}")


def _addition(scene: Scene, name: str) -> Edit:
    """The edit that adds a mark behind the last token."""
    mark = SAMPLES[name]
    if scene.token is None and name == "RBRACE":
        return insert(scene.at, "}\n" if scene.text.endswith("\n") else "\n}\n")
    spaced = {"EQUAL", "_ARROW", "LBRACE"}
    after = scene.text[scene.end : scene.end + 1]
    text = f" {mark}" if name in spaced else mark
    if after and not after.isspace() and name in {*spaced, "COMMA"}:
        text += " "
    if name in _OPENERS and name != "LBRACE" and "\n" not in scene.text[scene.end : scene.at]:
        return insert(scene.at, mark)
    return insert(scene.end, text)


def _told(scene: Scene, change: _Change) -> Mistake:
    """A change as a mistake with its message."""
    found = found_words(scene.token)
    words = ranked_words(scene)
    if change.token is not None:
        span = span_of(change.token)
        message = f"expected {sentence(words)}, found {found}"
        if change.token is not scene.token:
            message = f"{found_words(change.token)} does not belong before {found}"
        return Mistake("syntax-error", message, span, (change.edit,), change.title, "unsafe")
    name = change.missing
    mark = f"`{SAMPLES[name]}`"
    same_line = scene.text.find("\n", scene.end, scene.at) < 0
    span = Span(scene.end, scene.end)
    if same_line and scene.token is not None:
        span = span_of(scene.token)
    elif scene.token is None:
        span = change.edit.span
    others: tuple[Label, ...] = ()
    opener = _opener(scene, name) if name in _CLOSERS else None
    if opener is not None:
        others = (Label(opener, "this is never closed"),)
    return Mistake(
        _MISSING.get(name, "syntax-error"),
        f"expected {sentence([mark, *(word for word in words if word != mark)])}, found {found}",
        span,
        (change.edit,),
        change.title,
        "safe" if name in {"COMMA", "EQUAL"} else "unsafe",
        others=others,
    )


def _incomplete(scene: Scene, edit: Edit, words: list[str], doubt: float) -> Mistake:
    """A statement that ends too soon, in a line before the token that fits nowhere."""
    line = scene.text.rfind("\n", 0, scene.end) + 1
    tokens = scene.lexer.tokens(scene.text, line, scene.end)
    span = span_of(tokens[-1]) if tokens else Span(scene.end, scene.end)
    last = found_words(scene.text[slice(*span)])
    message = f"the statement is not complete: expected {sentence(words)} after {last}"
    help = "complete it, or remove what is left of it"
    return Mistake("incomplete-statement", message, span, (edit,), help=help, doubt=doubt)


def _opener(scene: Scene, closer: str) -> Span | None:
    """The bracket of the statement that a closing one is missing for."""
    open_tokens = []
    for token in scene.done:
        name = scene.name(token)
        if name in _OPENERS:
            open_tokens.append(token)
        elif name in _CLOSERS and open_tokens:
            open_tokens.pop()
    if open_tokens and scene.name(open_tokens[-1]) == _CLOSERS[closer]:
        return span_of(open_tokens[-1])
    opened = scene.opened
    if opened is not None and not open_tokens:
        names = {SAMPLES[name]: name for name in _OPENERS}
        # A bracket that was only thought of is none in the text.
        if names.get(scene.text[slice(*opened)]) == _CLOSERS[closer]:
            return opened
    return None
