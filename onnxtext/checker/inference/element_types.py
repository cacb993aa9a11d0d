# SPDX-License-Identifier: Apache-2.0
"""Infer types without shapes in graphs, nested graphs and functions.

Types are strings as in schemas: `tensor(float)`. If a value has no declared type, it has the output
type of the node that computes it. Most output types follow from the operator's schema, whose type
variables are bound to the types of the node's inputs. Unknown types (None) cause no findings.
Results are cached by operator and input types, since many nodes of a model are equal in both.
"""

from __future__ import annotations

from typing import Any

from onnxtext.ast.model import Node, ValueInfo
from onnxtext.ast.qualified_names import qualified_name
from onnxtext.checker.context.checked_model import CheckedModel, cache_by_id
from onnxtext.checker.context.finding import Finding, Place, quote, with_schema_origin
from onnxtext.checker.context.operator_resolution import Target
from onnxtext.checker.context.scopes import Scope
from onnxtext.checker.context.signatures import Signature
from onnxtext.checker.inference.environment import Environment
from onnxtext.checker.inference.explain_shape_errors import explain_difference
from onnxtext.checker.inference.onnx_errors import untyped_values
from onnxtext.checker.inference.output_types import OUTPUT_TYPES, Texts, stash_type
from onnxtext.checker.inference.scope_walk import ScopeWalk
from onnxtext.checker.inference.type_variables import (
    TypeMismatch,
    attribute_mismatch,
    bind_type_variables,
)
from onnxtext.diagnostics import Severity
from onnxtext.schemas.type_strings import element_of, is_tensor, text_spelling, type_text

TypeEnvironment = Environment[str | None]
"""The type of each value of a scope, with a link to the types of the outer scope."""


