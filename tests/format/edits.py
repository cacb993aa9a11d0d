# SPDX-License-Identifier: Apache-2.0
"""Draw edits like those of people, and sentences of the grammar, to test the formatter."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache

import onnxtext
from onnxtext.diagnostics import OnnxTextError
from onnxtext.syntax.grammar.lexer import load_lexer
from onnxtext.syntax.grammar.table_cache import load_tables
from onnxtext.syntax.grammar.tables import GrammarRule

Gap = Callable[[random.Random, str], str]
"""Returns changed blanks and comments between two tokens."""

_COMMENTS = (
    "# note", "#", "##", '# "', '# """', "# a, b = [1", "# \\", "# fmt: skip", "# fmt: off",
    "# fmt: on", "# fmt: skip because", "#fmt: off", "# onnxtext: ignore[value-unused]", "# }>)",
)  # fmt: skip


def _joined(rng: random.Random, span: str) -> str:
    return span if "#" in span else " "


def _broken(rng: random.Random, span: str) -> str:
    return span + rng.choice(("\n", "\n\n", "\n\n\n", "\r\n", "\n\t", "\n  \n    ", "\v", "\f\n"))


def _commented(rng: random.Random, span: str) -> str:
    comment = rng.choice(_COMMENTS)
    before = rng.choice((" ", "\n", "\n\n  ", ""))
    return (
        f"{span}{before}{comment}{rng.choice(('', ' ', '  ', chr(13)))}\n{rng.choice(('', '  '))}"
    )


def _marked(rng: random.Random, span: str) -> str:
    mark = rng.choice(("# fmt: off", "# fmt: on", "# fmt: skip"))
    return f" {mark}\n" if mark.endswith("skip") else f"{span}\n  {mark}\n"


def _spaced(rng: random.Random, span: str) -> str:
    return span + rng.choice((" ", "   ", "\t"))


def _unspaced(rng: random.Random, span: str) -> str:
    return span if "#" in span else span.strip(" \t")


TRIVIA_EDITS: tuple[Gap, ...] = (_joined, _broken, _commented, _marked, _spaced, _unspaced)


def split(text: str) -> tuple[list[str], list[str]]:
    """Return the tokens of a valid text, and the blanks and comments around them."""
    tokens = load_lexer().tokens(text, 0, len(text))
    trivia, at = [], 0
    for token in tokens:
        trivia.append(text[at : token.at])
        at = token.at + len(token)
    return [str(token) for token in tokens], [*trivia, text[at:]]


def joined(tokens: list[str], trivia: list[str]) -> str:
    """Return the text of tokens and of the blanks and comments between them."""
    return "".join(part for pair in zip(trivia, [*tokens, ""], strict=True) for part in pair)


def respelled(rng: random.Random, token: str, kind: str) -> str:
    """Return a token, or another spelling that may have the same meaning."""
    if kind in ("WORD", "PRIM", "CONTAINER", "BOOL"):
        return f'"{token}"' if rng.random() < 0.7 else f'b"{token}"'
    if kind == "STRING" and token[1:-1].isprintable():
        return rng.choice((f"b{token}", f'"\\{token[1:]}' if len(token) > 2 else token))
    if kind in ("NUMBERS", "NESTED", "BRACES"):
        comma = rng.choice((", ", " ,", ",\n", "  ,\t"))
        body = comma.join(item.strip() for item in token[1:-1].split(","))
        return f"{token[0]}{rng.choice(('', ' ', chr(10)))}{body}{token[-1]}"
    if kind == "TYPE":
        return token.replace("[", " [" if rng.random() < 0.5 else "[ ").replace(",", " ,")
    return token


def edited(rng: random.Random, text: str) -> str:
    """Return a text after some random edits; the text may be invalid."""
    tokens, trivia = split(text)
    kind_of_edit = rng.random()
    if kind_of_edit < 0.08:  # the same change everywhere
        change = rng.choice(TRIVIA_EDITS)
        trivia = [change(rng, span) for span in trivia]
    else:
        for _ in range(rng.choice((1, 1, 2, 3, 5, 12))):
            at = rng.randrange(len(trivia))
            trivia[at] = rng.choice(TRIVIA_EDITS)(rng, trivia[at])
    if rng.random() < 0.3 and tokens:
        for _ in range(rng.choice((1, 2, 10))):
            at = rng.randrange(len(tokens))
            tokens[at] = respelled(rng, tokens[at], load_lexer().kind(tokens[at]))
    if rng.random() < 0.2:
        _comma(rng, tokens, trivia)
    result = joined(tokens, trivia)
    if rng.random() < 0.05:
        result = result.replace("\r\n", "\n").replace("\n", "\r\n")
    if rng.random() < 0.05:
        result = result.rstrip()
    if rng.random() < 0.03:
        result = "\ufeff" + result
    return result


