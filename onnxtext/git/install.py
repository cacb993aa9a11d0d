# SPDX-License-Identifier: Apache-2.0
"""Install and uninstall onnxtext's git settings and attributes; other settings are kept.

Source: git-config(1), gitattributes(5). Settings are written with `git config`, which keeps the
comments and the order of the file. The configuration also records the installed modes
(`onnxtext.mode`) and the attributes file if it is not the default (`onnxtext.attributes`).
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote

from onnxtext.git.gitattributes import (
    DamagedBlock,
    absolute,
    block_lines,
    default_file,
    display_path,
    path_to_record,
    read_attributes,
    resolve_recorded,
    write_attributes,
)
from onnxtext.git.modes import (
    ATTRIBUTES,
    EXCLUSIVE,
    KNOWN,
    MODES,
    SECTIONS,
    Mode,
    command_line,
    command_program,
    diff_and_merge_lines,
    is_command,
    is_ours,
    mode_settings,
)
from onnxtext.git.repository import (
    Scope,
    git_attribute,
    git_error,
    in_repository,
    read_config,
    remove_setting,
    run_git,
    top_level,
)
from onnxtext.git.undo_on_error import undo_on_error
from onnxtext.io.path_safety import leads_out

_MODE, _FILE = "onnxtext.mode", "onnxtext.attributes"
_RECORDED = r"^onnxtext\.(mode|attributes)$"
"""Matches the two settings that record the installation."""
_CACHE = "refs/notes/textconv/onnxtext"


@dataclass(slots=True)
class InstalledSettings:
    """The state of onnxtext's settings in a scope (`local` or `global`).

    Attributes:
        file: the attributes file of the scope.
        values: the values of all settings in onnxtext's sections of the configuration, by name;
            users or other tools may have written some.
    """

    modes: frozenset[Mode]
    file: Path
    values: dict[str, list[str]] = field(default_factory=dict)


def find_installed(scope: Scope) -> InstalledSettings:
    """Read the state of onnxtext's settings in a scope.

    Raises:
        OnnxTextError: there is no repository (for the scope `local`), or git fails.
    """
    if scope == "local" and not in_repository():
        raise git_error(
            "there is no git repository here", help="outside of a repository, use `--global`"
        )
    recorded = read_config(scope, _RECORDED)
    names = recorded.get(_MODE, [""])[-1].split()
    file = recorded.get(_FILE, [None])[-1]
    return InstalledSettings(
        modes=frozenset(mode for mode in MODES if mode in names),
        file=default_file(scope) if file is None else resolve_recorded(scope, file),
        values=read_config(scope, SECTIONS),
    )


def default_mode(scope: Scope) -> Mode:
    """Return the mode to install if the user names none: `filter` if it is in use, else `textconv`.

    In a repository, `filter` is also in use if it is installed for the user, or if the attributes
    of the repository select it. Then textconv would not work.

    Raises:
        OnnxTextError: as for `find_installed`.
    """
    scopes: tuple[Scope, ...] = ("local", "global") if scope == "local" else ("global",)
    filtered = any("filter" in find_installed(each).modes for each in scopes)
    if scope == "local" and git_attribute("filter", "model.onnx") == "onnxtext":
        filtered = True
    return "filter" if filtered else "textconv"


def install(
    scope: Scope, mode: Mode, *, file: Path | None = None, structural: bool | None = None
) -> list[str]:
    """Write the git settings and attributes of a mode.

    If the mode excludes an installed mode, the installed mode is removed; other modes stay. Git's
    cache of texts for diffs is cleared.

    Args:
        scope: the configuration of the repository (local) or of the user (global).
        mode: the mode.
        file: the attributes file; None for the file of the last installation, else the default.
        structural: whether `git diff` shows the output of `onnxtext diff`; None keeps the setting.

    Returns:
        The changes, and the settings of other tools that were kept, one line each.

    Raises:
        OnnxTextError: git fails or cannot run this Python; a setting or filter of another tool
            conflicts with the mode; or the attributes file cannot be read, is damaged, or is a link
            out of the working tree. Nothing is changed; if changes cannot be undone, the message
            says so.
        OSError: the attributes cannot be written; nothing is changed.
    """
    before = find_installed(scope)
    modes = before.modes - {EXCLUSIVE.get(mode, mode)} | {mode}
    if structural is None:
        structural = _is_structural(before)
    settings, lines = _requirements(modes, command_line(), structural=structural)
    _check_foreign(scope, mode, before, settings)
    target = before.file if file is None else absolute(file)
    _check_inside(scope, target)
    edits = _attribute_edits(scope, before, target, lines)
    with undo_on_error(scope, f"{SECTIONS}|{_RECORDED}", edits):
        changes = _write_settings(scope, before, settings)
        changes += _record_installation(scope, modes, target)
        changes += _write_attributes(edits)
        _clear_cache()
    return changes


def uninstall(scope: Scope, mode: Mode | None, *, file: Path | None = None) -> list[str]:
    """Remove the settings and attributes that `install` has written; clear git's textconv cache.

    Args:
        scope: the configuration of the repository (local) or of the user (global).
        mode: the mode to remove; None for all modes.
        file: an attributes file to remove onnxtext's lines from, in addition to the file of the
            last installation.

    Returns:
        The changes, and the settings of other tools that were kept, one line each.

    Raises:
        OnnxTextError: git fails or cannot run this Python, or the attributes cannot be read or are
            damaged. Nothing is changed; if changes cannot be undone, the message states it.
        OSError: the attributes cannot be written; nothing is changed.
    """
    before = find_installed(scope)
    modes = before.modes - {mode} if mode is not None else frozenset()
    command = _command_of(before) if modes else ""
    settings, lines = _requirements(modes, command, structural=_is_structural(before))
    edits = _attribute_edits(scope, before, before.file, lines)
    if file is not None and absolute(file) != before.file:
        edits |= _attribute_edits(scope, before, absolute(file), [])
    with undo_on_error(scope, f"{SECTIONS}|{_RECORDED}", edits):
        changes = _write_settings(scope, before, settings) if before.modes else []
        changes += _record_installation(scope, modes, before.file)
        changes += _write_attributes(edits)
        _clear_cache()
    return changes + ([] if modes else _left_lines(scope))


def _left_lines(scope: Scope) -> list[str]:
    """Return a line if `.gitattributes` still has onnxtext's block after `uninstall`.

    Such a block was committed in another clone, or belongs to another working tree of this one:
    only the user knows whether others need it.
    """
    top = top_level() if scope == "local" else None
    path = None if top is None else absolute(top / ".gitattributes")
    if path is None or not block_lines(path):
        return []
    shown = display_path(path)
    remedy = f"`onnxtext git uninstall --attributes {quote(shown)}` removes them"
    return [f"left {shown}, which has lines of onnxtext: {remedy}"]


def _requirements(
    modes: frozenset[Mode], command: str, *, structural: bool
) -> tuple[dict[str, str], list[str]]:
    """Return the settings (see `mode_settings`) and the lines of attributes that modes require."""
    values: dict[str, str] = {}
    lines: list[str] = []
    for mode in MODES:
        if mode in modes:
            values |= mode_settings(mode, command, structural=structural)
            lines += ATTRIBUTES[mode]
    return values, lines


def _is_structural(before: InstalledSettings) -> bool:
    return any(map(is_ours, before.values.get("diff.onnxtext.command", [])))


def _command_of(before: InstalledSettings) -> str:
    """Return the command for `onnxtext` in the installed settings; by default this Python's."""
    for name in KNOWN:
        for value in before.values.get(name, []):
            if is_command(name) and is_ours(value):
                return command_program(value)
    return command_line()


