# SPDX-License-Identifier: Apache-2.0
"""The kinds of mistakes of `benchmarks.accidents`, as replacements of regular expressions."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass

_KEYS = "onnxtext|ir_version|opset_import|producer_name|producer_version|domain|model_version"
_KEYS += "|metadata_props|doc_string|functions|overload"
_TYPES = "float|double|int64|int32|int8|uint8|bool|string|float16|bfloat16"
_SECTIONS = "metadata|resources|order|quantization|training|configuration|encoding"
_LOOK_ALIKES = {
    ",": "，、", "(": "（", ")": "）", "=": "＝", '"': "“”″", "-": "–−", ":": "：",
    " ": "\u00a0\u200b", "x": "хｘ", "o": "оｏ", "a": "аａ",
}  # fmt: skip
_NAME = r"[A-Za-z_]\w*"
_NODE = rf"(?m)^(  +)({_NAME}) = ({_NAME}) \(([^()\n]*)\)$"


@dataclass(frozen=True)
class Kind:
    """A kind of mistake: how common it is, where it can be made, and the new text of a place."""

    name: str
    weight: float
    pattern: re.Pattern[str]
    broken: Callable[[re.Match[str], random.Random], str]


def _kind(name: str, weight: float, pattern: str, *news: str) -> Kind:
    return Kind(name, weight, re.compile(pattern), lambda at, r: at.expand(r.choice(news)))


def _typo(at: re.Match[str], choose: random.Random) -> str:
    word, where = at[0], choose.randrange(len(at[0]))
    left, right = word[:where], word[where + 1 :]
    swapped = left + right[:1] + word[where] + right[1:]
    wrong = left + choose.choice("aeinrst") + right
    return choose.choice([left + right, swapped, left + word[where] * 2 + right, wrong])


def _cut(at: re.Match[str], choose: random.Random) -> str:
    return at[0][: choose.randrange(1, len(at[0]))]


KINDS = [
    # Words
    *(Kind(f"typo in a {name}", weight, re.compile(pattern), _typo) for name, weight, pattern in (
        ("key", 4, rf"\b({_KEYS})\b"), ("type", 6, rf"\b({_TYPES})\b(?=[ \[])"),
        ("section", 2, rf"(?m)^({_SECTIONS})\b"), ("number", 2, r"\b\d+\b"),
        ("word in a section", 2, r"\b(node|value|base64)\b"),
    )),
    Kind("capital letter", 2, re.compile(rf"\b({_TYPES})\b(?=[ \[])"), lambda at,
          _: at[0].capitalize()),
    _kind("float of another language", 3, r"\bfloat(?=[ \[])", "float32", "f32", "FLOAT", "Tensor",
          "real"),
    _kind("integer of another language", 2, r"\bint64(?=[ \[])", "i64", "int", "long", "integer",
          "INT"),
    _kind("string of another language", 1, r"\bstring(?=[ \[])", "str", "String", "char", "text"),
    _kind("key of another language", 2, r"\bopset_import:", "opset:", "opset_version:", "opsets:"),
    # Separators and brackets
    _kind("comma missing", 8, r",(?=\s*[^\s>})\]])", ""), _kind("comma doubled", 2, r",", ",,"),
    _kind("commas missing in a list", 2, r"\[(-?[\d.]+), (-?[\d.]+)(?:, (-?[\d.]+))?\]",
          r"[\1 \2]"),
    _kind("point or semicolon for comma", 3, r",(?=\s)", ".", ";"),
    _kind("blank for comma and blank", 2, r", ", " "), _kind("comma added", 2, r"(?m)(?<=\))$",
          ","),
    *(_kind(f"{mark} missing", 2.5, re.escape(mark), "") for mark in "()[]{}<>"),
    *(_kind(f"{mark} doubled", 0.6, re.escape(mark), mark * 2) for mark in "()[]{}<>"),
    _kind("other bracket", 3, r"[(\[{<](?=[^\n]*[)\]}>])", "(", "[", "{", "<"),
    _kind("other closing bracket", 3, r"[)\]}>]", ")", "]", "}", ">"),
    _kind("other brackets", 5, r"[(\[{<]([^()\[\]{}<>\n]*)[)\]}>]", r"(\1)", r"[\1]", r"{\1}",
          r"<\1>"),
    _kind("bracket and comma swapped", 1, r"([)\]}>]),", r",\1"),
    # Quotes
    _kind("quote missing", 4, r'"(?!"")', ""), _kind("quotes missing", 4, r'"([^"\n]+)"', r"\1"),
    _kind("other quotes", 6, r'"([^"\n]*)"', r"'\1'", r"“\1”", r"”\1“", r'""\1""', r"`\1`"),
    _kind("quote of another kind", 1, r'"', "'", "“"), _kind("backslash", 1, r'(?<=")(?=\w)',
          r"\\d"),
    # Marks
    _kind("= missing", 3, r" =(?= )", ""), _kind("colon missing", 3, r'(?<=[\w"]):', ""),
    _kind("colon for =", 4, r" =(?= )", ":", " :"), _kind("= for colon", 4, r'(?<=[\w"]):', " =",
          "="),
    _kind("other mark for =", 3, r"(?<= )=(?= )", "==", ":=", "<-", "->", "=>"),
    _kind("other arrow", 5, r"=>", "->", "=", "= >", ">=", "==>", "-->", ":", "→", "", "returns"),
    _kind("semicolon at the end", 3, r"(?m)(?<=\))$", ";"), _kind("% or $", 2, rf"\b{_NAME}",
          r"%\g<0>", r"$\g<0>"),
    # Numbers
    _kind("number of another language", 4, r"(?<=[ \[])-?\d+(?=[,\]> ])", r"\g<0>.", r"\g<0>f",
          "1_000", "1,000", "0b11", "1e", "- 1", "1/2", "math.inf", "np.inf", "-inf", "1.5.5", "O",
          "l0", "½", "5%"),
    _kind("Python constant", 2, r"(?<== )1(?=[,>])", "True", "true"), _kind("Python constant", 1,
          r"(?<== )0(?=[,>])", "False"),
    # Types and dimensions
    _kind("dimensions", 5, r"\[([\w?]+), ([\w?]+)\](?= [\w\"])", r"[\1x\2]", r"[\1 \2]",
          r"(\1, \2)", r"<\1, \2>", r"[\1][\2]", r"[\1, \2", r"[\1; \2]", r"[-1, \2]",
          r"[None, \2]", r"[:, \2]"),
    _kind("type of MLIR", 2, rf"\b({_TYPES})\[([\w?]+)\](?= )", r"tensor<\2x\1>",
          r"tensor(\1)[\2]", r"\1<\2>"),
    _kind("type after a name", 4, rf"\b((?:{_TYPES})(?:\[[\w, ?]*\])?) ({_NAME})(?=[,)])",
          r"\2: \1", r"\2 \1", r"\1: \2", r"\1"),
    _kind("type missing", 3, rf"\b(?:{_TYPES})(?:\[[\w, ?]*\])? (?={_NAME} =)", ""),
    _kind("attribute type", 3, rf"({_NAME}) = (?=[\d\[])", r"\1: int32 = ", r"\1 int = ",
          r"int \1 = ", r"\1: int ", r"\1: list = "),
    # Nodes
    _kind("node in Python", 8, _NODE, r"\1\2 = \3(\4, axis=1)", r"\1\2 = torch.\3[\4]",
          r"\1\2 = \4.\3()", r"\1\2 = op.\3(\4))",
          r'\1\2 = helper.make_node("\3", ["\4"], ["\2"])', r"\1\2 = lambda x: \3(\4)",
          r'\1node = onnx.helper.make_node("\3", inputs=["\4"], outputs=["\2"])', r"\1\2 = -\4",
          r"\1\2 += \4", r"\1\2: torch.Tensor = \3(\4)", r"\1\2 = \4", r"\1return \3(\4)",
          r"\1\2 = \3(*\4)"),
    _kind("expression", 4, rf"(?m)({_NAME}) = (Add|Mul|MatMul|Sub) \(({_NAME}), ({_NAME})\)$",
          r"\1 = \3 + \4", r"\1 = \3 * \4", r"\1 = \3 @ \4", r"\1 = \3 - \4 * 2"),
    _kind("node in MLIR", 3, _NODE, r'\1%\2 = "onnx.\3"(%\4) : (tensor<1xf32>) -> tensor<1xf32>',
          r"\1%\2 = onnx.\3(%\4)", r"\1%\2 : Float(1, 3) = onnx::\3(%\4)", r"\1\2 = \3 \4 : f32"),
    _kind("node in protobuf or JSON", 3, _NODE,
          r'\1node { op_type: "\3" input: "\4" output: "\2" }',
          r'\1{"op_type": "\3", "input": ["\4"], "output": ["\2"]}', r"\1\3: \4 -> \2",
          r"\1- \2 = \3 (\4)"),
    _kind("node without a part", 5, _NODE, r"\1\3 (\4)", r"\1\2 = (\4)", r"\1\2 = \3 \4",
          r"\1\2 \3 (\4)", r"\1\2 = \3", r"\1\2 =", r"\1\2", r"\1= \3 (\4)"),
    _kind("node in another order", 3, _NODE, r"\1\3 (\4) -> \2", r"\1\3 (\4) = \2",
          r"\1(\2) = \3 (\4)", r"\1\2 = (\4) \3", r"\1\3 \2 = (\4)", r"\1let \2 = \3 (\4)",
          r"\1\2 = \3 (x = \4)", r"\1\2 = \3 (\4) [l]"),
    _kind("nested node", 2, _NODE, r"\1\2 = \3 (Relu (\4))", r"\1\2 = \3 (\4)[0]",
          r"\1\2 = \3 ([\4])"),
    _kind("attributes", 6, r"<(\w+) = ([^<>=\n]+)>", r"<\1: \2>", r"<\1 \2>", r"{\1 = \2}",
          r"(\1 = \2)", r"<\2>", r"[\1 = \2]", r"<\1 = \2", r"\1 = \2>", r'{"\1": \2}',
          r"<\1 = {\2}>", r"<--\1 \2>", r"<\1>", r"<\1 =>", "<>"),
    _kind("attributes after inputs", 3, r" (<\w+ = [^<>\n]+>) \(([^()\n]*)\)", r" (\2, \1)",
          r" (\2 \1)", r" \1"),
    _kind("list without brackets", 2, r"= \[([^\[\]\n]+)\]", r"= \1", r"= (\1)", r"= [[\1]",
          r"= [\1,,]", r"= list(\1)"),
    _kind("initializer", 3, r"(?<== )([\[{][^\[\]{}\n]*[\]}])(?=,?\n)", r"np.array(\1)", r"(\1)",
          "", "...", r"\1 * 2"),
    _kind("decorator", 3, r'@(\w+)\(("[^"\n]*")\)', r"@\1 \2", r"@\1: \2", r"@\1 = \2", r"\1(\2)",
          r"@\1(\2", r"@\1[\2]"),
    _kind("label", 2, r"(?m)^( +)\[(\w+)\] ", r"\1\2: ", r"\1\2] ", r"\1[\2 ", r"\1<\2> ",
          r"\1(\2) ", r"\1[\2]: "),
    _kind("call in Python", 4, r"(?m)^( +)(\w+) = (\w+) \((\w+), (\w+)\)$",
          r"\1\2 = \3 (A = \4, B = \5)", r"\1\2 = \3(input=\4, other=\5)", r"\1\2 = \3([\4, \5])",
          r"\1\2 = \4.\3(\5)", r"\1\2 = \3 (\4 \5)", r"\1\2 = \3 \4, \5", r"\1\2 = \3 (\4 + \5)",
          r"\1\2 = \4, \5", r"\1\2 = np.\3(\4, \5).T"),
    _kind("attribute value in Python", 4, r"(?<=[<,])( ?\w+) = (-?[\d.]+)(?=[,>])",
          r"\1 = int(\2)", r"\1 = float(\2)", r'\1 = "\2"', r"\1 = [\2", r"\1 = (\2,)",
          r"\1 = \2 : si64", r"\1 = np.int64(\2)", r"\1 = - \2", r"\1 = \2 + 1", r"\1: \2",
          r"\1 = @\2", r"\1 = tensor(\2)", r"\1 == \2", r"\1=\2;", r"\1 = {\2}"),
    _kind("attribute name in two words", 1, r"(?<=[<,] )(\w+)_(\w+) =", r"\1 \2 =", r"\1-\2 =",
          r"\1.\2 ="),
    _kind("list in Python", 3, r"= \[(-?\d+), ([^\[\]\n]*)\]", r"= (\1, \2)", r"= \1, \2",
          r"= ints[\1, \2]", r"= [\1; \2]", r"= [\1, \2,,]", r"= [int(\1), \2]",
          r"= tuple(\1, \2)", r"= [\1, \2)", r"= [\1. \2]", r"= [\1 ,\2]]", r"= [\1,000, \2]",
          r"= array([\1, \2])", r"= \1 \2", r"= [True, \2]"),
    _kind("rows in Python", 2, r"\[\[([^\[\]]*)\], \[([^\[\]]*)\]", r"[(\1), (\2)", r"[\1], [\2]",
          r"{{\1}, {\2}", r"[[\1] [\2]", r"[[\1; \2]", r"[[\1, [\2]"),
    _kind("metadata entry", 3, r'(?m)^( +\w+|"[^"\n]*"): ("[^"\n]*")(,?)$', r"\1 = \2\3",
          r"\1 \2\3", r"\1: \2;", r"\1:", r"\2", r"\1: [\2]", r"\1: \2\3 \2", r"\1, \2"),
    _kind("section head", 3, rf"(?m)^({_SECTIONS}) \{{$", r"\1: {", r"\1", r"\1:", r"\1 = {",
          r'"\1": {', r"<\1: {", r"\1 (", r"\1 ["),
    _kind("block head", 2, r"(?m)^( +)(node|value|graph|function) ([^\n{]*) \{$", r"\1\2 \3: {",
          r"\1\2(\3) {", r"\1\2 \3:", r"\1\3 {", r'\1\2 "\3" {', r"\1\2 \3 ="),
    _kind("head of a function", 3, rf"(?m)^({_NAME})( ?[<(].*) => (.*) \{{$", r"def \1\2 -> \3:",
          r"function \1\2 => \3 {", r"my.\1\2 => \3 {", r"func \1\2 -> \3 {", r"\1\2 \3 {",
          r"\1\2 => \3", r"\3 \1\2 {", r"\1\2: \3 {", r"fn \1\2 -> \3 {"),
    _kind("names or whole lines", 2, r"(?s)\A(.*)\Z", r"model.onnxtxt:\n\1",
          r"#!/bin/x\nmodel {\n\1}\n", r"import onnx\n\1", r"{\n\1}\n", r"\1\n\1"),
    # Heads and headers
    _kind("head in another language", 4, r"(?m)^([\w\"]+) ?\((?=[^\n]*\{$|\n)", r"graph \1 (",
          r"def \1(", r"func @\1(", r"model \1 (", "(", r"\1 = (", r"function \1 (", r"class \1(",
          r"graph(", r"main_graph [", r"\1: ("),
    _kind("end of a head", 3, r"\) \{(?=\n)", ")", "):", ") =", ") {{", ") [", ") => {"),
    _kind("header in JSON", 3, r"(?s)\A([^<\"]*)<(.*?)>(?=\n)", r"\1{\2}", r"\1(\2)", r"\1[\2]",
          r"\1\2", r"\1<\2"),
    _kind("header key in quotes", 2, rf"\b({_KEYS})(?=:)", r'"\1"', r"'\1'", r"--\1", r"\1 ="),
    _kind("header value", 4, r"(ir_version|opset_import): (\[[^\n\]]*\]|\d+)", r'\1: "\2"',
          r"\1 \2", r"\1: v\2", r"\1: {17}", r"\1: 17", r"\1: [17.0]", r"\1: [ai.onnx: 17]",
          r'\1: [""  17]', r"\1:", r"\1: [17"),
    _kind("parts in another order", 3, r"(?s)\A(.*?\n?>\n)(.*\n\}\n)", r"\2\1"),
    _kind("blocks in another order", 3, r"(?ms)^(\S.*?\n\}\n)\n(\S.*?\n\}\n)", r"\2\n\1"),
    _kind("initializers after nodes", 2, r"(?s)( <\n.*?\n>) (\{.*?\n\})", r" \2\1"),
    _kind("nested graph", 3, rf"(?<== ){_NAME} (\([^()]*\)) => (\([^()]*\)) ", r"\1 => \2 ", "",
          r"\2 ", "graph "),
    # Lines
    _kind("marks around a line", 2, r"(?m)^( +)(\S.*)$", r"\1`\2`", r"\1**\2**", r"\1(\2)",
          r'\1"\2"', r"\1[\2]"),
    _kind("line of Python", 3, rf"(?m)^(  +)(?={_NAME} =)", r"\1if True:\n\1",
          r"\1import torch\n\1", r"\1print(x)\n\1", r"\1# note\n\1else:\n\1",
          r"\1for i in range(3):\n\1  ", r"\1pass\n\1", r"\1assert x\n\1", r"\1x = 3\n\1"),
    _kind("elements", 2, r"\[(-?[\d.]+), ", r'["\1", ', "[true, ", "[x, ", r"[[\1], ", r"[\1], ",
          r"[\1 + 1, ", r"[float(\1), "),
    _kind("lines swapped", 3, r"(?m)^( *\S.*\n)( *\S.*\n)", r"\2\1"), _kind("line missing", 4,
          r"(?m)^ *\S.*\n", ""),
    _kind("line repeated", 2, r"(?m)^ *\S.*\n", r"\g<0>\g<0>"), _kind("lines joined", 1,
          r"(?m)(?<=\S)\n *", " "),
    Kind("line cut", 4, re.compile(r"(?m)\S.{2,}$"), _cut), Kind("end missing", 2,
          re.compile(r"(?s)\S.{20,}\Z"), _cut),
    _kind("other comment", 3, r"(?m)$", " // note", " /* note */", " -- note", " ; note"),
    _kind("comment without #", 1, r"(?m)# (?=\w)", ""), _kind("return", 2, r"(?m)^\}",
          r"  return y\n}", r"  pass\n}", r"}}"),
    _kind("pasted marks", 3, r"(?m)^(?=.*\S)", "> ", "+ ", "12 ", "12 | ", ">>> ", "- ", "* ",
          "12: ", "$ ", "|"),
    _kind("conflict", 2, r"(?m)^ .*\n", r"<<<<<<< HEAD\n\g<0>=======\n\g<0>>>>>>>> theirs\n"),
    _kind("fences or prose", 2, r"(?s)\A(.*)\Z", r"```\n\1```\n", r"Here is the model:\n\1",
          r"\1Done.\n", r"<?xml?>\1"),
    # Characters
    Kind("look-alike", 3, re.compile(r"[,()=\"\-:]| (?=\w)|\bx\b|\bo|\ba"), lambda at,
          r: r.choice(_LOOK_ALIKES[at[0]])),
]  # fmt: skip
"""The kinds of mistakes."""
