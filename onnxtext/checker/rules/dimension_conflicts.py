# SPDX-License-Identifier: Apache-2.0
"""Rules for symbolic dimensions: no contradictory sizes, and no restrictions of inputs.

Each operator adds equations between sizes to a system of equations, whose unknowns are the symbolic
dimensions. A finding shows places that require different sizes, or a node or type that restricts
the size of an input.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from onnxtext.ast.model import Node, ValueInfo
from onnxtext.ast.types import TensorType
from onnxtext.checker.context.checked_model import CheckedModel
from onnxtext.checker.context.compare_declared_types import plain_dim
from onnxtext.checker.context.finding import Finding, Place, Repair, chain_of, quote
from onnxtext.checker.context.registry import Rule
from onnxtext.checker.context.scopes import Scope
from onnxtext.checker.inference.check_by_kind import sizes_fit_by_kind
from onnxtext.checker.inference.explain_shape_errors import mismatch_message, mismatch_place
from onnxtext.checker.inference.onnx_errors import accept_declarations, declares_other_output
from onnxtext.checker.inference.shape_inference import ShapeInference
from onnxtext.checker.inference.symbolic_shapes import SymbolicShapes
from onnxtext.checker.inference.trace_sizes import SymbolTrace
from onnxtext.checker.symbolic.sizes.polynomials import Extents, symbol_plus, text
from onnxtext.checker.symbolic.sizes.shape_mismatches import (
    PassedShape,
    ShapeContradiction,
    ShapeMismatch,
)
from onnxtext.checker.symbolic.sizes.size_equations import (
    SizeConflict,
    SizeRestriction,
    base_symbol,
)
from onnxtext.diagnostics import Severity, Subject


def check(subject: CheckedModel) -> Iterator[Finding]:
    """Find contradictory sizes of symbolic dimensions, and inputs that do not accept all sizes.

    Also report the shape mismatches that symbolic inference finds.
    """
    if subject.is_recursive or sizes_fit_by_kind(subject):
        return
    shapes = SymbolicShapes(subject)
    shapes.run()
    conflicts = shapes.sizes.conflicts
    for conflict in conflicts:
        yield _conflict(conflict)
    passed: set[int] = set()
    earlier = [item for item in subject.found if item.code == "shape-mismatch"]
    reported = {id(item.places[0].item) for item in earlier}  # calls and nodes with bodies
    failing = {
        id(item.places[0].item)
        for item in earlier
        if declares_other_output(item) and not _is_accepted(item)
    }
    mismatches: list[Finding] = []
    for wrong in shapes.sizes.mismatches:
        if isinstance(wrong, ShapeMismatch):
            # onnx rejects the wrong output shape also in a nested graph that never runs
            fails = not wrong.nested or id(wrong.node) in failing
            mismatches.append(_mismatch(wrong, certain=wrong.specified and fails and not conflicts))
        elif isinstance(wrong, PassedShape):
            if id(wrong.value) not in passed:
                yield _shape_not_passed(wrong)
            passed.add(id(wrong.value))
        elif id(wrong.node) not in reported:
            yield _contradiction(wrong)
    yield from mismatches
    _drop_effects(subject, mismatches)
    if shapes.sizes.learned and subject.main is not None:
        yield from _forced(subject.main, shapes)


def _drop_effects(subject: CheckedModel, mismatches: list[Finding]) -> None:
    """Drop findings that are consequences of `mismatches`: inputs that do not fit.

    First, drop the warnings about wrong declared outputs of the same nodes. Then, if `mismatches`
    has errors, replace the findings of onnx's inference: infer the shapes again, with unknown
    outputs of the nodes that have errors.
    """
    misfits = {id(item.places[0].item) for item in mismatches}
    subject.found[:] = [
        item
        for item in subject.found
        if not _is_accepted(item) or id(item.places[0].item) not in misfits
    ]
    inferred = subject.memo.get(ShapeInference.__name__)
    if inferred is None or not inferred.findings or all(item.severity for item in mismatches):
        return
    dropped = {id(item) for item in inferred.findings}
    kept = [item for item in subject.found if id(item) not in dropped]
    subject.found[:] = [*kept, *mismatches]
    again = ShapeInference(subject)
    again.run()
    if any(map(_is_accepted, inferred.findings)):
        accept_declarations(subject, again.findings)
    subject.found[:] = [*kept, *again.findings]


def _is_accepted(finding: Finding) -> bool:
    """Whether a finding is about a wrong declaration of an output that onnx accepts."""
    return bool(finding.severity) and declares_other_output(finding)


def _forced(main: Scope, shapes: SymbolicShapes) -> Iterator[Finding]:
    """Find symbols of inputs that nodes restrict to one or two sizes, or to another symbol.

    Ignore restrictions that follow from the declarations of inputs and initializers.
    """
    # The default of an input does not restrict sizes: a caller may pass another value.
    declared_ids = {id(value) for value in (*main.inputs, *main.initializers)}
    trace = SymbolTrace(main, shapes)
    declared: dict[str, ValueInfo] = {}
    for value in main.inputs:
        shape = value.type.shape if isinstance(value.type, TensorType) else None
        for name in map(plain_dim, shape or ()):
            if isinstance(name, str) and name:
                declared.setdefault(name, value)
    groups: dict[str, list[str]] = {}
    for name, value in declared.items():
        forced = shapes.sizes.forced(name)
        if forced is not None and id(forced.place.item) not in declared_ids:
            yield _forced_size(value, name, forced, trace)
        if shapes.sizes.number(symbol_plus(name)) is None:
            groups.setdefault(shapes.sizes.representative(name)[0], []).append(name)
    for names in groups.values():
        if len(names) > 1:
            finding = _forced_equality(names, declared, trace)
            if id(finding.places[0].item) not in declared_ids:
                yield finding


def _forced_size(
    value: ValueInfo, name: str, forced: SizeRestriction, trace: SymbolTrace
) -> Finding:
    """Report that the symbol `name` of the input `value` has the restriction `forced`.

    `trace` finds the values that carry the symbol to the place of the restriction.
    """
    item, part = forced.place.item, forced.place.part
    first, *others = forced.numbers
    sizes = " or ".join(map(str, forced.numbers))
    size = f"{quote(name)} must be {sizes}"
    help = f"write {sizes} instead of {quote(name)}"
    places = [
        forced.place._replace(label=f"{size} here"),
        Place(value, ("type",), f"declared as {quote(name)}"),
        *[place._replace(label="these sizes are equal") for place in forced.joined],
    ]
    repair = None
    if isinstance(item, Node) and part == ("op_type",):
        why = f"`{item.op_type}` accepts no other size{'s' if others else ''}"
        other = "change the node so that it accepts other sizes"
        if item.op_type == "Reshape":
            other = "write -1 for this dimension in the shape"
        literal = trace.literal(forced.place, name, first) if not others else None
        if literal is not None:
            index, wrong, right = literal
            other = f"write {right} for this dimension in the shape"
            stored = trace.stored(item.inputs[1])
            if stored is not None:
                places.append(stored._replace(part=(*stored.part, "element", index)))
                repair = Repair("respell", stored.item, (str(wrong), right))
    else:
        output = item.outputs[int(part[1])] if isinstance(item, Node) else item.name
        why = f"the declared type of {quote(output)} allows no other size"
        other = f"write {quote(name)} in the type of {quote(output)}"
    return Finding(
        "dim-forced",
        f"the dimension {size}: {why}",
        tuple(places),
        help=f"{help}, or {other}",
        notes=_chain(forced.place, name, trace),
        # A symbol that can have two sizes is not a mistake.
        severity="info" if others else _severity(forced.place, name, trace),
        repair=repair,
        subject=Subject("dimension", name),
    )


def _severity(place: Place, name: str, trace: SymbolTrace) -> Severity | None:
    """Return `info` if the size follows from the types of inputs alone; otherwise None.

    Users of the model see the types of its inputs, so they need no warning about such a size. None
    means that the finding has the severity of its rule.
    """
    return "info" if trace.follows_from_inputs(place, name) else None


def _chain(place: Place, name: str, trace: SymbolTrace) -> tuple[str, ...]:
    """Return (note,): the note lists the values through which a size from an input reaches a place.

    Return () if there are fewer than two values.
    """
    values = trace.chain(place, name)
    if len(values) < 2:
        return ()
    return (f"the size comes from {quote(values[0])}: {chain_of(values)}",)


def _forced_equality(
    names: list[str], declared: dict[str, ValueInfo], trace: SymbolTrace
) -> Finding:
    """Report the symbols in `names`, whose sizes must be equal, or must differ by a constant.

    `declared` maps each symbol to an input whose type has the symbol.
    """
    sizes = trace.shapes.sizes
    left, right, *rest = names
    _, one_offset, first = sizes.representative(left)
    _, other_offset, second = sizes.representative(right)
    places = list({(id(p.item), p.part): p for p in (*second, *first)}.values())
    item = places[0].item
    equal_size = text(symbol_plus(left, other_offset - one_offset))
    why = "the declared types allow no other sizes"
    if isinstance(item, Node) and places[0].part == ("op_type",):
        why = f"`{item.op_type}` accepts no other sizes"
    notes = [note for name in (left, right) for note in _chain(places[0], name, trace)]
    if rest:
        others = f" and {len(rest) - 3} more" if len(rest) > 3 else ""
        notes.append(f"the same holds for {', '.join(map(quote, rest[:3]))}{others}")
    severities = {_severity(place, name, trace) for place in places for name in (left, right)}
    return Finding(
        "dim-forced",
        f"the dimension {quote(right)} must equal {quote(equal_size)}: {why}",
        (
            *[place._replace(label="these sizes are equal") for place in places],
            Place(declared[right], ("type",), f"declared as {quote(right)}"),
            Place(declared[left], ("type",), f"declared as {quote(left)}"),
        ),
        help=f"write {quote(equal_size)} instead of {quote(right)}, or correct the node or type "
        "that requires it",
        notes=tuple(notes),
        severity=None if None in severities else "info",
        subject=Subject("dimension", right, left),
    )


def _mismatch(wrong: ShapeMismatch, *, certain: bool) -> Finding:
    node = wrong.node
    places = [mismatch_place(node, wrong.message)]
    help = "correct a declaration or an attribute, or reshape, transpose or slice an input"
    first = _INPUT.search(wrong.message)
    if first is not None and not wrong.shapes:
        places = [Place(node, ("inputs", int(first[1])))]
        help = "correct the elements of this input"
    for index, shape in enumerate(wrong.shapes):
        if shape is not None and index < len(node.inputs) and node.inputs[index]:
            places.append(Place(node, ("inputs", index), f"its shape is `{_shape_text(shape)}`"))

    def name(match: re.Match[str]) -> str:
        index = int(match[1])
        input_name = index < len(node.inputs) and node.inputs[index]
        return quote(input_name) if input_name else f"input {index}"

    return Finding(
        "shape-mismatch",
        mismatch_message(node, _INPUT.sub(name, wrong.message)),
        (*places, *wrong.calls),
        help=help,
        severity=None if certain else "warning",
    )


_INPUT = re.compile(r"\{(\d{1,4})\}")


def _contradiction(wrong: ShapeContradiction) -> Finding:
    """Report a declared shape that contradicts the computed shape; runtimes accept such models."""
    node, declared, computed = wrong.node, _shape_text(wrong.declared), _shape_text(wrong.computed)
    problem = f"is declared `{declared}`, but `{node.op_type}` computes `{computed}`"
    message = f"the shape of {quote(node.outputs[wrong.output])} {problem}"
    place = Place(node, ("outputs", wrong.output), f"its shape is `{computed}`")
    help = f"declare the shape `{computed}`, or correct the inputs of `{node.op_type}`"
    return Finding("shape-mismatch", message, (place, *wrong.calls), help, severity="warning")


def _shape_not_passed(wrong: PassedShape) -> Finding:
    """Report a function input whose declared shape contradicts the shape in a call.

    The model is valid: onnx and onnxruntime ignore declared shapes in functions.
    """
    value, passed = wrong.value, _shape_text(wrong.passed)
    problem = f"is declared `{_shape_text(wrong.declared)}`, but a call passes `{passed}`"
    message = f"the shape of the function input {quote(value.name)} {problem}"
    place = Place(value, ("name",) if value.type is None else ("type",))
    help = f"declare the shape `{passed}`, or remove the declaration"
    return Finding("shape-mismatch", message, (place, *wrong.calls), help, severity="info")


def _shape_text(shape: Extents) -> str:
    return f"[{', '.join(['?' if size is None else text(size) for size in shape])}]"


def _conflict(conflict: SizeConflict) -> Finding:
    left, right = conflict.sizes
    name = base_symbol(conflict.name)
    before, after = conflict.places[0], conflict.places[-1]
    if len(conflict.places) == 1:
        message = f"{quote(left)} must equal {quote(right)}, but no size of {quote(name)} allows it"
        places = [before._replace(label=f"{quote(left)} must equal {quote(right)} here")]
    else:
        message = f"the dimension {quote(name)} is {left} in one place and {right} in another"
        places = [
            after._replace(label=f"{quote(name)} is {right} here"),
            before._replace(label=f"{quote(name)} is {left} here"),
        ]
    places += [place._replace(label="these sizes are equal") for place in conflict.joined]
    return Finding(
        "dim-variable-conflict",
        message,
        tuple(places),
        help="rename one of the dimensions, or correct the size",
        subject=Subject("dimension", name),
    )


RULES = (Rule("dim-variable-conflict", level="warning"), Rule("dim-forced", level="warning"))