class TypeInference(ScopeWalk[TypeEnvironment]):
    """Infers types without shapes in one walk over a model."""

    def __init__(self, subject: CheckedModel) -> None:
        super().__init__(subject)
        self._functions, self._untyped = subject.functions, untyped_values(subject)
        self._text = cache_by_id(type_text)
        self._bound: dict[tuple[Any, ...], tuple[Texts, TypeMismatch | None]] = {}
        self._reported: set[tuple[int, tuple[str | int, ...], int]] = set()

    def run(self) -> None:
        """Visit all graphs and functions, including uncalled functions."""
        super().run()
        self._visit_uncalled(self._functions.values())

    def types_in_calls(self, scope: Scope, name: str) -> set[str | None]:
        """Return the types of a value in all visits of its scope: one visit per kind of call.

        Outside of functions, there is only one type. A type is None if it is unknown.
        """
        return {visit.find(name) for visit in self.visits.get(id(scope), ())}

    # ---- Scopes -----------------------------------------------------------------------------

    def _scope(
        self, scope: Scope, input_types: Texts, outer: TypeEnvironment | None
    ) -> TypeEnvironment:
        text = self._text
        types: dict[str, str | None] = {}
        declared: dict[str, tuple[str, ValueInfo]] = {}
        for value in (*scope.initializers, *scope.inputs, *scope.infos, *scope.outputs):
            declared_type = text(value.type)
            if declared_type is not None and id(value) not in self._untyped:
                declared.setdefault(value.name, (declared_type, value))
        for value in (*scope.inputs, *scope.initializers):
            types[value.name] = declared.get(value.name, (None, value))[0]
        for value, given in zip(scope.inputs, input_types, strict=False):
            origin = declared.get(value.name, (None, value))[1]
            self._set_input_type(scope, origin, given, types)
        types.pop("", None)  # "" in `node.inputs` is an omitted input, not a value
        environment: TypeEnvironment = Environment(types, outer)
        self.visits.setdefault(id(scope), []).append(environment)
        resolved = self._targets[id(scope)]
        for index, node in scope.nodes_to_visit():
            output_types = self._node(scope, index, node, resolved[index], environment)
            typed = node.output_types
            for slot, name in enumerate(node.outputs):
                if not name:
                    continue
                inferred = output_types[slot] if slot < len(output_types) else None
                typed_text = text(typed[slot]) if typed else None
                declaration: ValueInfo | None = None
                if typed_text is None and name in declared:
                    typed_text, declaration = declared[name]
                if typed_text is not None:
                    if inferred is not None and inferred != typed_text:
                        self._report_difference(
                            node, slot, inferred, typed_text, declaration, resolved[index],
                            # onnx and onnxruntime ignore the declared types in functions.
                            "warning" if scope.kind == "function" else None,
                        )  # fmt: skip
                    # If they differ, either may be wrong: later nodes see an unknown type.
                    inferred = typed_text if inferred in (None, typed_text) else None
                types.setdefault(name, inferred)
        self._condition(scope, types)
        return environment

    def _condition(self, scope: Scope, types: dict[str, str | None]) -> None:
        """Report the body of a `Loop` if its first output, the condition, is not a `bool`.

        Ignore other scopes. `types` are the types of the values of the scope.
        """
        holder = scope.holder
        if holder is None or not scope.outputs:
            return
        if qualified_name(holder.domain, holder.op_type) != "Loop":
            return
        value = scope.outputs[0]
        found = types.get(value.name)
        if found is not None and found != "tensor(bool)":
            output = f"the output {quote(value.name)} of {scope.describe()}"
            reader = Place(holder, ("op_type",), "the node that reads the condition")
            self._report(
                value,
                f"{output} is `{text_spelling(found)}`, but the condition of a `Loop` is `bool`",
                (Place(value, ("name",)), reader),
                "return the condition first, then the other values",
            )

    def _set_input_type(
        self, scope: Scope, value: ValueInfo, given: str | None, types: dict[str, str | None]
    ) -> None:
        """Store the type of an input of a body in `types`; report a contradictory declaration.

        `given` is the type that the call or node passes to the input; None if unknown. In a
        function, the finding is a warning, and `given` replaces the declared type: onnx and
        onnxruntime ignore types that functions declare.
        """
        declared = types.get(value.name)
        if declared is None:
            types[value.name] = given
        if declared is None or given is None or declared == given:
            return
        owner = f"the input {quote(value.name)} of {scope.describe()}"
        message = f"{owner} is declared `{text_spelling(declared)}`, but"
        place, passed = Place(value, ("type",)), text_spelling(given)
        if scope.kind == "function":
            types[value.name] = given
            message += f" a call passes `{passed}`"
            help = "remove the declaration"
            if is_tensor(given) and is_tensor(declared):
                help += ", or insert a `Cast` before the call"
            self._report(value, message, (place,), help, severity="warning")
        elif scope.holder is not None:
            message += f" `{scope.holder.op_type}` gives it `{passed}`"
            source = Place(scope.holder, ("op_type",), "the node that passes the value")
            self._report(value, message, (place, source), f"declare it `{passed}`")

    def _report_difference(
        self, node: Node, number: int, inferred: str, declared: str, declaration: ValueInfo | None,
        target: Target, severity: Severity | None,
    ) -> None:  # fmt: skip
        """Report that output `number` has the computed type `inferred`, but is declared `declared`.

        `declaration` is None if the node itself declares the type, as in `float[N] y = …`. If
        `severity` is None, the finding has the severity of its rule.
        """
        by_node = Place(node, ("output_types", number))
        place = by_node if declaration is None else Place(declaration, ("type",))
        computed = text_spelling(inferred)
        message, places = explain_difference(node, number, text_spelling(declared), computed, place)
        help = f"declare it `{computed}`"
        if is_tensor(inferred) and is_tensor(declared):
            help += ", or insert a `Cast`"
        self._report(node, message, places, help, number, target, severity)

    def _report(
        self,
        item: object,
        message: str,
        places: tuple[Place, ...],
        help: str,
        number: int = -1,
        target: Target = None,
        severity: Severity | None = None,
    ) -> None:
        """Report a finding once, even if a body is visited several times.

        `number` is the index of the output that the finding is about; -1 for none. `target` is the
        node's operator if the finding depends on its schema. If `severity` is None, the finding has
        the severity of its rule.
        """
        key = id(item), places[0].part[:1], number
        if key not in self._reported:
            self._reported.add(key)
            places = (*places, *self._limits.places())
            finding = Finding("type-mismatch", message, places, help=help, severity=severity)
            if type(target) is Signature:
                finding = with_schema_origin(finding, target)
            self.findings.append(finding)

    # ---- Nodes ------------------------------------------------------------------------------

    def _node(
        self, scope: Scope, index: int, node: Node, target: Target, environment: TypeEnvironment
    ) -> Texts:
        """Return the types of a node's outputs; report input types that its operator rejects.

        If the node has bodies or calls a function, infer the types in them, too.
        """
        types = environment.facts
        find = environment.find
        inputs = tuple([types[name] if name in types else find(name) for name in node.inputs])
        children = scope.children.get(index)
        if type(target) is Scope:
            return self._call(node, target, inputs)
        if type(target) is not Signature:
            for child in children or ():
                self._scope(child, (), environment)
            return ()
        key = id(target), inputs, len(node.outputs), "" in node.inputs
        cached = self._bound.get(key)
        if cached is None:
            cached = self._bound[key] = bind_type_variables(target, inputs, node)
        output_types, mismatch = cached
        if mismatch is None:
            mismatch = attribute_mismatch(target, inputs, node)
        if mismatch is not None:
            labels = [(i, f"`{text_spelling(inputs[i] or '?')}`") for i in mismatch.inputs]
            places = tuple([Place(node, ("inputs", i), label) for i, label in labels])
            self._report(node, mismatch.message, places, mismatch.help, target=target)
        if children:
            return self._bodies(node, inputs, children, environment) or output_types
        if mismatch is not None:
            return output_types
        return with_special(target, node, inputs, output_types)

    def _call(self, node: Node, function: Scope, inputs: Texts) -> Texts:
        """Return the output types of a call of a function; `inputs` are the types of its inputs.

        Return () if the types are unknown, because the function calls itself or a limit is reached.
        """
        key = self._call_key(function, inputs)
        if key not in self._called:
            if not self._limits.enter(node, function):
                return ()
            self._called[key] = None  # the function may call itself
            self._called[key] = self._scope(function, inputs, None)
            self._limits.leave()
        body = self._called[key]
        return () if body is None else body.find_outputs(function)

    def _bodies(
        self, node: Node, inputs: Texts, bodies: list[Scope], environment: TypeEnvironment
    ) -> Texts:
        """Infer types in the bodies of a node; return the types of the node's outputs.

        `inputs` are the types of the node's inputs. Return () if the operator is none of `If`,
        `Loop`, `Scan` and `SequenceMap`. Report an `If` whose branches have different output types.
        """
        output_types: list[Texts] = []
        for body in bodies:
            passed = _passed_types(node, inputs, body)
            inner = self._scope(body, passed, environment)
            output_types.append(inner.find_outputs(body))
        match qualified_name(node.domain, node.op_type):
            case "If":
                if len(output_types) == 2:
                    self._branches(node, bodies, output_types)
                return output_types[0]
            case "Loop":
                return output_types[0][1:]
            case "Scan":
                return output_types[0]
            case "SequenceMap":
                return tuple([text and f"seq({text})" for text in output_types[0]])
        return ()

    def _branches(self, node: Node, bodies: list[Scope], output_types: list[Texts]) -> None:
        for index, (left, right) in enumerate(zip(*output_types, strict=False)):
            if left is not None and right is not None and left != right:
                help = "return the same type from both branches"
                if is_tensor(left) and is_tensor(right):
                    help += ", for example with a `Cast`"
                self._report(
                    node,
                    f"the branches of this `If` disagree: output {index + 1} is "
                    f"`{text_spelling(left)}` in `{bodies[0].attribute}`, and "
                    f"`{text_spelling(right)}` in `{bodies[1].attribute}`",
                    (
                        Place(bodies[0].outputs[index], ("type",), f"`{text_spelling(left)}`"),
                        Place(bodies[1].outputs[index], ("type",), f"`{text_spelling(right)}`"),
                    ),
                    help,
                    index,
                )


