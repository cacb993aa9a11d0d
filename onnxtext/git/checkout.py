# SPDX-License-Identifier: Apache-2.0
"""`onnxtext git checkout`: models where the working tree holds their texts.

That is so in a clone that was made before the filter was set up, and after a conflict was resolved
in the text: git takes such files for what they should be, and does not check them out again.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from onnxtext.files import write_atomically
from onnxtext.git.content import HEAD, is_binary, smudge
from onnxtext.git.repository import read_tracked, run_git
from onnxtext.git.verification import Tracked, objects, tracked


@dataclass(frozen=True, slots=True)
class CheckedOut:
    """What has become of a text in the working tree.

    Attributes:
        path: from the top of the working tree.
        problems: why it is still a text; empty if it is the model now.
    """

    path: str
    problems: tuple[str, ...] = ()


def check_out(top: Path) -> list[CheckedOut]:
    """Replace texts by their models, in files that the filter applies to.

    Only texts that git stores just so are replaced: nothing that git does not have is lost.

    Raises:
        OnnxTextError: git fails.
        OSError: a file cannot be read or written.
    """
    found = []
    with objects(top) as read:
        for file in tracked(top):
            text = _text_of(top, file)
            if text is None:
                continue
            if text != read(file.object):
                problem = "it holds a text that git does not store: add it first"
                found.append(CheckedOut(file.path, (problem,)))
                continue
            converted = smudge(text)
            if converted.data is None:
                found.append(CheckedOut(file.path, converted.warnings))
                continue
            write_atomically(top / file.path, converted.data)
            found.append(CheckedOut(file.path))
    done = "".join(f"{each.path}\0" for each in found if not each.problems)
    if done:
        # Git remembers the size of the text, and takes any other for a change: it is to look again.
        given = done.encode("utf-8", "surrogateescape")
        run_git("-C", str(top), "update-index", "-z", "--stdin", given=given)
    return found


def _text_of(top: Path, file: Tracked) -> bytes | None:
    """The text in a file that should hold a model; None if there is none."""
    data = read_tracked(top, file.path) if file.filtered else None
    return None if not data or is_binary(data[:HEAD]) else data
