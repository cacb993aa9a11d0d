# SPDX-License-Identifier: Apache-2.0
"""Explain the words of the language, such as decorators, sections and keys."""

from __future__ import annotations

from onnxtext.lsp.index.index import Index
from onnxtext.lsp.index.section_context import SectionContext, metadata_entries, section_context
from onnxtext.source import Span, line_start
from onnxtext.syntax.actions.strings import name_of
from onnxtext.syntax.grammar.lexer import Token, load_lexer

_MAX_VALUE_LENGTH = 600
_MAX_DECORATOR_LENGTH = 20_000
"""Maximum distance from a word back to the `@` of its decorator, in characters."""
_MAX_BLOCKS_ABOVE = 20_000
"""Maximum number of earlier blocks to search for the value that `above` repeats."""

WORDS = {
    "doc": "The `doc_string` of the following item.",
    "meta": "Entries of the `metadata_props` of the following item.",
    "denotation": "The denotation of the type or dimension that follows.",
    "segment": "The `segment` of the tensor that follows.",
    "device": "The device configuration of the node that follows.",
    "set": "Fields of the following item that have no syntax of their own.",
    "unset": (
        "Fields of the following item to leave out of the binary model, although the text has a "
        "value for them."
    ),
    "value_info": (
        "The order of the graph's `value_info` list: each argument adds entries. `values` and "
        "`nodes` are added at the end if they are not given."
    ),
    "initializers": (
        "The order of the graph's initializers. `inputs` and `values` are added at the end if they "
        "are not given."
    ),
    "external": "Data in another file: the entries of `external_data`.",
}
"""The documentation of decorators and of `external(…)`."""

ARGUMENTS = {
    "value_info": {
        "initializers": "One entry for each initializer that no other argument names.",
        "inputs": "One entry for each input that no other argument names.",
        "outputs": "One entry for each output that no other argument names.",
        "values": "The value infos in `<…>`.",
        "nodes": "The types before outputs of nodes.",
        '"name"': "One entry for this value.",
        "without": "The initializers, inputs and outputs that get no entry.",
    },
    "initializers": {
        "inputs": "The defaults of inputs that no argument names.",
        "values": "The initializers in `<…>` that no argument names.",
        '"name"': "This initializer.",
    },
    "external": {
        "location": "The path of the file, relative to the model.",
        "offset": "The position of the data in the file, in bytes.",
        "length": "The size of the data in bytes.",
    },
}
"""The arguments of decorators and of `external(…)`."""

SECTION_EXPLANATIONS = {
    "metadata": "The `metadata_props` of graphs, values, tensors, nodes and functions.",
    "quantization": "The `quantization_annotation` of graphs.",
    "training": "An entry of `training_info`.",
    "configuration": "An entry of the model's `configuration`.",
    "order": "Long decorators `@initializers` and `@value_info` of the main graph.",
    "encoding": "How the bytes of the file differ from the canonical encoding.",
    "resources": "The bytes of blobs, or the paths of their stores and files.",
}
"""The documentation of the keywords that begin sections."""

_BLOCKS = {
    "graph": "Metadata of the main graph, or of the graph in an attribute.",
    "value": "Metadata of the input of this name; else of the output or `value_info` entry.",
    "output": "Metadata of the graph's first output of this name.",
    "value_info": "Metadata of the first entry of this name in the `value_info` list.",
    "tensor": "Metadata of the initializer of this name, or of the default of the input.",
    "node": "Metadata of the first node with this label, or with this first output.",
    "function": "Metadata of a function and its parts.",
}
_KEYS = {
    "SCALE_TENSOR": "The initializer with the scale of the quantized tensor.",
    "ZERO_POINT_TENSOR": "The initializer with the zero point of the quantized tensor.",
    "initialization": "The graph that initializes the weights before training.",
    "algorithm": "The graph of one training step.",
    "initialization_binding": "For each initializer, the `initialization` output with its value.",
    "update_binding": "For each initializer, the `algorithm` output with its new value.",
    "store": "The directory of the blobs.",
    "safetensors": "The file of the blobs.",
}
_ABOVE = "The value of the same key in the block directly above."


def explanation_at(index: Index, offset: int) -> tuple[str, Span] | None:
    """Return (documentation, span) of the keyword at an offset; None if there is none."""
    text = index.source.text
    block = index.text_blocks.before(offset)
    if offset < block.end:
        return None
    start = max(line_start(text, offset), block.end)
    end = text.find("\n", offset)
    line = load_lexer().tokens(text, start, len(text) if end < 0 else end)
    for token in reversed([each for each in line if each.at <= offset <= each.end]):
        explanation = _explain(index, token)
        if explanation is not None:
            return explanation, token.span
    return None


def _explain(index: Index, token: Token) -> str | None:
    """Return the documentation of a token; None if it has none."""
    text = index.source.text
    if token.startswith("@") and token.endswith("("):
        return WORDS.get(token[1:-1].strip())
    if any(span.at == token.at for span in index.section_spans):
        return SECTION_EXPLANATIONS[token]
    section = section_context(index, token.at)
    if section is not None:
        return _in_section(index, section, token)
    arguments = ARGUMENTS.get(_decorator_before(text, token.at), {})
    if token in arguments:
        return arguments[token]
    if token == "external" and text.startswith("(", token.end):
        return WORDS["external"]
    return None


def _in_section(index: Index, section: SectionContext, token: Token) -> str | None:
    name = name_of(token)
    text = index.source.text
    is_key = text[token.end :].lstrip(" \t").startswith(":")
    if section.kind == "block" and not is_key:
        return _BLOCKS.get(str(token))
    if section.section != "metadata":
        return _KEYS.get(name) if is_key else None
    if section.kind in ("block", "key") and is_key:
        entries = metadata_entries(index).get(name)
        count = 0 if entries is None else entries.total()
        return f"A key of `metadata_props`; {count} in this text."
    if section.kind == "value" and token == "above":
        return f"{_ABOVE}{_value_above(section)}"
    return None


def _value_above(section: SectionContext) -> str:
    """Return the value that the word `above` stands for, as Markdown; "" if unknown or too long."""
    block, seen = section.block.above, 0
    value = section.above.get(section.key, "")
    while value == "above" and block is not None and seen < _MAX_BLOCKS_ABOVE:
        block, seen = block.above, seen + 1
        value = "" if block is None else block.entries.get(section.key, "")
    if not value or len(value) > _MAX_VALUE_LENGTH:
        return ""
    return f"\n\n````onnxtxt\n{value}\n````"


def _decorator_before(text: str, offset: int) -> str:
    """Return the name of the decorator whose arguments contain an offset; "" if there is none."""
    start = text.rfind("@", max(0, offset - _MAX_DECORATOR_LENGTH), offset)
    if start < 0:
        return ""
    tokens = load_lexer().tokens(text, start, offset)
    depth = sum((token.endswith("(") or token == "[") - (token in (")", "]")) for token in tokens)
    first = tokens[0] if tokens else ""
    return first[1:-1].strip() if depth > 0 and first.endswith("(") else ""