# ---- Foreign settings ---------------------------------------------------------------------------


def _check_foreign(
    scope: Scope, mode: Mode, before: InstalledSettings, settings: dict[str, str]
) -> None:
    """Raise an error if the installation would replace a setting or filter of another tool."""
    for name, value in settings.items():
        for old in before.values.get(name, []):
            if not _replaceable(name, old, value, before):
                raise git_error(
                    f"{name} is already set, but not by onnxtext: {old}",
                    help=f"if you do not need it, remove it: `git config --{scope} --unset-all "
                    f"{name}`",
                )
    if mode == "filter" and in_repository():
        other = git_attribute("filter", "model.onnx")
        if other not in ("unspecified", "unset", "set", "onnxtext"):
            raise git_error(
                f"*.onnx has another filter here: {other}",
                help="a file can have only one filter: remove the other one from the attributes, "
                "or use `install --mode textconv`, which works with any filter",
            )


def _replaceable(name: str, old: str, new: str, before: InstalledSettings) -> bool:
    """Whether the value of a setting may be replaced, because onnxtext has probably written it.

    A command may be replaced if it looks like a command that `install` writes. Any other value may
    be replaced if a mode is installed.
    """
    if old == new:
        return True
    return is_ours(old) if is_command(name) else bool(before.modes)


