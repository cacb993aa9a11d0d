# SPDX-License-Identifier: Apache-2.0
"""Draw random texts from the grammar, and mutate real ones.

Sentences come from the grammar's own tables, so that new rules are included at once. Words and
strings are mostly meaningful in their context.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache

from onnxtext.proto.descriptors import message_spec, spelled_messages
from onnxtext.syntax.actions.headers import FUNCTION_KEYS, MODEL_KEYS
from onnxtext.syntax.grammar.lexer import load_lexer
from onnxtext.syntax.grammar.table_cache import load_tables
from onnxtext.syntax.grammar.tables import GrammarRule

_LITERALS = {
    "AT": "@", "COLON": ":", "COMMA": ",", "DOT": ".", "EQUAL": "=", "LBRACE": "{", "LESSTHAN": "<",
    "LPAR": "(", "LSQB": "[", "MORETHAN": ">", "QMARK": "?", "RBRACE": "}", "RPAR": ")",
    "RSQB": "]", "SPLAT": "...", "_ARROW": "=>", "METADATA": "metadata", "TRAINING": "training",
    "QUANTIZATION": "quantization", "CONFIGURATION": "configuration", "ENCODING": "encoding",
    "RESOURCES": "resources", "ORDER": "order", "UNDEFINED": "undefined",
    "VBAR": "|", "WHERE": "where",
}  # fmt: skip
_SAMPLES = {
    "BLOB": ('blob"0123456789abcdef"', 'blob"0"', 'blob"24ae2dfe8df57c1b80e54cef3d90ac3b"'),
    "BOOL": ("true", "false"),
    "BRACES": ("{1}", "{1, 2}", "{0, 1, 2,}", "{-1}", "{1.5, inf}", "{0x1}", "{true, false}"),
    "BYTES": (r'b"x"', r'b"\xff"', r'b"\u{d7ff}\x00"', r'b"\u{10ffff}"', 'b""'),
    "COMPLEX": ("1.0+2.0j", "-0-infj"),
    "CONTAINER": ("seq", "map", "optional", "sparse_tensor", "opaque"),
    "ESCAPED_STRING": (r'"\""', r'"a\\b"'),
    "FILE": ('file"w.npy"', 'file"w.npz#a"', 'file"../w.npy"', 'file"w"', 'file""'),
    "FIXED": ("5i32", "9i64", "0i32", "4294967296i32"),
    "FLOAT": ("1.0", "-1e5", "1.", "1e400", "0.1"),
    "FLOAT_WORD": ("inf", "nan", "Infinity"),
    "NEGATIVE_WORD": ("-inf", "-NaN"),
    "HEX": ("0x1", "0xffffffffffffffffff", "-0x2"),
    "HEX_FLOAT": ("0x1p3", "0x1.8p-3"),
    "INT": ("0", "1", "2", "-1", "4", "9", "77", "2147483648", "-9223372036854775808", "1" * 30),
    "NAN": ("nan(0x7fc00001)", "-nan(0xffc00000)", "nan(0x1)"),
    "NESTED": ("[[1, 2], [3, 4]]", "[[1]]", "[[], []]"),
    "NUMBERS": ("[1]", "[1, 2]", "[0, 1,]", "[1.5, nan]", "[0x1]", "[true]", "[-1]", "[1, x1]"),
    "PRIM": ("float", "int64", "bool", "string", "float16", "int4", "complex64", "double"),
    "STRING": ('"x"', '"y"', '"w"', '""', '"a b"', '"é"', '"location"', '"w.bin"', '"ai.onnx.ml"',
               '"0123456789abcdef"', '"AAAA"', '"q"'),
    "TRIPLE": ('"""\na\n"""', '"""\n  a\n  b\n  """', '"""\nAAAA\n"""', '""" a\n"""'),
    "TYPE": ("float[2]", "int64[1]", "float[]", "float[N]", "float[2, 2]", "undefined[1]",
             "string[2]", "bool[2]", "int4[3]", "float[?]", "float[0]", "float[-1]", "int8[N, 3]"),
}  # fmt: skip
_DRAWN = {"WORD", "DECORATOR", *_LITERALS, *_SAMPLES}
_MISSING = [
    terminal.name
    for terminal in load_tables().terminals
    if terminal.name not in _DRAWN and not terminal.name.startswith("__IGNORE")
]
assert not _MISSING, f"add samples of these terminals: {_MISSING}"
_NAMES = ("x", "y", "w", "z", "N", "Add", "If", "Op", "F", "t", "value", "axis", "then_branch")
_DECORATORS = (
    "doc", "meta", "denotation", "segment", "device", "set", "unset", "value_info",
    "initializers", "foo",
)  # fmt: skip
_FRAMES = (
    "g ({{value_info}}) => () {}",
    "g ({{decorator}} float[2] x) => ({{decorator}} y) {}",
    "g ({{decorator}} float[2] x = {1, 2}) => () {}",
    "g () => ({{value_info}}) {}",
    "g () => () <{{value_info}}> {}",
    "g () => () <{{decorator}} float[2] w = {1, 2}, {{decorator}} float[2] v = [1, 2]> {}",
    "g () => () <float[2] w = {{data}}> {}",
    "g () => () <string[2] w = {{data}}> {}",
    "g () => () <sparse_tensor(float[4]) w = {{data}}> {}",
    "g (float[{{dim}}] x) => (seq({{type_argument}}) y) {}",
    "g (float[{{decorator}} 3] x, seq({{decorator}} float) s) => () {}",
    "g () => () { {{node}} }",
    "g () => () { {{decorator}} [n] {{decorators}} y = Op (x) }",
    "g () => () { {{decorator}} y = Op (x) }",
    "g () => () { {{decorator}} float[2] y = Op (x) }",
    "g () => () { y = Op <{{attribute}}> (x) }",
    "g () => () { y = Op <{{decorator}} a = 1> (x) }",
    "g () => () { y = Op <a = {{attribute_value}}> (x) }",
    "g () => () { y = Op <a: {{attribute_type}} = {{attribute_value}}> (x) }",
    "g () => () { y = Op <a = {{record}}> (x) }",
    "g () => () { y = Op <a = {{decorator}} float[1] {1}> (x) }",
    "g () => () { y = Op <a = {{tensor}}> (x) }",
    "g () => () { y = Op <a = {{decorator}} sparse_tensor(float[4]) sparse({{tensor_text}}, "
    "{{decorator}} int64[1] [0])> (x) }",
    "g () => () { y = If <then_branch = {{decorator}} t () => () {}> (x) }",
    "g () => () { y = If <then_branch = t ({{value_info}}) => () { {{node}} }> (x) }",
    "{{decorator}} g () => () {}",
    "g () => () {} {{decorator}} f (x) => (y) {}",
    "g () => () {} {{function}}",
    'g () => () {} <domain: "d"> f <{{parameter}}> (x) => (y) { {{node}} }',
    "g () => () {} f (x) => (y) <{{value_info}}> {}",
    "<{{header_entry}}> g () => () {}",
    "g (float[2] x) => (y) { y = Op (x) } {{section}}",
    "g (float[2] x) => (y) <float[2] w = {1, 2}> { y = If (x) <b = t () => (z) { z = Op () }> } "
    "metadata { {{metadata_item}} }",
    "g (float[2] x) => (y) { y = Op (x) } quantization { {{annotation}} }",
    "g () => () {} training { {{training_item}} }",
    "g () => () {} configuration c {{record}}",
    "g () => () {} encoding {{record}}",
    "g () => () {} encoding { canonical: {{field_value}} patch: {{field_value}} }",
    'g () => () { y = Op <a = blob"0123456789abcdef"> (x) } resources { {{resource}} }',
)
"""Model templates: `{{rule}}` is replaced with a random sentence."""
_WITH_COMMAS = {"value_info", "attribute", "header_entry", "dim", "parameter", "type_argument"}
_WORDS = {
    "header_entry": tuple(sorted(MODEL_KEYS | FUNCTION_KEYS)),
    "metadata_item": ("graph", "node", "value", "tensor", "function"),
    "section": ("none",),
    "training_item": ("initialization", "algorithm", "initialization_binding", "update_binding"),
    "resource": ("base64", "store", "safetensors"),
    "attribute_type": ("int", "ints", "tensor", "graph", "type_proto", "sparse_tensors", "strings"),
    "call": ("raw_data", "sparse", "string_data"),
    "field_call": ("raw_data", "float_data", "int32_data", "string_data", "int64_data"),
    "encoding_habit": ("packed", "unpacked", "order", "sorted"),
}
"""The meaningful words for each rule."""


@cache
def _rules() -> dict[str, list[GrammarRule]]:
    found: dict[str, list[GrammarRule]] = {}
    for rule in load_tables().rules:
        found.setdefault(rule.origin, []).append(rule)
    return found


@cache
def _depths() -> dict[str, int]:
    """Return, for each rule, the smallest depth of a sentence."""
    depths: dict[str, int] = {}
    changed = True
    while changed:
        changed = False
        for origin, rules in _rules().items():
            found = [d for rule in rules if (d := _depth(rule, depths)) is not None]
            if found and min(found) < depths.get(origin, 1 << 30):
                depths[origin] = min(found)
                changed = True
    return depths


def _depth(rule: GrammarRule, depths: dict[str, int]) -> int | None:
    deepest = 0
    for symbol in rule.symbols:
        if symbol in _rules():
            if symbol not in depths:
                return None
            deepest = max(deepest, depths[symbol])
    return deepest + 1


@cache
def _schema_words() -> tuple[str, ...]:
    """Return the names of fields, of enum values, and of fields with their messages."""
    words: dict[str, None] = {}
    for short, name in spelled_messages().items():
        for field in message_spec(name).by_name.values():
            words.update(dict.fromkeys((field.name, f"{short}.{field.name}")))
            words.update(dict.fromkeys(value for value, _ in field.enum))
    return tuple(words)


class Sentences:
    """Draws random texts."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self._left = 0  # how many rules the sentence may still expand at will

    def draw(self, texts: Sequence[str] = ()) -> str:
        """Return a sentence, a filled template, or a mutation of one of the texts."""
        kind = self.rng.random()
        if kind < 0.6:
            return self.framed()
        if texts and kind < 0.85:
            return self.mutated(self.rng.choice(texts))
        text = self.sentence("model", self.rng.choice((20, 60, 200)))
        return self.mutated(text) if self.rng.random() < 0.3 else text

    def sentence(self, symbol: str, size: int = 60) -> str:
        """Return a sentence of a rule.

        Args:
            symbol: the rule.
            size: about so many rules are expanded.
        """
        self._left = size
        out: list[str] = []
        self._expand(symbol, (), out)
        return " ".join(out)

    def framed(self) -> str:
        """Return a model template filled with sentences."""
        rng = self.rng
        text = rng.choice(("", "", "<onnxtext: 1> ")) + rng.choice(_FRAMES)
        while (start := text.find("{{")) >= 0:
            end = text.index("}}", start)
            symbol, sentences = text[start + 2 : end], []
            for _ in range(rng.choice((1, 1, 1, 2))):
                sentences.append(self.sentence(symbol, rng.choice((1, 4, 10, 30))))
            joint = ", " if symbol in _WITH_COMMAS else " "
            text = text[:start] + joint.join(sentences) + text[end + 2 :]
        return text

    def _expand(self, symbol: str, path: tuple[str, ...], out: list[str]) -> None:
        rules = _rules().get(symbol)
        if rules is None:
            out.append(self._token(symbol, path))
            return
        self._left -= 1
        if self._left > 0 and len(path) < 120:
            rule = self.rng.choice(rules)
        else:
            depths = _depths()
            flattest = min(d for rule in rules if (d := _depth(rule, depths)) is not None)
            rule = self.rng.choice([r for r in rules if _depth(r, depths) == flattest])
        for part in rule.symbols:
            self._expand(part, (*path, symbol), out)

    # ---- Tokens -----------------------------------------------------------------------------

    def _token(self, terminal: str, path: tuple[str, ...]) -> str:
        rng = self.rng
        if terminal in _LITERALS:
            return _LITERALS[terminal]
        inside = set(path[-4:])
        if terminal == "WORD":
            if rng.random() < 0.85:
                for origin in reversed(path[-3:]):
                    if origin in _WORDS:
                        return rng.choice(_WORDS[origin])
            if inside & {"field_key", "dotted", "header_item", "habit_argument"}:
                return rng.choice(_schema_words())
            return rng.choice(_NAMES)
        if terminal == "DECORATOR":
            before = rng.choice(("", "", "", "", "type.", "data.", "x."))
            return f"@{before}{rng.choice(_DECORATORS)}("
        if terminal == "INT" and "header" in path and rng.random() < 0.5:
            return "1"
        return rng.choice(_SAMPLES[terminal])

    # ---- Mutations --------------------------------------------------------------------------

    def mutated(self, text: str) -> str:
        """Return a text with some changed tokens, and sentences in perhaps invalid places."""
        rng = self.rng
        tokens = _tokens(text)
        for _ in range(rng.choice((1, 1, 2, 4))):
            at = rng.randint(0, len(tokens))
            match rng.randrange(7):
                case 0:
                    tokens[at : at + 1] = [self.sentence(rng.choice(_ANYWHERE), 20)]
                case 1 | 2:
                    tokens[at:at] = [self.sentence(rng.choice(_ANYWHERE), 20)]
                case 3:
                    del tokens[at : at + rng.choice((1, 1, 2, 5))]
                case 4:
                    other = rng.randint(0, len(tokens))
                    tokens[at:at] = tokens[other : other + rng.choice((1, 3, 10))]
                case 5:
                    tokens[at : at + 1] = [rng.choice(tokens)] if tokens else []
                case 6:
                    tokens[at:at] = [self._token(rng.choice([*_LITERALS, *_SAMPLES]), ())]
        return " ".join(tokens)


_ANYWHERE = (
    "decorator", "decorator", "decorators", "record", "section", "header", "header_entry", "type",
    "tensor", "attribute", "value_info", "node", "graph", "graph_value", "element", "data",
    "field_value", "function", "literal", "brackets", "label", "parameter", "metadata_item",
    "annotation", "training_item", "resource", "dim",
)  # fmt: skip


def _tokens(text: str) -> list[str]:
    """Return the tokens of a text, or its words if it has none."""
    lexer = load_lexer()
    tokens: list[str] = []
    at = 0
    while (token := lexer.token(text, at)) is not None:
        tokens.append(str(token))
        at = token.at + len(token)
    return tokens
