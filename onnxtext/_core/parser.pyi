# SPDX-License-Identifier: Apache-2.0
from onnxtext._core.grammar import Grammar
from onnxtext.syntax.machine import Machine

class Parser:
    def __init__(self, grammar: Grammar, machine: Machine, text: str, most: int) -> None: ...
    def advance(self, at: int) -> int: ...
