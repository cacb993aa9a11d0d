# SPDX-License-Identifier: Apache-2.0
"""Rules for missing, duplicate, invalid and unused imports of operator sets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from onnxtext.ast.model import Function, Model
from onnxtext.ast.qualified_names import plain_domain
from onnxtext.ast.visit import walk_nodes
from onnxtext.checker.context.checked_model import CheckedModel
from onnxtext.checker.context.finding import Finding, Place, Repair, quote, truncate
from onnxtext.checker.context.registry import Rule
from onnxtext.checker.context.scopes import Scope
from onnxtext.checker.context.signatures import newest_versions
from onnxtext.plurals import count_noun


def check(subject: CheckedModel) -> Iterator[Finding]:
    """Check the operator set imports of a model and its functions."""
    model = subject.model
    if model is not None and not model.opset_imports and subject.ir_version >= 3:
        yield Finding(
            "opset-import-missing",
            "the model imports no operator set",
            (Place(model, ("opset_imports",)),),
            help=f"add `opset_import: [{_suggested_version()}]` to the header",
            repair=Repair("import", model, ("", _suggested_version())),
        )
    for owner, place, _ in _importers(subject):
        yield from _imports(owner, place)
    yield from _not_imported(subject)
    if subject.active("opset-import-unused"):
        yield from _unused(subject)


def _importers(subject: CheckedModel) -> Iterator[tuple[Model | Function, object, Scope | None]]:
    """Yield (owner, statement, scope) for the model and each function.

    `owner` has the opset imports. `statement` is the owner before decorators are applied. `scope`
    is the main graph (None if the model has none) or the body of the function.
    """
    if subject.model is not None:
        yield subject.model, subject.model, subject.main
    for scope in subject.scopes:
        if scope.kind == "function" and scope.function is not None:
            yield scope.function, scope.original, scope


def _suggested_version() -> int:
    """Return the version of the standard operators to suggest: recent, and widely supported."""
    return min(newest_versions()[""], 21)


def _imports(owner: Model | Function, place: object) -> Iterator[Finding]:
    """Find duplicate imports and invalid versions in the imports of `owner`."""
    first: dict[str, int] = {}
    spellings = {item.domain for item in owner.opset_imports}
    for index, item in enumerate(owner.opset_imports):
        domain = plain_domain(item.domain)
        shown = quote(domain) if domain else "the standard domain"
        import_place = Place(place, ("opset_imports", index))
        if domain in first:
            in_model = isinstance(owner, Model)
            same = item.version == owner.opset_imports[first[domain]].version
            earlier = Place(place, ("opset_imports", first[domain]), "first imported here")
            yield Finding(
                "opset-import-duplicate",
                f"{shown} is imported twice",
                (import_place, earlier),
                help="remove one of them",
                notes=("the highest version applies",) if in_model else (),
                severity="warning" if in_model or same else "error",
            )
        first.setdefault(domain, index)
        if item.domain == "ai.onnx" and "" not in spellings and isinstance(owner, Function):
            yield from _unfound_import(owner, item.version, import_place)
        version, newest = item.version, newest_versions().get(domain)
        if version < 1:
            message = f"{version} is not a version of {shown}: versions begin at 1"
            help = f"import version {newest or 1}, or the version the nodes were written for"
            yield Finding("opset-version-invalid", message, (import_place,), help)
        elif newest is not None and version > newest:
            message = f"version {version} of {shown} is unknown: the newest known is {newest}"
            help = f"import version {newest}, or install a newer onnx"
            yield Finding(
                "opset-version-invalid", message, (import_place,), help, severity="warning"
            )


def _unfound_import(function: Function, version: int, place: Place) -> Iterator[Finding]:
    """Find an import of the standard domain as `ai.onnx` that nodes of a function need.

    If only nested graphs use the domain, they belong to nodes of other domains, which onnx does not
    know and does not look into; onnxruntime does.
    """
    if any(not plain_domain(node.domain) for node in walk_nodes(function)):
        in_body = any(not plain_domain(node.domain) for node in function.nodes)
        tools = "onnx and onnxruntime do" if in_body else "onnxruntime does"
        yield Finding(
            "function-opset-missing",
            f"{tools} not find the import of the standard domain as `ai.onnx`",
            (place,),
            help=f'write `"": {version}`',
            severity=None if in_body else "warning",
        )


def _is_reported(subject: CheckedModel, scope: Scope) -> bool:
    """Whether another enabled rule makes a report of missing imports redundant.

    `scope` is in a model or function without imports. For a model, this is the rule for a missing
    header or for missing imports; for a function, the rule for a missing domain.
    """
    if scope.function is not None:
        return scope.function.domain is None and subject.active("function-domain-missing")
    missing = "opset-import-missing" if subject.ir_version >= 3 else "ir-version-missing"
    return subject.ir_version not in (1, 2) and subject.active(missing)


def _not_imported(subject: CheckedModel) -> Iterator[Finding]:
    """Find domains of nodes that the model or function does not import."""
    missing: dict[int, tuple[Scope, dict[str, list[Place]]]] = {}
    spelled: dict[tuple[int, bool], tuple[Scope, list[Place]]] = {}
    for scope in subject.scopes:
        if scope.opsets is None or scope.opsets is subject.options.assumed:
            continue
        versions = scope.opsets
        if not versions and _is_reported(subject, scope):
            continue
        nodes = [node for node in scope.nodes if node.domain] if "" in versions else scope.nodes
        for node in nodes:
            domain = plain_domain(node.domain)
            if node.domain == "ai.onnx":
                is_inner = scope.function is not None or scope.holder is not None
                _, places = spelled.setdefault((id(versions), is_inner), (scope, []))
                places.append(Place(node, ("domain",)))
            if domain not in versions:
                _, domains = missing.setdefault(id(scope.opsets), (scope, {}))
                domains.setdefault(domain, []).append(Place(node, ("domain",)))
    for scope, domains in missing.values():
        # If nothing is imported, report all domains in one finding; otherwise, each in its own.
        groups = [{name: domains[name]} for name in domains]
        assert scope.opsets is not None
        for group in groups if scope.opsets else [domains]:
            yield _missing_imports(subject, scope, group)
    for (_, is_inner), (scope, places) in spelled.items():
        labeled = places[0]._replace(label=f"in {count_noun(len(places), 'node')}")
        tools = "onnx and onnxruntime reject" if is_inner else "onnx's checker rejects"
        yield Finding(
            "function-opset-missing" if scope.function else "opset-domain-not-imported",
            f"a node writes the standard domain as `ai.onnx`, which {tools}",
            (labeled, *places[1:]),
            help="leave the domain out",
            notes=() if is_inner else ("onnxruntime rejects it in functions and nested graphs",),
            severity=None if is_inner else "warning",
        )


def _missing_imports(
    subject: CheckedModel, scope: Scope, domains: Mapping[str, Sequence[Place]]
) -> Finding:
    """Return the finding for domains that a scope does not import.

    `domains` maps each domain to the places of its nodes.
    """
    shown = [f"the domain {quote(name)}" if name else "the standard domain" for name in domains]
    owner = f"the function {quote(scope.function.name)}" if scope.function else "the model"
    versions = {name: _version_to_import(subject, name) for name in domains}
    entries = [
        f'"{truncate(name)}": {version}' if name else str(version)
        for name, version in versions.items()
    ]
    places = [place for found in domains.values() for place in found]
    defined = {key[0] for key in subject.functions}  # domains of the model's own functions
    domain = next(iter(domains))
    target = scope.function or subject.model
    known = subject.schemas.newest(domain) is not None or domain in defined
    similar = None if known or len(domains) > 1 else _similar_import(subject, scope, domain)
    correction = f"write {quote(similar)} instead, or " if similar else ""
    return Finding(
        "function-opset-missing" if scope.function else "opset-domain-not-imported",
        f"{owner} uses operators of {' and '.join(shown)}, but its `opset_import` does not list "
        f"{'this domain' if len(shown) == 1 else 'these domains'}",
        (places[0]._replace(label=f"used by {count_noun(len(places), 'node')}"), *places[1:]),
        help=f"{correction}add {', '.join(entries)} to `opset_import`",
        repair=Repair("import", subject.resolved.original(target), (domain, versions[domain]))
        if known and target is not None
        else None,
    )


def _similar_import(subject: CheckedModel, scope: Scope, domain: str) -> str | None:
    """Return the imported domain that an unknown domain abbreviates or misspells; or None."""
    imported = sorted(filter(None, scope.opsets or ()))
    longer = [name for name in imported if name.endswith(f".{domain}")]
    return longer[0] if len(longer) == 1 else subject.nearest(domain, imported)


def _version_to_import(subject: CheckedModel, domain: str) -> int:
    """Return the version of a domain to suggest to a model or function that does not import it.

    For a function, suggest the version that the model imports. If there is none, suggest a recent
    version; 1 if none is known.
    """
    main = subject.main.opsets if subject.main is not None else None
    if main is not None and domain in main:
        return main[domain]
    return (subject.schemas.newest(domain) or 1) if domain else _suggested_version()


def _unused(subject: CheckedModel) -> Iterator[Finding]:
    used: dict[int, set[str]] = {}
    for scope in subject.scopes:
        if scope.opsets is not None:
            domains = used.setdefault(id(scope.opsets), set())
            domains.update({plain_domain(node.domain) for node in scope.nodes})
    for owner, place, owner_scope in _importers(subject):
        domains = used.get(id(owner_scope.opsets), set()) if owner_scope is not None else set()
        for index, item in enumerate(owner.opset_imports):
            if plain_domain(item.domain) not in domains:
                shown = quote(item.domain) if item.domain else "the standard domain"
                yield Finding(
                    "opset-import-unused",
                    f"no node uses an operator of {shown}",
                    (Place(place, ("opset_imports", index)),),
                    help="remove the import",
                )


RULES = (
    Rule("opset-import-missing", needs_valid_syntax=True),
    Rule("opset-import-duplicate", level="warning"),
    Rule("opset-version-invalid"),
    Rule("opset-domain-not-imported", needs_valid_syntax=True),
    Rule("opset-import-unused", level="lint", needs_valid_syntax=True),
    Rule("function-opset-missing"),
)
