# SPDX-License-Identifier: Apache-2.0
from onnxtext._core.syntax.grammar import Grammar
from onnxtext.syntax.parser.lalr import Machine

class LalrLoop:
    def __init__(self, grammar: Grammar, machine: Machine, text: str, max_depth: int) -> None: ...
    def advance(self, at: int) -> int: ...