def _comma(rng: random.Random, tokens: list[str], trivia: list[str]) -> None:
    """Put a comma before a closing bracket, or take one away."""
    places = [
        index for index, token in enumerate(tokens) if index and token in (")", "]", ">", "}")
    ]
    if not places:
        return
    at = rng.choice(places)
    if tokens[at - 1] == ",":
        del tokens[at - 1]
        trivia[at - 1 : at + 1] = [trivia[at - 1] + trivia[at]]
    else:
        tokens.insert(at, ",")
        trivia.insert(at, "")


def is_text(text: str) -> bool:
    """Whether a text is valid."""
    try:
        onnxtext.parse(text)
    except OnnxTextError:
        return False
    return True


# ---- Sentences ----------------------------------------------------------------------------------

_SAMPLES: dict[str, tuple[str, ...]] = {
    "TRIPLE": ('"""\n  two\n    lines\n  """', '"""\n"""'),
    "BLOB": ('blob"ba7816bf8f01cfea"',),
    "FILE": ('file"w.npy"', 'file"w.npz#a"'),
    "BYTES": ('b"\\x00\\n"', 'b"\\xff"', 'b"x"'),
    "STRING": ('"x"', '"a/b:0"', '""', '"two\nlines"'),
    "ESCAPED_STRING": ('"a\\"b"', '"\\n"'),
    "TYPE": ("float[2]", "int64[N, 3]", "float[]", "undefined[2]", "float16[?]", "float[2, 2]"),
    "DECORATOR": ("@doc(", "@meta(", "@set(", "@unset(", "@denotation(", "@segment(", "@device("),
    "NUMBERS": ("[1, 2]", "[1]", "[1.5, 2.5]", "[0x10, 3]", "[-1, 2, 3, 4]"),
    "NESTED": ("[[1, 2], [3, 4]]", "[[1], [2]]"),
    "BRACES": ("{1, 2}", "{1}", "{1.5, 2.5}"),
    "NAN": ("nan(0x7fc00001)",), "COMPLEX": ("1.0+2.0j",), "HEX_FLOAT": ("0x1.8p3",),
    "HEX": ("0x1f",), "FIXED": ("5i32", "9i64"), "FLOAT": ("1.5", "1e-05"),
    "INT": ("1", "0", "-3", "2"),
    "PRIM": ("float", "int64", "bool"),
    "CONTAINER": ("seq", "map", "optional", "sparse_tensor", "opaque"),
    "UNDEFINED": ("undefined",), "BOOL": ("true", "false"), "FLOAT_WORD": ("inf", "nan"),
    "NEGATIVE_WORD": ("-inf",),
    "WORD": ("x", "y", "w", "Add", "doc_string", "domain", "name", "raw_data", "ints", "s"),
    "SPLAT": ("...",),
}  # fmt: skip


@cache
def _rules() -> tuple[dict[str, list[GrammarRule]], dict[str, str], dict[str, int]]:
    """Return the grammar's rules by symbol, the literal tokens, and each symbol's least depth."""
    tables = load_tables()
    rules: dict[str, list[GrammarRule]] = {}
    for rule in tables.rules:
        rules.setdefault(rule.origin, []).append(rule)
    literals = {t.name: t.literal or t.pattern for t in tables.terminals}
    depth: dict[str, int] = {}
    changed = True
    while changed:
        changed = False
        for origin, alternatives in rules.items():
            found = [
                1 + max([depth.get(s, 99) if s in rules else 0 for s in rule.symbols], default=0)
                for rule in alternatives
            ]
            if min(found) < depth.get(origin, 99):
                depth[origin] = min(found)
                changed = True
    return rules, literals, depth


def sentence(rng: random.Random, start: str, depth: int = 24) -> str:
    """Return a random sentence of a rule of the grammar; its actions may reject the sentence."""
    rules, literals, depths = _rules()
    out: list[str] = []

    def derive(symbol: str, left: int) -> None:
        if symbol not in rules:
            sample = _SAMPLES.get(symbol)
            out.append(rng.choice(sample) if sample else literals[symbol])
            return
        fitting = [
            rule
            for rule in rules[symbol]
            if max([depths[s] if s in rules else 0 for s in rule.symbols], default=0) < left
        ]
        rule = rng.choice(fitting or [min(rules[symbol], key=lambda r: len(r.symbols))])
        for part in rule.symbols:
            derive(part, left - 1)

    derive(start, depth)
    return joined_tokens(rng, out)


def joined_tokens(rng: random.Random, tokens: list[str]) -> str:
    """Return the text of tokens, with blanks between them except where blanks have a meaning."""
    text = ""
    for index, token in enumerate(tokens):
        tight = index and tokens[index - 1].startswith("@") and not token.startswith("@")
        text += ("" if tight else rng.choice((" ", " ", " ", "\n"))) + token
    return text.strip() + "\n"