def _check_inside(scope: Scope, file: Path) -> None:
    """Raise an error if a file in the working tree is a link that leads out of the working tree.

    Files in `.git`, and the file of the scope `global`, are not checked.
    """
    top = top_level() if scope == "local" else None
    if top is None or not file.is_relative_to(absolute(top)):
        return
    if file.relative_to(absolute(top)).parts[:1] == (".git",):
        return
    if leads_out(file, Path(top)):
        real = os.path.realpath(file)
        raise git_error(f"{display_path(file)} is a link to outside of the working tree: {real}")


# ---- Writing ------------------------------------------------------------------------------------


def _write_settings(scope: Scope, before: InstalledSettings, settings: dict[str, str]) -> list[str]:
    """Write `settings`; if a mode was installed, remove the settings that onnxtext no longer needs.

    Keep a command of another tool that `settings` does not replace. Return the changes and the kept
    commands, one line each.
    """
    values: dict[str, str | None] = {}
    kept = []
    for name in KNOWN:
        foreign = [value for value in before.values.get(name, []) if not is_ours(value)]
        if name not in settings and is_command(name) and foreign:
            kept.append(f"left {name}, which was not set by onnxtext: {foreign[-1]}")
        elif name in settings or before.modes:
            values[name] = settings.get(name)
    return [*_write(scope, before.values, values), *kept]


def _record_installation(scope: Scope, modes: frozenset[Mode], file: Path) -> list[str]:
    """Record the installed modes and the attributes file; return the changes."""
    path = None if not modes or file == default_file(scope) else path_to_record(scope, file)
    names = " ".join(mode for mode in MODES if mode in modes) or None
    return _write(scope, read_config(scope, _RECORDED), {_MODE: names, _FILE: path})


def _write(scope: Scope, old: dict[str, list[str]], new: dict[str, str | None]) -> list[str]:
    """Write settings whose values change; return the changes.

    `old` and `new` have the values by name. The new value None removes the setting.
    """
    written, removed = [], []
    for name, value in new.items():
        if value is not None and old.get(name) != [value]:
            run_git("config", f"--{scope}", "--replace-all", name, value)
            written.append(name)
        elif value is None and name in old:
            remove_setting(scope, name)
            removed.append(name)
    return [*_by_section("set", written), *_by_section("removed", removed)]


def _by_section(verb: str, names: list[str]) -> list[str]:
    """Format changed settings, one line for each section: `set merge.onnxtext: name, driver`."""
    sections: dict[str, list[str]] = {}
    for name in names:
        section, _, variable = name.rpartition(".")
        sections.setdefault(section, []).append(variable)
    return [f"{verb} {section}: {', '.join(found)}" for section, found in sections.items()]


def _attribute_edits(
    scope: Scope, before: InstalledSettings, target: Path, lines: list[str]
) -> dict[Path, bytes | None]:
    """Return the new content of each attributes file that changes; None for files to remove.

    Lines in `.gitattributes` or another committed file do not apply to commits that lack the file.
    So `.git/info/attributes` also gets the lines, but only with the attributes `diff` and `merge`:
    the filter must not convert the models of commits that lack the file.

    Add the lines to the file `target`; remove them from the file that `before` names, if it is
    another.

    Raises:
        OnnxTextError: an attributes file cannot be read, or onnxtext's block in it is damaged.
    """
    lines_of = {target: lines}
    default = default_file(scope)
    if scope == "local":
        committed = lines if target != default else _committed_lines()
        lines_of[default] = diff_and_merge_lines(lines, committed)
    if before.modes:
        lines_of.setdefault(before.file, [])
    edits: dict[Path, bytes | None] = {}
    for path, ours in lines_of.items():
        old = read_attributes(path)
        try:
            new = old.with_lines(ours)
        except DamagedBlock as error:
            raise git_error(f"{path}: {error}") from None
        if new != old.content:
            edits[path] = new
    return edits


def _committed_lines() -> list[str]:
    """Return the lines in onnxtext's block in the `.gitattributes` of the working tree."""
    top = top_level()
    return [] if top is None else block_lines(top / ".gitattributes")


def _write_attributes(edits: dict[Path, bytes | None]) -> list[str]:
    changes = []
    for path, content in edits.items():
        write_attributes(path, content)
        changes.append(f"{'removed' if content is None else 'wrote'} {display_path(path)}")
    return changes


def _clear_cache() -> None:
    """Clear git's textconv cache: another version of onnxtext may print models differently."""
    if in_repository() and run_git("rev-parse", "--verify", "--quiet", _CACHE, fails=[1]):
        run_git("update-ref", "-d", _CACHE)