def _passed_types(node: Node, inputs: Texts, body: Scope) -> Texts:
    """Return the types that a `Loop`, `Scan` or `SequenceMap` passes to its body; () otherwise."""
    match qualified_name(node.domain, node.op_type):
        case "Loop":
            return ("tensor(int64)", "tensor(bool)", *inputs[2:])
        case "Scan":
            extra = len(inputs) - len(body.inputs)
            return inputs[max(extra, 0) :]
        case "SequenceMap":
            first = element_of(inputs[0], "seq") if inputs else None
            rest = [element_of(text, "seq") or text for text in inputs[1:]]
            return (first, *rest)
    return ()


def with_special(signature: Signature, node: Node, inputs: Texts, output_types: Texts) -> Texts:
    """Infer output types of a node if its operator needs a special rule.

    Special rules exist for the operators in `OUTPUT_TYPES`, for `QGemm` of onnxruntime, and for the
    second and later outputs of `LayerNormalization`. The schemas of these operators do not
    determine the types: they depend on attributes, on the element type of a sequence, or on an
    optional input.

    Return `output_types`, which follow from the schema, with the inferred types in their place. For
    other operators, or if the types are unknown, return `output_types` unchanged.
    """
    if signature.name in _STASHING and not signature.domain:
        if signature.origin and not signature.tentative:
            return output_types  # the operator of a schema file
        stashed, formal = stash_type(node), signature.output(1)
        if formal is None or stashed not in signature.allowed(formal.type):
            return output_types
        return (*output_types[:1], *[stashed] * (len(output_types) - 1))
    special = OUTPUT_TYPES.get(node.op_type)
    if signature.domain == "com.microsoft" and signature.name == "QGemm":
        special = _quantized_product
    elif special is None or signature.origin or signature.domain not in ("", "ai.onnx.ml"):
        return output_types
    computed = special(node, inputs)
    return (computed, *output_types[1:]) if computed is not None else output_types


_STASHING = ("LayerNormalization", "SimplifiedLayerNormalization")
"""Operators of the standard domain; only onnxruntime has the second, and the first before 17."""


def _quantized_product(node: Node, inputs: Texts) -> str | None:
    """Return the output type of `QGemm`: that of `y_zero_point`, else float; None if unknown."""
    quantized = len(node.inputs) > 8 and bool(node.inputs[8])
    return inputs[8] if quantized else "tensor(float)"
