# SPDX-License-Identifier: Apache-2.0
"""`onnxtext git status`: check the settings, commands and attributes of each mode."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from onnxtext.diagnostics import OnnxTextError
from onnxtext.git.gitattributes import DamagedBlock, read_attributes
from onnxtext.git.install import find_installed
from onnxtext.git.modes import (
    ATTRIBUTES,
    MODES,
    SECTIONS,
    Mode,
    command_program,
    is_command,
    is_ours,
    mode_settings,
)
from onnxtext.git.repository import (
    Scope,
    git_attribute,
    in_repository,
    read_config,
    run_git,
    top_level,
)


@dataclass(frozen=True, slots=True)
class Requirement:
    """A requirement of a mode: a git setting, or the attributes of its files.

    Attributes:
        what: the name of a setting, or `attributes`.
        state: the current value or state, for display.
    """

    ok: bool
    what: str
    state: str


@dataclass(frozen=True, slots=True)
class ModeStatus:
    """Whether a mode of keeping models in git, such as `filter` (see `git.modes`), is set up."""

    mode: Mode
    requirements: tuple[Requirement, ...]

    @property
    def installed(self) -> bool:
        """Whether all requirements are met."""
        return all(requirement.ok for requirement in self.requirements)

    @property
    def begun(self) -> bool:
        """Whether the mode meets a requirement that no other mode has."""
        return any(
            requirement.ok
            for requirement in self.requirements
            if requirement.what in _OWN_REQUIREMENTS[self.mode]
        )


_OWN_REQUIREMENTS: dict[Mode, tuple[str, ...]] = {
    "textconv": ("diff.onnxtext.binary",),
    "filter": ("filter.onnxtext.process", "filter.onnxtext.clean", "attributes"),
    "source": ("attributes",),
}
"""For each mode, the names (`Requirement.what`) of the requirements that no other mode has."""

_PROBES: dict[Mode, str] = {
    "textconv": "model.onnx",
    "filter": "model.onnx",
    "source": "model.onnxtxt",
}
"""For each mode, the path whose git attributes are checked; the file need not exist."""


def status(scope: Scope | None) -> list[ModeStatus]:
    """Check the settings, commands and attributes of each mode; return a `ModeStatus` for each.

    Args:
        scope: the configuration to check; None for the combination of all configurations.

    Raises:
        OnnxTextError: git fails, attributes cannot be read, or there is no repository (for the
            scope `local`).
    """
    if scope is not None:
        find_installed(scope)  # raises if there is no repository
    values = read_config(scope, SECTIONS)
    try_command = cache(_try)
    return [
        ModeStatus(
            mode,
            (
                *_setting_requirements(mode, values, try_command),
                _attribute_requirement(mode, scope),
            ),
        )
        for mode in MODES
    ]


def _try(command: str) -> tuple[bool, str]:
    """Run a command with git's shell; return (whether it is onnxtext, the result for display)."""
    try:
        output = run_git("-c", f"alias.onnxtext-try=!{command} --version", "onnxtext-try")
    except OnnxTextError as error:
        first_line = error.diagnostics[0].message.partition("\n")[0]
        reason = first_line.removeprefix("git onnxtext-try: ")
        return False, f"cannot be run: {command}: {reason}"
    version = output.decode("utf-8", "replace").strip()
    return version.startswith("onnxtext "), f"runs {command}: {version}"


def _setting_requirements(
    mode: Mode, values: dict[str, list[str]], try_command: Callable[[str], tuple[bool, str]]
) -> list[Requirement]:
    requirements = []
    for name, expected in mode_settings(mode, "").items():
        value = values.get(name)
        if not value:
            requirements.append(Requirement(False, name, "not set"))
        elif not is_command(name):
            same = value[-1] == expected
            requirements.append(
                Requirement(same, name, value[-1] if same else f"another value: {value[-1]}")
            )
        elif is_ours(value[-1]):
            ok, state = try_command(command_program(value[-1]))
            requirements.append(Requirement(ok, name, state))
        else:
            requirements.append(Requirement(False, name, f"not set by onnxtext: {value[-1]}"))
    return requirements


def _attribute_requirement(mode: Mode, scope: Scope | None) -> Requirement:
    """Check a mode's attributes in the attributes file of a scope and in `.gitattributes`.

    If `scope` is None, check the attributes that are in effect. Only the scope `local` has a
    `.gitattributes`.
    """
    if scope is None:
        return _effective_attributes(mode)
    file = find_installed(scope).file
    top = top_level() if scope == "local" else None
    # `install` may have written some lines only to `.gitattributes`
    files = [file] if top is None else [file, top / ".gitattributes"]
    missing, places = set(ATTRIBUTES[mode]), []
    for path in files:
        try:
            found = missing.intersection(read_attributes(path).lines())
        except DamagedBlock as error:
            return Requirement(False, "attributes", f"{path}: {error}")
        if found:
            missing -= found
            places.append(str(path))
    if missing:
        return Requirement(False, "attributes", f"not in {file}")
    return Requirement(True, "attributes", f"in {' and '.join(places)}")


def _effective_attributes(mode: Mode) -> Requirement:
    """Check the attributes that are in effect, which git combines from several files."""
    if not in_repository():
        return Requirement(False, "attributes", "there is no git repository here")
    probe = _PROBES[mode]
    expected = dict(map(_pair, ATTRIBUTES[mode][0].split()[1:]))
    names = [*expected, "filter"] if mode == "textconv" else expected
    attributes = {name: git_attribute(name, probe) for name in names}
    shown = ", ".join(f"{name} is {value}" for name, value in attributes.items())
    ok = all(attributes[name] == value for name, value in expected.items())
    if mode == "textconv":  # this mode works with the filter of another tool, such as LFS
        ok = ok and attributes["filter"] != "onnxtext"
    return Requirement(ok, "attributes", f"of {probe}: {shown}")


def _pair(word: str) -> tuple[str, str]:
    """Split a word such as `-text` or `eol=lf` into an attribute and its `git check-attr` value."""
    if word.startswith("-"):
        return word[1:], "unset"
    name, _, value = word.partition("=")
    return name, value or "set"
